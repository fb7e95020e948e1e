//! The one thread that writes.
//!
//! It owns the write connection and runs every write of the process as a job, so that two writes never wait for
//! each other's locks and one sync of the disk serves all that are waiting:
//!
//! ```text
//! all waiting jobs -> BEGIN IMMEDIATE -> SAVEPOINT, job, RELEASE (each) -> fsync of new files' folders -> COMMIT -> answers
//! ```
//!
//! * A job is answered only after the COMMIT: a repeat's winner may be in the same group, still uncommitted.
//! * A job's own error rolls its savepoint back and concerns nobody else. After any error `is_autocommit` is
//!   asked: where `SQLite` has rolled all back (full disk, I/O error), nobody of the group was stored.
//! * A COMMIT that fails leaves it *unknown* whether the rows come back: every job of the group hears an error,
//!   no file of the group is removed, and the connection is opened anew.
//! * A lone job waits for nobody. Under load those who were answered together come back together: a group waits for
//!   as many jobs as the last one had or left waiting, [`GATHER`] at most.
//!   Only when the queue never empties it pauses after every [`STREAK`] groups, so that `formctl`, another process
//!   that polls for the lock, gets its turn.
//! * The queue is bounded; a full one is [`StoreError::Busy`] at once.
//! * A job that panics is undone and its asker hears [`StoreError::Defect`]; the thread goes on.
//!
//! A reply runs on this thread: it must not block, and must never wait for another job.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};

use super::job::{Commit, Due, Group, Job, Step, Task};
use super::{DataDirectory, StoreError, disk, schema};

/// Jobs that may wait.
const QUEUE: usize = 4096;
/// Jobs of one group: bounds how long a group holds the lock.
const GROUP: usize = 512;
/// Groups without a moment of rest before the writer pauses for other processes.
const STREAK: u32 = 100;
/// The pause: three polls of another process.
const PAUSE: Duration = Duration::from_micros(1500);
/// How long a group waits for its company in all: what one sync costs on a small disk, less than a person notices.
const GATHER: Duration = Duration::from_millis(2);
/// The largest company it waits for: the submissions in flight.
const COMPANY: usize = 64;
/// After so long without a job the next one is alone.
const FORGET: Duration = Duration::from_millis(5);
/// How long a checkpoint may wait for a reader; longer would hold intake up.
const CHECKPOINT_WAIT: Duration = Duration::from_millis(20);

/// The writer's thread and the way to it. Dropping it finishes the waiting jobs and ends the thread.
#[derive(Debug)]
pub(super) struct Writer {
    /// The queue; `None` only while it is dropped.
    queue: Option<SyncSender<Message>>,
    /// The thread; `None` when it could not be started.
    thread: Option<JoinHandle<()>>,
    /// What it has done so far.
    #[cfg(test)]
    counts: Arc<Counts>,
}

/// What a writer has done since it was started.
#[derive(Debug, Default)]
pub(super) struct Counts {
    /// Groups that were committed.
    pub(super) groups: AtomicU64,
    /// Jobs in them.
    pub(super) jobs: AtomicU64,
}

/// Where it is told whether the log is empty.
type TruncateReply = SyncSender<Result<Truncated, StoreError>>;

/// What the thread is asked to do.
enum Message {
    /// Write something.
    Job(Box<dyn Job>),
    /// Move the log into the database and truncate it.
    Checkpoint(TruncateReply),
}

/// Whether the writer had to wait for its next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// It waited, so other processes had their turn.
    Taken,
    /// The message was there.
    None,
}

/// Whether the log is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truncated {
    /// Nothing old is in it.
    Yes,
    /// A reader still needs it.
    Pinned,
}

impl Writer {
    /// Starts the thread; it opens its connection with the first job when none is handed over.
    pub(super) fn start(directory: DataDirectory, connection: Option<Connection>) -> Self {
        let (queue, waiting) = sync_channel(QUEUE);
        let counts = Arc::new(Counts::default());
        let path = directory.database();
        let counted = Arc::clone(&counts);
        let (arrived, company) = (VecDeque::new(), 1);
        let thread = Thread { waiting, connection, path, directory, arrived, company, counts: counted };
        let spawned = std::thread::Builder::new().name("writer".to_owned()).spawn(move || thread.run());
        if let Err(error) = &spawned {
            tracing::error!(%error, "the writer's thread could not be started");
        }
        Self {
            queue: Some(queue),
            thread: spawned.ok(),
            #[cfg(test)]
            counts,
        }
    }

    /// Hands over work; `reply` runs on the writer's thread once it is durable, or on this one when it cannot be
    /// taken.
    pub(super) fn submit<T, W, R>(&self, work: W, reply: R)
    where
        T: Send + 'static,
        W: FnOnce(&Connection, &mut Group) -> Result<T, StoreError> + Send + 'static,
        R: FnOnce(Result<T, StoreError>) + Send + 'static,
    {
        let Some(queue) = &self.queue else { return reply(Err(StoreError::Closed)) };
        match queue.try_send(Message::Job(Box::new(Task::new(work, reply)))) {
            Ok(())
            | Err(TrySendError::Full(Message::Checkpoint(_)) | TrySendError::Disconnected(Message::Checkpoint(_))) => {}
            Err(TrySendError::Full(Message::Job(job))) => job.answer(Commit::Busy),
            Err(TrySendError::Disconnected(Message::Job(job))) => job.answer(Commit::Closed),
        }
    }

    /// Does work and waits until it is durable.
    pub(super) fn write<T, W>(&self, work: W) -> Result<T, StoreError>
    where
        T: Send + 'static,
        W: FnOnce(&Connection, &mut Group) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = sync_channel(1);
        self.submit(work, move |outcome| {
            // Nobody waits any more: then nobody needs to know.
            drop(reply.send(outcome));
        });
        answer.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Moves the log into the database and truncates it, between two groups.
    pub(super) fn checkpoint(&self) -> Result<Truncated, StoreError> {
        let (reply, answer) = sync_channel(1);
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        queue.send(Message::Checkpoint(reply)).map_err(|_| StoreError::Closed)?;
        answer.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// What the writer has done so far.
    #[cfg(test)]
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        drop(self.queue.take());
        let Some(thread) = self.thread.take() else { return };
        // The last clone of a store may be dropped by a reply, on the thread itself, which cannot wait for itself.
        if thread.thread().id() != std::thread::current().id() && thread.join().is_err() {
            tracing::error!("a defect: the writer's thread panicked");
        }
    }
}

/// The thread's own state.
struct Thread {
    /// The queue's end.
    waiting: Receiver<Message>,
    /// The write connection; `None` before the first job and after an error that a fresh one may mend.
    connection: Option<Connection>,
    /// The database.
    path: PathBuf,
    /// The data directory, to wake the deliverer.
    directory: DataDirectory,
    /// Messages taken out of the queue and not yet served.
    arrived: VecDeque<Message>,
    /// How many jobs the next group can expect: those answered last and those who had come meanwhile.
    company: usize,
    /// What it has done.
    counts: Arc<Counts>,
}

impl Thread {
    /// Serves the queue until every sender is gone and it is empty.
    fn run(mut self) {
        let mut streak = 0;
        while let Some((message, rest)) = self.next() {
            streak = if rest == Rest::Taken { 0 } else { streak + 1 };
            if streak >= STREAK {
                std::thread::sleep(PAUSE);
                streak = 0;
            }
            self.serve(message);
        }
    }

    /// The next message, and whether the writer had to wait for it; `None` at the end.
    fn next(&mut self) -> Option<(Message, Rest)> {
        if let Some(message) = self.arrived.pop_front() {
            return Some((message, Rest::None));
        }
        match self.waiting.recv_timeout(FORGET) {
            Ok(message) => Some((message, Rest::Taken)),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => {
                self.company = 1;
                self.waiting.recv().ok().map(|message| (message, Rest::Taken))
            }
        }
    }

    /// Serves one message, a job together with its company.
    fn serve(&mut self, message: Message) {
        let (jobs, checkpoint) = self.gather(message);
        if !jobs.is_empty() {
            self.commit(jobs);
        }
        if let Some(reply) = checkpoint {
            drop(reply.send(self.truncate()));
        }
    }

    /// The jobs of the next group, and the checkpoint that ends it where one was asked for: all that wait, and those
    /// of the expected company that come within [`GATHER`].
    fn gather(&mut self, first: Message) -> (Vec<Box<dyn Job>>, Option<TruncateReply>) {
        let until = Instant::now() + GATHER;
        let mut jobs = Vec::new();
        let mut next = Some(first);
        while let Some(message) = next {
            match message {
                Message::Job(job) => jobs.push(job),
                Message::Checkpoint(reply) => return (jobs, Some(reply)),
            }
            if jobs.len() >= GROUP {
                break;
            }
            next = match self.arrived.pop_front().or_else(|| self.waiting.try_recv().ok()) {
                None if jobs.len() < self.company => {
                    self.waiting.recv_timeout(until.saturating_duration_since(Instant::now())).ok()
                }
                found => found,
            };
        }
        (jobs, None)
    }

    /// Runs a group in one transaction and answers each of its jobs.
    fn commit(&mut self, mut jobs: Vec<Box<dyn Job>>) {
        let mut group = Group::default();
        let outcome = self.open().and_then(|connection| write_group(connection, &mut jobs, &mut group));
        let due = group.due();
        group.keep_files();
        let commit = match outcome {
            Ok(()) => {
                self.counts.groups.fetch_add(1, Ordering::Relaxed);
                self.counts.jobs.fetch_add(u64::try_from(jobs.len()).unwrap_or(0), Ordering::Relaxed);
                Commit::Durable
            }
            Err(StoreError::Busy) => Commit::Busy,
            Err(error) => {
                tracing::error!(%error, "a group of writes failed; the database is opened anew");
                Commit::Unclear
            }
        };
        if commit != Commit::Durable {
            self.connection = None;
        }
        // Before the answers: whoever is there now is not one of those who are about to be answered and come back.
        self.arrived.extend(self.waiting.try_iter());
        // A group that fell short lowers the expectation by a quarter only: one slow moment says little.
        self.company = (jobs.len() + self.arrived.len()).max(self.company * 3 / 4).min(COMPANY);
        for job in jobs {
            job.answer(commit);
        }
        if commit == Commit::Durable && due == Due::Something {
            self.directory.wake();
        }
    }

    /// The connection, opened when there is none.
    fn open(&mut self) -> Result<&Connection, StoreError> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => schema::open_writer(&self.path, OpenFlags::empty())?,
        };
        Ok(self.connection.insert(connection))
    }

    /// Truncates the log, giving a reader only a moment to finish.
    fn truncate(&mut self) -> Result<Truncated, StoreError> {
        let connection = self.open()?;
        connection.busy_timeout(CHECKPOINT_WAIT)?;
        let outcome = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
        let connection = self.connection.take();
        self.connection = connection.map(schema::wait_long).transpose()?;
        match outcome {
            Ok(0) => Ok(Truncated::Yes),
            Ok(_) => Ok(Truncated::Pinned),
            Err(error) => match StoreError::from(error) {
                StoreError::Busy => Ok(Truncated::Pinned),
                error => Err(error),
            },
        }
    }
}

/// Runs the jobs of a group, each in its savepoint, and commits them together. `Busy` when the database could not
/// be locked: then no job has begun.
fn write_group(db: &Connection, jobs: &mut [Box<dyn Job>], group: &mut Group) -> Result<(), StoreError> {
    db.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
    let written = run_all(db, jobs, group).and_then(|()| Ok(db.prepare_cached("COMMIT")?.execute([])?));
    match written {
        Ok(_) => Ok(()),
        Err(error) => {
            if !db.is_autocommit()
                && let Err(error) = db.execute_batch("ROLLBACK")
            {
                tracing::error!(%error, "a failed group of writes could not be rolled back");
            }
            // It was begun, so it is no mere `Busy`, whatever the code says.
            Err(match error {
                StoreError::Busy => StoreError::Unclear,
                error => error,
            })
        }
    }
}

/// Runs the jobs and syncs the folders of their files: all that has to be true before the COMMIT.
fn run_all(db: &Connection, jobs: &mut [Box<dyn Job>], group: &mut Group) -> Result<(), StoreError> {
    for job in jobs {
        db.prepare_cached("SAVEPOINT job")?.execute([])?;
        if job.run(db, group) == Step::Undo {
            if db.is_autocommit() {
                return Err(StoreError::Unclear);
            }
            db.prepare_cached("ROLLBACK TO job")?.execute([])?;
        }
        db.prepare_cached("RELEASE job")?.execute([])?;
    }
    group.folders().try_for_each(disk::sync_folder)
}
