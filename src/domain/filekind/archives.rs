//! Packages that no sample shows, written here byte by byte: every way in which writers differ, and every way in
//! which a hostile directory lies.

use std::time::Instant;

use super::samples::sniff;
use super::*;

/// How a member is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Stored,
    Deflated,
    /// Deflated, with its sizes behind it only (.NET, Java).
    Streamed,
    /// Deflated, with its sizes in ZIP64 fields (POI, streaming SDKs).
    Wide,
    /// With a password.
    Locked,
    /// By a method nobody expects (9 is Deflate64).
    Odd,
}

/// A ZIP being written.
#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    directory: Vec<u8>,
    count: u64,
}

fn le(number: u64, length: usize) -> Vec<u8> {
    number.to_le_bytes().into_iter().chain([0; 8]).take(length).collect()
}

impl Archive {
    fn with(mut self, name: &str, contents: &[u8], way: Way) -> Self {
        self.add(name, contents, way, contents.len() as u64);
        self
    }

    /// Adds a member that declares `size` whatever it has.
    fn add(&mut self, name: &str, contents: &[u8], way: Way, size: u64) {
        let (method, packed) = match way {
            Way::Stored => (0, contents.to_vec()),
            Way::Odd => (9, contents.to_vec()),
            _ => (8, miniz_oxide::deflate::compress_to_vec(contents, 6)),
        };
        let flags = u64::from(way == Way::Locked) | (u64::from(way == Way::Streamed) << 3);
        let offset = self.bytes.len() as u64;
        let length = packed.len() as u64;
        let shared = |sizes: [u64; 2], extra: usize| {
            [
                le(20, 2),
                le(flags, 2),
                le(method, 2),
                le(0, 8),
                le(sizes[0], 4),
                le(sizes[1], 4),
                le(name.len() as u64, 2),
            ]
            .concat()
            .into_iter()
            .chain(le(extra as u64, 2))
            .collect::<Vec<u8>>()
        };
        let local = if way == Way::Streamed { [0, 0] } else { [length, size] };
        self.bytes.extend([b"PK\x03\x04".to_vec(), shared(local, 0), name.as_bytes().to_vec(), packed].concat());
        if way == Way::Streamed {
            self.bytes.extend([b"PK\x07\x08".to_vec(), le(0, 4), le(length, 4), le(size, 4)].concat());
        }
        let (sizes, extra) = match way {
            Way::Wide => {
                ([0xFFFF_FFFF; 2], [le(0xCAFE, 2), le(0, 2), le(1, 2), le(16, 2), le(size, 8), le(length, 8)].concat())
            }
            _ => ([length, size], Vec::new()),
        };
        let entry = [b"PK\x01\x02".to_vec(), le(20, 2), shared(sizes, extra.len()), le(0, 10), le(offset, 4)];
        self.directory.extend([entry.concat()[..46].to_vec(), name.as_bytes().to_vec(), extra].concat());
        self.count += 1;
    }

    fn end(count: u64, size: u64, offset: u64, comment: &[u8]) -> Vec<u8> {
        let numbers = [le(0, 4), le(count, 2), le(count, 2), le(size, 4), le(offset, 4), le(comment.len() as u64, 2)];
        [b"PK\x05\x06".to_vec(), numbers.concat(), comment.to_vec()].concat()
    }

    fn finish(self) -> Vec<u8> {
        self.commented(b"")
    }

    fn commented(self, comment: &[u8]) -> Vec<u8> {
        let end = Self::end(self.count, self.directory.len() as u64, self.bytes.len() as u64, comment);
        [self.bytes, self.directory, end].concat()
    }

    /// Ends as ZIP64.
    fn wide(self) -> Vec<u8> {
        let (offset, size) = (self.bytes.len() as u64, self.directory.len() as u64);
        let record = [
            b"PK\x06\x06".to_vec(),
            le(44, 8),
            le(45, 2),
            le(45, 2),
            le(0, 8),
            le(self.count, 8),
            le(self.count, 8),
            le(size, 8),
            le(offset, 8),
        ];
        let locator = [b"PK\x06\x07".to_vec(), le(0, 4), le(offset + size, 8), le(1, 4)];
        let end = Self::end(0xFFFF, 0xFFFF_FFFF, 0xFFFF_FFFF, b"");
        [self.bytes, self.directory, record.concat(), locator.concat(), end].concat()
    }
}

/// `[Content_Types].xml` with one main part.
fn types(part: &str, content_type: &str) -> Vec<u8> {
    let declared = format!("<Override PartName=\"{part}\" ContentType=\"application/vnd.{content_type}\"/>");
    format!("<Types><Default Extension=\"rels\" ContentType=\"x\"/>{declared}</Types>").into_bytes()
}

const WORD: &str = "openxmlformats-officedocument.wordprocessingml.document.main+xml";
const TYPES: &str = "[Content_Types].xml";
const PART: &str = "word/document.xml";

/// A DOCX whose members are written in one way.
fn docx(way: Way) -> Archive {
    Archive::default().with(PART, b"<w/>", way).with(TYPES, &types("/word/document.xml", WORD), way)
}

/// An ODT whose `content.xml` is given.
fn odt(content: &[u8], way: Way) -> Archive {
    Archive::default()
        .with("mimetype", b"application/vnd.oasis.opendocument.text", Way::Stored)
        .with("content.xml", content, way)
        .with("META-INF/manifest.xml", b"<m/>", Way::Deflated)
}

/// A DOCX that lists a macro-enabled type for an extension.
fn listed(extension: &str) -> Archive {
    let types = String::from_utf8(types("/word/document.xml", WORD)).unwrap();
    let default = format!(
        "<Default Extension='{extension}' ContentType='application/vnd.ms-excel.sheet.macroEnabled.12'/></Types>"
    );
    Archive::default().with(PART, b"<w/>", Way::Deflated).with(
        TYPES,
        types.replace("</Types>", &default).as_bytes(),
        Way::Deflated,
    )
}

const DOCX: Sniffed = Sniffed::Known(FileKind::Docx);
const ODT: Sniffed = Sniffed::Known(FileKind::Odt);
const ZIP: Sniffed = Sniffed::Refused(Close::PlainZip);
const BROKEN: Sniffed = Sniffed::Refused(Close::Damaged(None));

fn judge(cases: Vec<(&str, Vec<u8>, Sniffed)>) {
    for (name, bytes, expected) in cases {
        assert_eq!(sniff(&bytes, 4096), expected, "{name}");
    }
}

#[test]
fn a_document_is_known_however_its_writer_packs_it() {
    let default =
        format!("<Types><Default Extension='xml' ContentType='application/vnd.{WORD}'/></Types>").into_bytes();
    let many =
        (0..3000).fold(docx(Way::Deflated), |zip, n| zip.with(&format!("word/media/{n}.png"), b"x", Way::Stored));
    judge(vec![
        ("stored", docx(Way::Stored).finish(), DOCX),
        ("deflated", docx(Way::Deflated).finish(), DOCX),
        ("streamed", docx(Way::Streamed).finish(), DOCX),
        ("zip64 members", docx(Way::Wide).finish(), DOCX),
        ("zip64 end", docx(Way::Wide).wide(), DOCX),
        ("a comment", docx(Way::Deflated).commented(b"made by hand"), DOCX),
        ("the longest comment", docx(Way::Deflated).commented(&[b'c'; 65535]), DOCX),
        ("blanks behind it", [docx(Way::Deflated).finish(), b"\r\n\0\0".to_vec()].concat(), DOCX),
        (
            "the SDK's default type",
            Archive::default().with(TYPES, &default, Way::Deflated).with(PART, b"", Way::Stored).finish(),
            DOCX,
        ),
        (
            "SharePoint's numbered part",
            Archive::default()
                .with(TYPES, &types("/word/document2.xml", WORD), Way::Deflated)
                .with("word/document2.xml", b"", Way::Stored)
                .finish(),
            DOCX,
        ),
        (
            "backslashes",
            Archive::default()
                .with(TYPES, &types("/word/document.xml", WORD), Way::Deflated)
                .with("word\\document.xml", b"", Way::Stored)
                .finish(),
            DOCX,
        ),
        (
            "another case",
            Archive::default()
                .with("[content_types].xml", &types("/Word/Document.xml", WORD), Way::Deflated)
                .with(PART, b"", Way::Stored)
                .finish(),
            DOCX,
        ),
        ("thousands of pictures", many.finish(), DOCX),
        (
            "a package within",
            docx(Way::Deflated).with("word/embeddings/a.docx", &docx(Way::Deflated).finish(), Way::Stored).finish(),
            DOCX,
        ),
    ]);
}

#[test]
fn an_odf_document_is_known_wherever_its_mimetype_stands() {
    judge(vec![
        ("ODF", odt(b"<x/>", Way::Deflated).finish(), ODT),
        ("ODF, stored", odt(b"<?xml?><x/>", Way::Stored).finish(), ODT),
        (
            "ODF, mimetype last",
            Archive::default()
                .with("META-INF/manifest.xml", b"", Way::Deflated)
                .with("mimetype", b"application/vnd.oasis.opendocument.text", Way::Stored)
                .finish(),
            ODT,
        ),
    ]);
}

#[test]
fn what_is_close_to_an_office_file_is_named() {
    let main = |part: &str, kind: &str| {
        Archive::default()
            .with(TYPES, &types(&format!("/{part}"), kind), Way::Deflated)
            .with(part, b"", Way::Stored)
            .finish()
    };
    let macros = |kind| Sniffed::Refused(Close::MacroOffice(kind));
    let template = |kind| Sniffed::Refused(Close::TemplateOffice(kind));
    let locked = Sniffed::Refused(Close::EncryptedOffice);
    let (sheet, deck) = ("openxmlformats-officedocument.spreadsheetml", "openxmlformats-officedocument.presentationml");
    judge(vec![
        ("xlsx", main("xl/workbook.xml", &format!("{sheet}.sheet.main+xml")), Sniffed::Known(FileKind::Xlsx)),
        (
            "pptx",
            main("ppt/presentation.xml", &format!("{deck}.presentation.main+xml")),
            Sniffed::Known(FileKind::Pptx),
        ),
        ("docm", main(PART, "ms-word.document.macroEnabled.main+xml"), macros(FileKind::Docx)),
        ("dotm", main(PART, "ms-word.template.macroEnabledTemplate.main+xml"), macros(FileKind::Docx)),
        ("xlsm", main("xl/workbook.xml", "ms-excel.sheet.macroEnabled.main+xml"), macros(FileKind::Xlsx)),
        (
            "pptm",
            main("ppt/presentation.xml", "ms-powerpoint.presentation.macroEnabled.main+xml"),
            macros(FileKind::Pptx),
        ),
        (
            "vba under a plain type",
            docx(Way::Deflated).with("customXml/VBAProject.bin", b"", Way::Stored).finish(),
            macros(FileKind::Docx),
        ),
        (
            "xlsb",
            main("xl/workbook.bin", "ms-excel.sheet.binary.macroEnabled.main"),
            Sniffed::Refused(Close::OtherDocument(FileKind::Xlsx)),
        ),
        (
            "dotx",
            main(PART, "openxmlformats-officedocument.wordprocessingml.template.main+xml"),
            template(FileKind::Docx),
        ),
        ("ppsx", main("ppt/presentation.xml", &format!("{deck}.slideshow.main+xml")), template(FileKind::Pptx)),
        ("a locked document", docx(Way::Locked).finish(), locked),
        ("a locked member", docx(Way::Deflated).with("word/x.xml", b"x", Way::Locked).finish(), locked),
        ("ODF 1.2 with a password", odt(b"\x8e\x01\x55\x90", Way::Stored).finish(), locked),
        (
            "ODF 1.4 with a password",
            odt(b"<x/>", Way::Deflated).with("encrypted-package", b"\x8e", Way::Stored).finish(),
            locked,
        ),
        ("a listed type that no member has", listed("xlsm").finish(), DOCX),
        (
            "an embedded workbook with macros",
            listed("xlsm").with("word/embeddings/a.XLSM", b"", Way::Stored).finish(),
            macros(FileKind::Docx),
        ),
        ("an empty archive", Archive::default().finish(), ZIP),
    ]);
}

#[test]
fn a_document_of_another_program_is_named_as_one_and_not_as_an_archive() {
    let other = Sniffed::Refused(Close::OtherDocument(FileKind::Pdf));
    let visio = types("/visio/document.xml", "ms-visio.drawing.main+xml");
    let typed = |mimetype: &[u8]| Archive::default().with("mimetype", mimetype, Way::Stored).finish();
    judge(vec![
        (
            "visio",
            Archive::default()
                .with(TYPES, &visio, Way::Deflated)
                .with("visio/document.xml", b"<v/>", Way::Deflated)
                .finish(),
            other,
        ),
        ("pages", Archive::default().with("Index/Document.iwa", b"x", Way::Stored).finish(), other),
        ("a drawing", typed(b"application/vnd.oasis.opendocument.graphics"), other),
        ("a book", typed(b"application/epub+zip"), other),
        ("StarOffice", typed(b"application/vnd.sun.xml.writer"), other),
    ]);
}

#[test]
fn thousands_of_declarations_over_thousands_of_members_cost_a_look_up_each() {
    let declared = "<Default Extension='zz' ContentType='vbaProject'/>".repeat(4500);
    let types = String::from_utf8(types("/word/document.xml", WORD)).unwrap().replace("</Types>", &declared);
    let package = Archive::default().with(TYPES, types.as_bytes(), Way::Deflated).with(PART, b"<w/>", Way::Stored);
    let archive = (0..4000).fold(package, |zip, n| zip.with(&format!("{n}.{n}"), b"", Way::Stored));
    let archive = archive.finish();
    let began = busy_millis();
    assert_eq!(sniff(&archive, 16 << 10), DOCX);
    // 670 ms of the processor when each member was looked up in a list.
    assert!(busy_millis() - began < 400, "{} ms", busy_millis() - began);
}

/// Milliseconds that this thread has had a processor: a busy machine does not show in them.
fn busy_millis() -> u64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    times.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1_000_000
}

#[test]
fn what_only_looks_like_a_package_is_none() {
    let whole = docx(Way::Deflated).finish();
    let two = types("/word/document.xml", WORD);
    let sheet = types("/xl/workbook.xml", "openxmlformats-officedocument.spreadsheetml.sheet.main+xml");
    let both = [&two[..two.len() - 8], &sheet[7..]].concat();
    let mimetype = |value: &[u8], way| {
        Archive::default().with("mimetype", value, way).with("META-INF/manifest.xml", b"", Way::Stored).finish()
    };
    let text = b"application/vnd.oasis.opendocument.text";
    judge(vec![
        (
            "no main part",
            Archive::default()
                .with(TYPES, &types("/word/document.xml", WORD), Way::Deflated)
                .with("word/other.xml", b"", Way::Stored)
                .finish(),
            ZIP,
        ),
        ("no types", Archive::default().with(PART, b"<w/>", Way::Stored).finish(), ZIP),
        (
            "types that are no XML",
            Archive::default().with(TYPES, b"hello", Way::Stored).with(PART, b"", Way::Stored).finish(),
            ZIP,
        ),
        ("types twice", docx(Way::Deflated).with(TYPES, &types("/word/document.xml", WORD), Way::Stored).finish(), ZIP),
        (
            "two programs",
            Archive::default()
                .with(TYPES, &both, Way::Deflated)
                .with(PART, b"", Way::Stored)
                .with("xl/workbook.xml", b"", Way::Stored)
                .finish(),
            ZIP,
        ),
        (
            "two standards",
            docx(Way::Deflated)
                .with("mimetype", text, Way::Stored)
                .with("META-INF/manifest.xml", b"", Way::Stored)
                .finish(),
            ZIP,
        ),
        (
            "types by Deflate64",
            Archive::default().with(TYPES, &two, Way::Odd).with(PART, b"", Way::Stored).finish(),
            BROKEN,
        ),
        ("a mimetype with a line break", mimetype(b"application/vnd.oasis.opendocument.text\n", Way::Stored), ZIP),
        ("a deflated mimetype", mimetype(text, Way::Deflated), ZIP),
        ("an ODF type that nobody defined", mimetype(b"application/vnd.oasis.opendocument.song", Way::Stored), ZIP),
        ("cut", whole[..whole.len() - 1].to_vec(), BROKEN),
        ("no directory", docx(Way::Deflated).bytes, BROKEN),
        ("an end within the comment", docx(Way::Deflated).commented(&whole[whole.len() - 22..]), BROKEN),
        ("text behind it", [whole.clone(), b"<script>".to_vec()].concat(), BROKEN),
        ("junk in front", [b"PK\x03\x04junk".to_vec(), whole.clone()].concat(), BROKEN),
    ]);
    assert_eq!(sniff(&[b"#!/bin/sh\n".to_vec(), whole].concat(), 4096), Sniffed::Refused(Close::Unknown));
}

/// A package with one member beside the document.
fn stuffed(contents: &[u8], declared: u64) -> Vec<u8> {
    let mut zip = docx(Way::Deflated);
    zip.add("word/media/x.bin", contents, Way::Deflated, declared);
    zip.finish()
}

#[test]
fn a_directory_that_lies_or_asks_for_too_much_is_refused_at_once() {
    let over = Sniffed::Refused(Close::Overpacked);
    let crowd = (0..60_000).fold(Archive::default(), |mut zip, n| {
        zip.add(&format!("{n}"), b"", Way::Stored, 0);
        zip
    });
    let mut shifted = docx(Way::Deflated);
    let end = shifted.directory.len() - TYPES.len();
    shifted.directory[end - 4..end].copy_from_slice(&le(0x7FFF_FFFF, 4));
    let mut overlapping = docx(Way::Deflated);
    overlapping.directory = overlapping.directory.repeat(40);
    overlapping.count *= 40;
    let mut huge_types = Archive::default().with(PART, b"", Way::Stored);
    huge_types.add(TYPES, &vec![b' '; 100 << 20], Way::Deflated, 1000);
    let short = |count: u64| {
        let zip = docx(Way::Deflated);
        let end = Archive::end(count, zip.directory.len() as u64, zip.bytes.len() as u64, b"");
        [zip.bytes, zip.directory, end].concat()
    };
    let wide = |zip: Archive| {
        let mut bytes = zip.wide();
        let at = bytes.len() - 22 - 20 + 8;
        bytes[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        bytes
    };
    let cases = [
        ("60,000 members", crowd.finish(), over),
        ("100 MiB of zeros", stuffed(&vec![0; 100 << 20], 100 << 20), over),
        ("20 MiB of zeros", stuffed(&vec![0; 20 << 20], 20 << 20), over),
        ("a declared 4 GiB", stuffed(b"x", 0xFFFF_FFFE), over),
        ("types that unpack to 100 MiB and declare less", huge_types.finish(), over),
        ("a member behind the end", shifted.finish(), BROKEN),
        ("members that overlap", overlapping.finish(), BROKEN),
        ("a count above the entries", short(3), BROKEN),
        ("a count below the entries", short(1), BROKEN),
        ("a locator into nowhere", wide(docx(Way::Wide)), BROKEN),
    ];
    for (name, bytes, expected) in cases {
        let start = Instant::now();
        assert_eq!(sniff(&bytes, 16 << 10), expected, "{name}");
        let spent = start.elapsed();
        assert!(spent.as_secs() < 2, "{name}: {spent:?}");
    }
}
