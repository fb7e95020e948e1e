//! The fifteen kinds: their names, MIME types and extensions.

/// A supported kind of attachment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FileKind {
    /// Portable Network Graphics, animated ones included.
    Png,
    /// JPEG, baseline and progressive, RGB and CMYK.
    Jpeg,
    /// WebP, still and animated.
    Webp,
    /// AVIF, still and sequence.
    Avif,
    /// GIF 87a and 89a.
    Gif,
    /// Portable Document Format.
    Pdf,
    /// Word document, Office Open XML.
    Docx,
    /// Excel workbook, Office Open XML.
    Xlsx,
    /// Presentation, Office Open XML.
    Pptx,
    /// ODF text.
    Odt,
    /// ODF spreadsheet.
    Ods,
    /// ODF presentation.
    Odp,
    /// Rich Text Format.
    Rtf,
    /// Plain text.
    Txt,
    /// Plain text whose name says that it is a table.
    Csv,
}

/// How many kinds there are.
const COUNT: usize = 15;

impl FileKind {
    /// All supported kinds, in the order of the manual.
    pub const ALL: [Self; COUNT] = [
        Self::Png,
        Self::Jpeg,
        Self::Webp,
        Self::Avif,
        Self::Gif,
        Self::Pdf,
        Self::Docx,
        Self::Xlsx,
        Self::Pptx,
        Self::Odt,
        Self::Ods,
        Self::Odp,
        Self::Rtf,
        Self::Txt,
        Self::Csv,
    ];

    /// The registered MIME type.
    pub fn mime(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
            Self::Avif => "image/avif",
            Self::Gif => "image/gif",
            Self::Pdf => "application/pdf",
            Self::Docx => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            Self::Xlsx => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            Self::Pptx => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
            Self::Odt => "application/vnd.oasis.opendocument.text",
            Self::Ods => "application/vnd.oasis.opendocument.spreadsheet",
            Self::Odp => "application/vnd.oasis.opendocument.presentation",
            Self::Rtf => "application/rtf",
            Self::Txt => "text/plain",
            Self::Csv => "text/csv",
        }
    }

    /// Its extensions in lower case, the usual one first. `jfif` is what Chrome on Windows saves, `jpe`, `jif` and
    /// `pjpeg` what old programs do.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Png => &["png", "apng"],
            Self::Jpeg => &["jpg", "jpeg", "jpe", "jfif", "jif", "pjpeg", "pjp"],
            Self::Webp => &["webp"],
            Self::Avif => &["avif", "avifs"],
            Self::Gif => &["gif"],
            Self::Pdf => &["pdf"],
            Self::Docx => &["docx"],
            Self::Xlsx => &["xlsx"],
            Self::Pptx => &["pptx"],
            Self::Odt => &["odt"],
            Self::Ods => &["ods"],
            Self::Odp => &["odp"],
            Self::Rtf => &["rtf"],
            Self::Txt => &["txt", "text"],
            Self::Csv => &["csv"],
        }
    }

    /// The usual extension.
    pub fn extension(self) -> &'static str {
        self.extensions().first().copied().unwrap_or_default()
    }

    /// What a visitor calls it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Jpeg => "JPEG",
            Self::Webp => "WebP",
            Self::Avif => "AVIF",
            Self::Gif => "GIF",
            Self::Pdf => "PDF",
            Self::Docx => "DOCX",
            Self::Xlsx => "XLSX",
            Self::Pptx => "PPTX",
            Self::Odt => "ODT",
            Self::Ods => "ODS",
            Self::Odp => "ODP",
            Self::Rtf => "RTF",
            Self::Txt => "TXT",
            Self::Csv => "CSV",
        }
    }

    /// Whether it is an office file in a ZIP package.
    pub fn is_office(self) -> bool {
        matches!(self, Self::Docx | Self::Xlsx | Self::Pptx | Self::Odt | Self::Ods | Self::Odp)
    }

    /// The visitor's words for `kinds`, joined by commas; all supported kinds when there are none.
    pub fn list(kinds: &[Self]) -> String {
        let kinds = if kinds.is_empty() { &Self::ALL[..] } else { kinds };
        kinds.iter().map(|kind| kind.label()).collect::<Vec<_>>().join(", ")
    }

    /// The kind of a MIME type in lower case: the registered one, or a second registered name of the same format.
    pub fn from_mime(mime: &str) -> Option<Self> {
        match mime {
            "text/rtf" => Some(Self::Rtf),
            "image/apng" => Some(Self::Png),
            _ => Self::ALL.into_iter().find(|kind| kind.mime() == mime),
        }
    }

    /// The kind of an extension in lower case, without the dot.
    pub fn from_extension(extension: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.extensions().contains(&extension))
    }

    /// Reads a word of a field's `types`: `.pdf`, `pdf` or a MIME type, in any case.
    pub fn parse(word: &str) -> Option<Self> {
        let word = word.to_ascii_lowercase();
        Self::from_mime(&word).or_else(|| Self::from_extension(word.strip_prefix('.').unwrap_or(&word)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn each_kind_is_found_again_by_its_mime_type_and_by_each_extension() {
        let mut seen = HashSet::new();
        for kind in FileKind::ALL {
            assert_eq!(FileKind::parse(kind.mime()), Some(kind));
            assert_eq!(FileKind::parse(&format!(".{}", kind.extension().to_uppercase())), Some(kind));
            for extension in kind.extensions() {
                assert_eq!(FileKind::from_extension(extension), Some(kind));
                assert!(seen.insert(*extension), "`{extension}` names two kinds");
            }
        }
        assert_eq!(seen.len(), FileKind::ALL.iter().map(|kind| kind.extensions().len()).sum::<usize>());
    }

    #[test]
    fn wildcards_and_unsupported_words_are_no_kind() {
        for word in ["image/*", "*", "", ".", "..pdf", "doc", "application/msword", "heic", "zip", "text/html"] {
            assert_eq!(FileKind::parse(word), None, "{word}");
        }
    }
}
