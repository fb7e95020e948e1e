//! Text: the whole file, as it streams. UTF-8, UTF-16 with a byte order mark, or 8-bit text; no NUL, no C0 control but
//! TAB, LF, CR and FF; and not the opening of a page, a picture or a script.
//!
//! Bytes above 0x7F are not checked against UTF-8: windows-125x gives all of them a meaning. Whether the text is a
//! table or prose is not asked here: the name decides.

/// What a whole text opens as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// Prose, a table, data.
    Plain,
    /// HTML, or XML that a browser shows as HTML.
    Html,
    /// SVG.
    Svg,
    /// PHP, a `#!` script, a server page.
    Script,
}

/// How the characters stand in the bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Coding {
    /// Fewer than two bytes were seen.
    #[default]
    Undecided,
    /// UTF-8 or 8-bit text.
    Bytes,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
}

/// Looks for what is no text.
#[derive(Debug, Default)]
pub(super) struct TextScan {
    /// The coding, by the first two bytes.
    coding: Coding,
    /// A byte whose partner has not arrived.
    odd: Option<u8>,
    /// Whether a high surrogate waits for its low one.
    is_half: bool,
    /// Whether something was found that no text holds.
    is_spoilt: bool,
}

/// Whether a character is a control that no text holds.
fn is_control(unit: u16) -> bool {
    unit < 0x20 && !matches!(unit, 0x09 | 0x0A | 0x0C | 0x0D)
}

impl TextScan {
    /// The next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        if self.is_spoilt {
            return;
        }
        if self.coding == Coding::Undecided {
            let Some((first, second, rest)) = self.pair(bytes) else { return };
            self.coding = match (first, second) {
                (0xFF, 0xFE) => Coding::Utf16Le,
                (0xFE, 0xFF) => Coding::Utf16Be,
                _ => Coding::Bytes,
            };
            if self.coding == Coding::Bytes {
                self.is_spoilt = is_control(first.into()) || is_control(second.into());
            }
            bytes = rest;
        }
        match self.coding {
            Coding::Undecided => {}
            Coding::Bytes => self.is_spoilt |= bytes.iter().any(|byte| is_control(u16::from(*byte))),
            Coding::Utf16Le => self.units(bytes, u16::from_le_bytes),
            Coding::Utf16Be => self.units(bytes, u16::from_be_bytes),
        }
    }

    /// The next two bytes and what follows them; a single one is kept.
    fn pair<'b>(&mut self, bytes: &'b [u8]) -> Option<(u8, u8, &'b [u8])> {
        let (first, rest) = match self.odd.take() {
            Some(odd) => (odd, bytes),
            None => bytes.split_first().map(|(first, rest)| (*first, rest))?,
        };
        let Some((second, rest)) = rest.split_first() else {
            self.odd = Some(first);
            return None;
        };
        Some((first, *second, rest))
    }

    /// Looks at UTF-16.
    fn units(&mut self, mut bytes: &[u8], read: fn([u8; 2]) -> u16) {
        while let Some((first, second, rest)) = self.pair(bytes) {
            let unit = read([first, second]);
            let is_low = matches!(unit, 0xDC00..=0xDFFF);
            self.is_spoilt |= is_control(unit) || is_low != self.is_half;
            self.is_half = matches!(unit, 0xD800..=0xDBFF);
            bytes = rest;
        }
    }

    /// Whether the bytes so far, taken as the whole file, are text.
    pub(super) fn is_text(&self) -> bool {
        let cut = match self.coding {
            // One byte in all: text if it is no control.
            Coding::Undecided => self.odd.is_some_and(|byte| is_control(byte.into())),
            Coding::Bytes => false,
            Coding::Utf16Le | Coding::Utf16Be => self.odd.is_some() || self.is_half,
        };
        !self.is_spoilt && !cut
    }
}

/// Tags that open a page: those of the MIME Sniffing Standard (7.1) and others that run or load something.
const TAGS: &[&str] = &[
    "html", "head", "body", "script", "iframe", "frameset", "style", "title", "base", "meta", "link", "h1", "div",
    "font", "table", "a", "b", "br", "p", "img", "image", "form", "input", "button", "object", "embed", "applet",
    "video", "audio", "math", "template", "marquee", "details", "center", "span", "noscript", "main", "section",
];

/// What a text opens as, by its first bytes.
pub(super) fn opening(head: &[u8]) -> Opening {
    let text = decode(head);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    if text.starts_with("#!") {
        return Opening::Script;
    }
    let lower = text.trim_start().to_ascii_lowercase();
    let Some(rest) = lower.strip_prefix('<') else { return Opening::Plain };
    if rest.starts_with("?xml") {
        return xml(&lower);
    }
    // A server page: PHP in its spellings (`<?echo` is one), ASP, JSP.
    if rest.starts_with(['?', '%']) {
        return Opening::Script;
    }
    if rest.starts_with("!doctype") {
        return xml(&lower);
    }
    if is_tag(rest, "svg") {
        return Opening::Svg;
    }
    if rest.starts_with("!--") || TAGS.iter().any(|tag| is_tag(rest, tag)) {
        return Opening::Html;
    }
    namespace(rest)
}

/// Whether `text` begins with `tag` and then something that ends a tag's name.
fn is_tag(text: &str, tag: &str) -> bool {
    let next = text.strip_prefix(tag).map(|rest| rest.bytes().next());
    next.is_some_and(|next| next.is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>' | b'[')))
}

/// What a DOCTYPE, without its `<`, says of the document; plain for a name that no browser knows.
fn doctype(inside: &str) -> Opening {
    let name = inside.strip_prefix("!doctype").unwrap_or_default().trim_start();
    if is_tag(name, "svg") {
        Opening::Svg
    } else if name.is_empty() || name.starts_with('>') || is_tag(name, "html") {
        Opening::Html
    } else {
        Opening::Plain
    }
}

/// What an XML document opens as: its first element decides, behind instructions, comments and the DOCTYPE.
fn xml(lower: &str) -> Opening {
    let mut rest = lower;
    while let Some(inside) = rest.trim_start().strip_prefix('<') {
        let end = match inside.as_bytes().first() {
            Some(b'?') if inside.starts_with("?xml-stylesheet") => return Opening::Html,
            Some(b'?') if inside.starts_with("?php") || inside.starts_with("?=") => return Opening::Script,
            Some(b'?') => "?>",
            Some(b'!') if inside.starts_with("!--") => "-->",
            Some(b'!') if doctype(inside) != Opening::Plain => return doctype(inside),
            // Entities that the document declares itself stand in brackets.
            Some(b'!') if inside.split('>').next().is_some_and(|start| start.contains('[')) => "]>",
            Some(b'!') => ">",
            _ if is_tag(inside, "svg") => return Opening::Svg,
            _ if is_tag(inside, "html") => return Opening::Html,
            _ => return namespace(inside),
        };
        match inside.find(end) {
            Some(at) => rest = inside.get(at + end.len()..).unwrap_or_default(),
            // What hides its first element behind so much has something to hide.
            None => return Opening::Html,
        }
    }
    Opening::Plain
}

/// What an element in an XML document is by its namespace, since a prefix can hide a name: `<s:svg xmlns:s="...">`.
/// `inside` begins with the element's name. Namespaces that it declares for others (flat ODF does) do not count.
fn namespace(inside: &str) -> Opening {
    let tag = inside.split('>').next().unwrap_or_default();
    let name = tag.split(|c: char| c.is_whitespace() || c == '/').next().unwrap_or_default();
    let attribute = name.split_once(':').map_or("xmlns".to_owned(), |(prefix, _)| format!("xmlns:{prefix}"));
    let values = tag
        .split(attribute.as_str())
        .skip(1)
        .map(|rest| rest.trim_start_matches([' ', '\t', '\r', '\n', '=', '"', '\'']));
    let mut openings = values.map(|value| {
        if value.starts_with("http://www.w3.org/2000/svg") {
            Opening::Svg
        } else if value.starts_with("http://www.w3.org/1999/xhtml") {
            Opening::Html
        } else {
            Opening::Plain
        }
    });
    openings.find(|opening| *opening != Opening::Plain).unwrap_or(Opening::Plain)
}

/// Whether a beginning holds nothing but blanks behind its byte order mark.
pub(super) fn is_blank(head: &[u8]) -> bool {
    decode(head).trim_start_matches('\u{feff}').trim_start().is_empty()
}

/// The characters of UTF-16 with a byte order mark, or of UTF-8 and 8-bit text, whose openings are ASCII.
pub(super) fn decode(bytes: &[u8]) -> String {
    let read: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return String::from_utf8_lossy(bytes).into_owned(),
    };
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| read(*pair));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_text(bytes: &[u8], chunk: usize) -> bool {
        let mut scan = TextScan::default();
        bytes.chunks(chunk).for_each(|piece| scan.push(piece));
        scan.is_text()
    }

    fn utf16(text: &str) -> Vec<u8> {
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_be_bytes).collect()
    }

    #[test]
    fn text_in_the_codings_of_the_world_is_text_and_binary_is_not() {
        let cases: [(&[u8], bool); 19] = [
            (b"", true),
            (b"a", true),
            (b"\x07", false),
            (b"name;city\r\n\"A\";B\r\n", true),
            (b"page one\x0cpage two\t.", true),
            ("Привет 🎉".as_bytes(), true),
            (b"\xef\xbb\xbfa,b", true),
            (b"\xcf\xf0\xe8\xe2\xe5\xf2", true),
            (b"caf\xe9 \x80 5", true),
            (b"a\0b", false),
            (b"\x1b[31mred", false),
            (b"end of a DOS file\x1a", false),
            (b"\xff\xfea\0\r\0\n\0", true),
            (b"\xfe\xff\0a\0\n", true),
            (b"\xff\xfe\x3d\xd8\x89\xde", true),
            (b"\xff\xfea\0b", false),
            (b"\xff\xfe\x3d\xd8", false),
            (b"\xff\xfe\x3d\xd8a\0", false),
            (b"\xff\xfe\0\0a\0\0\0", false),
        ];
        for (bytes, expected) in cases {
            for chunk in [1, 2, 3, 100] {
                assert_eq!(is_text(bytes, chunk), expected, "{bytes:?} in pieces of {chunk}");
            }
        }
    }

    #[test]
    fn what_a_browser_or_a_server_would_run_is_known_by_its_opening() {
        let cases = [
            ("<!DOCTYPE html><p>x", Opening::Html),
            ("  \r\n<HTML>", Opening::Html),
            ("<script>alert(1)</script>", Opening::Html),
            ("<img/src=x onerror=alert(1)>", Opening::Html),
            ("<!-- x --><svg>", Opening::Html),
            ("<svg/onload=alert(1)>", Opening::Svg),
            ("<!DOCTYPE svg PUBLIC \"x\">", Opening::Svg),
            ("<?xml version=\"1.0\"?>\n<!-- made by x -->\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>", Opening::Svg),
            ("<?xml version=\"1.0\"?><s:svg xmlns:s='http://www.w3.org/2000/svg'/>", Opening::Svg),
            ("<x:script xmlns:x=\"http://www.w3.org/1999/xhtml\">", Opening::Html),
            ("<?xml version=\"1.0\"?><?xml-stylesheet href=\"x\"?><a/>", Opening::Html),
            ("<?xml version=\"1.0\"?><!-- ", Opening::Html),
            ("<?php echo 1;", Opening::Script),
            ("\n<?= 1 ?>", Opening::Script),
            ("<? echo 1; ?>", Opening::Script),
            ("<?echo 1; ?>", Opening::Script),
            ("<?xml version=\"1.0\"?><?php system(1); ?><a/>", Opening::Script),
            (
                "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"b\">]><svg xmlns='http://www.w3.org/2000/svg'/>",
                Opening::Svg,
            ),
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><svg/>", Opening::Svg),
            ("<!DOCTYPE\n html>", Opening::Html),
            ("<!DOCTYPE>", Opening::Html),
            ("<!DOCTYPE note SYSTEM \"note.dtd\"><note/>", Opening::Plain),
            ("<%@ page language=\"java\" %>", Opening::Script),
            ("#!/bin/sh\n", Opening::Script),
            (
                "<?xml version=\"1.0\"?><o:doc xmlns:x=\"http://www.w3.org/1999/xhtml\" xmlns:o=\"urn:o\"/>",
                Opening::Plain,
            ),
            ("<?xml version=\"1.0\"?><invoice><a/></invoice>", Opening::Plain),
            ("<anna@example.com> wrote:", Opening::Plain),
            ("< 5 pieces", Opening::Plain),
            ("Use <br> here; #!/bin/sh", Opening::Plain),
            (" #! not a script", Opening::Plain),
            ("{\"a\": \"<html>\"}", Opening::Plain),
            ("MZ is how programs start", Opening::Plain),
        ];
        for (text, expected) in cases {
            assert_eq!(opening(text.as_bytes()), expected, "{text}");
            assert_eq!(opening(&utf16(text)), expected, "{text} in UTF-16");
            assert_eq!(opening(&[b"\xef\xbb\xbf", text.as_bytes()].concat()), expected, "{text} behind a BOM");
        }
    }
}
