//! A look at the header lines of parts as they pass the gate.
//!
//! multer keeps the last of equal lines and says nothing of the others: a part with two `Content-Disposition` lines
//! would be a text to one reader and a file to another. So the lines that decide what a part is are counted here, in a
//! pass of its own over the bytes. It only ever adds a refusal: what a part is and where it ends stays multer's word.

/// The lines that may stand once in a part.
const SINGLE: [&[u8]; 3] = [b"content-disposition:", b"content-type:", b"content-transfer-encoding:"];

/// The longest of them.
const LONGEST: usize = 26;

/// What was seen so far.
#[derive(Debug)]
pub(super) struct Watch {
    /// CR LF, two hyphens and the boundary.
    delimiter: Vec<u8>,
    /// Where the next byte stands.
    place: Place,
    /// Parts that have begun.
    parts: u64,
    /// The first part in which a line stood twice, counted from 1.
    doubled: Option<u64>,
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
        /// Which of [`SINGLE`] stood there already.
        seen: [bool; 3],
    },
    /// After the closing delimiter, or after a doubled line: nothing more is looked at.
    Done,
}

/// Something else than a hyphen stood after the boundary.
const NONE: u8 = 3;

impl Watch {
    /// Nothing yet; the body itself begins a line.
    pub(super) fn new(boundary: &str) -> Self {
        Self {
            delimiter: format!("\r\n--{boundary}").into_bytes(),
            place: Place::Content { matched: 2 },
            parts: 0,
            doubled: None,
        }
    }

    /// The first part in which a line stood twice, counted from 1.
    pub(super) fn doubled(&self) -> Option<u64> {
        self.doubled
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
        match &mut self.place {
            Place::Done => {}
            Place::Content { matched } => {
                // A carriage return stands only at the start of a delimiter, so nothing else can begin inside it.
                let fits = self.delimiter.get(*matched) == Some(&byte);
                *matched = if fits { *matched + 1 } else { usize::from(byte == b'\r') };
                if *matched == self.delimiter.len() {
                    self.place = Place::Delimiter { hyphens: 0 };
                }
            }
            Place::Delimiter { .. } if byte == b'\n' => {
                self.parts += 1;
                self.place = Place::Header { line: Vec::new(), seen: [false; 3] };
            }
            Place::Delimiter { hyphens: 1 } if byte == b'-' => self.place = Place::Done,
            Place::Delimiter { hyphens } => *hyphens = if byte == b'-' && *hyphens == 0 { 1 } else { NONE },
            Place::Header { line, seen } => match byte {
                b'\n' if line.iter().all(|&b| b == b'\r') => self.place = Place::Content { matched: 0 },
                b'\n' => line.clear(),
                _ if line.len() < LONGEST => {
                    line.push(byte.to_ascii_lowercase());
                    if note(line, seen) == Standing::Twice {
                        self.doubled = Some(self.parts);
                        self.place = Place::Done;
                    }
                }
                _ => {}
            },
        }
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
    fn see(body: &str) -> Option<u64> {
        let (mut whole, mut cut) = (Watch::new("X"), Watch::new("X"));
        whole.see(body.as_bytes());
        body.bytes().for_each(|byte| cut.see(&[byte]));
        assert_eq!(whole.doubled(), cut.doubled(), "{body}");
        whole.doubled()
    }

    #[test]
    fn a_line_that_decides_stands_once_in_a_part() {
        let line = "Content-Disposition: form-data; name=a\r\n";
        assert_eq!(see(&format!("--X\r\n{line}\r\n1\r\n--X\r\n{line}\r\n2\r\n--X--\r\n")), None);
        assert_eq!(see(&format!("--X\r\n{line}{line}\r\n1\r\n--X--")), Some(1));
        let other = "CONTENT-disposition: form-data; name=b; filename=c\r\n";
        assert_eq!(see(&format!("x\r\n--X \r\n{line}X-Y: z\r\n{other}\r\n1\r\n--X--")), Some(1));
        assert_eq!(see(&format!("--X\r\n{line}\r\n--X\r\n{line}\r\n\r\n--X\r\n{line}{line}\r\n1\r\n--X--")), Some(2));
        let types = "Content-Type: a/b\r\nContent-Type: a/c\r\n";
        assert_eq!(see(&format!("--X\r\n{line}{types}\r\n1\r\n--X--")), Some(1));
    }

    #[test]
    fn what_stands_in_the_content_of_a_part_is_no_header() {
        let line = "Content-Disposition: form-data; name=a\r\n";
        let content = format!("--X\r\n{line}{line}\r\n\r\r\n--Y\r\n{line}{line}");
        assert_eq!(see(&format!("--X\r\n{line}\r\n{content}\r\n--X--")), None);
        assert_eq!(see(&format!("--X\r\n{line}\r\n1\r\n--X--\r\n{line}{line}\r\n--X\r\n{line}{line}")), None);
    }
}
