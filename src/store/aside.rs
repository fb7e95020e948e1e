//! Moving the log into the database beside the writer.
//!
//! Large erasures touch pages all over the database. The writer's own checkpoint would write and sync them between two
//! groups, and every submission of that moment would wait for the disk. A reader's connection can do the same work while
//! the writer goes on; what is left for the writer then is the little that came meanwhile. Whoever is busy with a
//! checkpoint already does it for everybody. This promises nothing: that the log is empty only
//! [`Store::truncate`](super::Store::truncate) says.

use super::{Store, StoreError};

impl Store {
    /// Moves what no reader pins; blocking, and nobody else waits for it.
    pub(super) fn checkpoint_aside(&self) -> Result<(), StoreError> {
        let connection = self.inner.readers.get()?;
        Ok(connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))?)
    }
}
