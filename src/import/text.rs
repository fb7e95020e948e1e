//! The file before it is read: is it text at all, in which encoding, and is it CSV or JSON?
//!
//! It is read twice, since only its end tells whether all of it is UTF-8: first this look, then the import. So it
//! has to be a real file, not a pipe. What is no UTF-8 is taken for windows-1252, in which nearly every byte means
//! something: the caller says so, and a wrong guess shows in a dry run's first look at the values.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use super::ImportError;

/// The encoding of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, with a byte order mark or without.
    Utf8,
    /// Whatever Excel calls CSV in the west.
    Windows1252,
}

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Columns.
    Csv,
    /// A list, `[`.
    List,
    /// An object, `{`: the first of lines of them, or one around a list.
    Object,
}

/// A file that is ready to be read.
#[derive(Debug)]
pub struct Text {
    /// Its bytes behind the byte order mark.
    pub input: BufReader<File>,
    /// What they mean.
    pub encoding: Encoding,
    /// What they hold.
    pub shape: Shape,
}

/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes of one read.
const PIECE: usize = 64 * 1024;

/// Looks at all of a file and goes back to its beginning.
pub fn open(mut file: File) -> Result<Text, ImportError> {
    let facts = file.metadata().map_err(ImportError::Read)?;
    if !facts.is_file() {
        return Err(ImportError::Unfit("it is no regular file; the import reads it twice"));
    }
    file.rewind().map_err(ImportError::Read)?;
    let seen = look(&mut file)?;
    let start = if seen.first.starts_with(MARK) { MARK.len() } else { 0 };
    let begins = seen.first.get(start..).unwrap_or_default().iter().find(|byte| !byte.is_ascii_whitespace());
    let shape = match begins {
        Some(b'[') => Shape::List,
        Some(b'{') => Shape::Object,
        Some(b'<') => return Err(ImportError::Unfit("it is a web page or XML; export as CSV or JSON")),
        Some(_) => Shape::Csv,
        None => return Err(ImportError::Unfit("it is empty")),
    };
    if shape != Shape::Csv && seen.encoding != Encoding::Utf8 {
        return Err(ImportError::Unfit("it is JSON, but no UTF-8"));
    }
    file.seek(SeekFrom::Start(u64::try_from(start).unwrap_or(0))).map_err(ImportError::Read)?;
    Ok(Text { input: BufReader::with_capacity(PIECE, file), encoding: seen.encoding, shape })
}

/// What the first look saw.
struct Seen {
    /// The first bytes.
    first: Vec<u8>,
    /// The encoding of all.
    encoding: Encoding,
}

/// Reads all of a file.
fn look(file: &mut File) -> Result<Seen, ImportError> {
    let mut seen = Seen { first: Vec::new(), encoding: Encoding::Utf8 };
    let mut piece = vec![0; PIECE];
    // The bytes of a character that the last piece has begun, and behind them the next piece.
    let mut open = Vec::new();
    loop {
        let count = file.read(&mut piece).map_err(ImportError::Read)?;
        let bytes = piece.get(..count).unwrap_or_default();
        if bytes.is_empty() {
            break;
        }
        if seen.first.is_empty() {
            seen.first = bytes.to_vec();
        }
        if bytes.contains(&0) || seen.first.starts_with(b"PK") {
            return Err(ImportError::Unfit(if seen.first.starts_with(b"PK") {
                "it is an archive or a workbook; unpack it, or save it as CSV"
            } else {
                "it is UTF-16 or no text; save it as UTF-8"
            }));
        }
        open.extend_from_slice(bytes);
        match std::str::from_utf8(&open) {
            Ok(_) => open.clear(),
            Err(error) if error.error_len().is_none() => {
                open.drain(..error.valid_up_to());
            }
            Err(_) => {
                seen.encoding = Encoding::Windows1252;
                open.clear();
            }
        }
    }
    if !open.is_empty() {
        seen.encoding = Encoding::Windows1252;
    }
    Ok(seen)
}
