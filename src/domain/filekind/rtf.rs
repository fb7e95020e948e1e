//! RTF: `{\rtf` and a version at the start, the closing brace at the end.
//!
//! `{\rt` alone, which Word also opens, is how attacks hide from scanners: refused. Some editors end their files with
//! a NUL or without a line break: still RTF. Braces are not counted: readers close what is open, and writers rely on
//! it.

/// Whether a file begins as RTF. The version is 1 in every specification; some writers leave it out.
pub(super) fn begins(head: &[u8]) -> bool {
    let next = head.strip_prefix(b"{\\rtf").and_then(|rest| rest.first());
    next.is_some_and(|byte| byte.is_ascii_digit() || byte.is_ascii_whitespace() || matches!(byte, b'\\' | b'{'))
}

/// Whether a file ends as RTF: with the brace that closes the document, then blanks and NULs at most.
pub(super) fn ends(tail: &[u8]) -> bool {
    let last = tail.iter().rev().find(|byte| !byte.is_ascii_whitespace() && !matches!(byte, 0 | 0x1A));
    last == Some(&b'}')
}
