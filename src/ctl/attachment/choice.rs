//! Which of a receipt's files are meant, and the names they get outside.

use crate::ctl::outcome::{CommandError, Kind};
use crate::domain::visible::escape_line;
use crate::store::AttachmentRow;

/// Bytes of a file's name that every file system takes.
const NAME_BYTES: usize = 255;

/// What choosing a file needs to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// `RECEIPT-aN`.
    pub id: String,
    /// N.
    pub position: u8,
    /// The visitor's name for it.
    pub name: String,
}

impl From<&AttachmentRow> for Choice {
    fn from(row: &AttachmentRow) -> Self {
        Self { id: row.id.to_string(), position: row.id.position, name: row.name.clone() }
    }
}

/// Whether several files may be meant at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Several {
    /// They go into a folder.
    Fit,
    /// There is room for one, which must be named.
    MustBeNamed,
}

/// The receipt and its files from the object of `show --json`; no files once they are erased.
pub fn from_json(json: &str) -> Result<(String, Option<Vec<Choice>>), CommandError> {
    let strange = || CommandError::new(Kind::Failed, "cannot read what `formctl show --json` printed");
    let shown: serde_json::Value = serde_json::from_str(json).map_err(|_| strange())?;
    let id = shown.get("receipt").and_then(serde_json::Value::as_str).ok_or_else(strange)?;
    let Some(files) = shown.get("attachments").and_then(serde_json::Value::as_array) else {
        return Ok((id.to_owned(), None));
    };
    let choice = |file: &serde_json::Value| {
        let id = file.get("id")?.as_str()?.to_owned();
        let position = id.rsplit_once("-a")?.1.parse().ok()?;
        Some(Choice { id, position, name: file.get("name")?.as_str()?.to_owned() })
    };
    let choices: Option<Vec<Choice>> = files.iter().map(choice).collect();
    Ok((id.to_owned(), Some(choices.ok_or_else(strange)?)))
}

/// The files of `receipt` that `wanted` means: a name, `aN`, or `RECEIPT-aN`; without it all, where they fit.
pub fn choose<'a>(
    receipt: &str,
    all: &'a [Choice],
    wanted: Option<&str>,
    several: Several,
) -> Result<Vec<&'a Choice>, CommandError> {
    let by_id = |text: &str| all.iter().find(|choice| choice.id == text || format!("a{}", choice.position) == text);
    let found: Vec<&Choice> = match wanted {
        None => all.iter().collect(),
        Some(text) => match by_id(text) {
            Some(choice) => vec![choice],
            None => all.iter().filter(|choice| choice.name == text).collect(),
        },
    };
    match (found.len(), several, wanted) {
        (0, _, None) => Err(CommandError::new(Kind::NotFound, format!("receipt `{receipt}` has no files"))),
        (0, _, Some(text)) => {
            Err(told(all, Kind::NotFound, format!("receipt `{receipt}` has no file `{}`", escape_line(text))))
        }
        (1, _, _) | (_, Several::Fit, None) => Ok(found),
        (_, Several::MustBeNamed, None) => Err(told(
            all,
            Kind::Usage,
            format!("receipt `{receipt}` has several files: name one, or an existing folder with `-o DIR`"),
        )),
        (_, _, Some(text)) => {
            Err(told(all, Kind::NotFound, format!("`{}` names several files: give the id", escape_line(text))))
        }
    }
}

/// An error with the files that do exist.
fn told(all: &[Choice], kind: Kind, text: String) -> CommandError {
    let lines: Vec<String> =
        all.iter().map(|choice| format!("  a{}  {}", choice.position, escape_line(&choice.name))).collect();
    CommandError::new(kind, if lines.is_empty() { text } else { format!("{text}\n{}", lines.join("\n")) })
}

/// The name of a file outside: the visitor's without path parts, hidden characters, or a first character that
/// hides the file or makes it an option; with the place in front of the extension where two names are equal.
pub fn safe_name(choice: &Choice, all: &[Choice]) -> String {
    let name = clean(&choice.name);
    let name = if name.is_empty() { "file".to_owned() } else { name };
    let same = |other: &&Choice| clean(&other.name).eq_ignore_ascii_case(&name);
    let mark = if all.iter().filter(same).count() > 1 { format!("-a{}", choice.position) } else { String::new() };
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && extension.len() <= 16 => (stem, format!(".{extension}")),
        _ => (name.as_str(), String::new()),
    };
    let room = NAME_BYTES.saturating_sub(mark.len() + extension.len());
    let end = (0..=room.min(stem.len())).rev().find(|end| stem.is_char_boundary(*end)).unwrap_or(0);
    format!("{}{mark}{extension}", stem.get(..end).unwrap_or_default())
}

/// The name without what a file's name must not hold.
fn clean(name: &str) -> String {
    let mut letter = [0; 4];
    let name: String =
        name.trim()
            .chars()
            .map(|c| {
                if matches!(c, '/' | '\\') || escape_line(c.encode_utf8(&mut letter)) != c.to_string() {
                    '_'
                } else {
                    c
                }
            })
            .collect();
    match name.strip_prefix(['.', '-', '~']) {
        Some(rest) => format!("_{rest}"),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn files(names: &[&str]) -> Vec<Choice> {
        let choice = |(n, name): (usize, &&str)| {
            let position = u8::try_from(n + 1).unwrap();
            Choice { id: format!("4abc-a{position}"), position, name: (*name).to_owned() }
        };
        names.iter().enumerate().map(choice).collect()
    }

    #[test]
    fn a_file_is_meant_by_name_or_id() {
        let all = files(&["cv.pdf", "a1", "x.png", "x.png"]);
        let position = |wanted: &str| choose("4abc", &all, Some(wanted), Several::MustBeNamed).map(|f| f[0].position);
        assert_eq!(position("cv.pdf"), Ok(1));
        assert_eq!(position("a1"), Ok(1), "an id goes before a name");
        assert_eq!(position("4abc-a3"), Ok(3));
        assert_eq!(position("x.png").unwrap_err().code(), 3);
        let none = position("\u{1b}[2J").unwrap_err();
        assert_eq!(none.code(), 3);
        assert_eq!(
            none.text,
            "receipt `4abc` has no file `\\u{1b}[2J`\n  a1  cv.pdf\n  a2  a1\n  a3  x.png\n  a4  x.png"
        );
    }

    #[test]
    fn several_files_need_a_name_or_a_folder() {
        let all = files(&["a.pdf", "b.pdf"]);
        assert_eq!(choose("4abc", &all, None, Several::Fit).map(|f| f.len()), Ok(2));
        assert_eq!(choose("4abc", &all, None, Several::MustBeNamed).unwrap_err().code(), 2);
        assert_eq!(choose("4abc", &all[..1], None, Several::MustBeNamed).map(|f| f.len()), Ok(1));
        assert_eq!(choose("4abc", &[], None, Several::Fit).unwrap_err().code(), 3);
    }

    #[test]
    fn a_visitors_name_is_made_safe() {
        let long = format!("{}.pdf", "ж".repeat(200));
        for (name, safe) in [
            ("cv.pdf", "cv.pdf"),
            ("../../etc/passwd", "_._.._etc_passwd"),
            ("-rf", "_rf"),
            (".bashrc", "_bashrc"),
            ("..", "_."),
            ("~", "_"),
            ("", "file"),
            ("a\u{202e}fdp.exe", "a_fdp.exe"),
            ("a\nb\u{0}", "a_b_"),
            ("Résumé (1).pdf", "Résumé (1).pdf"),
            (long.as_str(), format!("{}.pdf", "ж".repeat(125)).as_str()),
        ] {
            let all = files(&[name]);
            assert_eq!(safe_name(&all[0], &all), safe, "{name:?}");
        }
        let twins = files(&["cv.pdf", "CV.pdf", "x"]);
        let names: Vec<_> = twins.iter().map(|file| safe_name(file, &twins)).collect();
        assert_eq!(names, ["cv-a1.pdf", "CV-a2.pdf", "x"]);
    }

    proptest! {
        #[test]
        fn no_name_leaves_its_folder(name in "\\PC*|[./\\-~\u{0}-\u{20}]*") {
            let all = files(&[&name, &name]);
            let safe = safe_name(&all[0], &all);
            prop_assert!(!safe.is_empty() && safe.len() <= NAME_BYTES);
            prop_assert!(!safe.contains(['/', '\0', '\\']) && !safe.starts_with(['.', '-']));
        }
    }

    #[test]
    fn the_files_are_read_back_from_show_json() {
        let json = r#"{"receipt":"4abc","attachments":[{"id":"4abc-a1","name":"cv.pdf"}]}"#;
        assert_eq!(from_json(json), Ok(("4abc".to_owned(), Some(files(&["cv.pdf"])))));
        assert_eq!(from_json(r#"{"receipt":"4abc","attachments":null}"#), Ok(("4abc".to_owned(), None)));
        for bad in ["", "{}", r#"{"receipt":"4abc","attachments":[{"id":"4abc"}]}"#] {
            assert!(from_json(bad).is_err(), "{bad}");
        }
    }
}
