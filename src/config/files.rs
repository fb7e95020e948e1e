//! Finds and reads the files of a configuration. Nothing is interpreted here; what cannot be read is a problem of
//! its file, and the others are read all the same.
//!
//! Only regular files of at most [`LARGEST`] bytes are opened, so that neither a pipe nor a device under a site's name
//! can hang or fill the daemon. Names that begin with a dot or do not end in `.toml` are not site files: editors and
//! packages leave such beside them.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::problem::{Page, Problem, printable, quoted};
use super::{Source, demo};
use crate::domain::digest::RunningSum;
use crate::domain::ids::SiteId;

/// Bytes of the largest file that is read.
pub(super) const LARGEST: u64 = 1024 * 1024;
/// Bytes of the largest secret; a signing secret has at most 256 characters.
const LARGEST_SECRET: u64 = 4096;

/// One file of the configuration.
#[derive(Debug)]
pub(super) struct TextFile {
    /// The name for messages.
    pub(super) name: String,
    /// What it holds.
    pub(super) text: Arc<str>,
    /// Its permission bits.
    pub(super) mode: u32,
}

/// All files of a configuration as they are read.
#[derive(Debug)]
pub(super) struct Files {
    /// Where they come from.
    pub(super) source: Source,
    /// The folder that relative paths start from.
    pub(super) base: PathBuf,
    /// `$CREDENTIALS_DIRECTORY`.
    pub(super) credentials: Option<PathBuf>,
    /// `formd.toml`; `None` when it could not be read.
    pub(super) daemon: Option<TextFile>,
    /// The site files in the order of their ids.
    pub(super) sites: Vec<(SiteId, TextFile)>,
    /// What could not be read.
    pub(super) problems: Vec<Problem>,
}

impl Files {
    /// The embedded default.
    pub(super) fn embedded() -> Self {
        let file = |name: &str, text: &str| TextFile { name: name.into(), text: text.into(), mode: 0o600 };
        let site = SiteId::parse(demo::SITE_ID).map(|id| (id, file(demo::SITE_NAME, demo::SITE)));
        Self {
            source: Source::Embedded,
            base: PathBuf::new(),
            credentials: None,
            daemon: Some(file(demo::DAEMON_NAME, demo::DAEMON)),
            sites: site.into_iter().collect(),
            problems: Vec::new(),
        }
    }

    /// `file` and `sites/*.toml` beside it.
    pub(super) fn read(file: &Path, credentials: Option<PathBuf>) -> Self {
        let base = file.parent().map(Path::to_path_buf).unwrap_or_default();
        let mut files = Self {
            source: Source::Files(file.to_path_buf()),
            daemon: None,
            sites: Vec::new(),
            problems: Vec::new(),
            credentials,
            base,
        };
        files.daemon = files.open(file, "name another file with `--config`, or create this one");
        files.read_sites();
        files
    }

    /// Reads the site files. No folder is no site: the state right after installation.
    fn read_sites(&mut self) {
        let folder = self.base.join("sites");
        let mut paths = match paths_of(&folder) {
            Ok(paths) => paths,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return,
            Err(error) => {
                self.unreadable(&folder, &error, "let formd read and search this folder");
                return;
            }
        };
        paths.sort();
        for path in paths {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            let Some(stem) = name.strip_suffix(".toml").filter(|_| !name.starts_with('.')) else { continue };
            let Ok(id) = SiteId::parse(stem) else {
                self.problems.push(Problem::of_file(
                    &path.to_string_lossy(),
                    format!("{} is no id for a site", quoted(stem)),
                    "name the file with 1 to 64 letters, digits, `-`, `_` and the ending `.toml`".into(),
                ));
                continue;
            };
            if let Some(text) = self.open(&path, "let formd read this file, or move it out of `sites/`") {
                self.sites.push((id, text));
            }
        }
    }

    /// Reads one file as UTF-8.
    fn open(&mut self, path: &Path, remedy: &str) -> Option<TextFile> {
        let (bytes, meta) = match read_regular(path, LARGEST) {
            Ok(read) => read,
            Err(error) => {
                self.unreadable(path, &error, remedy);
                return None;
            }
        };
        let name = path.to_string_lossy().into_owned();
        match String::from_utf8(bytes) {
            Ok(text) => Some(TextFile { name, text: text.into(), mode: meta.mode() }),
            Err(error) => {
                let start = error.utf8_error().valid_up_to();
                let text: Arc<str> = String::from_utf8_lossy(error.as_bytes()).into();
                let hidden = super::redact::of_text(&text);
                let page = Arc::new(Page { name: printable(&name), text, hidden });
                let span = start..start + char::REPLACEMENT_CHARACTER.len_utf8();
                let remedy = "save the file in UTF-8".into();
                self.problems.push(Problem::at(&page, &span, "this is not UTF-8".into(), remedy));
                None
            }
        }
    }

    /// Notes a file or folder that cannot be read.
    fn unreadable(&mut self, path: &Path, error: &io::Error, remedy: &str) {
        let message = format!("cannot be read: {}", reason(error));
        self.problems.push(Problem::of_file(&path.to_string_lossy(), message, remedy.into()));
    }

    /// Adds the names and bytes of all files to a sum, in a stable order.
    pub(super) fn sum(&self, sum: &mut RunningSum) {
        let daemon = self.daemon.iter().map(|file| ("formd.toml", file));
        let sites = self.sites.iter().map(|(id, file)| (id.as_str(), file));
        for (name, file) in daemon.chain(sites) {
            for part in [name, &file.text] {
                sum.push(&u64::try_from(part.len()).unwrap_or(u64::MAX).to_be_bytes());
                sum.push(part.as_bytes());
            }
        }
    }
}

/// The paths of the entries of a folder.
fn paths_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect()
}

/// The bytes of a regular file of at most `largest` bytes.
pub(super) fn read_regular(path: &Path, largest: u64) -> io::Result<(Vec<u8>, Metadata)> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let file = File::open(path)?;
    let meta = file.metadata()?;
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > largest) {
        return Err(io::Error::other(format!("it is larger than {}", super::value::size_text(largest))));
    }
    Ok((bytes, meta))
}

/// The bytes of a file that holds a secret.
pub(super) fn read_secret(path: &Path) -> io::Result<(Vec<u8>, Metadata)> {
    read_regular(path, LARGEST_SECRET)
}

/// An I/O error in the words of a message: lower case, without the number.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}
