//! Office files: ZIP packages, told apart by what their directory names.
//!
//! * Office Open XML (transitional and strict alike): the main part by its content type in `[Content_Types].xml`, which
//!   is inflated within a bound, and the part itself in the directory.
//! * ODF: a stored member `mimetype` with one of three exact values, and `META-INF/manifest.xml`.
//!
//! Macros, templates and passwords are refused by name. Nothing else is inflated; a package that declares to unpack to
//! more than any document needs is refused for those who will open it.

use std::collections::HashSet;
use std::io::{self, Read, Seek};

use super::content_types::{self, Declared, Subject};
use super::zip::{self, Contents, Directory, Member};
use super::{Close, FileKind, Sniffed};

/// Most bytes of `[Content_Types].xml` once inflated. It has some 150 bytes a part: the 64 KiB one thinks of first
/// would refuse genuine decks of 400 parts.
const TYPES: usize = 256 << 10;
/// Most bytes of `mimetype`; the longest value has 55.
const MIMETYPE: usize = 128;
/// Most bytes that all members may declare.
const TOTAL: u64 = 96 << 20;
/// Bytes that a package may declare whatever its size.
const SMALL: u64 = 1 << 20;
/// Most bytes declared for each byte of the file. Sheets of nothing but styles reach 40.
const RATIO: u64 = 200;

/// How the `mimetype` of documents of other programs begins: drawings, formulas, books, `StarOffice`.
const DOCUMENTS: &[&[u8]] = &[
    b"application/vnd.oasis.opendocument.graphics",
    b"application/vnd.oasis.opendocument.chart",
    b"application/vnd.oasis.opendocument.formula",
    b"application/vnd.oasis.opendocument.image",
    b"application/vnd.oasis.opendocument.base",
    b"application/vnd.oasis.opendocument.text-",
    b"application/vnd.sun.xml.",
    b"application/epub+zip",
];

/// Judges a file that begins as a ZIP.
pub(super) fn judge(file: &mut (impl Read + Seek), size: u64) -> io::Result<Sniffed> {
    let members = match zip::directory(file, size)? {
        Directory::Members(members) => members,
        Directory::Broken => return Ok(Sniffed::Refused(Close::Damaged(None))),
        Directory::TooLarge => return Ok(Sniffed::Refused(Close::Overpacked)),
    };
    let total = members.iter().fold(0_u64, |total, member| total.saturating_add(member.size));
    if total > TOTAL || (total > SMALL && total > size.saturating_mul(RATIO)) {
        return Ok(Sniffed::Refused(Close::Overpacked));
    }
    let open_xml = open_xml(file, &members)?;
    let open_document = open_document(file, &members)?;
    Ok(match (open_xml, open_document) {
        (Some(sniffed), None) | (None, Some(sniffed)) => sniffed,
        (None, None) => Sniffed::Refused(other(file, &members)?),
        // Programs would differ about it.
        (Some(_), Some(_)) => Sniffed::Refused(Close::PlainZip),
    })
}

/// What a package of no supported kind is close to: who made a drawing, a book or a Pages document does not know that
/// it is an archive, and unpacking it would not help.
fn other(file: &mut (impl Read + Seek), members: &[Member]) -> io::Result<Close> {
    let has = |start: &str| members.iter().any(|member| member.name.starts_with(start));
    // Pages, Numbers and Keynote; Visio.
    if has("Index/Document.iwa") || has("Index.zip") || has("visio/document.xml") {
        return Ok(Close::OtherDocument(FileKind::Pdf));
    }
    let Some(mimetype) = only(members, "mimetype").filter(|member| member.is_stored()) else {
        return Ok(Close::PlainZip);
    };
    Ok(match mimetype.contents(file, MIMETYPE)? {
        Contents::Whole(value) if DOCUMENTS.iter().any(|start| value.starts_with(start)) => {
            Close::OtherDocument(FileKind::Pdf)
        }
        _ => Close::PlainZip,
    })
}

/// The only member of a name, in whatever case, as both standards compare them. `None` for two: readers would differ.
fn only<'m>(members: &'m [Member], name: &str) -> Option<&'m Member> {
    let mut found = members.iter().filter(|member| member.name.eq_ignore_ascii_case(name));
    found.next().filter(|_| found.next().is_none())
}

/// What an Office Open XML package is; `None` when it is none.
fn open_xml(file: &mut (impl Read + Seek), members: &[Member]) -> io::Result<Option<Sniffed>> {
    let Some(types) = only(members, "[Content_Types].xml") else { return Ok(None) };
    if types.is_encrypted {
        return Ok(Some(Sniffed::Refused(Close::EncryptedOffice)));
    }
    let declared = match types.contents(file, TYPES)? {
        Contents::Whole(bytes) => content_types::read(&bytes),
        Contents::TooLarge => return Ok(Some(Sniffed::Refused(Close::Overpacked))),
        Contents::Broken => return Ok(Some(Sniffed::Refused(Close::Damaged(None)))),
    };
    Ok(declared.and_then(|declared| main_part(&declared, members)))
}

/// What the main part makes of a package; `None` when there is none or they contradict each other.
fn main_part(declared: &[Declared], members: &[Member]) -> Option<Sniffed> {
    let names: HashSet<String> = members.iter().map(|member| member.name.to_ascii_lowercase()).collect();
    let endings: HashSet<_> = names.iter().filter_map(|name| ending(name)).collect();
    let extensions = endings.iter().map(|(_, extension)| *extension).collect();
    let parts = Parts { names: &names, endings, extensions };
    let mut mains = declared.iter().filter_map(|one| main_type(one, &parts));
    let (kind, flavour) = mains.next()?;
    if mains.any(|other| other != (kind, flavour)) {
        return None;
    }
    let has_macros = declared.iter().any(|one| declares_macros(one, &parts)) || names.iter().any(|name| is_vba(name));
    Some(match flavour {
        Flavour::Binary => Sniffed::Refused(Close::OtherDocument(kind)),
        Flavour::Macro => Sniffed::Refused(Close::MacroOffice(kind)),
        _ if has_macros => Sniffed::Refused(Close::MacroOffice(kind)),
        Flavour::Template => Sniffed::Refused(Close::TemplateOffice(kind)),
        Flavour::Document if members.iter().any(|member| member.is_encrypted) => {
            Sniffed::Refused(Close::EncryptedOffice)
        }
        Flavour::Document => Sniffed::Known(kind),
    })
}

/// The members of a package as declarations speak of them: thousands of either cost a look-up each.
struct Parts<'m> {
    /// Their names in lower case.
    names: &'m HashSet<String>,
    /// The first folder and the extension of each.
    endings: HashSet<(&'m str, &'m str)>,
    /// The extensions alone.
    extensions: HashSet<&'m str>,
}

/// The first folder (empty for none) and the extension of a member's name.
fn ending(name: &str) -> Option<(&str, &str)> {
    let folder = name.split_once('/').map_or("", |(folder, _)| folder);
    name.rsplit_once('.').map(|(_, extension)| (folder, extension))
}

/// What a main part is beside its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flavour {
    /// A document.
    Document,
    /// A template, or a slide show that starts by itself.
    Template,
    /// Any of them that may hold macros.
    Macro,
    /// A workbook in the binary form of `.xlsb`.
    Binary,
}

/// The program and the flavour of a declaration of a main part that the package has.
fn main_type(declared: &Declared, parts: &Parts<'_>) -> Option<(FileKind, Flavour)> {
    let stem = declared.content_type.strip_prefix("application/vnd.")?;
    let flavour = if stem.ends_with(".binary.macroenabled.main") {
        Flavour::Binary
    } else {
        let stem = stem.strip_suffix(".main+xml")?;
        if stem.contains("macroenabled") {
            Flavour::Macro
        } else if stem.ends_with(".template") || stem.ends_with(".slideshow") {
            Flavour::Template
        } else if stem.ends_with("ml.document") || stem.ends_with("ml.sheet") || stem.ends_with("ml.presentation") {
            Flavour::Document
        } else {
            return None;
        }
    };
    let stem = stem.strip_prefix("openxmlformats-officedocument.").unwrap_or(stem);
    let (kind, folder) = match stem.split('.').next()? {
        "wordprocessingml" | "ms-word" => (FileKind::Docx, "word"),
        "spreadsheetml" | "ms-excel" => (FileKind::Xlsx, "xl"),
        "presentationml" | "ms-powerpoint" => (FileKind::Pptx, "ppt"),
        _ => return None,
    };
    let is_there = match &declared.subject {
        // SharePoint numbers it: `word/document2.xml`.
        Subject::Part(part) => parts.names.contains(part),
        // The Open XML SDK declares the type of its first part for all of them.
        Subject::Extension(extension) => parts.endings.contains(&(folder, extension.as_str())),
    };
    is_there.then_some((kind, flavour))
}

/// Whether a declaration is one of macros: VBA, or sheets of Excel 4 macros. A default of an extension that no member
/// has says nothing: some writers list every type they know.
fn declares_macros(declared: &Declared, parts: &Parts<'_>) -> bool {
    let is_macro = ["macroenabled", "vbaproject", "macrosheet"].iter().any(|word| declared.content_type.contains(word));
    is_macro
        && match &declared.subject {
            Subject::Part(_) => true,
            Subject::Extension(extension) => parts.extensions.contains(extension.as_str()),
        }
}

/// Whether a member's name has an extension, both in lower case.
fn has_extension(name: &str, extension: &str) -> bool {
    name.strip_suffix(extension).is_some_and(|stem| stem.ends_with('.'))
}

/// Whether a member, its name in lower case, is a VBA project.
fn is_vba(name: &str) -> bool {
    let last = name.rsplit('/').next().unwrap_or(name);
    last.starts_with("vbaproject") && has_extension(last, "bin")
}

/// What an ODF package is; `None` when it is none.
fn open_document(file: &mut (impl Read + Seek), members: &[Member]) -> io::Result<Option<Sniffed>> {
    let Some(mimetype) = only(members, "mimetype").filter(|member| member.is_stored()) else { return Ok(None) };
    let Contents::Whole(value) = mimetype.contents(file, MIMETYPE)? else { return Ok(None) };
    if only(members, "META-INF/manifest.xml").is_none() {
        return Ok(None);
    }
    Ok(match value.as_slice() {
        b"application/vnd.oasis.opendocument.text" => Some(open_document_of(FileKind::Odt, file, members)?),
        b"application/vnd.oasis.opendocument.spreadsheet" => Some(open_document_of(FileKind::Ods, file, members)?),
        b"application/vnd.oasis.opendocument.presentation" => Some(open_document_of(FileKind::Odp, file, members)?),
        b"application/vnd.oasis.opendocument.text-template" => {
            Some(Sniffed::Refused(Close::TemplateOffice(FileKind::Odt)))
        }
        b"application/vnd.oasis.opendocument.spreadsheet-template" => {
            Some(Sniffed::Refused(Close::TemplateOffice(FileKind::Ods)))
        }
        b"application/vnd.oasis.opendocument.presentation-template" => {
            Some(Sniffed::Refused(Close::TemplateOffice(FileKind::Odp)))
        }
        _ => None,
    })
}

/// An ODF package of a kind, unless it has a password: ODF 1.4 wraps the whole package, ODF 1.2 stores each
/// member encrypted, so that `content.xml` does not begin as XML.
fn open_document_of(kind: FileKind, file: &mut (impl Read + Seek), members: &[Member]) -> io::Result<Sniffed> {
    let is_wrapped = only(members, "encrypted-package").is_some() || members.iter().any(|member| member.is_encrypted);
    let content = only(members, "content.xml").filter(|member| member.is_stored() && member.size > 0);
    let is_scrambled = match content {
        Some(member) => !member.packed_head(file, 4)?.is_some_and(|head| begins_as_xml(&head)),
        None => false,
    };
    Ok(if is_wrapped || is_scrambled { Sniffed::Refused(Close::EncryptedOffice) } else { Sniffed::Known(kind) })
}

/// Whether the first bytes can open an XML text.
fn begins_as_xml(head: &[u8]) -> bool {
    matches!(head, [0xEF, 0xBB, 0xBF, ..] | [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..])
        || head.trim_ascii_start().first().is_none_or(|byte| *byte == b'<')
}
