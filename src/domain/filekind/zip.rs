//! The directory of a ZIP file (APPNOTE 6.3.10), found from its end and read within fixed bounds: 64 KiB of tail,
//! 512 KiB of directory, 4,096 members. Members are not inflated, but for the few that the caller names.
//!
//! Nothing here trusts a local header: sizes come from the directory, as with data descriptors they must. What two
//! readers could read in two ways (two ends, a directory longer than its count, members that overlap) is broken.

use std::io::{self, Read, Seek, SeekFrom};

use super::walk::little;

/// How the end record begins.
const END: &[u8] = b"PK\x05\x06";
/// Bytes of the end record without its comment.
const END_SIZE: usize = 22;
/// Bytes of tail that can hold the end record: with the longest comment.
const TAIL: u64 = 65_535 + END_SIZE as u64;
/// Most bytes of a directory that is read: as many members as are taken, with names of 80 bytes.
const DIRECTORY: u64 = 512 << 10;
/// Most members. Decks of hundreds of slides have a few thousand.
const MEMBERS: u64 = 4096;
/// Bytes of a directory entry without its name, extra fields and comment.
const ENTRY_SIZE: usize = 46;
/// Bytes of a local header without its name and extra fields.
const LOCAL_SIZE: u64 = 30;
/// Most bytes of one compressed member that are read.
const PACKED: u64 = 256 << 10;

/// A member, as the directory describes it.
#[derive(Debug)]
pub(super) struct Member {
    /// The name, with `/` between folders, as sent but for backslashes and a leading `/`, which .NET writers leave.
    pub(super) name: String,
    /// Compression method: 0 stored, 8 deflated.
    method: u64,
    /// Whether the member has a password.
    pub(super) is_encrypted: bool,
    /// Bytes in the archive.
    packed: u64,
    /// Bytes once unpacked, as declared.
    pub(super) size: u64,
    /// Where its local header is.
    offset: u64,
}

/// What the end of the file led to.
#[derive(Debug)]
pub(super) enum Directory {
    /// The members, in the order of the directory.
    Members(Vec<Member>),
    /// No directory, or one that contradicts itself or the file.
    Broken,
    /// More members than anybody puts into a document.
    TooLarge,
}

/// The contents of a member.
#[derive(Debug)]
pub(super) enum Contents {
    /// All of it.
    Whole(Vec<u8>),
    /// More than the caller's bound.
    TooLarge,
    /// Not readable: another method, damaged, or not what the directory says.
    Broken,
}

/// Where the directory is.
struct Place {
    /// Its first byte.
    offset: u64,
    /// Its bytes.
    size: u64,
    /// Its entries.
    count: u64,
}

/// Reads the directory of a file of `size` bytes.
pub(super) fn directory(file: &mut (impl Read + Seek), size: u64) -> io::Result<Directory> {
    let Some(place) = place(file, size)? else { return Ok(Directory::Broken) };
    if place.count > MEMBERS || place.size > DIRECTORY {
        return Ok(Directory::TooLarge);
    }
    let bytes = read(file, place.offset, place.size)?;
    Ok(members(&bytes, &place).map_or(Directory::Broken, Directory::Members))
}

/// Finds the directory; `None` when there is none that fits into the file.
fn place(file: &mut (impl Read + Seek), size: u64) -> io::Result<Option<Place>> {
    let start = size.saturating_sub(TAIL);
    let tail = read(file, start, size - start)?;
    let Some(at) = end_record(&tail) else { return Ok(None) };
    let end = tail.get(at..).unwrap_or_default();
    let mut place = Place { offset: little(end, 16, 4), size: little(end, 12, 4), count: little(end, 10, 2) };
    let mut limit = start + at as u64;
    if place.count == 0xFFFF || place.size == 0xFFFF_FFFF || place.offset == 0xFFFF_FFFF {
        // ZIP64: a locator stands in front of the end record and names the real one. Without it the numbers are meant.
        if let Some(at) = limit.checked_sub(20) {
            let locator = read(file, at, 20)?;
            if locator.starts_with(b"PK\x06\x07") {
                let offset = little(&locator, 8, 8);
                if offset.checked_add(56).is_none_or(|end| end > at) {
                    return Ok(None);
                }
                let record = read(file, offset, 56)?;
                if !record.starts_with(b"PK\x06\x06") {
                    return Ok(None);
                }
                let number = |at| little(&record, at, 8);
                (place, limit) = (Place { offset: number(48), size: number(40), count: number(32) }, offset);
            }
        }
    }
    let fits = place.offset.checked_add(place.size).is_some_and(|end| end <= limit);
    Ok(fits.then_some(place))
}

/// Where the end record is: its comment reaches to the end of the file, or blanks and NULs follow, which transfers
/// append. `None` when there is none, or two.
fn end_record(tail: &[u8]) -> Option<usize> {
    let padding = tail.iter().rev().take_while(|byte| **byte == 0 || byte.is_ascii_whitespace()).count();
    let padded_from = tail.len() - padding;
    let mut found = None;
    for (at, window) in tail.windows(END_SIZE).enumerate() {
        if !window.starts_with(END) {
            continue;
        }
        let end = at as u64 + END_SIZE as u64 + little(window, 20, 2);
        if end > tail.len() as u64 || end < padded_from as u64 {
            continue;
        }
        if found.is_some() {
            return None;
        }
        found = Some(at);
    }
    found
}

/// The members in a directory; `None` when they are not as many as declared, or do not fit in front of it.
fn members(directory: &[u8], place: &Place) -> Option<Vec<Member>> {
    let mut members = Vec::new();
    let mut rest = directory;
    let mut total = 0_u64;
    for _ in 0..place.count {
        let (member, behind) = member(rest)?;
        let end = member.offset.checked_add(LOCAL_SIZE)?.checked_add(member.packed)?;
        // Members that overlap are how a small file declares much.
        total = total.checked_add(LOCAL_SIZE)?.checked_add(member.packed)?;
        if end > place.offset || total > place.offset {
            return None;
        }
        members.push(member);
        rest = behind;
    }
    (!rest.starts_with(b"PK\x01\x02")).then_some(members)
}

/// The first entry of a directory, and what follows it.
fn member(directory: &[u8]) -> Option<(Member, &[u8])> {
    let (entry, rest) = directory.split_at_checked(ENTRY_SIZE)?;
    if !entry.starts_with(b"PK\x01\x02") {
        return None;
    }
    let length = |at| usize::try_from(little(entry, at, 2)).ok();
    let (name, rest) = rest.split_at_checked(length(28)?)?;
    let (extra, rest) = rest.split_at_checked(length(30)?)?;
    let (_, rest) = rest.split_at_checked(length(32)?)?;
    let mut sizes = [little(entry, 24, 4), little(entry, 20, 4), little(entry, 42, 4)];
    widen(&mut sizes, extra)?;
    let [size, packed, offset] = sizes;
    let name = String::from_utf8_lossy(name).replace('\\', "/");
    let name = name.strip_prefix('/').unwrap_or(&name).to_owned();
    let is_encrypted = little(entry, 8, 2) & 1 == 1;
    Some((Member { name, method: little(entry, 10, 2), is_encrypted, packed, size, offset }, rest))
}

/// Replaces the numbers that 32 bits cannot hold by those of the ZIP64 extra field, which has only these.
fn widen(numbers: &mut [u64; 3], mut extra: &[u8]) -> Option<()> {
    if numbers.iter().all(|number| *number != 0xFFFF_FFFF) {
        return Some(());
    }
    while extra.len() >= 4 {
        let (header, rest) = extra.split_at_checked(4)?;
        let (body, rest) = rest.split_at_checked(usize::try_from(little(header, 2, 2)).ok()?)?;
        if little(header, 0, 2) == 1 {
            let mut wide = body.as_chunks::<8>().0.iter();
            for number in numbers.iter_mut().filter(|number| **number == 0xFFFF_FFFF) {
                *number = u64::from_le_bytes(*wide.next()?);
            }
            return Some(());
        }
        extra = rest;
    }
    None
}

impl Member {
    /// The contents, at most `most` bytes.
    pub(super) fn contents(&self, file: &mut (impl Read + Seek), most: usize) -> io::Result<Contents> {
        if self.packed > PACKED || self.size > most as u64 {
            return Ok(Contents::TooLarge);
        }
        let packed = self.packed_head(file, self.packed)?;
        Ok(match (self.method, packed) {
            (0, Some(bytes)) if bytes.len() <= most => Contents::Whole(bytes),
            (8, Some(bytes)) => match miniz_oxide::inflate::decompress_to_vec_with_limit(&bytes, most) {
                Ok(bytes) => Contents::Whole(bytes),
                Err(error) if error.status == miniz_oxide::inflate::TINFLStatus::HasMoreOutput => Contents::TooLarge,
                Err(_) => Contents::Broken,
            },
            _ => Contents::Broken,
        })
    }

    /// Whether the member is kept as it is.
    pub(super) fn is_stored(&self) -> bool {
        self.method == 0
    }

    /// The first `most` bytes as they stand in the archive; `None` when the local header is not where it should be or
    /// names another member.
    pub(super) fn packed_head(&self, file: &mut (impl Read + Seek), most: u64) -> io::Result<Option<Vec<u8>>> {
        let local = read(file, self.offset, LOCAL_SIZE)?;
        if !local.starts_with(b"PK\x03\x04") {
            return Ok(None);
        }
        let name_length = little(&local, 26, 2);
        let name = read(file, self.offset + LOCAL_SIZE, name_length)?;
        if String::from_utf8_lossy(&name).replace('\\', "/").trim_start_matches('/')
            != self.name.trim_start_matches('/')
        {
            return Ok(None);
        }
        let start = self.offset + LOCAL_SIZE + name_length + little(&local, 28, 2);
        read(file, start, self.packed.min(most)).map(Some)
    }
}

/// Reads up to `length` bytes at `offset`, as many as there are.
fn read(file: &mut (impl Read + Seek), offset: u64, length: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(offset))?;
    file.take(length).read_to_end(&mut bytes)?;
    Ok(bytes)
}
