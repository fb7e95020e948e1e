//! AVIF and its relatives: ISO base media files (ISO/IEC 14496-12), told apart by the brands of `ftyp`.
//!
//! `avif` or `avis` as the major or a compatible brand is AVIF, whatever else is named (libavif and Apple put `mif1`
//! first at times). `heic`, `mif1` and their kin without it are what iPhones take. Everything else is film or sound.

use super::walk::{Format, Step, big};

/// Longest `ftyp` that is read; real ones have under 100 bytes.
const FTYP: u64 = 4096;

/// Brands of HEIF photos and bursts (ISO/IEC 23008-12, annexes B and D).
const HEIF: &[&[u8]] = &[
    b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs", b"mif1", b"mif2", b"mif3", b"msf1",
    b"miaf", b"heif", b"avci", b"avcs",
];

/// What the brands say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Family {
    /// No `ftyp` was read.
    #[default]
    None,
    /// AVIF, still or sequence.
    Avif,
    /// HEIC and HEIF.
    Heif,
    /// MP4, MOV, 3GP and others.
    Other,
}

/// The walk over the boxes of the top level.
#[derive(Debug, Default)]
pub(super) struct Boxes {
    /// What the brands said.
    family: Family,
    /// Whether the items (`meta`) or the tracks (`moov`) were seen.
    has_index: bool,
    /// Whether media data was seen.
    has_data: bool,
}

impl Boxes {
    /// What the brands said.
    pub(super) fn family(&self) -> Family {
        self.family
    }

    /// The family of a complete `ftyp` box.
    fn brands(header: &[u8]) -> Family {
        // Size and type, the major brand, a version that is no brand, the compatible ones.
        let major = header.get(8..12).unwrap_or_default();
        let others = header.get(16..).unwrap_or_default();
        let mut brands = others.chunks_exact(4).chain([major]);
        if brands.clone().any(|brand| brand == b"avif" || brand == b"avis") {
            Family::Avif
        } else if brands.any(|brand| HEIF.contains(&brand)) {
            Family::Heif
        } else {
            Family::Other
        }
    }

    /// The step over a box behind `ftyp`.
    fn inner(&mut self, header: &[u8]) -> Step {
        let size = big(header, 0, 4);
        let name = header.get(4..8).unwrap_or_default();
        if size == 1 && header.len() < 16 {
            return Step::More(16);
        }
        let whole = if size == 1 { big(header, 8, 8) } else { size };
        let body = whole.checked_sub(header.len() as u64);
        if !name.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') || (body.is_none() && size != 0) {
            // Not a box: bytes that somebody appended.
            return if self.is_complete() { Step::Whole } else { Step::Broken };
        }
        match (name, body) {
            // Into the box, behind its version: its items may have their data within (`idat`).
            (b"meta", None | Some(4..)) => {
                self.has_index = true;
                return Step::Skip { body: 4, header: 8 };
            }
            (b"moov", _) => self.has_index = true,
            (b"mdat" | b"idat", _) => self.has_data = true,
            // The small form of a still picture has both in one.
            (b"mini", _) => (self.has_index, self.has_data) = (true, true),
            _ => {}
        }
        match body {
            Some(body) => Step::Skip { body, header: 8 },
            // Size 0: the box reaches to the end of the file.
            None if self.is_complete() => Step::Whole,
            None => Step::Broken,
        }
    }

    /// Whether everything a picture needs was seen.
    fn is_complete(&self) -> bool {
        self.has_index && self.has_data
    }
}

impl Format for Boxes {
    const FIRST: usize = 8;

    fn step(&mut self, header: &[u8]) -> Step {
        if self.family != Family::None {
            return self.inner(header);
        }
        let size = big(header, 0, 4);
        if header.get(4..8) != Some(&b"ftyp"[..]) || !(16..=FTYP).contains(&size) || !size.is_multiple_of(4) {
            return Step::Broken;
        }
        match usize::try_from(size) {
            Ok(size) if size > header.len() => Step::More(size),
            _ => {
                self.family = Self::brands(header);
                Step::Skip { body: 0, header: 8 }
            }
        }
    }

    /// Behind a complete box, once there is a picture; a few bytes more do no harm.
    fn may_end(&self, _: &[u8]) -> bool {
        self.is_complete()
    }
}
