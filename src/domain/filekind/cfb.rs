//! Compound files (MS-CFB): what Office wrote before 2007, and what it wraps around a password today.
//!
//! None of them is supported; the names of their streams say which words help. At most 64 sectors of the directory
//! are read.

use std::io::{self, Read, Seek, SeekFrom};

use super::walk::little;
use super::{Close, FileKind};

/// How a compound file begins.
pub(super) const MAGIC: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// Bytes of the header.
const HEADER: u64 = 512;
/// Sectors of the directory that are read, at most.
const SECTORS: usize = 64;
/// Sectors of the allocation table that the header names.
const TABLES: u64 = 109;
/// Bytes of a directory entry.
const ENTRY: usize = 128;

/// Names a compound file.
pub(super) fn name(file: &mut (impl Read + Seek)) -> io::Result<Close> {
    let header = read(file, 0, HEADER)?;
    let shift = little(&header, 30, 2);
    if !matches!(shift, 9 | 12) {
        return Ok(Close::Unknown);
    }
    let mut sector = little(&header, 48, 4);
    let mut old = None;
    for _ in 0..SECTORS {
        // Numbers from 0xFFFFFFFA end a chain or mean none.
        if sector >= 0xFFFF_FFFA {
            break;
        }
        let bytes = read(file, (sector + 1) << shift, 1 << shift)?;
        for entry in bytes.chunks_exact(ENTRY) {
            match stream(entry).as_str() {
                "EncryptedPackage" => return Ok(Close::EncryptedOffice),
                "WordDocument" => old = old.or(Some(FileKind::Docx)),
                "Workbook" | "Book" => old = old.or(Some(FileKind::Xlsx)),
                "PowerPoint Document" => old = old.or(Some(FileKind::Pptx)),
                _ => {}
            }
        }
        // The next sector stands in the allocation table, four bytes each.
        let (table, slot) = (sector >> (shift - 2), sector % (1 << (shift - 2)));
        if table >= TABLES {
            break;
        }
        let table = little(&header, 76 + usize::try_from(table).unwrap_or_default() * 4, 4);
        sector = little(&read(file, ((table + 1) << shift) + slot * 4, 4)?, 0, 4);
    }
    Ok(old.map_or(Close::Unknown, Close::OldOffice))
}

/// The name of a directory entry: UTF-16, its length with the closing NUL beside it.
fn stream(entry: &[u8]) -> String {
    let length = usize::try_from(little(entry, 64, 2)).unwrap_or_default().clamp(2, 64) - 2;
    let units = entry.get(..length).unwrap_or_default().as_chunks::<2>().0.iter().map(|pair| u16::from_le_bytes(*pair));
    char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Reads up to `length` bytes at `offset`, as many as there are.
fn read(file: &mut (impl Read + Seek), offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
