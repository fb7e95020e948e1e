//! What a file is, decided by its content and never by the browser's word.
//!
//! Bytes are pushed through a [`Sniffer`] as they arrive; nothing is kept but the head and the tail.

mod pdf;

use pdf::PdfScan;

/// A supported kind of attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Portable Document Format.
    Pdf,
}

/// What the bytes of a file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniffed {
    /// A supported kind, whole.
    Known(FileKind),
    /// It begins as a supported kind and does not end as one.
    Damaged(FileKind),
    /// Nothing that is supported.
    Unknown,
}

/// Looks at a file's bytes as they arrive.
#[derive(Debug, Default)]
pub struct Sniffer {
    /// Looks for a PDF.
    pdf: PdfScan,
}

impl Sniffer {
    /// The next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.pdf.push(bytes);
    }

    /// The verdict over all bytes.
    pub fn finish(self) -> Sniffed {
        self.pdf.finish()
    }
}

/// Extensions that name a type which people and programs rely on.
const CLAIMING: &[&str] = &[
    "png", "jpg", "jpeg", "jpe", "jfif", "webp", "avif", "gif", "pdf", "docx", "xlsx", "pptx", "odt", "ods", "odp",
    "rtf", "txt", "csv", "doc", "xls", "ppt", "docm", "xlsm", "pptm", "dotx", "xltx", "heic", "heif", "tif", "tiff",
    "bmp", "ico", "svg", "html", "htm", "xhtml", "xml", "json", "js", "mjs", "css", "php", "py", "sh", "bat", "cmd",
    "ps1", "vbs", "exe", "dll", "msi", "com", "scr", "lnk", "jar", "apk", "zip", "rar", "7z", "gz", "tar", "iso",
    "dmg", "mp3", "mp4", "mov", "avi", "webm", "wav", "eml", "msg", "epub", "md", "log", "ics", "vcf",
];

impl FileKind {
    /// All supported kinds.
    pub const ALL: [Self; 1] = [Self::Pdf];

    /// The MIME type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Pdf => "application/pdf",
        }
    }

    /// The usual extension.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Pdf => "pdf",
        }
    }

    /// What a visitor calls it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Pdf => "PDF",
        }
    }

    /// The visitor's words for `kinds`, joined by commas; all supported kinds when there are none.
    pub fn list(kinds: &[Self]) -> String {
        let kinds = if kinds.is_empty() { &Self::ALL[..] } else { kinds };
        kinds.iter().map(|kind| kind.label()).collect::<Vec<_>>().join(", ")
    }

    /// Whether an extension (lower case, no dot) claims another type than this. No extension, and one that names
    /// no common type (`report.v2`), claims nothing.
    pub fn is_contradicted_by(self, extension: &str) -> bool {
        Self::from_extension(extension) != Some(self) && CLAIMING.contains(&extension)
    }

    /// The kind of a MIME type.
    pub fn from_mime(mime: &str) -> Option<Self> {
        (mime == "application/pdf").then_some(Self::Pdf)
    }

    /// The kind of an extension in lower case, without the dot.
    pub fn from_extension(extension: &str) -> Option<Self> {
        (extension == "pdf").then_some(Self::Pdf)
    }

    /// Reads a word of a field's `types`: `.pdf`, `pdf` or a MIME type.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        Self::from_mime(&word).or_else(|| Self::from_extension(word.trim_start_matches('.')))
    }
}
