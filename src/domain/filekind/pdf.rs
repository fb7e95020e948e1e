//! PDF: `%PDF-` at the start (a BOM or a few blanks allowed), `startxref` and `%%EOF` near the end.
//!
//! ISO 32000-2 wants the header at offset 0. Broken generators put a BOM or a line break in front of it, which is
//! harmless; more room there is room for another format. A file without its end was cut on the way. Passwords,
//! scripts and forms inside a PDF are the reader's matter, not the type's.

/// Most blanks before the header.
const LEAD: usize = 16;
/// Within how many bytes a linearised file says so (ISO 32000-2, F.3.3).
const LINEARIZED: usize = 1024;
/// How the header begins; the version follows.
const HEADER: &[u8] = b"%PDF-";

/// Whether a file begins as a PDF.
pub(super) fn begins(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = head.trim_ascii_start();
    head.len() - text.len() <= LEAD && text.starts_with(HEADER)
}

/// Whether a file ends as a PDF; `tail` is its last 2 KiB, since mail gateways and some writers append a little.
///
/// A PDF for the web (linearised) has a trailer near its start too, whose `startxref` is 0: that one is not its end.
pub(super) fn ends(head: &[u8], tail: &[u8]) -> bool {
    let is_linear = find(head.get(..LINEARIZED).unwrap_or(head), b"/Linearized").is_some();
    let mut rest = tail;
    while let Some(at) = find(rest, b"startxref") {
        rest = rest.get(at + b"startxref".len()..).unwrap_or_default();
        let number = rest.trim_ascii_start();
        let is_first = is_linear && number.starts_with(b"0") && !number.get(1).is_some_and(u8::is_ascii_digit);
        if !is_first && find(rest, b"%%EOF").is_some() {
            return true;
        }
    }
    false
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
        assert!(
            ends(b"", b"startxref\n9\n%%EOF") && ends(b"", b"startxref\r9\r%%EOF\r\n\0\0<!-- appended by a proxy -->")
        );
        assert!(
            !ends(b"", b"%%EOF")
                && !ends(b"", b"%%EOF startxref 9")
                && !ends(b"", b"startxref\n9\n%%EO")
                && !ends(b"", b"")
        );
    }

    #[test]
    fn the_first_trailer_of_a_linearised_file_is_not_its_end() {
        let head = b"%PDF-1.7\n1 0 obj\n<</Linearized 1>>";
        assert!(!ends(head, b"startxref\n0\n%%EOF\n9 0 obj"));
        assert!(ends(head, b"startxref\n0\n%%EOF\n9 0 obj startxref\n116\n%%EOF\n"));
        assert!(ends(b"%PDF-1.7\n", b"startxref\n0\n%%EOF"), "readers repair what a poor writer left at 0");
    }
}
