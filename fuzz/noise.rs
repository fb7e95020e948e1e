//! Where noise comes from: a small generator, and ways to spoil a seed.

use std::time::{SystemTime, UNIX_EPOCH};

/// xorshift64*: the same seed gives the same noise.
#[derive(Clone, Debug)]
pub struct Noise(u64);

/// Words that readers look for: a byte flipped at random finds them too rarely.
const WORDS: &[&str] = &[
    "\r\n",
    "\n",
    "\r\n\r\n",
    "--",
    "\r\n--",
    "\"",
    "\\",
    "\\\"",
    ";",
    "=",
    "&",
    "+",
    "%",
    "%22",
    "%0D%0A",
    "%FF",
    "; name=",
    "; filename=",
    "; filename*=UTF-8''",
    "name=\"a\"",
    "form-data",
    "Content-Disposition: form-data; name=a\r\n",
    "Content-Type: text/plain; charset=windows-1251\r\n",
    "Content-Transfer-Encoding: base64\r\n",
    "charset=",
    "boundary=",
    "_charset_",
    "_key",
    "windows-1251",
    "utf-16",
    "shift_jis",
    "iso-2022-jp",
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "null",
    "1e999",
    "\\u0000",
    "\\ud800",
    "\\ud83d\\ude00",
    "\u{feff}",
    "PK\u{3}\u{4}",
    "PK\u{5}\u{6}",
    "IEND",
    "%%EOF",
    "<html",
    "<?php",
    "#!",
    "\0",
    "\u{202e}",
    "\u{2028}",
    "e\u{301}",
];

impl Noise {
    /// From `SEED`, else from the time.
    pub fn new(salt: u64) -> (Self, u64) {
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.subsec_nanos().into());
        let seed = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or_else(now);
        let mut noise = Self((seed ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1);
        noise.next();
        (noise, seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// A number below `bound`, or 0.
    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next()).unwrap_or(0) % bound.max(1)
    }

    pub fn one_of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    pub fn bytes(&mut self, most: usize) -> Vec<u8> {
        (0..self.below(most)).map(|_| self.next().to_le_bytes()[0]).collect()
    }

    /// A text of all sorts of characters.
    pub fn text(&mut self, most: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.below(most) {
            match self.below(8) {
                0 => text.push_str(self.one_of(WORDS)),
                1 => text.extend(char::from_u32(u32::try_from(self.below(0x11_0000)).unwrap_or(0))),
                2 => text.extend(char::from_u32(0x400 + u32::try_from(self.below(0x60)).unwrap_or(0))),
                _ => text.push(char::from(32 + u8::try_from(self.below(95)).unwrap_or(0))),
            }
        }
        text
    }

    /// One of the seeds, spoiled in a few places.
    pub fn spoil(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = seeds[self.below(seeds.len())].clone();
        for _ in 0..self.below(6) {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(24)).min(bytes.len());
            match self.below(9) {
                0 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                1 if at < bytes.len() => bytes[at] = self.next().to_le_bytes()[0],
                2 => drop(bytes.drain(at..end)),
                3 => drop(bytes.splice(at..at, self.one_of(WORDS).bytes())),
                4 => drop(bytes.splice(at..end, self.one_of(WORDS).bytes())),
                5 => {
                    let piece = bytes[at..end].to_vec();
                    for _ in 0..self.below(40) {
                        bytes.splice(at..at, piece.iter().copied());
                    }
                }
                6 => bytes.truncate(at),
                7 => {
                    let other = &seeds[self.below(seeds.len())];
                    let from = self.below(other.len() + 1);
                    bytes.splice(at.., other[from..].iter().copied());
                }
                _ => drop(bytes.splice(at..at, self.bytes(12))),
            }
        }
        bytes
    }

    /// The same bytes in pieces.
    pub fn cut<'a>(&mut self, bytes: &'a [u8]) -> Vec<&'a [u8]> {
        let most = [1, 2, 3, 7, 64, 1000, 70_000][self.below(7)];
        let mut pieces = Vec::new();
        let mut rest = bytes;
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((1 + self.below(most)).min(rest.len()));
            pieces.push(piece);
            rest = after;
        }
        pieces
    }
}
