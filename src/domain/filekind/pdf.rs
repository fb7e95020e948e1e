//! PDF: `%PDF-` at the start (a BOM or a few blanks allowed), `startxref` and `%%EOF` near the end.
//!
//! ISO 32000-2 wants the header at offset 0. Broken generators put a BOM or a line break in front of it, which is
//! harmless; more room there is room for another format. A file without its end was cut on the way.

use super::{FileKind, Sniffed};

/// Most bytes of BOM and blanks before the header.
const LEAD: usize = 16;
/// How the header begins; the version follows.
const HEADER: &[u8] = b"%PDF-";
/// Bytes at the end that are searched for the trailer: mail gateways and some writers append a little.
const TAIL: usize = 2048;

/// Head and tail of the bytes so far.
#[derive(Debug, Default)]
pub(super) struct PdfScan {
    /// The first bytes, at most `LEAD` and the header.
    head: Vec<u8>,
    /// The last bytes, at most `TAIL`.
    tail: Vec<u8>,
}

impl PdfScan {
    /// The next bytes.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let missing = (LEAD + HEADER.len()).saturating_sub(self.head.len());
        self.head.extend(bytes.iter().take(missing));
        let fresh = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
        let surplus = (self.tail.len() + fresh.len()).saturating_sub(TAIL);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend_from_slice(fresh);
    }

    /// The verdict: `Damaged` when it begins as a PDF and has no end.
    pub(super) fn finish(self) -> Sniffed {
        let lead = self.head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&self.head);
        if !lead.trim_ascii_start().starts_with(HEADER) {
            return Sniffed::Unknown;
        }
        let trailer = find(&self.tail, b"startxref").and_then(|at| self.tail.get(at..));
        match trailer.and_then(|rest| find(rest, b"%%EOF")) {
            Some(_) => Sniffed::Known(FileKind::Pdf),
            None => Sniffed::Damaged(FileKind::Pdf),
        }
    }
}

/// Where `needle` first occurs.
fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack.windows(needle.len()).position(|window| window == needle)
}

#[cfg(test)]
mod tests {
    use super::super::Sniffer;
    use super::*;
    use proptest::prelude::*;

    const WHOLE: Sniffed = Sniffed::Known(FileKind::Pdf);
    const CUT: Sniffed = Sniffed::Damaged(FileKind::Pdf);

    /// Files of real writers and hostile ones, each with the verdict it must get.
    const SAMPLES: [(&str, &[u8], Sniffed); 10] = [
        ("reportlab.pdf", include_bytes!("../../../tests/data/files/reportlab.pdf"), WHOLE),
        ("bom.pdf", include_bytes!("../../../tests/data/files/bom.pdf"), WHOLE),
        ("leading-nl.pdf", include_bytes!("../../../tests/data/files/leading-nl.pdf"), WHOLE),
        ("javascript.pdf", include_bytes!("../../../tests/data/files/javascript.pdf"), WHOLE),
        ("pdf-html-polyglot.pdf", include_bytes!("../../../tests/data/files/pdf-html-polyglot.pdf"), WHOLE),
        ("truncated.pdf", include_bytes!("../../../tests/data/files/truncated.pdf"), CUT),
        ("leading-junk-1000.pdf", include_bytes!("../../../tests/data/files/leading-junk-1000.pdf"), Sniffed::Unknown),
        ("html-named.pdf", include_bytes!("../../../tests/data/files/html-named.pdf"), Sniffed::Unknown),
        ("exe-named.txt", include_bytes!("../../../tests/data/files/exe-named.txt"), Sniffed::Unknown),
        ("empty.pdf", b"", Sniffed::Unknown),
    ];

    fn sniff(bytes: &[u8], chunk: usize) -> Sniffed {
        let mut sniffer = Sniffer::default();
        bytes.chunks(chunk).for_each(|piece| sniffer.push(piece));
        sniffer.finish()
    }

    #[test]
    fn each_sample_gets_its_verdict_however_it_arrives() {
        for (name, bytes, verdict) in SAMPLES {
            for chunk in [1, 7, 1000, 65536] {
                assert_eq!(sniff(bytes, chunk), verdict, "{name} in pieces of {chunk}");
            }
        }
    }

    #[test]
    fn the_trailer_must_be_near_the_end_and_the_header_near_the_start() {
        let whole = |lead: usize, trail: usize| {
            [&vec![b' '; lead][..], b"%PDF-1.7\n", &[b'x'; 5000], b"startxref\n9\n%%EOF\n", &vec![0; trail]].concat()
        };
        assert_eq!(sniff(&whole(0, 0), 64), WHOLE);
        assert_eq!(sniff(&whole(LEAD, 2000), 64), WHOLE);
        assert_eq!(sniff(&whole(LEAD + 1, 0), 64), Sniffed::Unknown);
        assert_eq!(sniff(&whole(0, 2048), 64), CUT);
        assert_eq!(sniff(b"%PDF-1.4\n", 64), CUT);
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic_and_no_chunking_changes_the_verdict(
            bytes in proptest::collection::vec(any::<u8>(), 0..6000), chunk in 1usize..4000,
        ) {
            prop_assert_eq!(sniff(&bytes, chunk), sniff(&bytes, 65536));
        }
    }
}
