//! A look at the header lines of parts as they pass the gate, exact where multer is not.
//!
//! * multer keeps the last of equal lines and says nothing of the others: a part with two `Content-Disposition` lines
//!   would be a text to one reader and a file to another.
//! * It takes a line feed without its carriage return for the end of a line, and drops what follows an empty one.
//! * What it has at hand it takes, so that a long header passes or not by the pieces in which it came.
//!
//! So all that stands outside of contents is counted here, in a pass of its own over the bytes. It only ever adds a
//! refusal: what a part is and where it ends stays multer's word. The first fault is kept with the number of its part,
//! so that it is told in its turn, whatever the pieces were.

use super::BodyError;

/// The lines that may stand once in a part.
const SINGLE: [&[u8]; 3] = [b"content-disposition:", b"content-type:", b"content-transfer-encoding:"];

/// The longest of them.
const LONGEST: usize = 26;

/// Most bytes of a delimiter's line after the boundary.
pub(super) const PADDING: u64 = 256;

/// What is wrong with what stands around the contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A line that decides what a part is stands twice in its header.
    Doubled,
    /// A header, or what stands before the first part, is longer than allowed.
    TooLong,
    /// A line of a header ends without a carriage return.
    BareLineFeed,
}

impl From<Fault> for BodyError {
    fn from(fault: Fault) -> Self {
        Self::Malformed(match fault {
            Fault::Doubled => "a line stands twice in the header of a part",
            Fault::TooLong => "a part's header is longer than allowed",
            Fault::BareLineFeed => "a line in the header of a part does not end with CR LF",
        })
    }
}

/// What was seen so far.
#[derive(Debug)]
pub(super) struct Watch {
    /// CR LF, two hyphens and the boundary.
    delimiter: Vec<u8>,
    /// Most bytes of a header, and of what stands before the first part.
    longest: u64,
    /// Where the next byte stands.
    place: Place,
    /// Bytes of the preamble, of the delimiter's line, or of the header.
    length: u64,
    /// Parts that have begun.
    parts: u64,
    /// The first fault and its part, counted from 1.
    fault: Option<(u64, Fault)>,
}

/// Where a byte stands.
#[derive(Debug)]
enum Place {
    /// Outside of headers; so many bytes of a delimiter have matched.
    Content {
        /// See above.
        matched: usize,
    },
    /// In the line of a delimiter, after the boundary and so many hyphens.
    Delimiter {
        /// See above; beyond 2 when something else stood there.
        hyphens: u8,
    },
    /// In a header.
    Header {
        /// The beginning of the line, in lower case.
        line: Vec<u8>,
        /// Bytes of the line.
        width: u64,
        /// The byte before.
        last: u8,
        /// Which of [`SINGLE`] stood there already.
        seen: [bool; 3],
    },
    /// After the closing delimiter, or after a fault: nothing more is looked at.
    Done,
}

/// Something else than a hyphen stood after the boundary.
const NONE: u8 = 3;

impl Watch {
    /// Nothing yet; the body itself begins a line. `longest` is the most bytes of a header.
    pub(super) fn new(boundary: &str, longest: u64) -> Self {
        let (delimiter, place) = (format!("\r\n--{boundary}").into_bytes(), Place::Content { matched: 2 });
        Self { delimiter, longest, place, length: 0, parts: 0, fault: None }
    }

    /// The first fault and its part, counted from 1.
    pub(super) fn fault(&self) -> Option<(u64, Fault)> {
        self.fault
    }

    /// The next bytes.
    pub(super) fn see(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((&byte, after)) = rest.split_first() {
            rest = match self.place {
                Place::Done => return,
                // Most bytes of a body: on to the next line break at once.
                Place::Content { matched: 0 } if byte != b'\r' => {
                    let next = after.iter().position(|&b| b == b'\r').unwrap_or(after.len());
                    self.grow(next as u64 + 1);
                    after.get(next..).unwrap_or_default()
                }
                _ => {
                    self.step(byte);
                    after
                }
            };
        }
    }

    /// One byte.
    fn step(&mut self, byte: u8) {
        self.grow(1);
        match &mut self.place {
            Place::Done => {}
            Place::Content { matched } => {
                // A carriage return stands only at the start of a delimiter, so nothing else can begin inside it.
                let fits = self.delimiter.get(*matched) == Some(&byte);
                *matched = if fits { *matched + 1 } else { usize::from(byte == b'\r') };
                if *matched == self.delimiter.len() {
                    self.parts += 1;
                    self.enter(Place::Delimiter { hyphens: 0 });
                }
            }
            Place::Delimiter { .. } if byte == b'\n' => {
                self.enter(Place::Header { line: Vec::new(), width: 0, last: 0, seen: [false; 3] });
            }
            Place::Delimiter { hyphens: 1 } if byte == b'-' => self.place = Place::Done,
            Place::Delimiter { hyphens } => *hyphens = if byte == b'-' && *hyphens == 0 { 1 } else { NONE },
            Place::Header { .. } => self.header(byte),
        }
    }

    /// One byte of a header.
    fn header(&mut self, byte: u8) {
        let Place::Header { line, width, last, seen } = &mut self.place else { return };
        let before = std::mem::replace(last, byte);
        *width += 1;
        match byte {
            b'\n' if before != b'\r' => self.fail(Fault::BareLineFeed),
            b'\n' if *width == 2 => self.enter(Place::Content { matched: 0 }),
            b'\n' => {
                line.clear();
                *width = 0;
            }
            _ if line.len() < LONGEST => {
                line.push(byte.to_ascii_lowercase());
                if note(line, seen) == Standing::Twice {
                    self.fail(Fault::Doubled);
                }
            }
            _ => {}
        }
    }

    /// A new place begins.
    fn enter(&mut self, place: Place) {
        (self.place, self.length) = (place, 0);
    }

    /// So many more bytes of a place.
    fn grow(&mut self, bytes: u64) {
        self.length = self.length.saturating_add(bytes);
        let most = match &self.place {
            // The delimiter itself and its line break are no part of a preamble.
            Place::Content { .. } if self.parts == 0 => self.longest.saturating_add(self.delimiter.len() as u64),
            Place::Content { .. } | Place::Done => u64::MAX,
            Place::Delimiter { .. } => PADDING,
            Place::Header { .. } => self.longest,
        };
        if self.length > most {
            self.fail(Fault::TooLong);
        }
    }

    /// A fault ends the look. What stands before the first part is that part's.
    fn fail(&mut self, fault: Fault) {
        self.fault = Some((self.parts.max(1), fault));
        self.place = Place::Done;
    }
}

/// How often a line stands in a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// Once so far, or it does not matter.
    Once,
    /// Twice.
    Twice,
}

/// Marks the line that `line` has just become.
fn note(line: &[u8], seen: &mut [bool; 3]) -> Standing {
    match SINGLE.iter().zip(seen).find(|(name, _)| **name == line) {
        Some((_, seen)) if *seen => Standing::Twice,
        Some((_, seen)) => {
            *seen = true;
            Standing::Once
        }
        None => Standing::Once,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sees a body at once and byte by byte: the same.
    fn see(body: &str) -> Option<(u64, Fault)> {
        let (mut whole, mut cut) = (Watch::new("X", 300), Watch::new("X", 300));
        whole.see(body.as_bytes());
        body.bytes().for_each(|byte| cut.see(&[byte]));
        assert_eq!(whole.fault(), cut.fault(), "{body}");
        whole.fault()
    }

    /// A line that decides.
    const LINE: &str = "Content-Disposition: form-data; name=a\r\n";

    #[test]
    fn a_line_that_decides_stands_once_in_a_part() {
        let doubled = |part| Some((part, Fault::Doubled));
        assert_eq!(see(&format!("--X\r\n{LINE}\r\n1\r\n--X\r\n{LINE}\r\n2\r\n--X--\r\n")), None);
        assert_eq!(see(&format!("--X\r\n{LINE}{LINE}\r\n1\r\n--X--")), doubled(1));
        let other = "CONTENT-disposition: form-data; name=b; filename=c\r\n";
        assert_eq!(see(&format!("x\r\n--X \r\n{LINE}X-Y: z\r\n{other}\r\n1\r\n--X--")), doubled(1));
        assert_eq!(see(&format!("--X\r\n{LINE}\r\n1\r\n--X\r\n{LINE}{LINE}\r\n2\r\n--X--")), doubled(2));
        let types = "Content-Type: a/b\r\nContent-Type: a/c\r\n";
        assert_eq!(see(&format!("--X\r\n{LINE}{types}\r\n1\r\n--X--")), doubled(1));
    }

    #[test]
    fn what_stands_in_the_content_of_a_part_is_no_header() {
        let content = format!("--X\r\n{LINE}{LINE}\r\n\r\r\n--Y\r\n{LINE}{LINE}");
        assert_eq!(see(&format!("--X\r\n{LINE}\r\n{content}\r\n--X--")), None);
        assert_eq!(see(&format!("--X\r\n{LINE}\r\n1\r\n--X--\r\n{LINE}{LINE}\r\n--X\r\n{LINE}{LINE}")), None);
    }

    #[test]
    fn all_but_contents_is_bounded_to_the_byte() {
        let too_long = |part| Some((part, Fault::TooLong));
        let (x, p) = (|n| "x".repeat(n), |n| " ".repeat(n));
        for (fits, body, longer, part) in [
            (298, &(|n| format!("{}\r\n--X\r\n{LINE}\r\n1\r\n--X--", x(n))) as &dyn Fn(usize) -> String, 310, 1),
            (254, &|n| format!("--X\r\n{LINE}\r\n1\r\n--X{}\r\n{LINE}\r\n2\r\n--X--", p(n)), 255, 2),
            (253, &|n| format!("--X\r\n{LINE}Y: {}\r\n\r\n1\r\n--X--", x(n)), 254, 1),
            (9999, &|n| format!("--X\r\n{LINE}\r\n{}\r\n--X--\r\n{}", x(n), x(n)), 0, 0),
        ] {
            assert_eq!(see(&body(fits)), None, "{fits}");
            assert_eq!(see(&body(longer)), if part == 0 { None } else { too_long(part) }, "{longer}");
        }
    }

    #[test]
    fn a_line_of_a_header_ends_with_both() {
        let body = "--X\r\nContent-Disposition: form-data; name=a\n\nlost\r\n\r\n1\r\n--X--";
        assert_eq!(see(body), Some((1, Fault::BareLineFeed)));
    }
}
