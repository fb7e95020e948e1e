//! One write: what it does inside its savepoint and who is told what came of it.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::{SealedFile, StoreError};

/// What the jobs of one group hand to the group: it is done once for all of them.
#[derive(Debug, Default)]
pub(super) struct Group {
    /// Folders to be synced before the COMMIT.
    folders: BTreeSet<PathBuf>,
    /// Files whose rows are in this group. Once the COMMIT has been tried they stay whatever it said: after an
    /// error the rows may come back with the next start, and only the sweep, which reads the database, may decide.
    files: Vec<SealedFile>,
    /// Whether something became due.
    due: Due,
}

/// Whether a group made something due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Due {
    /// The deliverer has to look.
    Something,
    /// Nothing new for it.
    #[default]
    Nothing,
}

impl Group {
    /// A file whose row was written.
    pub(super) fn file(&mut self, file: SealedFile) {
        self.folders.insert(file.folder().to_owned());
        self.files.push(file);
    }

    /// Something is due now.
    pub(super) fn made_due(&mut self) {
        self.due = Due::Something;
    }

    /// Whether something is due.
    pub(super) fn due(&self) -> Due {
        self.due
    }

    /// The folders to be synced.
    pub(super) fn folders(&self) -> impl Iterator<Item = &Path> {
        self.folders.iter().map(PathBuf::as_path)
    }

    /// Ends the group: its files stay.
    pub(super) fn keep_files(self) {
        for file in self.files {
            file.keep();
        }
    }
}

/// Whether what a job wrote stays in the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It stays.
    Keep,
    /// Its savepoint is rolled back.
    Undo,
}

/// What became of a job's group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Commit {
    /// Durable.
    Durable,
    /// Another process held the database; nothing was written.
    Busy,
    /// Whether it was written is unknown.
    Unclear,
    /// The writer has ended; nothing was written.
    Closed,
}

/// A job of any type.
pub(super) trait Job: Send {
    /// Does the work inside the job's savepoint. Called at most once.
    fn run(&mut self, db: &Connection, group: &mut Group) -> Step;
    /// Tells the asker, after the COMMIT or its failure.
    fn answer(self: Box<Self>, commit: Commit);
}

/// Work and the one who waits for it.
#[derive(Debug)]
pub(super) struct Task<T, W, R> {
    /// What is to be done; gone once it was begun.
    work: Option<W>,
    /// What came of it; `None` before, and after a panic.
    outcome: Option<Result<T, StoreError>>,
    /// Who waits.
    reply: R,
}

impl<T, W, R> Task<T, W, R>
where
    T: Send,
    W: FnOnce(&Connection, &mut Group) -> Result<T, StoreError> + Send,
    R: FnOnce(Result<T, StoreError>) + Send,
{
    /// A job that has not begun.
    pub(super) fn new(work: W, reply: R) -> Self {
        Self { work: Some(work), outcome: None, reply }
    }
}

impl<T, W, R> Job for Task<T, W, R>
where
    T: Send,
    W: FnOnce(&Connection, &mut Group) -> Result<T, StoreError> + Send,
    R: FnOnce(Result<T, StoreError>) + Send,
{
    fn run(&mut self, db: &Connection, group: &mut Group) -> Step {
        let Some(work) = self.work.take() else { return Step::Undo };
        // A panic is a defect; it must end neither the writer nor the other jobs, and its asker must hear of it.
        self.outcome = catch_unwind(AssertUnwindSafe(|| work(db, group))).ok();
        match &self.outcome {
            Some(Ok(_)) => Step::Keep,
            Some(Err(_)) | None => Step::Undo,
        }
    }

    fn answer(self: Box<Self>, commit: Commit) {
        let Self { work, outcome, reply } = *self;
        let begun = work.is_none();
        // Work that never began goes before its asker hears of it, and its files with it.
        drop(work);
        let answer = match (commit, outcome) {
            (_, Some(Err(error))) => Err(error),
            (Commit::Durable, Some(Ok(value))) => Ok(value),
            (Commit::Closed, _) => Err(StoreError::Closed),
            (Commit::Unclear, _) if begun => Err(StoreError::Unclear),
            (Commit::Busy | Commit::Unclear, _) => Err(StoreError::Busy),
            (Commit::Durable, None) => Err(StoreError::Defect),
        };
        if catch_unwind(AssertUnwindSafe(|| reply(answer))).is_err() {
            tracing::error!("a defect: a reply of the writer panicked");
        }
    }
}
