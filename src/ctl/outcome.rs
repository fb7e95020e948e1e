//! How a command ends: its exit code, and the one kind of error that reaches the administrator.

use crate::config::Problems;
use crate::store::{BackupError, DAMAGED_HINT, OpenError, StoreError};

/// How a command ended that did what it could.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All done.
    Done,
    /// Done in part, or refused; the lines printed say what.
    Failed,
    /// A send is under way or a trace is not gone yet: ask again later.
    Pending,
    /// `status`: nothing is wrong.
    Healthy,
    /// `status`: somebody should look at it in daylight.
    Warning,
    /// `status`: somebody should look at it now.
    Critical,
    /// As a child ended that did the work for us.
    Passed(u8),
}

impl Exit {
    /// The exit code of contract 15.3; `status` follows the monitoring plugins.
    pub fn code(self) -> u8 {
        match self {
            Self::Done | Self::Healthy => 0,
            Self::Failed | Self::Warning => 1,
            Self::Critical => 2,
            Self::Pending => 4,
            Self::Passed(code) => code,
        }
    }
}

/// What kind of error it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Failed or refused.
    Failed,
    /// Asked for in a way that cannot be meant.
    Usage,
    /// No such receipt, delivery, attachment, site or form; or more than one.
    NotFound,
    /// `status` could not find out.
    Unknown,
    /// Whoever read our output has left, as `head` does: no error at all.
    ReaderGone,
}

/// Why a command ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    /// Decides the exit code.
    pub kind: Kind,
    /// What went wrong and with what. Texts from visitors in it are made visible already.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl CommandError {
    /// An error of this kind.
    pub fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), hint: None }
    }

    /// The same with what to do about it.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// The exit code of contract 15.3.
    pub fn code(&self) -> u8 {
        match self.kind {
            Kind::ReaderGone => 0,
            Kind::Failed => 1,
            Kind::Usage => 2,
            Kind::NotFound | Kind::Unknown => 3,
        }
    }
}

impl From<StoreError> for CommandError {
    fn from(error: StoreError) -> Self {
        let told = Self::new(Kind::Failed, error.to_string());
        match error {
            StoreError::Busy => told.hint("try again in a minute"),
            StoreError::Damaged(_) => told.hint(DAMAGED_HINT),
            _ => told,
        }
    }
}

impl From<OpenError> for CommandError {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Configuration { problem, hint } => Self::new(Kind::Failed, problem).hint(hint),
            other @ (OpenError::InUse { .. } | OpenError::Missing(_) | OpenError::Store(_)) => {
                Self::new(Kind::Failed, other.to_string())
            }
        }
    }
}

impl From<BackupError> for CommandError {
    fn from(error: BackupError) -> Self {
        let text = error.to_string();
        match error {
            BackupError::Refused { problem, hint } => Self::new(Kind::Failed, problem).hint(hint),
            BackupError::Damaged { faults, .. } => {
                let lines: Vec<String> = faults.iter().map(|fault| format!("\n  {fault}")).collect();
                Self::new(Kind::Failed, format!("{text}:{}", lines.concat()))
            }
            BackupError::Open(error) => error.into(),
            BackupError::Store(error) => error.into(),
        }
    }
}

impl From<&Problems> for CommandError {
    fn from(problems: &Problems) -> Self {
        Self::new(Kind::Failed, format!("the configuration has mistakes\n\n{}", problems.render()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_contracts() {
        let codes = [Exit::Done, Exit::Failed, Exit::Pending, Exit::Healthy, Exit::Warning, Exit::Critical];
        assert_eq!(codes.map(Exit::code), [0, 1, 4, 0, 1, 2]);
        let kinds = [Kind::ReaderGone, Kind::Failed, Kind::Usage, Kind::NotFound, Kind::Unknown];
        assert_eq!(kinds.map(|kind| CommandError::new(kind, "").code()), [0, 1, 2, 3, 3]);
    }
}
