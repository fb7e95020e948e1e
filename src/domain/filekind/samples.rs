//! Every sample file gets its verdict, whatever pieces it arrives in, whole or damaged.

use std::fs;
use std::io::Cursor;
use std::path::PathBuf;
use std::time::Instant;

use proptest::prelude::*;

use super::*;

/// The verdict over `bytes` that arrive in pieces of `chunk`.
pub(super) fn sniff(bytes: &[u8], chunk: usize) -> Sniffed {
    let mut sniffer = Sniffer::default();
    bytes.chunks(chunk).for_each(|piece| sniffer.push(piece));
    sniffer.finish(&mut Cursor::new(bytes), bytes.len() as u64).unwrap()
}

/// A verdict and a name in the words of `index.json`.
fn words(sniffed: Sniffed, name: &str) -> String {
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    match resolve(sniffed, extension) {
        Err(close) => format!("{close:?}"),
        Ok(Resolved { kind, agreement: Agreement::Agrees }) => kind.label().to_owned(),
        Ok(Resolved { kind, agreement: Agreement::Contradicts(_) }) => format!("{}, by another name", kind.label()),
        Ok(Resolved { agreement: Agreement::TextUnderBinary, .. }) => "text under a binary name".to_owned(),
    }
}

/// The samples: name, bytes, expected words.
fn samples() -> Vec<(String, Vec<u8>, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/files");
    let index: serde_json::Value = serde_json::from_slice(&fs::read(folder.join("index.json")).unwrap()).unwrap();
    let entries = index.as_object().unwrap().iter();
    entries
        .map(|(name, verdict)| (name.clone(), fs::read(folder.join(name)).unwrap(), verdict.as_str().unwrap().into()))
        .collect()
}

#[test]
fn each_sample_gets_its_verdict_however_it_arrives() {
    let samples = samples();
    let mut wrong = Vec::new();
    for (name, bytes, expected) in &samples {
        let pieces: &[usize] = if bytes.len() < 5000 { &[1, 7, 1000, 65536] } else { &[1000, 65536] };
        for chunk in pieces {
            let found = words(sniff(bytes, *chunk), name);
            if found != *expected {
                wrong.push(format!("{name} in pieces of {chunk}: {found}, expected {expected}"));
            }
        }
    }
    assert!(samples.len() > 60 && wrong.is_empty(), "{} samples:\n{}", samples.len(), wrong.join("\n"));
}

#[test]
fn a_sample_cut_anywhere_is_never_taken_for_another_supported_kind() {
    for (name, bytes, _) in samples().iter().filter(|(_, bytes, _)| bytes.len() < 5000) {
        let whole = sniff(bytes, 65536);
        for end in 0..bytes.len() {
            let cut = sniff(&bytes[..end], 65536);
            let is_fine = match cut {
                Sniffed::Known(FileKind::Txt) | Sniffed::Refused(_) => true,
                // A cut behind an inner brace shows in no reader either.
                Sniffed::Known(FileKind::Rtf) => bytes.starts_with(b"{\\rtf"),
                Sniffed::Known(_) => cut == whole,
            };
            assert!(is_fine, "{name} cut at {end}: {cut:?}");
        }
    }
}

#[test]
fn a_page_behind_thousands_of_blanks_is_still_a_page() {
    let wide = |text: &str| [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let text = format!("{}<html><script>alert(1)</script>", "\r\n ".repeat(4000));
    let cases: [(Vec<u8>, Sniffed); 5] = [
        (text.clone().into_bytes(), Sniffed::Refused(Close::Html)),
        (wide(&text), Sniffed::Refused(Close::Html)),
        (text.replace("<html>", "").replace("<script>", "prose").into_bytes(), Sniffed::Known(FileKind::Txt)),
        (b"\n".repeat(9000), Sniffed::Known(FileKind::Txt)),
        ([&b"\n".repeat(9000)[..], b"%PDF-1.4\nstartxref\n9\n%%EOF"].concat(), Sniffed::Known(FileKind::Txt)),
    ];
    for (at, (bytes, expected)) in cases.iter().enumerate() {
        for chunk in [1, 7, 4096, 65536] {
            assert_eq!(sniff(bytes, chunk), *expected, "case {at} in pieces of {chunk}");
        }
    }
}

#[test]
fn the_largest_file_is_judged_in_bounded_time() {
    // The worst of each walker: a step for each byte or two.
    let jpeg = [&b"\xff\xd8\xff\xc0\0\x02\xff\xda\0\x02"[..], &b"\xff\0".repeat(5 << 19), b"\xff\xd9"].concat();
    let gif = [&b"GIF89a\0\0\0\0\0\0\0,\0\0\0\0\0\0\0\0\0\x02"[..], &b"\x01x".repeat(5 << 19), b"\0;"].concat();
    let text = b"name;city\r\n".repeat(1 << 19);
    let utf16 = [&b"\xff\xfe"[..], &b"a\0;\0\n\0".repeat(1 << 19)].concat();
    let ends = [&b"PK\x03\x04"[..], &b"PK\x05\x06".repeat(1 << 20)].concat();
    let zeros = [&b"PK\x03\x04"[..], &vec![0; 5 << 20]].concat();
    let cases = [
        ("jpeg", jpeg, Sniffed::Known(FileKind::Jpeg)),
        ("gif", gif, Sniffed::Known(FileKind::Gif)),
        ("text", text, Sniffed::Known(FileKind::Txt)),
        ("utf-16", utf16, Sniffed::Known(FileKind::Txt)),
        ("ends", ends, Sniffed::Refused(Close::Damaged(None))),
        ("zeros", zeros, Sniffed::Refused(Close::Damaged(None))),
    ];
    for (name, bytes, expected) in cases {
        let start = Instant::now();
        assert_eq!(sniff(&bytes, 16 << 10), expected, "{name}");
        let spent = start.elapsed();
        assert!(spent.as_secs() < 5, "{name}: {spent:?}");
    }
}

/// One sample with some of its bytes changed, cut out or repeated.
fn damaged(bytes: &[u8], edits: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, action, value) in edits {
        let at = at % bytes.len().max(1);
        let end = (at + usize::from(*value)).min(bytes.len());
        match action {
            0..=5 if at < bytes.len() => bytes[at] = *value,
            6 => drop(bytes.drain(at..end)),
            7 => bytes.truncate(at),
            8 => bytes.splice(at..at, vec![*value; usize::from(*value)]).for_each(drop),
            _ => bytes.extend_from_within(at..end),
        }
    }
    bytes
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_and_no_chunking_changes_the_verdict(
        bytes in proptest::collection::vec(any::<u8>(), 0..6000), magic in 0usize..10, chunk in 1usize..4000,
    ) {
        let magic: &[u8] = [
            &b""[..], b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01", b"\xff\xd8\xff", b"GIF89a",
            b"RIFF\x40\0\0\0WEBP", b"\0\0\0\x18ftypavif", b"%PDF-", b"{\\rtf1", b"PK\x03\x04", cfb::MAGIC,
        ][magic];
        let bytes = [magic, &bytes].concat();
        prop_assert_eq!(sniff(&bytes, chunk), sniff(&bytes, 65536));
    }

    #[test]
    fn no_damage_to_a_sample_makes_it_panic_and_no_chunking_changes_the_verdict(
        pick in any::<prop::sample::Index>(),
        edits in proptest::collection::vec((any::<usize>(), 0u8..10, any::<u8>()), 1..6), chunk in 1usize..4000,
    ) {
        let samples = samples();
        let bytes = damaged(&pick.get(&samples).1, &edits);
        prop_assert_eq!(sniff(&bytes, chunk), sniff(&bytes, 65536));
    }
}
