//! The configuration and the data directory a command works on.
//!
//! Most commands need only the data directory, and they find it even when the files hold mistakes: a typo in a
//! site file must not keep anybody from reading or erasing what is stored. A command that needs what is declared
//! asks [`Installation::config`] and fails with all mistakes.

use std::path::{Path, PathBuf};

use super::outcome::{CommandError, Kind};
use super::owner::{self, Owner};
use crate::config::{Config, Problems, locate};
use crate::delivery::Standing;
use crate::store::Store;

/// What to say where the files are a draft.
pub const DRAFT: &str = "the files on disk are not what the daemon runs; `formctl reload` puts them in force";

/// What is installed here, as the files say.
#[derive(Debug)]
pub struct Installation {
    /// `formd.toml`; `None`: the embedded default.
    file: Option<PathBuf>,
    /// What is declared, or every mistake.
    config: Result<Config, Problems>,
}

impl Installation {
    /// Reads the configuration that `named` or the system names.
    pub fn find(named: Option<&Path>) -> Self {
        let file = locate::file(named);
        let config = Config::load(file.as_deref());
        Self { file, config }
    }

    /// What is declared.
    pub fn config(&self) -> Result<&Config, CommandError> {
        self.config.as_ref().map_err(CommandError::from)
    }

    /// What is declared, or every mistake.
    pub fn declared(&self) -> Result<&Config, &Problems> {
        self.config.as_ref()
    }

    /// The data directory.
    pub fn data_dir(&self) -> Result<PathBuf, CommandError> {
        match &self.config {
            Ok(config) => Ok(config.daemon.data_dir.clone()),
            Err(problems) => locate::data_dir(self.file.as_deref()).ok_or_else(|| CommandError::from(problems)),
        }
    }

    /// Opens the data directory, whether the daemon runs or not.
    pub fn open(&self) -> Result<Store, CommandError> {
        let path = self.data_dir()?;
        Store::open_tool(&path).map_err(CommandError::from)
    }

    /// Whether what is declared is in force. Without a daemon it is: the next one reads it.
    pub fn standing(&self, store: &Store) -> Result<Standing, CommandError> {
        let declared = &self.config()?.hash;
        let runs = store.directory().daemon_pid()?.is_some();
        let same = store.facts()?.config_hash.as_ref() == Some(declared);
        Ok(if runs && !same { Standing::Draft } else { Standing::InForce })
    }

    /// What the files are called in a message.
    pub fn name(&self) -> String {
        self.file.as_ref().map_or_else(|| "the embedded default".to_owned(), |file| format!("`{}`", file.display()))
    }
}

/// The data directory of a configuration that nobody has checked: all that the switch from root needs.
pub fn data_dir_unchecked(named: Option<&Path>) -> Result<PathBuf, CommandError> {
    let file = locate::file(named);
    locate::data_dir(file.as_deref()).ok_or_else(|| {
        let shown = file.unwrap_or_default().display().to_string();
        CommandError::new(Kind::Failed, format!("cannot tell the data directory from `{shown}`"))
            .hint("run `formctl check`")
    })
}

/// Whom to become before the data directory is looked at; `None`: nobody, or it cannot be told.
pub fn owner(named: Option<&Path>) -> Option<Owner> {
    data_dir_unchecked(named).and_then(|path| owner::to_become(&path)).ok().flatten()
}
