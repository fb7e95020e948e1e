//! The files of a mail: read from their permanent place, checked, encoded one by one.

use std::error::Error;
use std::fs;

use lettre::message::header::{ContentTransferEncoding, ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Body, SinglePart};

use super::mail_text::header_line;
use crate::domain::digest::Sha256Sum;
use crate::store::AttachmentRow;

/// Bytes of an encoded file name in one line of the header.
const SEGMENT: usize = 60;

/// Reads and encodes the files. One file at a time is in memory twice; an error names the attachment, never the
/// file's name or path.
pub fn read(rows: &[AttachmentRow]) -> Result<Vec<SinglePart>, String> {
    rows.iter()
        .map(|row| {
            let bytes = fs::read(&row.path).map_err(|error| format!("attachment {}: {}", row.id, error.kind()))?;
            if Sha256Sum::of(&bytes) != row.sha256 {
                return Err(format!("attachment {}: its bytes are not those that were received", row.id));
            }
            Ok(part(row, bytes))
        })
        .collect()
}

/// A file as a part of a mail: its true type, base64 (a text must keep its line ends), its name twice.
fn part(row: &AttachmentRow, bytes: Vec<u8>) -> SinglePart {
    let octets = ContentType::parse("application/octet-stream").unwrap_or(ContentType::TEXT_PLAIN);
    SinglePart::builder()
        .header(ContentType::parse(&row.mime).unwrap_or(octets))
        .header(Disposition(disposition(&row.name)))
        .body(Body::new_with_encoding(bytes, ContentTransferEncoding::Base64).unwrap_or_else(Body::new))
}

/// `Content-Disposition`, ready to be written.
#[derive(Clone)]
struct Disposition(String);

impl Header for Disposition {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Content-Disposition")
    }

    fn parse(_: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Err("this header is only written".into())
    }

    fn display(&self) -> HeaderValue {
        // `disposition` makes printable ASCII in short lines out of any name.
        HeaderValue::dangerous_new_pre_encoded(Self::name(), self.0.clone(), self.0.clone())
    }
}

/// The header's value: the name by RFC 2231, in numbered pieces where it is long, and an ASCII name for readers that
/// do not know that. The true name stands first: whoever takes the first name understood takes the right one.
fn disposition(name: &str) -> String {
    let name = header_line(name);
    let ascii: String = name.chars().map(|c| if is_plain(c) { c } else { '_' }).collect();
    // Many readers decode encoded words here, where none belong.
    let ascii = ascii.replace("=?", "__");
    let mut lines = vec!["attachment".to_owned()];
    if ascii != name {
        let segments = segments(&name);
        lines.extend(segments.iter().enumerate().map(|(number, segment)| match segments.len() {
            1 => format!("filename*={segment}"),
            _ => format!("filename*{number}*={segment}"),
        }));
    }
    lines.push(format!("filename=\"{ascii}\""));
    lines.join(";\r\n ")
}

/// The name percent-encoded, cut into pieces of at most [`SEGMENT`] bytes, never inside a character: some readers
/// decode each piece by itself.
fn segments(name: &str) -> Vec<String> {
    let mut segments = vec![String::from("utf-8''")];
    for c in name.chars() {
        let encode = |byte: u8| if is_attr_char(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
        let encoded: String = c.encode_utf8(&mut [0; 4]).bytes().map(encode).collect();
        match segments.last_mut() {
            Some(last) if last.len() + encoded.len() <= SEGMENT => last.push_str(&encoded),
            _ => segments.push(encoded),
        }
    }
    segments
}

/// What may stand in a quoted string as it is.
fn is_plain(c: char) -> bool {
    c == ' ' || (c.is_ascii_graphic() && c != '"' && c != '\\')
}

/// RFC 5987, `attr-char`.
fn is_attr_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$&+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_has_an_ascii_fallback_beside_its_true_form() {
        assert_eq!(disposition("plan v2.pdf"), "attachment;\r\n filename=\"plan v2.pdf\"");
        assert_eq!(
            disposition("план.pdf"),
            "attachment;\r\n filename*=utf-8''%D0%BF%D0%BB%D0%B0%D0%BD.pdf;\r\n filename=\"____.pdf\""
        );
        assert_eq!(
            disposition("a\"b\\c\r\nX: y.pdf"),
            "attachment;\r\n filename*=utf-8''a%22b%5Cc%20X%3A%20y.pdf;\r\n filename=\"a_b_c X: y.pdf\""
        );
        assert_eq!(
            disposition("=?utf-8?Q?=0A?=.pdf"),
            "attachment;\r\n filename*=utf-8''%3D%3Futf-8%3FQ%3F%3D0A%3F%3D.pdf;\r\n filename=\"__utf-8?Q?=0A?=.pdf\""
        );
        let long = disposition(&"ж".repeat(120));
        assert!(long.contains("filename*0*=utf-8''%D0%B6") && long.contains("filename*12*="), "{long}");
        assert!(long.split("\r\n").all(|line| line.len() <= 140 && line.is_ascii()), "{long}");
    }
}
