//! All kept values of a selection, oldest first: CSV for people ([`table`]), JSON Lines for programs ([`lines`]), a ZIP
//! with both and the files ([`archive`]).
//!
//! # What holds
//!
//! * Only values that are readable when their page is read; no reader stays open between two pages, and memory holds
//!   one page, whatever is stored.
//! * What arrives after the beginning is left out, so that the passes of one export speak of the same receipts.
//! * JSON Lines give every value as it was sent; CSV is for reading ([`guard`]).
//!
//! # What fails how
//!
//! Everything that cannot be written whole ends the export: the store, the output, a stored file whose bytes are not
//! those that were accepted. A file erased while the export runs is no failure: it is left out and counted. Whoever
//! gives the output its name does that after success.
//!
//! # What it does not do
//!
//! It is no backup: erased receipts, deliveries, keys and attempts are not in it.

mod archive;
mod guard;
mod lines;
mod table;
mod zone;

pub use guard::Guard;
pub use lines::{Attachment, Field, Origin};
pub use table::{Separator, Style};
pub use zone::Zone;

use std::io::{self, Write};

use crate::clock::Clock;
use crate::domain::ids::{AttachmentId, ReceiptId};
use crate::store::{Kept, Selection, Store, StoreError};

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One table.
    Csv,
    /// One object a receipt.
    Lines,
    /// Both, and the files.
    Zip,
}

/// What to write, and how.
#[derive(Clone, Debug)]
pub struct Order {
    /// The format.
    pub format: Format,
    /// Which receipts.
    pub selection: Selection,
    /// The declared fields, which have a column even when nobody filled them.
    pub declared: Vec<String>,
    /// How the table looks.
    pub style: Style,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Receipts.
    pub receipts: u64,
    /// Files.
    pub files: u64,
    /// Files that were erased while the export ran.
    pub erased_meanwhile: u64,
}

/// Why there is no export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store said no.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] io::Error),
    /// A stored file is gone or cannot be read.
    #[error("cannot read attachment `{0}`: {1}")]
    Unreadable(AttachmentId, #[source] io::Error),
    /// A stored file holds other bytes.
    #[error("attachment `{0}` is damaged: its bytes are not those that were accepted")]
    Damaged(AttachmentId),
    /// The columns were fixed before this field came.
    #[error("receipt `{0}` came in while the export ran and has a field that no other has")]
    NewField(ReceiptId),
}

/// Writes what `order` says to `to`; blocking. `progress` hears the percentage after each page.
pub fn run(
    store: &Store,
    clock: &Clock,
    order: &Order,
    to: &mut dyn Write,
    progress: &mut dyn FnMut(u8),
) -> Result<Report, ExportError> {
    let passes = match order.format {
        Format::Lines => 1,
        Format::Csv => 2,
        Format::Zip => 4,
    };
    let selection = Selection { last: store.newest()?, ..order.selection.clone() };
    let mut pages = Pages { store, clock, selection, passes, pass: 0, progress };
    let report = match order.format {
        Format::Lines => lines::write(&mut pages, to)?,
        Format::Csv => {
            let columns = table::columns(&mut pages, order)?;
            table::write(&mut pages, &columns, &order.style, to)?
        }
        Format::Zip => archive::write(&mut pages, order, to)?,
    };
    to.flush()?;
    Ok(report)
}

/// The receipts of an export, gone through once or more.
struct Pages<'a> {
    /// Where they are.
    store: &'a Store,
    /// What is readable now.
    clock: &'a Clock,
    /// Which.
    selection: Selection,
    /// Passes in all.
    passes: i64,
    /// Passes that are over.
    pass: i64,
    /// Hears how far it is.
    progress: &'a mut dyn FnMut(u8),
}

impl Pages<'_> {
    /// Gives each receipt to `take`, oldest first; how many there were.
    fn each(&mut self, mut take: impl FnMut(Kept) -> Result<(), ExportError>) -> Result<u64, ExportError> {
        let (mut count, mut next, mut first) = (0, None, None);
        loop {
            let page = self.store.kept(&self.selection, next, self.clock.now())?;
            for kept in page.receipts {
                let id = kept.id;
                let first = *first.get_or_insert(id);
                take(kept)?;
                count += 1;
                let percent = self.percent(first, id);
                (self.progress)(percent);
            }
            next = page.next;
            if next.is_none() {
                self.pass += 1;
                return Ok(count);
            }
        }
    }

    /// How far it is: this pass by the time between the first receipt and the last.
    fn percent(&self, first: ReceiptId, at: ReceiptId) -> u8 {
        let since = |id: ReceiptId| id.arrived_at().since(first.arrived_at()).as_millis();
        let whole = since(self.selection.last.unwrap_or(at)).max(1);
        let percent = 100 * (self.pass * whole + since(at)) / (self.passes * whole);
        u8::try_from(percent).unwrap_or(100).min(100)
    }
}

#[cfg(test)]
mod tests;
