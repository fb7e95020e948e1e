//! PNG, JPEG, GIF and WebP, walked block by block. A signature is not enough: each must have its frame data and its
//! end. Bytes behind the end are allowed, since phones and editors put them there (motion photos, metadata).
//!
//! Nothing is decoded and no checksum is computed: the question is what the file is, not whether a picture is good.

use super::walk::{Format, Step, big, byte, little};

/// Most bytes of a PNG chunk (ISO/IEC 15948, 5.3).
const PNG_CHUNK: u64 = 0x7FFF_FFFF;

/// PNG: the signature, `IHDR` first, `IDAT`, `IEND`. Apple's `CgBI` files begin otherwise and are no PNG.
#[derive(Debug, Default)]
pub(super) struct Png {
    /// What the next header is.
    at: PngAt,
    /// Whether image data was seen.
    has_data: bool,
}

/// Where in a PNG.
#[derive(Debug, Default)]
enum PngAt {
    /// At the signature.
    #[default]
    Signature,
    /// At the first chunk, which is 8 bytes of header, 13 of `IHDR` and 4 of checksum.
    First,
    /// At any other chunk.
    Chunk,
    /// Behind `IEND`.
    End,
}

impl Format for Png {
    const FIRST: usize = 8;

    fn step(&mut self, header: &[u8]) -> Step {
        match self.at {
            PngAt::Signature if header == b"\x89PNG\r\n\x1a\n" => {
                self.at = PngAt::First;
                Step::Skip { body: 0, header: 25 }
            }
            PngAt::First => {
                let is_first = header.starts_with(b"\0\0\0\x0dIHDR");
                if !is_first || big(header, 8, 4) == 0 || big(header, 12, 4) == 0 {
                    return Step::Broken;
                }
                self.at = PngAt::Chunk;
                Step::Skip { body: 0, header: 8 }
            }
            PngAt::Chunk => self.chunk(big(header, 0, 4), header.get(4..).unwrap_or_default()),
            PngAt::End => Step::Whole,
            PngAt::Signature => Step::Broken,
        }
    }

    fn may_end(&self, _: &[u8]) -> bool {
        false
    }
}

impl Png {
    /// The step over a chunk of `length` bytes and its checksum.
    fn chunk(&mut self, length: u64, name: &[u8]) -> Step {
        if length > PNG_CHUNK || !name.iter().all(u8::is_ascii_alphabetic) {
            return Step::Broken;
        }
        match name {
            b"IEND" if self.has_data && length == 0 => {
                self.at = PngAt::End;
                Step::Skip { body: 4, header: 0 }
            }
            b"IEND" | b"IHDR" => Step::Broken,
            _ => {
                self.has_data |= name == b"IDAT";
                Step::Skip { body: length + 4, header: 8 }
            }
        }
    }
}

/// JPEG: SOI, segments with a frame and a scan, EOI (ITU-T T.81, annex B). The EOI of a thumbnail within a segment
/// does not count. Bytes between segments are skipped as libjpeg does.
#[derive(Debug, Default)]
pub(super) struct Jpeg {
    /// What the next header is.
    at: JpegAt,
    /// Whether a frame header was seen.
    has_frame: bool,
    /// Whether a scan was seen.
    has_scan: bool,
}

/// Where in a JPEG.
#[derive(Debug, Default)]
enum JpegAt {
    /// At SOI and the first byte of the next marker.
    #[default]
    Start,
    /// Behind a 0xFF.
    Marker,
    /// At the length of a segment.
    Length,
}

/// On to the next marker.
const NEXT_MARKER: Step = Step::Seek { body: 0, mark: 0xFF, header: 1 };

impl Format for Jpeg {
    const FIRST: usize = 3;

    fn step(&mut self, header: &[u8]) -> Step {
        match self.at {
            JpegAt::Start if header == b"\xff\xd8\xff" => {
                self.at = JpegAt::Marker;
                Step::Skip { body: 0, header: 1 }
            }
            JpegAt::Start => Step::Broken,
            JpegAt::Marker => self.marker(byte(header, 0)),
            JpegAt::Length => {
                self.at = JpegAt::Marker;
                match big(header, 0, 2).checked_sub(2) {
                    Some(body) => Step::Seek { body, mark: 0xFF, header: 1 },
                    None => Step::Broken,
                }
            }
        }
    }

    fn may_end(&self, _: &[u8]) -> bool {
        false
    }
}

impl Jpeg {
    /// The step after a marker.
    fn marker(&mut self, marker: u8) -> Step {
        match marker {
            // Fill bytes before a marker.
            0xFF => Step::Skip { body: 0, header: 1 },
            // A 0xFF of the scan, TEM, restarts, a second SOI: nothing follows them.
            0x00 | 0x01 | 0xD0..=0xD8 => NEXT_MARKER,
            0xD9 if self.has_frame && self.has_scan => Step::Whole,
            // 0xF7 is the frame of JPEG-LS, which no browser shows.
            0xD9 | 0xF7 => Step::Broken,
            _ => {
                self.has_frame |= matches!(marker, 0xC0..=0xCF) && !matches!(marker, 0xC4 | 0xC8 | 0xCC);
                self.has_scan |= marker == 0xDA;
                self.at = JpegAt::Length;
                Step::Skip { body: 0, header: 2 }
            }
        }
    }
}

/// GIF: the logical screen, blocks with at least one image, the trailer (GIF 89a, appendix B).
#[derive(Debug, Default)]
pub(super) struct Gif {
    /// What the next header is.
    at: GifAt,
    /// Whether an image was seen.
    has_image: bool,
}

/// Where in a GIF.
#[derive(Debug, Default)]
enum GifAt {
    /// At the signature and the logical screen descriptor.
    #[default]
    Screen,
    /// At a block.
    Block,
    /// At the length of a sub-block.
    Data,
}

/// The bytes of a colour table by the flags that announce it.
fn colours(flags: u8) -> u64 {
    if flags & 0x80 == 0 { 0 } else { 3 << ((flags & 7) + 1) }
}

impl Format for Gif {
    const FIRST: usize = 13;

    fn step(&mut self, header: &[u8]) -> Step {
        match (&self.at, byte(header, 0)) {
            (GifAt::Screen, _) if header.starts_with(b"GIF87a") || header.starts_with(b"GIF89a") => {
                self.at = GifAt::Block;
                Step::Skip { body: colours(byte(header, 10)), header: 1 }
            }
            (GifAt::Block, b',') if header.len() < 10 => Step::More(10),
            (GifAt::Block, b',') => {
                (self.at, self.has_image) = (GifAt::Data, true);
                // The colour table and one byte, the width of a code.
                Step::Skip { body: colours(byte(header, 9)) + 1, header: 1 }
            }
            (GifAt::Block, b'!') => {
                self.at = GifAt::Data;
                // The label of the extension.
                Step::Skip { body: 1, header: 1 }
            }
            (GifAt::Block, b';') if self.has_image => Step::Whole,
            // A stray terminator, which old writers leave behind an image.
            (GifAt::Block, 0) => Step::Skip { body: 0, header: 1 },
            (GifAt::Data, 0) => {
                self.at = GifAt::Block;
                Step::Skip { body: 0, header: 1 }
            }
            (GifAt::Data, length) => Step::Skip { body: u64::from(length), header: 1 },
            (GifAt::Screen | GifAt::Block, _) => Step::Broken,
        }
    }

    fn may_end(&self, _: &[u8]) -> bool {
        false
    }
}

/// WebP: RIFF whose length fits, with an image or a frame among its chunks (RFC 9649).
#[derive(Debug, Default)]
pub(super) struct Webp {
    /// What the next header is.
    at: WebpAt,
    /// Bytes of the RIFF body that no chunk has claimed yet.
    left: u64,
    /// Whether image data was seen.
    has_image: bool,
}

/// Where in a WebP.
#[derive(Debug, Default)]
enum WebpAt {
    /// At the RIFF header and the first chunk's.
    #[default]
    Riff,
    /// At a chunk.
    Chunk,
    /// Behind the RIFF body.
    End,
}

impl Format for Webp {
    const FIRST: usize = 12;

    fn step(&mut self, header: &[u8]) -> Step {
        match self.at {
            WebpAt::Riff if header.starts_with(b"RIFF") && header.ends_with(b"WEBP") => {
                self.left = little(header, 4, 4).saturating_sub(4);
                self.at = WebpAt::Chunk;
                if self.left < 8 { Step::Broken } else { Step::Skip { body: 0, header: 8 } }
            }
            WebpAt::Riff => Step::Broken,
            WebpAt::Chunk => self.chunk(header.get(..4).unwrap_or_default(), little(header, 4, 4)),
            WebpAt::End => Step::Whole,
        }
    }

    fn may_end(&self, _: &[u8]) -> bool {
        false
    }
}

impl Webp {
    /// The step over a chunk of `length` bytes. The last chunk's padding may be missing.
    fn chunk(&mut self, name: &[u8], length: u64) -> Step {
        let room = self.left.saturating_sub(8);
        if length > room {
            return Step::Broken;
        }
        self.has_image |= matches!(name, b"VP8 " | b"VP8L" | b"ANMF");
        let body = (length + length % 2).min(room);
        self.left = room - body;
        if self.left >= 8 {
            return Step::Skip { body, header: 8 };
        }
        if !self.has_image {
            return Step::Broken;
        }
        self.at = WebpAt::End;
        Step::Skip { body: body + self.left, header: 0 }
    }
}
