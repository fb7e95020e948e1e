//! `manifest.json`: what a backup holds, written last. A folder without it is no backup.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::copy::Measured;
use crate::domain::digest::{InstanceKey, hex};
use crate::domain::time::Timestamp;
use crate::store::StoreError;
use crate::store::disk::{self, failed};

/// Its name in the folder.
pub(in crate::store) const MANIFEST: &str = "manifest.json";
/// The database's name in the folder.
pub(in crate::store) const DATABASE: &str = "formd.db";
/// The instance key's name in the folder.
pub(in crate::store) const KEY: &str = "key";
/// The folder of visitors' files.
pub(in crate::store) const ATTACHMENTS: &str = "attachments";
/// The layout that this program writes.
const FORMAT: u32 = 1;

/// What a backup holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct Manifest {
    /// The layout of the folder.
    formd_backup: u32,
    /// The formd that wrote it.
    pub(in crate::store) version: String,
    /// When, RFC 3339; the folder is named after it.
    pub(in crate::store) at: String,
    /// The version of the database's schema.
    pub(in crate::store) schema: usize,
    /// Receipts in the database.
    pub(in crate::store) receipts: u64,
    /// The instance key.
    pub(in crate::store) key: KeyFacts,
    /// The database.
    pub(in crate::store) database: FileFacts,
    /// Every file of a visitor, ordered by path.
    pub(in crate::store) files: Vec<FileFacts>,
}

/// What is known of the instance key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct KeyFacts {
    /// Whether the backup holds it.
    pub(in crate::store) included: bool,
    /// Tells the right key from a wrong one, and says nothing about it.
    pub(in crate::store) fingerprint: String,
}

/// A file as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::store) struct FileFacts {
    /// Below the folder.
    pub(in crate::store) path: String,
    /// Bytes.
    pub(in crate::store) size: u64,
    /// SHA-256, 64 hex digits.
    pub(in crate::store) sha256: String,
}

impl FileFacts {
    /// A file that was measured.
    pub(in crate::store) fn new(path: String, measured: Measured) -> Self {
        Self { path, size: measured.size, sha256: measured.sha256.to_string() }
    }

    /// Whether these are its bytes.
    pub(in crate::store) fn is(&self, measured: Measured) -> bool {
        self.size == measured.size && self.sha256 == measured.sha256.to_string()
    }
}

impl Manifest {
    /// The manifest of a backup made now by this program.
    pub(in crate::store) fn new(
        at: Timestamp,
        (schema, receipts): (usize, u64),
        key: KeyFacts,
        database: FileFacts,
        files: Vec<FileFacts>,
    ) -> Self {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Self { formd_backup: FORMAT, version, at: at.to_string(), schema, receipts, key, database, files }
    }

    /// Reads the manifest of a folder; the error says in words what is wrong with it.
    pub(in crate::store) fn read(folder: &Path) -> Result<Self, String> {
        let text = std::fs::read(folder.join(MANIFEST)).map_err(|error| format!("cannot be read: {error}"))?;
        let found: Self =
            serde_json::from_slice(&text).map_err(|error| format!("is not what formd writes: {error}"))?;
        match found.formd_backup {
            FORMAT => Ok(found),
            other => Err(format!("has layout {other}, this formd knows {FORMAT}")),
        }
    }

    /// Writes it into a folder and syncs it.
    pub(in crate::store) fn write(&self, folder: &Path) -> Result<(), StoreError> {
        let path = folder.join(MANIFEST);
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| failed("write", &path)(error.into()))?;
        text.push(b'\n');
        disk::write_synced(&path, &text).map(drop)
    }
}

/// What tells one instance key from another.
pub(in crate::store) fn fingerprint(key: &InstanceKey) -> String {
    hex(&key.keyed("fingerprint of the instance key", &[]))
}
