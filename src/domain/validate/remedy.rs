//! What to do about a file that is close to something: the words for each [`Close`].
//!
//! A remedy names only kinds that the field takes; where it takes none of them, the list of what it takes is the better
//! advice and the caller gives it.

use super::super::filekind::{Close, FileKind};
use super::super::text::Texts;

/// What the file is. `None`: nothing is known that a visitor could use.
pub(super) fn what(close: Close, file: &str, texts: &Texts) -> Option<String> {
    Some(match close {
        Close::HeicPhoto => texts.file_heic(file),
        Close::OldOffice(_) => texts.file_old_office(file),
        Close::OtherDocument(_) => texts.file_document(file),
        Close::EncryptedOffice => texts.file_encrypted(file),
        Close::MacroOffice(_) => texts.file_macros(file),
        Close::TemplateOffice(_) => texts.file_template(file),
        Close::Overpacked => texts.file_overpacked(file),
        Close::PlainZip | Close::Archive => texts.file_archive(file),
        Close::OtherImage => texts.file_image(file),
        Close::Media => texts.file_media(file),
        Close::Html => texts.file_html(file),
        Close::Svg => texts.file_svg(file),
        Close::Script => texts.file_script(file),
        Close::Executable => texts.file_program(file),
        Close::Empty => texts.file_empty(file),
        Close::Damaged(_) => texts.file_damaged(file),
        Close::Unknown => return None,
    })
}

/// How to mend it, where the field takes the kinds in `accepted` (empty: all). `None`: only another file helps.
pub(super) fn how(close: Close, accepted: &[FileKind], texts: &Texts) -> Option<String> {
    let as_one_of = |kinds: &[FileKind]| offer(kinds, accepted, texts);
    match close {
        Close::HeicPhoto => as_one_of(&[FileKind::Jpeg]).map(|kinds| texts.file_heic_hint(&kinds)),
        Close::OtherDocument(FileKind::Pdf) => as_one_of(&[FileKind::Pdf]).map(|kinds| texts.file_save_as_hint(&kinds)),
        Close::OldOffice(kind) | Close::TemplateOffice(kind) | Close::OtherDocument(kind) => {
            as_one_of(&[kind, FileKind::Pdf]).map(|kinds| texts.file_save_as_hint(&kinds))
        }
        Close::MacroOffice(kind) => as_one_of(&[kind, FileKind::Pdf]).map(|kinds| texts.file_macros_hint(&kinds)),
        Close::EncryptedOffice => {
            let is_taken = accepted.is_empty() || accepted.iter().any(|kind| kind.is_office());
            is_taken.then(|| texts.file_encrypted_hint().to_owned())
        }
        Close::Overpacked => Some(texts.file_overpacked_hint().to_owned()),
        Close::PlainZip | Close::Archive => {
            let list = (!accepted.is_empty()).then(|| texts.file_type_hint(&FileKind::list(accepted)));
            Some([Some(texts.file_archive_hint().to_owned()), list].into_iter().flatten().collect::<Vec<_>>().join(" "))
        }
        Close::OtherImage => as_one_of(&[FileKind::Jpeg, FileKind::Png]).map(|kinds| texts.file_save_as_hint(&kinds)),
        Close::Media => Some(texts.file_media_hint().to_owned()),
        Close::Html => as_one_of(&[FileKind::Pdf]).map(|kinds| texts.file_save_as_hint(&kinds)),
        Close::Svg => as_one_of(&[FileKind::Png, FileKind::Pdf]).map(|kinds| texts.file_save_as_hint(&kinds)),
        Close::Script | Close::Executable | Close::Empty | Close::Damaged(_) | Close::Unknown => None,
    }
}

/// Those of two kinds that the field takes, as a visitor reads them.
fn offer(kinds: &[FileKind], accepted: &[FileKind], texts: &Texts) -> Option<String> {
    let mut taken = kinds.iter().filter(|kind| accepted.is_empty() || accepted.contains(kind)).map(|kind| kind.label());
    match (taken.next(), taken.next()) {
        (None, _) => None,
        (Some(one), None) => Some(one.to_owned()),
        (Some(first), Some(second)) => Some(texts.either(first, second)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::text::Language;

    /// Everything a file can be close to.
    const ALL: [Close; 18] = [
        Close::Empty,
        Close::Damaged(None),
        Close::HeicPhoto,
        Close::OldOffice(FileKind::Docx),
        Close::OtherDocument(FileKind::Pdf),
        Close::EncryptedOffice,
        Close::MacroOffice(FileKind::Xlsx),
        Close::TemplateOffice(FileKind::Pptx),
        Close::Overpacked,
        Close::PlainZip,
        Close::Archive,
        Close::OtherImage,
        Close::Media,
        Close::Html,
        Close::Svg,
        Close::Script,
        Close::Executable,
        Close::Unknown,
    ];

    #[test]
    fn what_is_close_is_named_with_a_remedy_that_the_field_takes() {
        let texts = Language::En.texts();
        let said = |close, accepted: &[FileKind]| how(close, accepted, &texts).unwrap_or_default();
        assert!(said(Close::HeicPhoto, &[]).starts_with("Please send it as JPEG."));
        assert_eq!(said(Close::HeicPhoto, &[FileKind::Pdf]), "", "a field for PDF takes no photo at all");
        let old = Close::OldOffice(FileKind::Docx);
        assert_eq!(said(old, &[]), "Please open it, save it as DOCX or PDF, and choose that file.");
        assert_eq!(said(old, &[FileKind::Pdf]), "Please open it, save it as PDF, and choose that file.");
        assert!(said(Close::MacroOffice(FileKind::Xlsx), &[]).contains("without macros, as XLSX or PDF"));
        assert!(said(Close::EncryptedOffice, &[]).contains("without the password"));
        assert_eq!(said(Close::EncryptedOffice, &[FileKind::Png]), "", "without its password it is no picture either");
        assert_eq!(
            said(Close::OtherDocument(FileKind::Pdf), &[]),
            "Please open it, save it as PDF, and choose that file."
        );
        assert!(said(Close::PlainZip, &[FileKind::Pdf]).ends_with("Accepted: PDF."));
    }

    #[test]
    fn every_language_names_every_kind_and_its_file() {
        for language in Language::ALL {
            let texts = language.texts();
            for close in ALL.into_iter().filter(|close| *close != Close::Unknown) {
                let words = what(close, "a.bin", &texts).unwrap_or_default();
                assert!(words.contains("a.bin"), "{} {close:?}: {words}", language.tag());
            }
        }
    }
}
