//! One file on its way to its `.part`.
//!
//! At most 64 KiB wait in memory; writing, hashing and looking at them is done where blocking is allowed. The
//! `.part` travels into that work and back: when the request is dropped meanwhile, the work still ends and drops
//! the `.part`, which removes it.

use super::{BodyError, Context};
use crate::domain::filekind::{Sniffed, Sniffer};
use crate::store::{PartFile, StoreError};

/// Bytes that are handed over at once.
const HOP: usize = 64 * 1024;

/// A file under way.
#[derive(Debug)]
pub(super) struct Upload<'c> {
    /// Where it goes.
    context: &'c Context,
    /// Its `.part`, once there is one.
    sink: Option<Sink>,
    /// Bytes not yet handed over.
    waiting: Vec<u8>,
    /// Bytes received.
    size: u64,
}

/// A `.part` and what looks at its bytes.
#[derive(Debug)]
struct Sink {
    /// The file.
    part: PartFile,
    /// What it holds.
    sniffer: Sniffer,
}

impl<'c> Upload<'c> {
    /// A file without bytes so far.
    pub(super) fn new(context: &'c Context) -> Self {
        Self { context, sink: None, waiting: Vec::new(), size: 0 }
    }

    /// Bytes received.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The next bytes. Beyond the largest file of all they are only counted, since it is refused anyway.
    pub(super) async fn write(&mut self, mut bytes: &[u8]) -> Result<(), BodyError> {
        self.size = self.size.saturating_add(bytes.len() as u64);
        if self.size > self.context.bounds.max_file {
            self.waiting = Vec::new();
            return Ok(());
        }
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(HOP - self.waiting.len()));
            self.waiting.extend_from_slice(now);
            bytes = later;
            if self.waiting.len() == HOP {
                self.hand_over().await?;
            }
        }
        Ok(())
    }

    /// The `.part` and what it is. There is one even when nothing was written, so that the n-th file of a draft has
    /// the n-th `.part`.
    pub(super) async fn finish(mut self) -> Result<(PartFile, Sniffed), BodyError> {
        if self.sink.is_none() || !self.waiting.is_empty() {
            self.hand_over().await?;
        }
        let sink = self.sink.ok_or(BodyError::Unavailable(StoreError::Closed))?;
        let work = move || {
            let Sink { mut part, sniffer } = sink;
            let sniffed = part.read_back(|file, size| sniffer.finish(file, size))?;
            Ok::<_, StoreError>((part, sniffed))
        };
        let done = tokio::task::spawn_blocking(work).await.map_err(|_| BodyError::Unavailable(StoreError::Closed))?;
        done.map_err(BodyError::Unavailable)
    }

    /// Writes what waits.
    async fn hand_over(&mut self) -> Result<(), BodyError> {
        let (sink, mut bytes) = (self.sink.take(), std::mem::take(&mut self.waiting));
        let (directory, random) = (self.context.directory.clone(), self.context.clock.random_u64());
        let work = move || {
            let mut sink = match sink {
                Some(sink) => sink,
                None => Sink { part: PartFile::create(&directory, random)?, sniffer: Sniffer::default() },
            };
            sink.part.write(&bytes)?;
            sink.sniffer.push(&bytes);
            bytes.clear();
            Ok::<_, StoreError>((sink, bytes))
        };
        // A join error means that the runtime ends or the work panicked: the `.part` is gone either way.
        let done = tokio::task::spawn_blocking(work).await.map_err(|_| BodyError::Unavailable(StoreError::Closed))?;
        let (sink, bytes) = done.map_err(BodyError::Unavailable)?;
        (self.sink, self.waiting) = (Some(sink), bytes);
        Ok(())
    }
}
