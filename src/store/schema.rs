//! Opening the database: pragmas, versions, migrations.
//!
//! `schema.sql` is the whole present schema, and an empty database becomes it. An older one runs the steps it lacks
//! ([`Schema::steps`], append-only); `user_version` says which version it has. Both ways lead to the same tables. A
//! migration runs in one transaction, after a copy of the file, so a crash in it leaves the old version and the next
//! start does it again. A database of a newer program is refused: an old program would write rows that the newer one
//! does not expect.
//!
//! The pragmas are set on every connection (all but `journal_mode` are forgotten with it) and read back: a build of
//! `SQLite` that ignores one would otherwise break a promise in silence. `synchronous = FULL` is the promise itself:
//! NORMAL, the usual advice for WAL, loses acknowledged submissions when the power fails.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::apart;
use super::disk::{self, failed};
use super::{OpenError, StoreError};

/// What a database should be, and the way there from each older version.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schema {
    /// The whole of the newest version.
    whole: &'static str,
    /// The n-th makes version n + 1 of version n, counted from 1. Append only.
    steps: &'static [&'static str],
}

/// The schema of this program.
pub(super) const SCHEMA: Schema =
    Schema { whole: include_str!("../../schema.sql"), steps: &[include_str!("../../migrations/2.sql")] };

impl Schema {
    /// The newest version.
    pub(super) fn version(&self) -> usize {
        self.steps.len() + 1
    }

    /// What a database of version `found` has to run.
    fn missing(&self, found: usize) -> &[&'static str] {
        match found.checked_sub(1) {
            None => std::slice::from_ref(&self.whole),
            Some(done) => self.steps.get(done..).unwrap_or_default(),
        }
    }
}

/// Statements that a connection keeps prepared.
const STATEMENTS: usize = 64;
/// Pages of the log after which the writer checkpoints by itself: fewer checkpoints, less is written twice.
const AUTOCHECKPOINT: i64 = 4000;
/// Polls of a locked database, half a millisecond each: 5 s in all.
const POLLS: i32 = 10_000;

/// What every connection promises; each is set and read back.
const PRAGMAS: &[(&str, i64)] = &[
    ("page_size", apart::PAGE), // what is set apart for erasing is counted in such pages
    ("synchronous", 2),         // FULL: a COMMIT survives power loss
    ("foreign_keys", 1),
    ("secure_delete", 1), // ON, not FAST: FAST leaves overflow pages
    ("temp_store", 2),    // MEMORY: no value in a temporary file
    ("trusted_schema", 0),
];

/// Opens the connection that writes; `Create` makes the file.
pub(super) fn open_writer(path: &Path, missing: OpenFlags) -> Result<Connection, StoreError> {
    let connection = open(path, missing)?;
    expect(&connection, "wal_autocheckpoint", AUTOCHECKPOINT)?;
    wait_long(connection)
}

/// Opens a connection that only reads. It may write to the shared memory of the log, which reading needs, but
/// `query_only` refuses every statement that would change the database.
pub(super) fn open_reader(path: &Path) -> Result<Connection, StoreError> {
    let connection = open(path, OpenFlags::empty())?;
    // 1 MiB of cache each: readers are many and their pages are the kernel's as well.
    expect(&connection, "cache_size", -1024)?;
    expect(&connection, "query_only", 1)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    Ok(connection)
}

/// Opens a connection and asserts what every one promises.
fn open(path: &Path, extra: OpenFlags) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let connection = Connection::open_with_flags(path, flags | extra)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    if mode != "wal" {
        return Err(StoreError::Unknown(format!("journal_mode = {mode}")));
    }
    for (name, value) in PRAGMAS {
        expect(&connection, name, *value)?;
    }
    Ok(connection)
}

/// Sets a pragma and reads it back.
fn expect(connection: &Connection, name: &str, value: i64) -> Result<(), StoreError> {
    connection.pragma_update(None, name, value)?;
    let found: i64 = connection.pragma_query_value(None, name, |row| row.get(0))?;
    if found == value { Ok(()) } else { Err(StoreError::Unknown(format!("{name} = {found}"))) }
}

/// A locked database is polled every half millisecond for 5 s: `SQLite`'s own waits grow to 100 ms, in which a busy
/// daemon would take the lock away again and again.
pub(super) fn wait_long(mut connection: Connection) -> Result<Connection, StoreError> {
    connection.busy_handler(Some(|polls| {
        std::thread::sleep(Duration::from_micros(500));
        polls < POLLS
    }))?;
    Ok(connection)
}

/// The version of a database, 0 for an empty file.
pub(super) fn version(connection: &Connection) -> Result<usize, StoreError> {
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(usize::try_from(version).unwrap_or(usize::MAX))
}

/// Refuses a database that this program must not open.
pub(super) fn refuse_newer(path: &Path, found: usize, known: usize) -> Result<(), OpenError> {
    if found <= known {
        return Ok(());
    }
    let problem =
        format!("the database `{}` has version {found}, this formd knows versions up to {known}", path.display());
    Err(OpenError::Configuration { problem, hint: way_back(path, known)? })
}

/// What to do about a newer database: the newer program again, or, where a migration left its copy, back to that.
fn way_back(path: &Path, known: usize) -> Result<String, StoreError> {
    let root = path.parent().unwrap_or(path);
    let usable = |(copy, _): &(PathBuf, _)| version_of(copy).filter(|version| *version <= known);
    let copies = copies(root)?;
    let newest = copies.iter().filter(|copy| usable(copy).is_some()).max_by_key(|copy| usable(copy));
    let Some((copy, _)) = newest else {
        return Ok("install the newer formd again, or restore a backup that this version wrote".to_owned());
    };
    Ok(format!(
        "install the newer formd again; or go back to the day of the upgrade and lose what came since: with formd stopped, \
         move `formd.db`, `formd.db-wal` and `formd.db-shm` out of `{}`, and rename `{}` to `{}`; files that came since \
         go to quarantine, and what was waiting on that day may be sent again",
        root.display(),
        copy.display(),
        path.display()
    ))
}

/// Brings a database to the newest version: all missing steps in one transaction, after a copy of what was there.
pub(super) fn migrate(connection: &mut Connection, path: &Path, schema: &Schema) -> Result<(), OpenError> {
    let found = version(connection)?;
    refuse_newer(path, found, schema.version())?;
    if found == schema.version() {
        return Ok(());
    }
    if found > 0 {
        copy(connection, path, found)?;
    } else if has_tables(connection)? {
        return Err(OpenError::Configuration {
            problem: format!("`{}` is a database of another program", path.display()),
            hint: "name another `data_dir`, or move that file away".to_owned(),
        });
    }
    Ok(advance(connection, found, schema)?)
}

/// Runs the steps that a database of version `found` lacks, all in one transaction.
pub(super) fn advance(connection: &mut Connection, found: usize, schema: &Schema) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for step in schema.missing(found) {
        transaction.execute_batch(step)?;
    }
    let version = i64::try_from(schema.version()).unwrap_or(i64::MAX);
    transaction.pragma_update(None, "user_version", version)?;
    Ok(transaction.commit()?)
}

/// What to do about a damaged database.
pub const DAMAGED_HINT: &str = "stop formd, move `formd.db` with its `-wal` and `-shm` out of the data directory, and restore \
                                the latest backup";

/// Says of an error of `SQLite` which file it is about and what to do: a damaged one, or one that may not be opened.
pub(super) fn explain(error: OpenError, root: &Path) -> OpenError {
    let database = root.join("formd.db");
    let (what, hint) = match &error {
        OpenError::Store(StoreError::Damaged(_)) => ("is damaged", DAMAGED_HINT.to_owned()),
        OpenError::Store(StoreError::Database(cause))
            if matches!(cause.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)) =>
        {
            let hint =
                "formd.db must be a file, and it and its folder writable for this user: reading writes `formd.db-shm`";
            ("cannot be opened", hint.to_owned())
        }
        OpenError::Store(_) | OpenError::Configuration { .. } | OpenError::InUse { .. } | OpenError::Missing(_) => {
            return error;
        }
    };
    OpenError::Configuration { problem: format!("the database `{}` {what}", database.display()), hint }
}

/// Whether anything is declared in a database.
fn has_tables(connection: &Connection) -> Result<bool, StoreError> {
    Ok(connection.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))?)
}

/// The copy of a database of `version` that is kept before it is migrated. It holds values, so `erase` removes it
/// at once and the sweep when it is as old as quarantined files may be. A copy that cannot be finished (a full disk)
/// leaves nothing behind, and nothing is migrated.
fn copy(connection: &Connection, path: &Path, version: usize) -> Result<(), StoreError> {
    let kept = path.with_file_name(format!("{COPY_PREFIX}{version}{COPY_SUFFIX}"));
    let part = kept.with_extension("part");
    disk::unlink(&part)?;
    if let Err(error) = write_copy(connection, &part) {
        // What it took may be what the disk lacks.
        disk::unlink(&part)?;
        return Err(error);
    }
    std::fs::rename(&part, &kept).map_err(failed("rename to", &kept))?;
    disk::sync_folder(path.parent().unwrap_or(path))
}

/// Writes and syncs a copy.
fn write_copy(connection: &Connection, part: &Path) -> Result<(), StoreError> {
    if let Err(error) = connection.execute("VACUUM INTO ?1", [part.to_string_lossy()]) {
        let what = "keep a copy of the database before it is brought up to date (it needs as much room as the database; \
                    nothing was changed) in";
        return Err(failed(what, part)(std::io::Error::other(error)));
    }
    std::fs::File::open(part).and_then(|file| file.sync_all()).map_err(failed("sync", part))
}

/// How the name of a copy begins.
const COPY_PREFIX: &str = "formd-before-v";
/// How it ends.
const COPY_SUFFIX: &str = ".db";

/// The copies that migrations left in the data directory, with the leftovers of one that a crash cut short.
pub(super) fn copies(root: &Path) -> Result<Vec<(PathBuf, crate::domain::time::Timestamp)>, StoreError> {
    let part = |path: &Path| path.extension().is_some_and(|ending| ending == "part");
    let ours = |entry: &disk::Entry| {
        version_of(&entry.path).is_some() || part(&entry.path) && version_of(&entry.path.with_extension("db")).is_some()
    };
    let entries = disk::entries(root)?.into_iter().filter(ours);
    Ok(entries.map(|entry| (entry.path, entry.modified)).collect())
}

/// The version of which a file is a whole copy, by its name.
fn version_of(copy: &Path) -> Option<usize> {
    let digits = copy.file_name()?.to_str()?.strip_prefix(COPY_PREFIX)?.strip_suffix(COPY_SUFFIX)?;
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A schema of two versions whose second has one table under another name.
    fn renamed(steps: &'static [&'static str]) -> Schema {
        Schema { whole: "CREATE TABLE b (x TEXT)", steps }
    }

    #[test]
    fn a_database_is_migrated_in_one_transaction_after_a_copy_and_a_newer_one_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("formd.db");
        let mut connection = open_writer(&path, OpenFlags::SQLITE_OPEN_CREATE).unwrap();
        let first = Schema { whole: "CREATE TABLE a (x TEXT)", steps: &[] };
        migrate(&mut connection, &path, &first).unwrap();
        connection.execute("INSERT INTO a (x) VALUES ('old')", []).unwrap();
        assert!(copies(temp.path()).unwrap().is_empty());

        let broken = renamed(&["ALTER TABLE a RENAME TO b; CREATE TABLE b (y TEXT)"]);
        assert!(matches!(migrate(&mut connection, &path, &broken), Err(OpenError::Store(_))));
        assert_eq!(version(&connection).unwrap(), 1);

        migrate(&mut connection, &path, &renamed(&["ALTER TABLE a RENAME TO b"])).unwrap();
        assert_eq!(version(&connection).unwrap(), 2);
        let kept: String = connection.query_row("SELECT x FROM b", [], |row| row.get(0)).unwrap();
        let (copy, _) = copies(temp.path()).unwrap().remove(0);
        assert!(copy.ends_with("formd-before-v1.db"));
        let old = Connection::open(&copy).unwrap();
        let copied: String = old.query_row("SELECT x FROM a", [], |row| row.get(0)).unwrap();
        assert_eq!((kept.as_str(), copied.as_str(), version(&old).unwrap()), ("old", "old", 1));

        let refusal = migrate(&mut connection, &path, &first).unwrap_err().to_string();
        assert!(refusal.contains("has version 2, this formd knows versions up to 1"), "{refusal}");
        let way = format!("rename `{}` to `{}`", copy.display(), path.display());
        assert!(refusal.contains(&way), "{refusal}");
        disk::unlink(&copy).unwrap();
        let refusal = migrate(&mut connection, &path, &first).unwrap_err().to_string();
        assert!(refusal.contains("restore a backup") && !refusal.contains("rename"), "{refusal}");
    }

    #[test]
    fn a_database_of_another_program_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("formd.db");
        let mut connection = open_writer(&path, OpenFlags::SQLITE_OPEN_CREATE).unwrap();
        connection.execute_batch("CREATE TABLE notes (x TEXT)").unwrap();
        assert!(matches!(migrate(&mut connection, &path, &SCHEMA), Err(OpenError::Configuration { .. })));
    }

    #[test]
    fn a_reader_cannot_write() {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("formd.db");
        migrate(&mut open_writer(&path, OpenFlags::SQLITE_OPEN_CREATE).unwrap(), &path, &SCHEMA).unwrap();
        let reader = open_reader(&path).unwrap();
        assert!(reader.execute("DELETE FROM facts", []).is_err());
    }
}
