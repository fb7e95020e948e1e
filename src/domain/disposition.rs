//! Reads a `Content-Disposition` header of a multipart part.
//!
//! Clients write file names in five spellings that contradict each other, so no single grammar reads them all.
//! The first reading that fits the whole header wins:
//!
//! 1. quoted strings in which `\"` is a quote and every other backslash is itself (Go, Ruby, Perl, curl
//!    `--form-escape`);
//! 2. the same with every backslash itself (browsers: a name may end in one);
//! 3. a quoted string ends at the last quote before the end, or before `; name=` or `; filename=` (clients that
//!    escape nothing).
//!
//! Then `%22`, `%0D` and `%0A` are decoded, as the HTML standard encodes them, and nothing else is, but for a file's
//! name that was encoded as a whole (aiohttp, needle): see `encoded_whole`. A part is a
//! file when a `filename` or `filename*` is there, whatever its value: a text can never turn into a file nor a
//! file into a text by what stands inside the quotes.
//!
//! Names stay bytes here: which charset they are in, the field `_charset_` may say long after this header.

use super::charset::Charset;

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// A text field.
    Field {
        /// Its name, `%22 %0D %0A` decoded.
        name: Vec<u8>,
    },
    /// A file, even one without a name or bytes.
    File {
        /// Its field's name, `%22 %0D %0A` decoded.
        name: Vec<u8>,
        /// The file name as sent.
        filename: SentName,
    },
}

/// A file's name as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SentName {
    /// `filename`, in the charset of the form; `%22 %0D %0A` decoded.
    Bytes(Vec<u8>),
    /// `filename*`, which names its charset itself.
    Text(String),
}

impl SentName {
    /// Whether nothing stands there.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Bytes(bytes) => bytes.is_empty(),
            Self::Text(text) => text.is_empty(),
        }
    }

    /// The name for display: in this charset, else UTF-8 with what is none replaced. It is shown and never acted upon.
    pub fn lossy(&self, charset: Charset) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Bytes(bytes) => charset.decode(bytes).unwrap_or_else(|_| String::from_utf8_lossy(bytes).into_owned()),
        }
    }
}

/// Why a part cannot be read: 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a part without a readable `Content-Disposition: form-data` header")]
pub struct DispositionError;

/// Reads the header's value.
pub fn parse(header: &[u8]) -> Result<Disposition, DispositionError> {
    let readings = [Quoting::EscapedQuote, Quoting::Literal, Quoting::LastQuote];
    let parameters = readings.into_iter().find_map(|quoting| split(header, quoting)).ok_or(DispositionError)?;
    let name = decode_three(single(&parameters, b"name")?.ok_or(DispositionError)?);
    let filename = match (single(&parameters, b"filename")?, single(&parameters, b"filename*")?) {
        (Some(plain), _) => match encoded_whole(plain) {
            Some(decoded) => SentName::Text(decoded),
            None => SentName::Bytes(decode_three(plain)),
        },
        (None, Some(extended)) => SentName::Text(decode_extended(extended)),
        (None, None) => return Ok(Disposition::Field { name }),
    };
    Ok(Disposition::File { name, filename })
}

/// One way to find the end of a quoted string.
#[derive(Clone, Copy, Debug)]
enum Quoting {
    /// At the first quote without a backslash before it.
    EscapedQuote,
    /// At the first quote.
    Literal,
    /// At the last quote that can end it.
    LastQuote,
}

/// A parameter's name and its value without quotes.
type Parameter<'a> = (&'a [u8], Vec<u8>);

/// The parameters of a `form-data` header; `None` when this reading does not fit the whole of it.
fn split(header: &[u8], quoting: Quoting) -> Option<Vec<Parameter<'_>>> {
    let end = header.iter().position(|&b| b == b';').unwrap_or(header.len());
    let (kind, mut rest) = header.split_at_checked(end)?;
    if !kind.trim_ascii().eq_ignore_ascii_case(b"form-data") {
        return None;
    }
    let mut parameters = Vec::new();
    loop {
        rest = rest.trim_ascii_start();
        match rest.split_first() {
            None => return Some(parameters),
            Some((b';', after)) => rest = after.trim_ascii_start(),
            Some(_) => return None,
        }
        if rest.first().is_none_or(|&b| b == b';') {
            continue;
        }
        let equals = rest.iter().position(|&b| b == b'=')?;
        let (name, value) = (rest.get(..equals)?.trim_ascii(), rest.get(equals + 1..)?.trim_ascii_start());
        if name.is_empty() || !name.iter().all(|&b| is_token(b)) {
            return None;
        }
        let (value, after) = match value.strip_prefix(b"\"") {
            Some(quoted) => unquote(quoted, quoting)?,
            None => bare(value)?,
        };
        parameters.push((name, value));
        rest = after;
    }
}

/// A byte of a parameter's name (RFC 9110, 5.6.2).
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// A value without quotes: all up to the next semicolon.
fn bare(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let end = text.iter().position(|&b| b == b';').unwrap_or(text.len());
    let (value, after) = text.split_at_checked(end)?;
    Some((value.trim_ascii_end().to_vec(), after))
}

/// The value of a quoted string whose opening quote is gone, and what follows its closing quote.
fn unquote(text: &[u8], quoting: Quoting) -> Option<(Vec<u8>, &[u8])> {
    let close = match quoting {
        Quoting::EscapedQuote => return unescape(text),
        Quoting::Literal => text.iter().position(|&b| b == b'"')?,
        Quoting::LastQuote => last_quote(text)?,
    };
    Some((text.get(..close)?.to_vec(), text.get(close + 1..)?))
}

/// Reads up to the first quote that no backslash precedes; `\"` becomes a quote.
fn unescape(text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut value = Vec::with_capacity(text.len());
    let mut at = 0;
    loop {
        match (text.get(at)?, text.get(at + 1)) {
            (b'\\', Some(b'"')) => {
                value.push(b'"');
                at += 2;
            }
            (b'"', _) => return Some((value, text.get(at + 1..)?)),
            (&other, _) => {
                value.push(other);
                at += 1;
            }
        }
    }
}

/// The first quote before `; name=` or `; filename=`, else the last quote of all.
fn last_quote(text: &[u8]) -> Option<usize> {
    let quotes = || text.iter().enumerate().filter(|&(_, &b)| b == b'"').map(|(at, _)| at);
    let ends = |at: &usize| text.get(at + 1..).is_some_and(begins_parameter);
    quotes().find(ends).or_else(|| quotes().next_back())
}

/// Whether `text` begins with `; name=` or `; filename=`.
fn begins_parameter(text: &[u8]) -> bool {
    let Some(rest) = text.trim_ascii_start().strip_prefix(b";") else { return false };
    let rest = rest.trim_ascii_start();
    [&b"name="[..], b"filename=", b"filename*="]
        .iter()
        .any(|name| rest.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name)))
}

/// The value of a parameter that may stand once; its name is compared without regard to case.
fn single<'a>(parameters: &'a [Parameter<'_>], name: &[u8]) -> Result<Option<&'a [u8]>, DispositionError> {
    let mut found = parameters.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_slice());
    match (found.next(), found.next()) {
        (first, None) => Ok(first),
        (_, Some(_)) => Err(DispositionError),
    }
}

/// The name behind a spelling that percent-encodes all of it: nothing but what RFC 3986 calls unreserved and whole
/// `%XX`, and behind those UTF-8 beyond ASCII. No browser spells a name so, since it would send those letters as they
/// are; who really named a file `%D0%B1.pdf` sees it as `б.pdf`, and a name is only ever shown.
fn encoded_whole(text: &[u8]) -> Option<String> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~%".contains(byte);
    let decoded = decode(text, |_| true);
    let signs = text.split(|byte| *byte == b'%').count() - 1;
    let stray = signs * 2 != text.len() - decoded.len();
    let decoded = String::from_utf8(decoded).ok()?;
    (text.iter().all(plain) && !stray && !decoded.is_ascii()).then_some(decoded)
}

/// Decodes `%22`, `%0D` and `%0A`, the three that the HTML standard encodes.
fn decode_three(text: &[u8]) -> Vec<u8> {
    decode(text, |byte| matches!(byte, b'"' | b'\r' | b'\n'))
}

/// Decodes the `%XX` whose byte is wanted; all others stay as they are.
fn decode(text: &[u8], wanted: impl Fn(u8) -> bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let byte = match after {
            [high, low, ..] if first == b'%' => hex_pair(*high, *low).filter(|&b| wanted(b)),
            _ => None,
        };
        out.push(byte.unwrap_or(first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    out
}

/// The byte that two hex digits stand for.
pub fn hex_pair(high: u8, low: u8) -> Option<u8> {
    let digit = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    Some(digit(high)? << 4 | digit(low)?)
}

/// Reads `charset'language'text` (RFC 8187). What its charset does not decode, or nobody knows, is shown as UTF-8.
fn decode_extended(value: &[u8]) -> String {
    let mut pieces = value.splitn(3, |&b| b == b'\'');
    let (Some(charset), Some(_), Some(text)) = (pieces.next(), pieces.next(), pieces.next()) else {
        return String::from_utf8_lossy(value).into_owned();
    };
    let charset = Charset::parse(&String::from_utf8_lossy(charset)).unwrap_or_default();
    SentName::Bytes(decode(text, |_| true)).lossy(charset)
}

#[cfg(test)]
mod tests {
    use super::super::filename;
    use super::*;
    use proptest::prelude::*;

    fn field(name: &str) -> Disposition {
        Disposition::Field { name: name.into() }
    }

    fn file(name: &str, filename: &str) -> Disposition {
        Disposition::File { name: name.into(), filename: SentName::Bytes(filename.into()) }
    }

    /// Headers captured from some thirty real clients and made by hand, each with what it means. Generated from
    /// captured requests: kind, name, display name, header with `\xNN` for bytes outside ASCII.
    #[test]
    fn what_real_clients_send_is_read_as_they_meant_it() {
        let table = include_str!("../../tests/data/dispositions.tsv");
        let mut rows = 0;
        for line in table.lines().filter(|l| !l.starts_with('#')) {
            let cells: Vec<&str> = line.split('\t').collect();
            let header = unescape_ascii(cells[4]);
            let got = parse(&header).unwrap_or_else(|_| panic!("{}: unreadable", cells[0]));
            let (kind, name, display) = match got {
                Disposition::Field { name } => ("field", name, String::new()),
                Disposition::File { name, filename } => {
                    ("file", name, filename::clean(&filename.lossy(Charset::UTF_8)))
                }
            };
            let got = (kind, String::from_utf8(name).unwrap(), display);
            let text = |cell: &str| String::from_utf8(unescape_ascii(cell)).unwrap();
            assert_eq!(got, (cells[1], text(cells[2]), text(cells[3])), "{}: {}", cells[0], cells[4]);
            rows += 1;
        }
        assert!(rows > 50, "{rows} rows");
    }

    /// Undoes the table's escapes: `\xNN` and nothing else.
    fn unescape_ascii(cell: &str) -> Vec<u8> {
        let mut pieces = cell.split("\\x");
        let mut out = pieces.next().unwrap().as_bytes().to_vec();
        for piece in pieces {
            out.push(u8::from_str_radix(&piece[..2], 16).unwrap());
            out.extend_from_slice(&piece.as_bytes()[2..]);
        }
        out
    }

    #[test]
    fn the_quotes_decide_what_is_a_file() {
        assert_eq!(parse(br#"form-data; name="a; filename=b""#), Ok(field("a; filename=b")));
        assert_eq!(parse(br#"form-data; filename="x; name=email"; name="file""#), Ok(file("file", "x; name=email")));
        assert_eq!(parse(br#"form-data; name="a"; filename="#), Ok(file("a", "")));
        assert_eq!(parse(br#"FORM-DATA; NAME="a"; FileName="b";"#), Ok(file("a", "b")));
        assert_eq!(parse(b"form-data;name=a;filename=b c.pdf"), Ok(file("a", "b c.pdf")));
    }

    #[test]
    fn the_first_reading_that_fits_wins() {
        assert_eq!(parse(br#"form-data; name="f"; filename="a\"b.pdf""#), Ok(file("f", "a\"b.pdf")));
        assert_eq!(parse(br#"form-data; name="f"; filename="dir\""#), Ok(file("f", "dir\\")));
        assert_eq!(parse(br#"form-data; name="f"; filename="a "b" c.pdf""#), Ok(file("f", "a \"b\" c.pdf")));
        assert_eq!(parse(br#"form-data; filename="a "b"; x.pdf"; name="f""#), Ok(file("f", "a \"b\"; x.pdf")));
        assert_eq!(parse(br#"form-data; name="f"; filename="%22%0d%0A%25%41""#), Ok(file("f", "\"\r\n%25%41")));
    }

    #[test]
    fn a_name_is_read_in_the_charset_that_it_or_the_form_says() {
        let shown = |header: &[u8], charset: &str| match parse(header).unwrap() {
            Disposition::File { filename, .. } => filename.lossy(Charset::parse(charset).unwrap()),
            Disposition::Field { .. } => panic!("a text"),
        };
        let extended = |value: &str| shown(format!("form-data; name=a; filename*={value}").as_bytes(), "utf-8");
        assert_eq!(extended("UTF-8''%D0%B1%22.pdf"), "б\".pdf");
        assert_eq!(extended("iso-8859-1'en'%E9.pdf"), "é.pdf");
        assert_eq!(extended("windows-1251''%E1.pdf"), "б.pdf");
        assert_eq!(extended("x''%D0%B1%FF"), "б\u{fffd}");
        assert_eq!(extended("no-quotes"), "no-quotes");
        let raw = b"form-data; name=a; filename=\"\xe1.pdf\"";
        assert_eq!(shown(raw, "windows-1251"), "б.pdf");
        assert_eq!(shown(raw, "utf-8"), "\u{fffd}.pdf");
        assert_eq!(parse(b"form-data; name=\"\xff\""), Ok(Disposition::Field { name: vec![0xff] }));
    }

    #[test]
    fn a_file_name_that_was_encoded_as_a_whole_is_decoded_as_a_whole() {
        let read = |sent: &str| match parse(format!("form-data; name=\"f\"; filename=\"{sent}\"").as_bytes()) {
            Ok(Disposition::File { filename, .. }) => filename.lossy(Charset::UTF_8),
            other => panic!("{other:?}"),
        };
        assert_eq!(read("%D0%BE%D1%82%20%22%D0%B1%22%20100%25.pdf"), "от \"б\" 100%.pdf");
        // Anything that a whole encoding would have encoded, or that is no UTF-8 beyond ASCII: only the three.
        for kept in ["100%.pdf", "%41.pdf", "a %D0%B1.pdf", "б%D0%B1.pdf", "%D0%B1%.pdf", "%D0.pdf", "%d0%b1(1).pdf"] {
            assert_eq!(read(kept), kept);
        }
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let bad: [&[u8]; 8] = [
            b"",
            b"form-data",
            b"attachment; name=\"a\"",
            b"form-data; filename=\"a\"",
            b"form-data; name=\"a\"; name=\"b\"",
            b"form-data; name=\"f\"; filename=\"a\"; FILENAME=\"b\"",
            b"form-data; name=\"a\" b",
            b"form-data; name*=utf-8''a",
        ];
        for header in bad {
            assert_eq!(parse(header), Err(DispositionError), "{:?}", String::from_utf8_lossy(header));
        }
    }

    proptest! {
        #[test]
        fn a_browsers_spelling_of_any_name_is_read_back(name in "[^%\"\\\\\r\n]{1,40}", filename in "[^%\r\n\\\\]{0,40}") {
            let encoded = filename.replace('"', "%22");
            let header = format!("form-data; name=\"{name}\"; filename=\"{encoded}\"");
            prop_assert_eq!(parse(header.as_bytes()), Ok(file(&name, &filename)));
        }

        #[test]
        fn no_file_name_turns_a_file_into_a_text_or_moves_it_to_another_field(
            filename in "([a\"; \\\\=]|name=|filename=){0,12}", noise in proptest::collection::vec(any::<u8>(), 0..80),
        ) {
            for inside in [filename.as_bytes(), &noise] {
                drop(parse(inside));
                let header = [b"form-data; name=\"a\"; filename=\"", inside, b"\""].concat();
                match parse(&header) {
                    Ok(Disposition::File { name, .. }) => prop_assert_eq!(name, b"a"),
                    Ok(Disposition::Field { .. }) => prop_assert!(false, "a text"),
                    Err(DispositionError) => {}
                }
            }
        }
    }
}
