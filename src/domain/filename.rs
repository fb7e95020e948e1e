//! A visitor's file name as it is shown: metadata only, never part of a path.

/// Last component, no control or bidi characters, NFC, at most 255 bytes with the extension kept. Empty when
/// nothing was left.
pub fn clean(sent: &str) -> String {
    todo!()
}

/// The extension of a cleaned name in lower case, without the dot; empty when there is none.
pub fn extension(name: &str) -> String {
    todo!()
}
