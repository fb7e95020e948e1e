//! From root to the owner of the data directory.
//!
//! A file that root leaves in the data directory is one the daemon cannot read. So formctl, run by root, starts
//! itself again as the owner of that directory, and only the child opens it; whatever root alone may write stays
//! with the parent. The child has the owner's user and group and no others, so it reads configuration files of
//! mode 0640 that belong to that group. Where root itself is the owner, nothing is switched.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use super::outcome::{CommandError, Kind};

/// Who owns the data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    /// User.
    uid: u32,
    /// Group.
    gid: u32,
}

/// Whom to become before `data_dir` is opened; `None`: nobody. A directory that does not exist needs nobody:
/// opening it fails with its own words.
pub fn to_become(data_dir: &Path) -> Result<Option<Owner>, CommandError> {
    match std::fs::metadata(data_dir) {
        Ok(found) => Ok(decide(rustix::process::geteuid().as_raw(), Owner { uid: found.uid(), gid: found.gid() })),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError::new(Kind::Failed, format!("cannot look at `{}`: {error}", data_dir.display()))),
    }
}

/// Only root can become somebody else, and only another owner needs it.
fn decide(we: u32, owner: Owner) -> Option<Owner> {
    (we == 0 && owner.uid != 0).then_some(owner)
}

impl Owner {
    /// Runs the same command again as the owner; returns its exit code.
    pub fn run_again(self, args: &[OsString]) -> Result<u8, CommandError> {
        let status = self.command(None)?.args(args).status().map_err(|error| self.refused(&error))?;
        Ok(code(status))
    }

    /// Runs a command with a file that only we may read as its standard input; returns its exit code.
    pub fn run_with(self, config: Option<&Path>, args: &[impl AsRef<OsStr>], input: File) -> Result<u8, CommandError> {
        let mut command = self.command(config)?;
        let status = command.args(args).stdin(input).status().map_err(|error| self.refused(&error))?;
        Ok(code(status))
    }

    /// The same with `file` for its standard output.
    pub fn run_into(self, args: &[OsString], file: &File) -> Result<u8, CommandError> {
        let stdout = file.try_clone().map_err(|error| self.refused(&error))?;
        let status = self.command(None)?.args(args).stdout(stdout).status();
        status.map(code).map_err(|error| self.refused(&error))
    }

    /// Gives the owner a folder that root has made.
    pub fn give(self, folder: &Path) -> Result<(), CommandError> {
        std::os::unix::fs::chown(folder, Some(self.uid), Some(self.gid)).map_err(|error| {
            CommandError::new(Kind::Failed, format!("cannot give `{}` to user {}: {error}", folder.display(), self.uid))
        })
    }

    /// What `check` knows of waiting deliveries, one line each; nothing when the owner cannot tell.
    pub fn waiting(self, config: Option<&Path>) -> Vec<String> {
        let output = self.command(config).map(|mut command| command.args(["check", "--waiting"]).output());
        match output {
            Ok(Ok(output)) if output.status.success() => {
                String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
            }
            Ok(_) | Err(_) => Vec::new(),
        }
    }

    /// What `show --json` prints of a receipt, or the exit code of a child that has said why not.
    pub fn show(self, config: Option<&Path>, receipt: &str) -> Result<Result<String, u8>, CommandError> {
        let mut command = self.command(config)?;
        command.args(["show", "--json", "--", receipt]).stderr(Stdio::inherit());
        let output = command.output().map_err(|error| self.refused(&error))?;
        if !output.status.success() {
            return Ok(Err(code(output.status)));
        }
        let text = String::from_utf8(output.stdout);
        text.map(Ok).map_err(|_| CommandError::new(Kind::Failed, "cannot read what `formctl show --json` printed"))
    }

    /// Has the bytes of one attachment written to `file`, verified.
    pub fn copy_attachment(
        self,
        config: Option<&Path>,
        receipt: &str,
        attachment: &str,
        file: &File,
    ) -> Result<(), CommandError> {
        let stdout = file.try_clone().map_err(|error| self.refused(&error))?;
        let mut command = self.command(config)?;
        command.args(["attachment", "--output", "-", "--", receipt, attachment]).stdout(stdout);
        let status = command.status().map_err(|error| self.refused(&error))?;
        if status.success() {
            return Ok(());
        }
        Err(CommandError::new(Kind::Failed, format!("attachment `{attachment}` was not saved")))
    }

    /// This program as the owner, with the same configuration.
    fn command(self, config: Option<&Path>) -> Result<Command, CommandError> {
        let program = std::env::current_exe().map_err(|error| self.refused(&error))?;
        let mut command = Command::new(program);
        command.uid(self.uid).gid(self.gid);
        if let Some(file) = config {
            command.args([OsStr::new("--config"), file.as_os_str()]);
        }
        Ok(command)
    }

    /// The child cannot be started.
    fn refused(self, error: &std::io::Error) -> CommandError {
        let text = format!("cannot run formctl as user {}, the owner of the data directory: {error}", self.uid);
        CommandError::new(Kind::Failed, text).hint("that user must be able to execute the formctl program")
    }
}

/// The exit code of a child; one that a signal ended counts as failed, as a shell has it.
fn code(status: ExitStatus) -> u8 {
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_root_switches_and_only_to_another_owner() {
        let formd = Owner { uid: 990, gid: 980 };
        assert_eq!(decide(0, formd), Some(formd));
        assert_eq!(decide(0, Owner { uid: 0, gid: 0 }), None);
        assert_eq!(decide(990, formd), None);
        assert_eq!(decide(1000, formd), None);
        assert_eq!(to_become(Path::new("/nowhere/formd")), Ok(None));
    }

    #[test]
    fn a_childs_end_is_ours() {
        assert_eq!(code(ExitStatus::from_raw(0)), 0);
        assert_eq!(code(ExitStatus::from_raw(3 << 8)), 3);
        assert_eq!(code(ExitStatus::from_raw(2)), 130);
    }
}
