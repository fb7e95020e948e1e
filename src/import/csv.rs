//! Rows of comma-separated values as RFC 4180 and the spreadsheets write them: cells in quotes may hold separators,
//! line ends and doubled quotes; lines end in LF, CR LF or CR; the separator is the one of `,`, `;` and TAB that the
//! header has most of. A quote inside a cell that does not begin with one is a character like any other.
//!
//! Memory is bounded: of a row beyond [`Records::most`] bytes the rest is read and forgotten.

use std::io::{BufRead, ErrorKind};

/// Reads records.
#[derive(Debug)]
pub struct Records<R> {
    /// The bytes.
    input: R,
    /// Between cells.
    separator: u8,
    /// The line of the next byte, from 1.
    line: u64,
    /// The most bytes of a record.
    most: usize,
}

/// One record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Cells.
    Cells(Vec<Vec<u8>>),
    /// More bytes than are taken.
    TooLarge,
    /// The file ends inside a quoted cell.
    OpenQuote,
}

/// Where in a cell the reader is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before its first byte.
    Start,
    /// In a cell without quotes, or behind the closing one.
    Plain,
    /// Inside quotes.
    Quoted,
    /// Behind a quote that either closes the cell or is the first of two.
    Quote,
}

impl<R: BufRead> Records<R> {
    /// Records whose separator the first line tells; at most `most` bytes each.
    pub fn new(mut input: R, most: usize) -> std::io::Result<Self> {
        let separator = separator(input.fill_buf()?);
        Ok(Self { input, separator, line: 1, most })
    }

    /// The next record and the line on which it begins; empty lines are none.
    pub fn next(&mut self) -> std::io::Result<Option<(u64, Record)>> {
        loop {
            let line = self.line;
            match self.read()? {
                None => return Ok(None),
                Some(Record::Cells(cells)) if cells.iter().all(Vec::is_empty) && cells.len() == 1 => {}
                Some(record) => return Ok(Some((line, record))),
            }
        }
    }

    /// Reads up to the end of a record; `None` at the end of the file.
    fn read(&mut self) -> std::io::Result<Option<Record>> {
        let (mut cells, mut cell, mut at) = (Vec::new(), Vec::new(), At::Start);
        let (mut size, mut begun) = (0, false);
        loop {
            let Some(byte) = self.byte()? else {
                if at == At::Quoted {
                    return Ok(Some(Record::OpenQuote));
                }
                break;
            };
            begun = true;
            size += 1;
            if size == self.most {
                (cells, cell) = (Vec::new(), Vec::new());
            }
            let mut keep = |byte: u8| {
                if size < self.most {
                    cell.push(byte);
                }
            };
            at = match (at, byte) {
                (At::Start | At::Plain | At::Quote, b'\n') => break,
                (At::Start, b'"') => At::Quoted,
                (At::Quoted, b'"') => At::Quote,
                (At::Quote, b'"') => {
                    keep(byte);
                    At::Quoted
                }
                (At::Quoted, byte) => {
                    keep(byte);
                    At::Quoted
                }
                (At::Start | At::Plain | At::Quote, byte) if byte == self.separator => {
                    cells.push(std::mem::take(&mut cell));
                    At::Start
                }
                (At::Start | At::Plain | At::Quote, byte) => {
                    keep(byte);
                    At::Plain
                }
            };
        }
        if size >= self.most {
            return Ok(Some(Record::TooLarge));
        }
        cells.push(cell);
        Ok(begun.then_some(Record::Cells(cells)))
    }

    /// The next byte, CR LF and CR being LF; counts lines.
    fn byte(&mut self) -> std::io::Result<Option<u8>> {
        let Some(byte) = take(&mut self.input)? else { return Ok(None) };
        let byte = if byte == b'\r' {
            if peek(&mut self.input)? == Some(b'\n') {
                self.input.consume(1);
            }
            b'\n'
        } else {
            byte
        };
        self.line += u64::from(byte == b'\n');
        Ok(Some(byte))
    }
}

/// The next byte, left where it is.
fn peek(input: &mut impl BufRead) -> std::io::Result<Option<u8>> {
    loop {
        match input.fill_buf() {
            Ok(bytes) => return Ok(bytes.first().copied()),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The next byte.
fn take(input: &mut impl BufRead) -> std::io::Result<Option<u8>> {
    let byte = peek(input)?;
    input.consume(usize::from(byte.is_some()));
    Ok(byte)
}

/// What separates the cells of the first line.
fn separator(start: &[u8]) -> u8 {
    let mut quoted = false;
    let mut counts = [(b',', 0), (b';', 0), (b'\t', 0)];
    for &byte in start {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' | b'\r' if !quoted => break,
            byte if !quoted => counts.iter_mut().filter(|(separator, _)| *separator == byte).for_each(|(_, n)| *n += 1),
            _ => {}
        }
    }
    // The comma where none is seen or it is a tie.
    let most = counts.iter().rev().max_by_key(|(_, count)| *count);
    most.map_or(b',', |(separator, _)| *separator)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(u64, Record)> {
        let mut records = Records::new(text.as_bytes(), 40).unwrap();
        std::iter::from_fn(|| records.next().unwrap()).collect()
    }

    fn cells(cells: &[&str]) -> Record {
        Record::Cells(cells.iter().map(|cell| cell.as_bytes().to_vec()).collect())
    }

    #[test]
    fn quotes_hold_separators_lines_and_quotes() {
        let read = read("a,b\r\n\"x,1\",\"line 1\r\nline \"\"2\"\"\"\n\n\"\",5\" tall\rlast,");
        let expected = [
            (1, cells(&["a", "b"])),
            (2, cells(&["x,1", "line 1\nline \"2\""])),
            (5, cells(&["", "5\" tall"])),
            (6, cells(&["last", ""])),
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn the_header_tells_the_separator() {
        for (header, separator) in [
            ("a,b", b','),
            ("a;b;\"x,y,z\"\nc,d,e,f", b';'),
            ("a\tb", b'\t'),
            ("alone", b','),
            ("a,b;c", b','),
            ("", b','),
        ] {
            assert_eq!(super::separator(header.as_bytes()), separator, "{header}");
        }
    }

    #[test]
    fn a_large_record_and_an_open_quote_are_told_and_the_rest_is_read() {
        let long = "x".repeat(60);
        assert_eq!(
            read(&format!("a\n{long}\nb\n\"{long}\n{long}\"\nc\n\"open\nd\n")),
            [
                (1, cells(&["a"])),
                (2, Record::TooLarge),
                (3, cells(&["b"])),
                (4, Record::TooLarge),
                (6, cells(&["c"])),
                (7, Record::OpenQuote),
            ]
        );
    }
}
