//! An output file that appears whole or not at all, and never over another.
//!
//! It is written without a name (`O_TMPFILE`) and linked under its name at the end, which fails where the name is
//! taken; a killed process leaves nothing. File systems without such files get the name at once, exclusively, and
//! lose it again when the copy fails; there a kill may leave a part.

use std::fs::{File, OpenOptions};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use crate::ctl::outcome::{CommandError, Kind};

/// A file being made.
#[derive(Debug)]
pub struct NewFile {
    /// Its bytes so far.
    file: File,
    /// The name it will have.
    path: PathBuf,
    /// Whether it has the name already.
    named: Named,
}

/// Whether a file has its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    /// At the end.
    Later,
    /// Already; dropped, it must be taken away.
    Already,
    /// For good.
    Kept,
}

impl NewFile {
    /// Begins a file of mode 0600 that will be called `path`; refused where that name is taken.
    pub fn create(path: &Path) -> Result<Self, CommandError> {
        if path.symlink_metadata().is_ok() {
            return Err(refused(path, &ErrorKind::AlreadyExists.into()));
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
        let (file, named) = if let Ok(fd) = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR) {
            (File::from(fd), Named::Later)
        } else {
            // No such files on this file system, or no right to this folder: the second way says which.
            let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
            (file.map_err(|error| refused(path, &error))?, Named::Already)
        };
        Ok(Self { file, path: path.to_owned(), named })
    }

    /// The same, refused inside the data directory: erasing does not look for copies there (contract 14.3).
    pub fn outside(data: &Path, path: &Path) -> Result<Self, CommandError> {
        let wanted = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folder = wanted.parent().and_then(|folder| folder.canonicalize().ok());
        if folder.zip(data.canonicalize().ok()).is_some_and(|(folder, data)| folder.starts_with(data)) {
            let problem = format!("`{}` is inside the data directory, where nothing would erase it", path.display());
            return Err(CommandError::new(Kind::Failed, problem).hint("name another folder with `-o`"));
        }
        Self::create(path)
    }

    /// Where its bytes go.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file its name. A download is not synced: the stored file stays where it is.
    pub fn keep(mut self) -> Result<(), CommandError> {
        if self.named == Named::Later {
            let unnamed = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            rustix::fs::linkat(CWD, unnamed, CWD, &self.path, AtFlags::SYMLINK_FOLLOW)
                .map_err(|error| refused(&self.path, &error.into()))?;
        }
        self.named = Named::Kept;
        Ok(())
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if self.named == Named::Already {
            // The error that led here is the one to report.
            drop(std::fs::remove_file(&self.path));
        }
    }
}

/// The file cannot be made.
fn refused(path: &Path, error: &std::io::Error) -> CommandError {
    let shown = path.display();
    match error.kind() {
        ErrorKind::AlreadyExists => {
            CommandError::new(Kind::Failed, format!("`{shown}` exists and is not written over"))
                .hint("name another file or folder with `-o`")
        }
        _ => CommandError::new(Kind::Failed, format!("cannot write `{shown}`: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_file_appears_whole_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let mut new = NewFile::create(&path).unwrap();
        new.file().write_all(b"abc").unwrap();
        new.keep().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"abc");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_was_not_kept_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut new = NewFile::create(&folder.path().join("x")).unwrap();
        new.file().write_all(b"abc").unwrap();
        drop(new);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_name_that_is_taken_meanwhile_is_not_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x");
        let new = NewFile::create(&path).unwrap();
        std::fs::write(&path, "theirs").unwrap();
        if new.named == Named::Later {
            assert!(new.keep().unwrap_err().text.contains("exists"));
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"theirs");
        std::os::unix::fs::symlink("nowhere", folder.path().join("link")).unwrap();
        assert!(NewFile::create(&folder.path().join("link")).is_err(), "not through a link either");
        assert!(NewFile::create(&folder.path().join("missing/x")).is_err());
    }
}
