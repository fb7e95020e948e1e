//! Signatures of what is not supported, so that the refusal can name it. Asked last: nothing supported and no text
//! comes here, and no verdict of acceptance is made here.

use super::Close;

/// Where a signature stands, what it is, and what it means. The first that fits wins.
const SIGNATURES: &[(usize, &[u8], Close)] = &[
    (0, b"PK\x05\x06", Close::PlainZip),
    (0, b"PK\x07\x08", Close::PlainZip),
    (0, b"Rar!\x1a\x07", Close::Archive),
    (0, b"7z\xbc\xaf\x27\x1c", Close::Archive),
    (0, b"\x1f\x8b", Close::Archive),
    (0, b"BZh", Close::Archive),
    (0, b"\xfd7zXZ\0", Close::Archive),
    (0, b"\x28\xb5\x2f\xfd", Close::Archive),
    (0, b"MSCF\0\0\0\0", Close::Archive),
    (0, b"xar!", Close::Archive),
    (0, b"!<arch>\n", Close::Archive),
    (257, b"ustar", Close::Archive),
    (0, b"MZ", Close::Executable),
    (0, b"\x7fELF", Close::Executable),
    (0, b"\xfe\xed\xfa\xce", Close::Executable),
    (0, b"\xfe\xed\xfa\xcf", Close::Executable),
    (0, b"\xce\xfa\xed\xfe", Close::Executable),
    (0, b"\xcf\xfa\xed\xfe", Close::Executable),
    (0, b"\xca\xfe\xba\xbe", Close::Executable),
    (0, b"\0asm", Close::Executable),
    (0, b"dex\n", Close::Executable),
    (0, b"\x4c\0\0\0\x01\x14\x02\0", Close::Executable),
    (0, b"BM", Close::OtherImage),
    (0, b"\0\0\x01\0", Close::OtherImage),
    (0, b"\0\0\x02\0", Close::OtherImage),
    (0, b"II*\0", Close::OtherImage),
    (0, b"MM\0*", Close::OtherImage),
    (0, b"II+\0", Close::OtherImage),
    (0, b"MM\0+", Close::OtherImage),
    (0, b"II\xbc\x01", Close::OtherImage),
    (0, b"8BPS", Close::OtherImage),
    (0, b"\xff\x0a", Close::OtherImage),
    (0, b"\0\0\0\x0cJXL ", Close::OtherImage),
    (0, b"\0\0\0\x0cjP  ", Close::OtherImage),
    (0, b"\xff\x4f\xff\x51", Close::OtherImage),
    (0, b"\xd7\xcd\xc6\x9a", Close::OtherImage),
    (40, b" EMF", Close::OtherImage),
    (4, b"ftypcrx ", Close::OtherImage),
    (4, b"ftyp", Close::Media),
    (4, b"moov", Close::Media),
    (4, b"mdat", Close::Media),
    (4, b"wide", Close::Media),
    (8, b"AVI ", Close::Media),
    (8, b"WAVE", Close::Media),
    (0, b"\x1a\x45\xdf\xa3", Close::Media),
    (0, b"OggS", Close::Media),
    (0, b"fLaC", Close::Media),
    (0, b"ID3", Close::Media),
    (0, b"FLV\x01", Close::Media),
    (0, b"#!AMR", Close::Media),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", Close::Media),
    (0, b"\0\0\x01\xba", Close::Media),
    (0, b"\0\0\x01\xb3", Close::Media),
];

/// Names what begins with `head`.
pub(super) fn name(head: &[u8]) -> Close {
    let found = SIGNATURES.iter().find(|(at, bytes, _)| head.get(*at..).is_some_and(|head| head.starts_with(bytes)));
    if let Some((_, _, close)) = found {
        return *close;
    }
    match head {
        // The frame of MPEG audio: eleven set bits, a layer that is none.
        [0xFF, second, ..] if second & 0xE0 == 0xE0 && second & 0x06 != 0 => Close::Media,
        _ => Close::Unknown,
    }
}
