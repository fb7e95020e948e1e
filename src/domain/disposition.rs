//! Reads a `Content-Disposition` header of a multipart part.

/// What the header says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Disposition {
    /// A text field.
    Field {
        /// Its name.
        name: String,
    },
    /// A file, even one without a name or bytes.
    File {
        /// Its field's name.
        name: String,
        /// The file name as sent, `%22 %0D %0A` decoded; bytes that are no UTF-8 replaced.
        filename: String,
    },
}

/// Why a part cannot be read: 400.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a part without a readable `Content-Disposition: form-data` header")]
pub struct DispositionError;

/// Reads the header's value.
pub fn parse(header: &[u8]) -> Result<Disposition, DispositionError> {
    todo!()
}
