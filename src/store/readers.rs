//! A pool of connections that only read.
//!
//! `r2d2_sqlite` does not fit this rusqlite, and what is needed is small. A connection that comes back inside a
//! transaction (a reader that panicked) would pin the log for good, so it is thrown away. Waiting for a connection
//! is bounded by 5 s and blocks: call it only where blocking is allowed. Keep a read short: while one is open the
//! log cannot be truncated, and an erasure says *pending*.

use std::path::PathBuf;
use std::time::Duration;

use r2d2::{ManageConnection, NopErrorHandler, Pool, PooledConnection};
use rusqlite::Connection;

use super::{StoreError, schema};

/// Connections at most.
const MOST: u32 = 8;
/// How long a reader waits for one.
const WAIT: Duration = Duration::from_secs(5);

/// The pool.
#[derive(Clone, Debug)]
pub(super) struct Readers(Pool<Database>);

/// Opens the pool's connections.
#[derive(Debug)]
pub(super) struct Database(PathBuf);

impl Readers {
    /// A pool over a database that exists.
    pub(super) fn open(path: PathBuf) -> Result<Self, StoreError> {
        // The pool would try for 5 s, and then not say why.
        schema::open_reader(&path)?;
        let pool = Pool::builder()
            .max_size(MOST)
            .min_idle(Some(1))
            .max_lifetime(None)
            .connection_timeout(WAIT)
            .test_on_check_out(false)
            .error_handler(Box::new(NopErrorHandler));
        pool.build(Database(path)).map(Self).map_err(|_| StoreError::Busy)
    }

    /// A connection; blocks until one is free, 5 s at most.
    pub(super) fn get(&self) -> Result<PooledConnection<Database>, StoreError> {
        self.0.get().map_err(|_| StoreError::Busy)
    }
}

impl ManageConnection for Database {
    type Connection = Connection;
    type Error = StoreError;

    fn connect(&self) -> Result<Connection, StoreError> {
        schema::open_reader(&self.0)
    }

    fn is_valid(&self, connection: &mut Connection) -> Result<(), StoreError> {
        Ok(connection.execute_batch("SELECT 1")?)
    }

    fn has_broken(&self, connection: &mut Connection) -> bool {
        !connection.is_autocommit()
    }
}
