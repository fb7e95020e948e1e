//! Attachments on disk: `PartFile` -> `SealedFile` -> kept. Drop removes what was not kept.

use super::{DataDirectory, StoreError};
use crate::domain::digest::Sha256Sum;
use crate::domain::ids::AttachmentId;

/// An upload in progress, `tmp/*.part`; removed on drop.
#[derive(Debug)]
pub struct PartFile {}

impl PartFile {
    /// Creates an empty `.part` with a name of its own made of `random`.
    pub fn create(directory: &DataDirectory, random: u64) -> Result<Self, StoreError> {
        todo!()
    }

    /// Appends bytes; blocking.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        todo!()
    }

    /// Bytes so far.
    pub fn size(&self) -> u64 {
        todo!()
    }

    /// Hash of the bytes so far.
    pub fn sha256(&self) -> Sha256Sum {
        todo!()
    }

    /// Syncs and renames it to `attachments/<day>/<receipt>-<n>`, never over a file; the day's folder is made
    /// (and synced into `attachments/`) when missing. The folder itself is synced by the writer, once a group.
    pub fn seal(self, id: AttachmentId) -> Result<SealedFile, SealError> {
        todo!()
    }
}

/// Why a `.part` could not be sealed.
#[derive(Debug, thiserror::Error)]
pub enum SealError {
    /// The name is taken: draw another receipt.
    #[error("an attachment of this name exists")]
    Taken(PartFile),
    /// Anything else.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A file under its permanent name that no row names yet; removed on drop unless the writer keeps it.
#[derive(Debug)]
pub struct SealedFile {}

impl SealedFile {
    /// The path below `attachments/`.
    pub fn path(&self) -> &str {
        todo!()
    }
}
