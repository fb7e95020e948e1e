//! What a file is, decided by its content and never by the browser's word.
//!
//! Two phases. Bytes are pushed through a [`Sniffer`] as they arrive: it keeps the first 4 KiB and the last 2 KiB,
//! walks the blocks of pictures and looks at every byte for what no text holds. [`Sniffer::finish`] then gives the
//! verdict; only for ZIP packages and compound files does it read back from the finished file, a few bounded pieces.
//!
//! * The verdict depends on the bytes alone, not on the pieces in which they came.
//! * Memory: under 10 KiB while streaming, under 3 MiB for the time of a verdict. No input makes it panic.
//! * Nothing is decoded, rendered or inflated, but for `[Content_Types].xml` of a package within a bound.
//! * The question is the type. Active content within a true type (a PDF's scripts, a table's formulas) passes.
//!
//! What is refused is named by what it is close to ([`Close`]), so that the visitor can be told the remedy.
//! [`resolve`] holds the verdict against the file's name.

#[cfg(test)]
mod archives;
mod cfb;
mod claim;
mod content_types;
mod images;
mod isobmff;
mod kind;
mod magic;
mod office;
mod pdf;
mod rtf;
#[cfg(test)]
mod samples;
mod text;
mod walk;
mod zip;

use std::io::{self, Read, Seek};

use images::{Gif, Jpeg, Png, Webp};
use isobmff::{Boxes, Family};
use text::{Opening, TextScan};
use walk::{Format, Walk};

pub use claim::{Agreement, Resolved, resolve};
pub use kind::FileKind;

/// Bytes of the beginning that are kept.
const HEAD: usize = 4096;
/// Bytes of blanks that are kept of a beginning that has nothing else.
const BLANKS: usize = 64;
/// Bytes of the end that are kept.
const TAIL: usize = 2048;

/// What the bytes of a file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniffed {
    /// A supported kind, whole. Every text is [`FileKind::Txt`] here: [`resolve`] knows the name.
    Known(FileKind),
    /// Nothing that is supported.
    Refused(Close),
}

/// What an unsupported file is close to. A kind within is the one to save or send it as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Close {
    /// No bytes at all.
    Empty,
    /// It begins as a supported kind and does not end as one; `None`: a ZIP package without a readable directory.
    Damaged(Option<FileKind>),
    /// HEIC or HEIF, as iPhones take photos.
    HeicPhoto,
    /// An office file from before 2007.
    OldOffice(FileKind),
    /// A document of another program, or a binary workbook (`.xlsb`).
    OtherDocument(FileKind),
    /// An office file with a password.
    EncryptedOffice,
    /// An office file with macros.
    MacroOffice(FileKind),
    /// An office template, or a slide show that starts by itself.
    TemplateOffice(FileKind),
    /// An office file or archive that declares to unpack to far more than it should.
    Overpacked,
    /// A ZIP archive that is no office file.
    PlainZip,
    /// Another archive: RAR, 7z, gzip.
    Archive,
    /// Another picture: BMP, TIFF, ICO, PSD, JPEG XL.
    OtherImage,
    /// Film or sound.
    Media,
    /// A web page.
    Html,
    /// An SVG picture, which can run scripts.
    Svg,
    /// PHP, a `#!` script, a server page.
    Script,
    /// A program.
    Executable,
    /// Nothing known.
    Unknown,
}

/// Looks at a file's bytes as they arrive.
#[derive(Debug, Default)]
pub struct Sniffer {
    /// The first bytes, at most `HEAD`; of thousands of blanks in front of anything else only the first ones.
    head: Vec<u8>,
    /// The last bytes, at most `TAIL`.
    tail: Vec<u8>,
    /// Looks for what is no text.
    text: TextScan,
    /// Walks a PNG; the walks of all other formats end at the first header.
    png: Walk<Png>,
    /// Walks a JPEG.
    jpeg: Walk<Jpeg>,
    /// Walks a GIF.
    gif: Walk<Gif>,
    /// Walks a WebP.
    webp: Walk<Webp>,
    /// Walks an AVIF and its relatives.
    boxes: Walk<Boxes>,
}

impl Sniffer {
    /// The next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.begin(bytes);
        let fresh = bytes.get(bytes.len().saturating_sub(TAIL)..).unwrap_or_default();
        let surplus = (self.tail.len() + fresh.len()).saturating_sub(TAIL);
        self.tail.drain(..surplus.min(self.tail.len()));
        self.tail.extend_from_slice(fresh);
        self.text.push(bytes);
        self.png.push(bytes);
        self.jpeg.push(bytes);
        self.gif.push(bytes);
        self.webp.push(bytes);
        self.boxes.push(bytes);
    }

    /// Keeps the beginning. A page behind 4 KiB of line breaks is still a page, so blanks alone do not fill it.
    fn begin(&mut self, mut bytes: &[u8]) {
        while self.head.len() < HEAD && !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(HEAD - self.head.len()));
            self.head.extend_from_slice(now);
            bytes = later;
            if self.head.len() == HEAD && text::is_blank(&self.head) {
                self.head.truncate(BLANKS);
            }
        }
    }

    /// The verdict over all bytes. `file` holds those that were pushed, `size` is their number; it is read only for
    /// ZIP packages and compound files. An error is one of reading it.
    pub fn finish(self, file: &mut (impl Read + Seek), size: u64) -> io::Result<Sniffed> {
        let head = self.head.as_slice();
        let damaged = |kind| Sniffed::Refused(Close::Damaged(Some(kind)));
        Ok(if head.is_empty() {
            Sniffed::Refused(Close::Empty)
        } else if head.starts_with(b"\x89PNG\r\n\x1a\n") {
            whole(&self.png, FileKind::Png)
        } else if head.starts_with(b"\xff\xd8\xff") {
            whole(&self.jpeg, FileKind::Jpeg)
        } else if self.gif.is_whole() {
            Sniffed::Known(FileKind::Gif)
        } else if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
            whole(&self.webp, FileKind::Webp)
        } else if self.boxes.format().family() == Family::Avif {
            whole(&self.boxes, FileKind::Avif)
        } else if self.boxes.format().family() == Family::Heif {
            Sniffed::Refused(Close::HeicPhoto)
        } else if pdf::begins(head) {
            if pdf::ends(head, &self.tail) { Sniffed::Known(FileKind::Pdf) } else { damaged(FileKind::Pdf) }
        } else if rtf::begins(head) {
            if rtf::ends(&self.tail) { Sniffed::Known(FileKind::Rtf) } else { damaged(FileKind::Rtf) }
        } else if head.starts_with(b"PK\x03\x04") {
            office::judge(file, size)?
        } else if head.starts_with(cfb::MAGIC) {
            Sniffed::Refused(cfb::name(file)?)
        } else {
            self.rest()
        })
    }

    /// The verdict over what has no signature of a supported kind: text, or nothing. A text may well begin with `MZ`
    /// or `GIF89a`, so signatures of ASCII come last.
    fn rest(&self) -> Sniffed {
        let is_text = self.text.is_text();
        match text::opening(&self.head) {
            Opening::Html => Sniffed::Refused(Close::Html),
            Opening::Svg => Sniffed::Refused(Close::Svg),
            Opening::Script if is_text => Sniffed::Refused(Close::Script),
            Opening::Plain if is_text => Sniffed::Known(FileKind::Txt),
            Opening::Plain | Opening::Script if self.head.starts_with(b"GIF8") => {
                Sniffed::Refused(Close::Damaged(Some(FileKind::Gif)))
            }
            Opening::Plain | Opening::Script => Sniffed::Refused(magic::name(&self.head)),
        }
    }
}

/// The verdict over a picture whose signature is there.
fn whole<F: Format>(walk: &Walk<F>, kind: FileKind) -> Sniffed {
    if walk.is_whole() { Sniffed::Known(kind) } else { Sniffed::Refused(Close::Damaged(Some(kind))) }
}
