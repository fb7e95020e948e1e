//! Walking a format that is a chain of short headers and bodies to skip, in whatever pieces its bytes arrive.
//!
//! Nothing is kept but the header being gathered: memory is bounded by the longest header a format asks for. The
//! state after a byte depends on the bytes before it alone, so that chunking cannot change a verdict.

/// What a format wants after a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The same header again once it has this many bytes.
    More(usize),
    /// Skip `body` bytes, then gather a new header of `header` bytes.
    Skip {
        /// Bytes to skip.
        body: u64,
        /// Length of the header behind them; 0 asks for a step as soon as the body has been there.
        header: usize,
    },
    /// Skip `body` bytes, then everything up to and including `mark`, then gather a new header.
    Seek {
        /// Bytes to skip whatever they are.
        body: u64,
        /// The byte that ends the search.
        mark: u8,
        /// Length of the header behind it.
        header: usize,
    },
    /// The file is whole; what follows is no concern of the format.
    Whole,
    /// This is not the format.
    Broken,
}

/// A format as a reader of headers.
pub(super) trait Format: Default {
    /// Length of the first header.
    const FIRST: usize;

    /// The next step after a complete header.
    fn step(&mut self, header: &[u8]) -> Step;

    /// Whether the file may end while `header`, still too short, is being gathered and no body is missing.
    fn may_end(&self, header: &[u8]) -> bool;
}

/// How far a walk has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Progress {
    /// Between the first byte and the verdict.
    Walking,
    /// Seen to its end.
    Whole,
    /// Not of the format.
    Broken,
}

/// A walk through one file.
#[derive(Debug)]
pub(super) struct Walk<F> {
    /// The format's own state.
    format: F,
    /// The header so far.
    header: Vec<u8>,
    /// Length of the header wanted.
    wanted: usize,
    /// Bytes still to skip.
    body: u64,
    /// The byte to search for after them.
    mark: Option<u8>,
    /// The verdict, if there is one already.
    progress: Progress,
}

impl<F: Format> Default for Walk<F> {
    fn default() -> Self {
        Self {
            format: F::default(),
            header: Vec::new(),
            wanted: F::FIRST,
            body: 0,
            mark: None,
            progress: Progress::Walking,
        }
    }
}

impl<F: Format> Walk<F> {
    /// The next bytes.
    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while self.progress == Progress::Walking {
            bytes = self.skip(bytes);
            if self.body > 0 || self.mark.is_some() {
                return;
            }
            let missing = self.wanted.saturating_sub(self.header.len());
            let (head, rest) = bytes.split_at(missing.min(bytes.len()));
            self.header.extend_from_slice(head);
            bytes = rest;
            if self.header.len() < self.wanted {
                return;
            }
            self.advance();
        }
    }

    /// Skips what is to be skipped; the rest of the bytes.
    fn skip<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let skipped = usize::try_from(self.body).unwrap_or(usize::MAX).min(bytes.len());
        self.body -= skipped as u64;
        let bytes = bytes.get(skipped..).unwrap_or_default();
        let Some(mark) = self.mark.filter(|_| self.body == 0) else { return bytes };
        match bytes.iter().position(|byte| *byte == mark) {
            Some(at) => {
                self.mark = None;
                bytes.get(at + 1..).unwrap_or_default()
            }
            None => &[],
        }
    }

    /// Takes the step after a complete header.
    fn advance(&mut self) {
        let (body, mark, header) = match self.format.step(&self.header) {
            // A format that asks for no more than it has would never end.
            Step::More(wanted) if wanted > self.header.len() => {
                self.wanted = wanted;
                return;
            }
            Step::More(_) | Step::Broken => {
                self.progress = Progress::Broken;
                return;
            }
            Step::Whole => {
                self.progress = Progress::Whole;
                return;
            }
            Step::Skip { body, header } => (body, None, header),
            Step::Seek { body, mark, header } => (body, Some(mark), header),
        };
        self.header.clear();
        (self.body, self.mark, self.wanted) = (body, mark, header);
    }

    /// What the format learnt.
    pub(super) fn format(&self) -> &F {
        &self.format
    }

    /// Whether the bytes so far, taken as the whole file, are whole.
    pub(super) fn is_whole(&self) -> bool {
        match self.progress {
            Progress::Whole => true,
            Progress::Broken => false,
            Progress::Walking => self.body == 0 && self.mark.is_none() && self.format.may_end(&self.header),
        }
    }
}

/// The number in the `N` bytes at `at`, big-endian; 0 past the end, which no caller reaches.
pub(super) fn big(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes.iter().skip(at).take(length).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The number in the `N` bytes at `at`, little-endian; 0 past the end, which no caller reaches.
pub(super) fn little(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes.iter().skip(at).take(length).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The byte at `at`; 0 past the end, which no caller reaches.
pub(super) fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or_default()
}
