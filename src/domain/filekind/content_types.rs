//! `[Content_Types].xml` of an OPC package (ECMA-376 part 2, 10.1): which part is of which type.
//!
//! Not an XML parser: a scan for `Default` and `Override`, under whatever prefix, in UTF-8 or UTF-16. What OPC forbids
//! and could make two readers differ (a DOCTYPE, CDATA, character references in a type) is no package.

use super::text;

/// One `Default` or `Override`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Declared {
    /// What it speaks of.
    pub(super) subject: Subject,
    /// The content type in lower case.
    pub(super) content_type: String,
}

/// What a declaration speaks of.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// Every part with this extension, lower case, unless overridden.
    Extension(String),
    /// One part; its name in lower case without the leading `/`.
    Part(String),
}

/// Reads the declarations; `None` when the text is no well-formed list of them.
pub(super) fn read(bytes: &[u8]) -> Option<Vec<Declared>> {
    let text = text::decode(bytes);
    let mut declared = Vec::new();
    let mut rest = text.as_str();
    while let Some((_, inside)) = rest.split_once('<') {
        if let Some(comment) = inside.strip_prefix("!--") {
            rest = comment.split_once("-->")?.1;
            continue;
        }
        if inside.starts_with('!') {
            return None;
        }
        let end = tag_end(inside)?;
        let (tag, behind) = inside.split_at_checked(end)?;
        rest = behind;
        let name = tag.split(|c: char| c.is_ascii_whitespace() || c == '/').next().unwrap_or_default();
        let local = name.rsplit(':').next().unwrap_or_default();
        let attributes = tag.get(name.len()..).unwrap_or_default();
        let subject = match local {
            "Default" => Subject::Extension(attribute(attributes, "Extension")?),
            "Override" => Subject::Part(attribute(attributes, "PartName")?.trim_start_matches('/').to_owned()),
            _ => continue,
        };
        let content_type = attribute(attributes, "ContentType")?;
        if content_type.contains('&') {
            return None;
        }
        declared.push(Declared { subject, content_type });
    }
    Some(declared)
}

/// Where the tag that has just begun ends: at the first `>` outside quotes.
fn tag_end(inside: &str) -> Option<usize> {
    let mut quote = None;
    inside.bytes().position(|byte| match (quote, byte) {
        (None, b'>') => true,
        (None, b'"' | b'\'') => {
            quote = Some(byte);
            false
        }
        (Some(open), _) if open == byte => {
            quote = None;
            false
        }
        _ => false,
    })
}

/// The value of an attribute in lower case.
fn attribute(attributes: &str, wanted: &str) -> Option<String> {
    let mut rest = attributes;
    loop {
        let (name, behind) = rest.split_once('=')?;
        let behind = behind.trim_start();
        let quote = behind.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, after) = behind.get(1..)?.split_once(quote)?;
        if name.trim() == wanted {
            return Some(value.trim().to_ascii_lowercase());
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_are_read_in_every_spelling_that_writers_use() {
        let expected = [
            Declared { subject: Subject::Extension("xml".to_owned()), content_type: "application/xml".to_owned() },
            Declared { subject: Subject::Part("word/document.xml".to_owned()), content_type: "a/b+xml".to_owned() },
        ];
        let spellings = [
            "<?xml version=\"1.0\"?><Types xmlns=\"x\"><Default Extension=\"xml\" ContentType=\"application/xml\"/>\
             <Override PartName=\"/word/document.xml\" ContentType=\"a/b+xml\"/></Types>",
            "<ns0:Types xmlns:ns0='x'><ns0:Default ContentType='application/xml' Extension='XML'></ns0:Default>\n\
             <!-- <Override PartName='/x' ContentType='y'/> --><ns0:Override\n\tContentType = 'a/B+xml'\r\n \
             PartName = '/word/Document.xml' /></ns0:Types>",
        ];
        for text in spellings {
            assert_eq!(read(text.as_bytes()).unwrap(), expected);
            let utf16: Vec<u8> = [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
            assert_eq!(read(&utf16).unwrap(), expected);
        }
    }

    #[test]
    fn what_two_readers_could_read_in_two_ways_is_refused() {
        let cases = [
            "<!DOCTYPE x><Types/>",
            "<Types><![CDATA[<Override PartName='/x' ContentType='y'/>]]></Types>",
            "<Types><Override PartName='/x' ContentType='macro&#69;nabled'/></Types>",
            "<Types><Override PartName='/x'/></Types>",
            "<Types><Override PartName=/x ContentType='y'/></Types>",
            "<Types><Override PartName='/x ContentType=",
            "<!-- ",
        ];
        for text in cases {
            assert_eq!(read(text.as_bytes()), None, "{text}");
        }
        assert_eq!(read(b"not xml").unwrap(), []);
    }
}
