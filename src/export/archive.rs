//! A ZIP: `submissions.jsonl`, `submissions.csv`, and each file as `files/RECEIPT/N-NAME`.
//!
//! It is written front to back, so a pipe will do, and of any size (ZIP64). A file's name is the visitor's without what
//! a file system or a shell minds; its place in front keeps names apart and gives none a meaning, as `CON` has on
//! Windows. The bytes are compared with the SHA-256 of their arrival on the way. The table of contents stays in memory
//! until the end, some hundred bytes a file: a ZIP cannot do without.

use std::fs::File;
use std::io::{self, Read, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{ExportError, Order, Pages, Report, Zone, lines, table};
use crate::clock::Clock;
use crate::domain::digest::RunningSum;
use crate::domain::filename;
use crate::domain::time::Timestamp;
use crate::store::{AttachmentRow, Store, StoreError};

/// Bytes from which on an entry needs ZIP64.
const LARGE: u64 = 0xffff_0000;

/// Writes the ZIP.
pub fn write(pages: &mut Pages<'_>, order: &Order, to: &mut dyn Write) -> Result<Report, ExportError> {
    let columns = table::columns(pages, order)?;
    let mut zip = ZipWriter::new_stream(to);
    let began = entry(&order.style.zone, pages.clock.now()).large_file(true);
    zip.start_file("submissions.jsonl", began).map_err(lost)?;
    let mut report = lines::write(pages, &mut zip)?;
    zip.start_file("submissions.csv", began).map_err(lost)?;
    table::write(pages, &columns, &order.style, &mut zip)?;
    let (store, clock) = (pages.store, pages.clock);
    pages.each(|kept| {
        for listed in &kept.attachments {
            let Some(file) = open(store, clock, listed)? else {
                report.erased_meanwhile += 1;
                continue;
            };
            let options = entry(&order.style.zone, kept.id.arrived_at()).large_file(listed.size >= LARGE);
            zip.start_file(name(listed), options).map_err(lost)?;
            copy(file, listed, &mut zip)?;
            report.files += 1;
        }
        Ok(())
    })?;
    zip.finish().map_err(lost)?;
    Ok(report)
}

/// An entry of this time, for its owner alone. Everything is deflated: what is not cannot be read from a pipe.
fn entry(zone: &Zone, moment: Timestamp) -> SimpleFileOptions {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .compression_level(Some(1))
        .unix_permissions(0o600);
    match zone.wall(moment).and_then(dos_time) {
        Some(time) => options.last_modified_time(time),
        None => options,
    }
}

/// A time between the years 1980 and 2107.
fn dos_time(wall: jiff::civil::DateTime) -> Option<DateTime> {
    let part = |number: i8| u8::try_from(number).ok();
    let (date, time) = (wall.date(), wall.time());
    let year = u16::try_from(date.year()).ok()?;
    let (month, day) = (part(date.month())?, part(date.day())?);
    DateTime::from_date_and_time(year, month, day, part(time.hour())?, part(time.minute())?, part(time.second())?).ok()
}

/// The name of a file in the ZIP.
fn name(row: &AttachmentRow) -> String {
    format!("files/{}/{}", row.id.receipt, filename::portable(&format!("{}-", row.id.position), &row.name))
}

/// Opens a stored file; `None`: its values are no longer readable, for a page is read long before its last file is.
fn open(store: &Store, clock: &Clock, row: &AttachmentRow) -> Result<Option<File>, ExportError> {
    let kept =
        || Ok::<_, StoreError>(store.show(row.id.receipt, clock.now())?.is_some_and(|v| v.attachments.is_some()));
    if !kept()? {
        return Ok(None);
    }
    match File::open(&row.path) {
        Ok(file) => Ok(Some(file)),
        // Erased between the question and the opening.
        Err(_) if !kept()? => Ok(None),
        Err(error) => Err(ExportError::Unreadable(row.id, error)),
    }
}

/// Copies the bytes of `row`, comparing them with the hash of their arrival.
fn copy(mut file: File, row: &AttachmentRow, zip: &mut impl Write) -> Result<(), ExportError> {
    let mut sum = RunningSum::default();
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let count = file.read(&mut buffer).map_err(|error| ExportError::Unreadable(row.id, error))?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        sum.push(bytes);
        zip.write_all(bytes)?;
    }
    if sum.finish() == row.sha256 { Ok(()) } else { Err(ExportError::Damaged(row.id)) }
}

/// What the writer of ZIPs says of its output.
fn lost(error: zip::result::ZipError) -> io::Error {
    match error {
        zip::result::ZipError::Io(error) => error,
        other => io::Error::other(other),
    }
}
