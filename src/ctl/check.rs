//! `formctl check`: every mistake of all files at once, with file, line, column and remedy. `--show` prints what is in
//! force then, bounds and defaults included and secrets left out.
//!
//! It never needs the data directory. Where it may look into one, it also says which waiting deliveries the files would
//! end or hold; root has that asked by the owner of the directory, so that nothing in there becomes root's.

use std::path::Path;

use super::foresight;
use super::installation::Installation;
use super::outcome::{CommandError, Exit};
use super::owner::Owner;
use super::print::Output;

/// What to print.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  formctl check                                  the installed files
  formctl check --config ./formd.toml --show     others, and every value in force

It never needs the data directory; where it may read one, it says how many waiting deliveries these files would end \
or hold.

Exit codes: 0 no mistake, 1 mistakes, all of them printed.")]
pub struct Args {
    /// Print every setting with its value in force; no secret.
    #[arg(long)]
    show: bool,
    /// Print only what the files would do to waiting deliveries.
    #[arg(long, hide = true, conflicts_with = "show")]
    waiting: bool,
}

/// Checks. `owner` is whom to become before the data directory is looked at.
pub fn run(
    args: &Args,
    installation: &Installation,
    owner: Option<(Owner, Option<&Path>)>,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let config = installation.config()?;
    let waiting = match owner {
        Some((owner, file)) => owner.waiting(file),
        None => foresight::look(config).map(|preview| foresight::lines(&preview, "would")).unwrap_or_default(),
    };
    if args.waiting {
        waiting.iter().try_for_each(|line| out.line(line))?;
        return Ok(Exit::Done);
    }
    if args.show {
        out.text(&config.describe())?;
    }
    config.notices.iter().chain(&waiting).try_for_each(|notice| out.line(&format!("note: {notice}")))?;
    out.line(&format!("ok: {}", installation.name()))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use crate::ctl::testing::{ctl, files};

    /// `check` over these files; the folder's name is taken out of what it says.
    fn checked(site: &str, options: &[&str]) -> String {
        let (folder, file) = files(site);
        let ended = ctl(&[&["check", "--config", &file], options].concat());
        ended.replace(folder.path().to_str().unwrap(), "/etc/formd")
    }

    #[test]
    fn sound_files_are_ok_and_shown_without_a_secret() {
        let site = "[[destination]]\nid = \"crm\"\nwebhook = \"https://crm.example/hook?token=1\"\n\
                    secret = \"0123456789abcdef\"\n[form.quote]\n";
        insta::assert_snapshot!("check_ok", checked(site, &[]));
        let shown = checked(site, &["--show"]);
        assert!(shown.starts_with("exit 0\n") && shown.contains("disk_reserve"), "{shown}");
        assert!(!shown.contains("0123456789abcdef") && !shown.contains("token=1"), "{shown}");
    }

    #[test]
    fn every_mistake_is_told_in_one_run() {
        insta::assert_snapshot!("check_mistakes", checked("retention_day = 5\naccpt = true\n", &[]));
    }
}
