//! Finds the end of a head while it arrives.

use super::{HeadFault, Limits};

/// Reads a head byte by byte, each byte once however the bytes arrive. Finding the first impossible byte at once
/// matters: a client that ends its lines in LF would otherwise wait for its time-out.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scanner {
    /// Bytes seen.
    at: usize,
    /// Where the current line begins.
    line: usize,
    /// Lines that ended, the request line included.
    lines: usize,
}

/// What the bytes so far come to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    /// Not whole yet.
    More,
    /// Whole: so many bytes, the empty line included.
    Complete(usize),
    /// No head.
    Fault(HeadFault),
}

impl Scanner {
    /// Goes on over `bytes`, which begin where those of the last call began.
    pub(super) fn advance(&mut self, bytes: &[u8], limits: Limits) -> Scan {
        let mut previous = self.at.checked_sub(1).and_then(|before| bytes.get(before)).copied();
        while let Some(&byte) = bytes.get(self.at) {
            if self.at >= limits.bytes {
                return Scan::Fault(HeadFault::TooLong);
            }
            match self.step(previous, byte, limits) {
                Scan::More => self.at += 1,
                end => return end,
            }
            previous = Some(byte);
        }
        Scan::More
    }

    /// One byte.
    fn step(&mut self, previous: Option<u8>, byte: u8, limits: Limits) -> Scan {
        match byte {
            b'\n' if previous == Some(b'\r') => self.end_line(limits),
            b'\n' => Scan::Fault(HeadFault::LineEnd),
            _ if previous == Some(b'\r') => Scan::Fault(HeadFault::LineEnd),
            b' ' | b'\t' if self.at == self.line && self.lines > 0 => Scan::Fault(HeadFault::Folded),
            b'\r' | b'\t' => Scan::More,
            control if control.is_ascii_control() => Scan::Fault(HeadFault::ControlByte),
            _ => Scan::More,
        }
    }

    /// A line has ended in CR LF.
    fn end_line(&mut self, limits: Limits) -> Scan {
        if self.at == self.line + 1 {
            return if self.lines == 0 { Scan::Fault(HeadFault::RequestLine) } else { Scan::Complete(self.at + 1) };
        }
        self.lines += 1;
        self.line = self.at + 1;
        if self.lines > limits.lines.saturating_add(1) { Scan::Fault(HeadFault::TooMany) } else { Scan::More }
    }
}
