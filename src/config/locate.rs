//! Where the files are, and which data directory they name. Both programs follow the same rule, and formctl
//! finds the data directory even while somebody is in the middle of an edit: a typo in a site file must not keep
//! an administrator from reading or erasing what is stored.

use std::path::{Path, PathBuf};

use super::demo;

/// Where the package puts the daemon's settings.
const INSTALLED: &str = "/etc/formd/formd.toml";
/// The data directory when the file names none.
pub(super) const DATA_DIR: &str = "/var/lib/formd";

/// The file to read: the one named, else the installed one, else `None` for the embedded default. A folder that
/// may not be searched counts as installed, so that its reader hears of the refusal instead of meeting the demo.
pub fn file(named: Option<&Path>) -> Option<PathBuf> {
    match named {
        Some(path) => Some(path.to_owned()),
        None => Path::new(INSTALLED).try_exists().unwrap_or(true).then(|| PathBuf::from(INSTALLED)),
    }
}

/// The data directory that `file` names, whatever else is wrong with it; `None` when the file cannot be read or
/// `data_dir` itself is no text.
pub fn data_dir(file: Option<&Path>) -> Option<PathBuf> {
    match file {
        Some(path) => {
            let found = data_dir_in(&std::fs::read_to_string(path).ok()?)?;
            // As the checked configuration has it: relative paths start beside the file.
            Some(path.parent().unwrap_or(Path::new("")).join(found))
        }
        None => data_dir_in(demo::DAEMON),
    }
}

/// `data_dir` of a text that may hold mistakes.
fn data_dir_in(text: &str) -> Option<PathBuf> {
    let (table, _mistakes) = toml::de::DeTable::parse_recoverable(text);
    match table.get_ref().get("data_dir") {
        Some(value) => value.get_ref().as_str().map(PathBuf::from),
        None => Some(PathBuf::from(DATA_DIR)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_directory_is_found_in_a_file_with_mistakes() {
        for (text, found) in [
            ("data_dir = \"/srv/f\"", Some("/srv/f")),
            ("listn = 1\ndata_dir = '/srv/f'\n[mail]\nfrom = \n", Some("/srv/f")),
            ("listen = \"x\"", Some(DATA_DIR)),
            ("", Some(DATA_DIR)),
            ("data_dir = 7", None),
        ] {
            assert_eq!(data_dir_in(text), found.map(PathBuf::from), "{text}");
        }
    }

    #[test]
    fn a_named_file_is_taken_as_it_is() {
        assert_eq!(file(Some(Path::new("/nowhere/x.toml"))), Some(PathBuf::from("/nowhere/x.toml")));
        assert_eq!(data_dir(Some(Path::new("/nowhere/x.toml"))), None);
    }
}
