//! A small real file of each supported kind, as the programs that make such files write them.

use crate::domain::filekind::FileKind;

/// The bytes of a file of this kind.
pub fn bytes(kind: FileKind) -> &'static [u8] {
    match kind {
        FileKind::Png => include_bytes!("files/formctl-test.png"),
        FileKind::Jpeg => include_bytes!("files/formctl-test.jpg"),
        FileKind::Webp => include_bytes!("files/formctl-test.webp"),
        FileKind::Avif => include_bytes!("files/formctl-test.avif"),
        FileKind::Gif => include_bytes!("files/formctl-test.gif"),
        FileKind::Pdf => include_bytes!("files/formctl-test.pdf"),
        FileKind::Docx => include_bytes!("files/formctl-test.docx"),
        FileKind::Xlsx => include_bytes!("files/formctl-test.xlsx"),
        FileKind::Pptx => include_bytes!("files/formctl-test.pptx"),
        FileKind::Odt => include_bytes!("files/formctl-test.odt"),
        FileKind::Ods => include_bytes!("files/formctl-test.ods"),
        FileKind::Odp => include_bytes!("files/formctl-test.odp"),
        FileKind::Rtf => include_bytes!("files/formctl-test.rtf"),
        FileKind::Txt => include_bytes!("files/formctl-test.txt"),
        FileKind::Csv => include_bytes!("files/formctl-test.csv"),
    }
}

/// What such a file is called.
pub fn name(kind: FileKind) -> String {
    format!("formctl-test.{}", kind.extension())
}

/// The first of these kinds (all when there are none) whose file has at most `most` bytes, else the first: the form
/// says what is wrong with it.
pub fn fitting(kinds: &[FileKind], most: u64) -> FileKind {
    let fits = |kind: &FileKind| u64::try_from(bytes(*kind).len()).is_ok_and(|size| size <= most);
    let first = kinds.first().copied().unwrap_or(FileKind::Pdf);
    if kinds.is_empty() || fits(&first) { first } else { kinds.iter().copied().find(fits).unwrap_or(first) }
}
