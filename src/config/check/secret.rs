//! Secrets (contract 2.5): from a file or inline, never readable by others, never in a message.
//!
//! A name without `/` is looked up in `$CREDENTIALS_DIRECTORY`, then in `secrets/` beside `formd.toml`; any other is a
//! path, relative to `formd.toml`. One line break at the end is not part of the secret.
//!
//! The configuration's hash covers the bytes of the files that were used. Where systemd hands a secret over, only the
//! daemon can see it: for a bare name that is not in `secrets/` the hash takes the name alone, so that the daemon and
//! formctl come to the same sum.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::ops::RangeInclusive;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::files::{Files, TextFile, read_secret, reason};
use super::super::problem::{printable, quoted};
use super::super::table::Table;
use super::super::value::Value;
use crate::domain::digest::{RunningSum, Sha256Sum};
use crate::domain::secret::Secret;
use crate::domain::signing;
use crate::domain::target::Signing;

/// Characters of a secret that signs (contract 2.9).
const LENGTH: RangeInclusive<usize> = 16..=256;
/// The permission bit by which every user of the machine may read a file.
const OTHERS_READ: u32 = 0o004;

/// What a table says of one secret.
pub(super) enum Given<'d> {
    /// Nothing.
    Nothing,
    /// Something that is a mistake and was noted as one.
    Wrong,
    /// Where it is said, and the text.
    Text(Value<'d>, String),
}

impl TextFile {
    /// Notes a mistake where `inline`, a secret in this file, can be read by others.
    pub(super) fn keeps_secret(&self, inline: &Value<'_>) {
        if self.mode & OTHERS_READ != 0 {
            inline.misplaced(
                "this file holds a secret and other users can read it",
                format!("run `chmod o-r {}`, or move the secret into a file of its own", printable(&self.name)),
            );
        }
    }
}

/// What a table says of a secret that signs.
enum Key<'d> {
    /// Nothing.
    Nothing,
    /// A mistake, which is noted.
    Wrong,
    /// This secret, and the value that gave it.
    Secret(Value<'d>, Secret),
}

impl<'d> Key<'d> {
    /// The secret of `given`, long enough and with a key that Standard Webhooks finds in it.
    fn of(given: Given<'d>) -> Self {
        match given {
            Given::Nothing => Self::Nothing,
            Given::Wrong => Self::Wrong,
            Given::Text(value, text) => {
                let secret = sized(&value, text).and_then(|secret| keyed(&value, secret));
                secret.map_or(Self::Wrong, |secret| Self::Secret(value, secret))
            }
        }
    }
}

/// Whether there must be a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// Its lack is a mistake.
    Obligatory,
    /// There may be none.
    Optional,
}

/// Where secrets are looked up, and which were used.
pub(super) struct Secrets<'a> {
    /// The folder of `formd.toml`.
    base: &'a Path,
    /// `$CREDENTIALS_DIRECTORY`.
    credentials: Option<&'a Path>,
    /// The names used, each with the sum of its file.
    used: RefCell<BTreeMap<String, Option<Sha256Sum>>>,
}

impl<'a> Secrets<'a> {
    /// The look-up of a configuration.
    pub(super) fn new(files: &'a Files) -> Self {
        Self { base: &files.base, credentials: files.credentials.as_deref(), used: RefCell::default() }
    }

    /// Adds the names of the files used and the sums of their bytes.
    pub(super) fn sum(&self, sum: &mut RunningSum) {
        for (name, file) in self.used.borrow().iter() {
            sum.push(Sha256Sum::of(name.as_bytes()).as_bytes());
            sum.push(file.map_or([0; 32], |file| *file.as_bytes()).as_slice());
        }
    }

    /// Adds another file whose bytes are part of the configuration, under a name that no secret has.
    pub(super) fn count(&self, name: String, bytes: &[u8]) {
        self.used.borrow_mut().insert(name, Some(Sha256Sum::of(bytes)));
    }

    /// What signs a webhook's bodies: `secret` or `secret_file` of `table`, which stands in `file`, and while receivers
    /// change over the one before. `None` after a mistake, or where there need not be one and is none.
    pub(super) fn signing(&self, table: &mut Table<'_>, file: &TextFile, need: Need) -> Option<Signing> {
        let current = Key::of(self.given(table, file, "secret", "secret_file"));
        let previous = Key::of(self.given(table, file, "previous_secret", "previous_secret_file"));
        match (current, previous) {
            (Key::Secret(_, secret), Key::Nothing) => return Some(Signing { secret, previous: None }),
            (Key::Secret(_, secret), Key::Secret(_, previous)) if secret != previous => {
                return Some(Signing { secret, previous: Some(previous) });
            }
            (Key::Secret(..), Key::Secret(value, _)) => {
                value.wrong("the previous secret is the current one", "make a new one for `secret_file`");
            }
            (Key::Nothing, Key::Secret(value, _)) => {
                let remedy = "name the current secret beside it, or take the previous one as `secret_file`";
                value.misplaced(format!("{} stands without a current secret", quoted(value.key)), remedy);
            }
            (Key::Nothing, _) if need == Need::Obligatory => {
                let remedy = "name the file of a secret of 16 to 256 characters: `secret_file = \"NAME\"`";
                table.missing("secret", remedy);
            }
            (Key::Nothing | Key::Wrong, _) | (_, Key::Wrong) => {}
        }
        None
    }

    /// What `table`, which stands in `file`, says of a secret: inline under `key`, or a file's name under `named`.
    pub(super) fn given<'d>(
        &self,
        table: &mut Table<'d>,
        file: &TextFile,
        key: &'static str,
        named: &'static str,
    ) -> Given<'d> {
        let (value, text) = match (table.take(key), table.take(named)) {
            (None, None) => return Given::Nothing,
            (Some(_), Some(other)) => {
                other.misplaced(format!("`{named}` stands beside `{key}`"), "keep one of the two");
                return Given::Wrong;
            }
            (Some(inline), None) => {
                file.keeps_secret(&inline);
                let text = inline.text().map(str::to_owned);
                (inline, text)
            }
            (None, Some(value)) => {
                let text = self.read(&value);
                (value, text)
            }
        };
        text.map_or(Given::Wrong, |text| Given::Text(value, text))
    }

    /// The secret that signs the bodies of a form, in the file that `value` names.
    pub(super) fn of_signature(&self, value: &Value<'_>) -> Option<Secret> {
        sized(value, self.read(value)?)
    }

    /// The text of the file that a value names.
    pub(super) fn read(&self, value: &Value<'_>) -> Option<String> {
        let name = value.line()?;
        if name.starts_with(signing::PREFIX) {
            let remedy = "write the secret into a file and name that";
            value.wrong(format!("{} is a secret itself", quoted(value.key)), remedy);
            return None;
        }
        let own = if name.contains('/') { self.base.join(name) } else { self.base.join("secrets").join(name) };
        let lent = self.credentials.filter(|_| !name.contains('/')).map(|folder| folder.join(name));
        let found = read_secret(&own);
        let sum = found.as_ref().ok().map(|(bytes, _)| Sha256Sum::of(bytes));
        self.used.borrow_mut().insert(name.to_owned(), sum);
        let lent = lent.map(|path| (read_secret(&path), path));
        let (read, path): (_, PathBuf) = match lent {
            Some((Err(error), _)) if error.kind() == io::ErrorKind::NotFound => (found, own),
            Some(lent) => lent,
            None => (found, own),
        };
        let shown = quoted(&path.to_string_lossy());
        let (bytes, meta) = match read {
            Ok(read) => read,
            Err(error) => {
                let remedy = "create it with the secret as its only line, readable by formd alone";
                value.wrong(format!("the secret file {shown} cannot be read: {}", reason(&error)), remedy);
                return None;
            }
        };
        if meta.mode() & OTHERS_READ != 0 {
            let remedy = format!("run `chmod o-r {}`", printable(&path.to_string_lossy()));
            value.wrong(format!("other users can read the secret file {shown}"), remedy);
        }
        let Ok(mut text) = String::from_utf8(bytes) else {
            value.wrong(format!("the secret file {shown} is not UTF-8"), "write the secret as plain text");
            return None;
        };
        let trimmed = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).unwrap_or(&text).len();
        text.truncate(trimmed);
        Some(text)
    }
}

/// A secret that Standard Webhooks finds a key in.
fn keyed(value: &Value<'_>, secret: Secret) -> Option<Secret> {
    if signing::key(secret.reveal()).is_err() {
        value.wrong(
            "the secret begins with `whsec_`, and what follows is no base64",
            "copy it whole, with the `=` at its end, or take a text that does not begin with `whsec_`",
        );
        return None;
    }
    Some(secret)
}

/// A secret that is long enough to be one.
fn sized(value: &Value<'_>, text: String) -> Option<Secret> {
    if !LENGTH.contains(&text.chars().count()) {
        let remedy = "take a random text of 16 to 256 characters, such as `openssl rand -hex 32` prints";
        value.wrong("the secret is too short or too long", remedy);
        return None;
    }
    // What a second line, a line too many or an editor's byte order mark adds, the other side does not have.
    if text.chars().any(|c| c.is_control() || c == '\u{feff}') {
        value.wrong(
            "the secret is not one line of visible characters",
            "write it as the only line of its file, in UTF-8 without a byte order mark",
        );
        return None;
    }
    Some(Secret::new(text))
}
