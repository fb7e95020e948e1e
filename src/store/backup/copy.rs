//! Bytes from one file to another, measured on the way. A copy is synced before it counts, and belongs to its owner
//! alone.

use std::fs::File;
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;

use crate::domain::digest::{RunningSum, Sha256Sum};
use crate::store::StoreError;
use crate::store::disk::{self, failed};

/// Bytes read at once.
const CHUNK: usize = 256 * 1024;

/// What a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) struct Measured {
    /// Bytes.
    pub(in crate::store) size: u64,
    /// Their hash.
    pub(in crate::store) sha256: Sha256Sum,
}

/// Reads a whole file; `tick` hears of each piece.
pub(in crate::store) fn measure(path: &Path, tick: &mut dyn FnMut(u64)) -> Result<Measured, StoreError> {
    pour(path, tick, |_| Ok(()))
}

/// Copies a file to a new one, mode 0600, and syncs it. The entry in its folder is not durable yet.
pub(in crate::store) fn copy(from: &Path, to: &Path, tick: &mut dyn FnMut(u64)) -> Result<Measured, StoreError> {
    let mut file = disk::create(to)?;
    let measured = pour(from, tick, |bytes| file.write_all(bytes).map_err(failed("write", to)))?;
    file.sync_all().map_err(failed("sync", to))?;
    Ok(measured)
}

/// Whether an error means that there is no such file.
pub(in crate::store) fn is_missing(error: &StoreError) -> bool {
    matches!(error, StoreError::File { source, .. } if source.kind() == ErrorKind::NotFound)
}

/// Reads a regular file, never through a link, and hands each piece on.
fn pour(
    path: &Path,
    tick: &mut dyn FnMut(u64),
    mut drain: impl FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<Measured, StoreError> {
    // NONBLOCK: a pipe in the place of a file must not make us wait.
    let flags = disk::flags(OFlags::NOFOLLOW | OFlags::NONBLOCK);
    let mut file = File::options().read(true).custom_flags(flags).open(path).map_err(failed("read", path))?;
    if !file.metadata().map_err(failed("read", path))?.is_file() {
        return Err(failed("read", path)(std::io::Error::other("not a regular file")));
    }
    let (mut sum, mut size, mut buffer) = (RunningSum::default(), 0, vec![0; CHUNK]);
    loop {
        let count = file.read(&mut buffer).map_err(failed("read", path))?;
        let Some(bytes) = buffer.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
        sum.push(bytes);
        drain(bytes)?;
        let count = u64::try_from(count).unwrap_or(u64::MAX);
        size += count;
        tick(count);
    }
    Ok(Measured { size, sha256: sum.finish() })
}
