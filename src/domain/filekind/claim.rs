//! What a file's name claims, held against what its content is.

use super::{Close, FileKind, Sniffed};

/// How a file's extension stands to its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// It names the kind, or nothing that anybody relies on (`report.v2`, no extension).
    Agrees,
    /// It names another type than this true one: refused where the form restricts types, else the true one is stored.
    Contradicts(FileKind),
    /// Text under the extension of a binary type: always refused. Programs open by extension and find what an
    /// attacker wrote (MHTML in a `.docx`), or the file is a mistake.
    TextUnderBinary,
}

/// A supported file: its kind, and what its name makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// The true kind.
    pub kind: FileKind,
    /// Whether the extension says so too.
    pub agreement: Agreement,
}

/// Extensions of formats that are text for whoever opens them: no contradiction to text.
const TEXTUAL: &[&str] = &[
    "txt", "text", "csv", "tsv", "tab", "md", "markdown", "log", "json", "xml", "ics", "vcf", "eml", "ini", "cfg",
    "conf", "toml", "yaml", "yml", "tex", "bib", "srt", "asc", "nfo", "diff", "patch", "sql", "gpx", "kml", "geojson",
];

/// Extensions of text that a browser, a server or a shell runs.
const ACTIVE: &[&str] = &[
    "html", "htm", "xhtml", "xht", "shtml", "mht", "mhtml", "svg", "js", "mjs", "css", "php", "phtml", "asp", "aspx",
    "jsp", "py", "rb", "pl", "sh", "bash", "bat", "cmd", "ps1", "vbs", "vbe", "wsf", "hta", "reg", "url", "desktop",
    "jse", "wsh", "sct", "scf", "inf", "jnlp", "phar", "cgi", "ps", "eps", "slk", "iqy", "fodt", "fods", "fodp",
    "fodg",
];

/// Extensions of binary types that are not supported.
const BINARY: &[&str] = &[
    "doc", "dot", "xls", "xlt", "ppt", "pps", "pot", "docm", "xlsm", "pptm", "dotx", "dotm", "xltx", "xltm", "potx",
    "potm", "ppsx", "ppsm", "xlsb", "xlam", "ott", "ots", "otp", "odg", "odf", "pages", "numbers", "key", "heic",
    "heif", "hif", "tif", "tiff", "bmp", "ico", "psd", "jxl", "jp2", "dng", "cr2", "nef", "arw", "exe", "dll", "msi",
    "com", "scr", "lnk", "jar", "apk", "app", "dmg", "pkg", "deb", "rpm", "iso", "img", "zip", "rar", "7z", "gz",
    "tgz", "bz2", "xz", "tar", "cab", "mp3", "mp4", "m4a", "m4v", "mov", "avi", "mkv", "webm", "wav", "ogg", "flac",
    "aac", "amr", "wmv", "wma", "3gp", "msg", "epub", "mobi", "djvu", "xps", "vsd", "vsdx", "mdb", "accdb", "dwg",
    "db", "sqlite", "odb", "odm", "odc", "odi", "otg", "vst", "vsdm", "pub", "one", "mpp", "heics", "avci", "cr3",
    "svgz", "mpg", "mpeg", "opus", "aiff", "flv", "wps", "swf", "class", "zst", "lz", "azw3", "pst",
];

/// The kind of a file whose content is `sniffed` and whose name ends in `extension` (lower case, no dot, empty for
/// none): between text and table the name decides, and nothing else. `Err` is what the content is close to.
pub fn resolve(sniffed: Sniffed, extension: &str) -> Result<Resolved, Close> {
    let kind = match sniffed {
        Sniffed::Known(FileKind::Txt | FileKind::Csv) if extension == FileKind::Csv.extension() => FileKind::Csv,
        Sniffed::Known(FileKind::Csv) => FileKind::Txt,
        Sniffed::Known(kind) => kind,
        Sniffed::Refused(close) => return Err(close),
    };
    Ok(Resolved { kind, agreement: kind.agreement(extension) })
}

impl FileKind {
    /// Whether its files are plain text.
    fn is_text(self) -> bool {
        matches!(self, Self::Txt | Self::Csv)
    }

    /// How an extension (lower case, no dot, empty for none) stands to this kind.
    pub fn agreement(self, extension: &str) -> Agreement {
        let named = Self::from_extension(extension);
        if named == Some(self) {
            return Agreement::Agrees;
        }
        let is_binary = named.is_some_and(|kind| !kind.is_text()) || BINARY.contains(&extension);
        if self.is_text() && is_binary {
            return Agreement::TextUnderBinary;
        }
        let is_other_text = !self.is_text() && TEXTUAL.contains(&extension);
        if is_binary || is_other_text || ACTIVE.contains(&extension) {
            Agreement::Contradicts(self)
        } else {
            Agreement::Agrees
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_decides_between_text_and_table_and_nothing_else() {
        let text = Sniffed::Known(FileKind::Txt);
        for (extension, kind) in
            [("csv", FileKind::Csv), ("txt", FileKind::Txt), ("tsv", FileKind::Txt), ("", FileKind::Txt)]
        {
            assert_eq!(resolve(text, extension), Ok(Resolved { kind, agreement: Agreement::Agrees }), "{extension}");
        }
        assert_eq!(resolve(Sniffed::Known(FileKind::Pdf), "csv").unwrap().kind, FileKind::Pdf);
        assert_eq!(resolve(Sniffed::Refused(Close::Html), "csv"), Err(Close::Html));
    }

    #[test]
    fn an_extension_that_people_rely_on_must_be_the_true_one() {
        use Agreement::{Agrees, Contradicts, TextUnderBinary};
        let (pdf, txt, jpeg) = (FileKind::Pdf, FileKind::Txt, FileKind::Jpeg);
        let cases = [
            (pdf, "pdf", Agrees),
            (pdf, "", Agrees),
            (pdf, "v2", Agrees),
            (pdf, "docx", Contradicts(pdf)),
            (pdf, "txt", Contradicts(pdf)),
            (pdf, "exe", Contradicts(pdf)),
            (pdf, "html", Contradicts(pdf)),
            (FileKind::Docx, "zip", Contradicts(FileKind::Docx)),
            (FileKind::Rtf, "doc", Contradicts(FileKind::Rtf)),
            (jpeg, "jfif", Agrees),
            (jpeg, "png", Contradicts(jpeg)),
            (txt, "json", Agrees),
            (txt, "mann", Agrees),
            (txt, "html", Contradicts(txt)),
            (FileKind::Csv, "csv", Agrees),
        ];
        for (kind, extension, expected) in cases {
            assert_eq!(kind.agreement(extension), expected, "{kind:?} named .{extension}");
        }
        for kind in FileKind::ALL.into_iter().filter(|kind| !kind.is_text()) {
            for extension in kind.extensions() {
                assert_eq!(txt.agreement(extension), TextUnderBinary, "text named .{extension}");
            }
        }
        assert_eq!(txt.agreement("fodt"), Contradicts(txt), "a document that LibreOffice opens with its macros");
        for extension in ["doc", "xls", "zip", "heic", "exe", "odb", "cr3"] {
            assert_eq!(txt.agreement(extension), TextUnderBinary, "text named .{extension}");
        }
    }
}
