//! PDF: `%PDF-` at the start (a BOM or a few blanks allowed), `startxref` and `%%EOF` near the end.

use super::Sniffed;

/// Head and tail of the bytes so far.
#[derive(Debug, Default)]
pub(super) struct PdfScan {}

impl PdfScan {
    /// The next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        todo!()
    }

    /// The verdict.
    pub(super) fn finish(self) -> Sniffed {
        todo!()
    }
}
