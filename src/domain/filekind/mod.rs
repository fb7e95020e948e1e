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

impl FileKind {
    /// Every supported kind, in the order in which messages name them.
    pub const ALL: &[Self] = &[Self::Pdf];

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
