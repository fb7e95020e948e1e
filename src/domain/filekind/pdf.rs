//! PDF: `%PDF-` at the start (a BOM or a few blanks allowed), `startxref` and `%%EOF` near the end.
//!
//! ISO 32000-2 wants the header at offset 0. Broken generators put a BOM or a line break in front of it, which is
//! harmless; more room there is room for another format. A file without its end was cut on the way. Passwords,
//! scripts and forms inside a PDF are the reader's matter, not the type's.

/// Most blanks before the header.
const LEAD: usize = 16;
/// How the header begins; the version follows.
const HEADER: &[u8] = b"%PDF-";

/// Whether a file begins as a PDF.
pub(super) fn begins(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = head.trim_ascii_start();
    head.len() - text.len() <= LEAD && text.starts_with(HEADER)
}

/// Whether a file ends as a PDF; `tail` is its last 2 KiB, since mail gateways and some writers append a little.
pub(super) fn ends(tail: &[u8]) -> bool {
    let trailer = find(tail, b"startxref").and_then(|at| tail.get(at..));
    trailer.is_some_and(|rest| find(rest, b"%%EOF").is_some())
}

/// Where `needle` first occurs.
fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_must_be_near_the_start() {
        let blanks = |count: usize| [&vec![b' '; count][..], b"%PDF-1.7\n"].concat();
        assert!(begins(b"%PDF-1.4") && begins(b"\xef\xbb\xbf\r\n%PDF-1.4") && begins(&blanks(LEAD)));
        assert!(!begins(&blanks(LEAD + 1)) && !begins(b"x%PDF-1.4") && !begins(b"%PDF") && !begins(b""));
    }

    #[test]
    fn the_trailer_must_be_whole() {
        assert!(ends(b"startxref\n9\n%%EOF") && ends(b"startxref\r9\r%%EOF\r\n\0\0<!-- appended by a proxy -->"));
        assert!(!ends(b"%%EOF") && !ends(b"%%EOF startxref 9") && !ends(b"startxref\n9\n%%EO") && !ends(b""));
    }
}
