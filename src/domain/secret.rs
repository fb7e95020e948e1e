//! Text that no log line, error, page or `Debug` output may show.

use std::fmt;

/// A secret of the operator. Printing it prints `(secret)`; only [`Secret::reveal`] gives the text.
#[derive(Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct Secret(String);

impl Secret {
    /// Wraps a text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, for the one place that signs or authenticates with it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}
