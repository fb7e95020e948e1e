//! The only place that prints. Standard output is data, standard error is talk.
//!
//! On a terminal a list is a table; elsewhere it is one line a row with tabs between the cells and no header, so
//! that `cut` and `awk` can have it; with `--json` one object a line. Lines and cells are made visible here, so
//! that nothing a visitor wrote can move the cursor; a JSON text stays the same value, its dangerous characters
//! are written as `\uXXXX`. A reader that leaves early, as `head` does, ends the command with success.

use std::io::{BufRead, BufWriter, ErrorKind, IsTerminal, Write};

use comfy_table::{ColumnConstraint, ContentArrangement, Table, presets};
use serde::Serialize;

use super::outcome::{CommandError, Kind};
use crate::domain::visible::{escape_json, escape_line, escape_text};

/// Where standard output leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// To a person, so many columns wide.
    Terminal {
        /// Columns.
        width: u16,
    },
    /// To a program or a file.
    Pipe,
}

/// Columns of help and tables where nobody says.
const WIDTH: u16 = 100;

/// What a person said to a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Yes.
    Yes,
    /// Anything else.
    No,
    /// There is nobody to ask.
    Nobody,
}

/// Both outputs of a command, and the person at the keyboard if there is one.
pub struct Output<'a> {
    /// Data.
    stdout: Box<dyn Write + 'a>,
    /// Talk.
    stderr: Box<dyn Write + 'a>,
    /// Where data goes.
    surface: Surface,
    /// Where answers come from.
    person: Option<Box<dyn BufRead + 'a>>,
    /// Who sees talk.
    audience: Audience,
}

/// Who sees talk, and so whether work shows how far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Audience {
    /// A person whose terminal no data is on its way to.
    Watches,
    /// A program, a file, or a person who reads the data as it comes.
    Reads,
}

/// Columns of a bar that is full.
const BAR: usize = 40;

/// How far long work is, on one line of a terminal; elsewhere nothing. It goes when it is dropped.
pub struct Progress<'a> {
    /// The terminal.
    terminal: Option<&'a mut dyn Write>,
    /// What it shows.
    percent: Option<u8>,
}

impl Progress<'_> {
    /// Shows `percent`, when it is another one.
    pub fn show(&mut self, percent: u8) {
        let Some(terminal) = self.terminal.as_mut().filter(|_| self.percent != Some(percent)) else { return };
        let full = usize::from(percent) * BAR / 100;
        // A terminal that is gone is no reason to stop.
        drop(write!(terminal, "\r[{}{}] {percent:>3} %", "#".repeat(full), ".".repeat(BAR.saturating_sub(full))));
        drop(terminal.flush());
        self.percent = Some(percent);
    }
}

impl Drop for Progress<'_> {
    fn drop(&mut self) {
        if let (Some(terminal), Some(_)) = (&mut self.terminal, self.percent) {
            drop(write!(terminal, "\r{}\r", " ".repeat(BAR + 8)));
        }
    }
}

impl std::fmt::Debug for Output<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Output").field("surface", &self.surface).finish_non_exhaustive()
    }
}

impl Output<'static> {
    /// The process's own outputs.
    pub fn system() -> Self {
        let stdout = std::io::stdout();
        let surface = if stdout.is_terminal() {
            Surface::Terminal { width: terminal_width(Table::new().width()) }
        } else {
            Surface::Pipe
        };
        let stdin = std::io::stdin();
        let asks = stdin.is_terminal() && std::io::stderr().is_terminal();
        Self {
            stdout: Box::new(BufWriter::new(stdout)),
            stderr: Box::new(std::io::stderr()),
            surface,
            person: asks.then(|| Box::new(stdin.lock()) as Box<dyn BufRead>),
            audience: if std::io::stderr().is_terminal() && !is_pipe(&std::io::stdout()) {
                Audience::Watches
            } else {
                Audience::Reads
            },
        }
    }
}

impl<'a> Output<'a> {
    /// Outputs of a test or of another caller in this process; nobody to ask.
    pub fn new(stdout: impl Write + 'a, stderr: impl Write + 'a, surface: Surface) -> Self {
        Self { stdout: Box::new(stdout), stderr: Box::new(stderr), surface, person: None, audience: Audience::Reads }
    }

    /// The same with somebody who answers.
    #[cfg(test)]
    #[must_use]
    pub fn with_person(self, person: impl BufRead + 'a) -> Self {
        Self { person: Some(Box::new(person)), audience: Audience::Watches, ..self }
    }

    /// Where data goes.
    pub fn surface(&self) -> Surface {
        self.surface
    }

    /// Columns to write help for.
    pub fn width(&self) -> usize {
        match self.surface {
            Surface::Terminal { width } => usize::from(width.clamp(40, 120)),
            Surface::Pipe => usize::from(WIDTH),
        }
    }

    /// One line of data; made visible here.
    pub fn line(&mut self, text: &str) -> Result<(), CommandError> {
        writeln!(self.stdout, "{}", escape_line(text)).map_err(|error| lost(&error))
    }

    /// Several lines of data, composed of texts that were made visible before.
    pub fn text(&mut self, text: &str) -> Result<(), CommandError> {
        self.stdout.write_all(text.as_bytes()).map_err(|error| lost(&error))
    }

    /// One object on one line.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), CommandError> {
        let text = serde_json::to_string(value).map_err(|error| CommandError::new(Kind::Failed, error.to_string()))?;
        writeln!(self.stdout, "{}", escape_json(&text)).map_err(|error| lost(&error))
    }

    /// A table: cells may have several lines, which elsewhere than on a terminal are joined by `; `.
    pub fn table(&mut self, header: &[&str], rows: &[Vec<String>]) -> Result<(), CommandError> {
        match self.surface {
            Surface::Terminal { width } => {
                let table = terminal_table(header, rows, width);
                if rows.is_empty() { Ok(()) } else { writeln!(self.stdout, "{table}").map_err(|error| lost(&error)) }
            }
            Surface::Pipe => rows.iter().try_for_each(|row| {
                let cells: Vec<String> = row.iter().map(|cell| escape_line(&cell.replace('\n', "; "))).collect();
                writeln!(self.stdout, "{}", cells.join("\t")).map_err(|error| lost(&error))
            }),
        }
    }

    /// Standard output for the bytes of a file.
    pub fn bytes(&mut self) -> &mut dyn Write {
        &mut self.stdout
    }

    /// Standard output for bytes that take long, and how far they are: not shown while they go to a terminal.
    pub fn bytes_with_progress(&mut self) -> (&mut dyn Write, Progress<'_>) {
        let watched = self.audience == Audience::Watches && self.surface == Surface::Pipe;
        let terminal = watched.then_some(&mut *self.stderr as &mut dyn Write);
        (&mut self.stdout, Progress { terminal, percent: None })
    }

    /// How far work is that writes elsewhere than to standard output.
    pub fn progress(&mut self) -> Progress<'_> {
        let watched = self.audience == Audience::Watches;
        Progress { terminal: watched.then_some(&mut *self.stderr as &mut dyn Write), percent: None }
    }

    /// A word to the administrator that is not the data asked for.
    pub fn note(&mut self, text: &str) {
        self.talk(&format!("note: {}", escape_line(text)));
    }

    /// Why the command ended early; a reader that left is not told.
    pub fn error(&mut self, error: &CommandError) {
        if error.kind == Kind::ReaderGone {
            return;
        }
        self.talk(&format!("formctl: {}", escape_text(&error.text)));
        if let Some(hint) = &error.hint {
            self.talk(&format!("  hint: {}", escape_text(hint)));
        }
    }

    /// What clap says, as it is: help and version to standard output, mistakes to standard error.
    pub fn parser_message(&mut self, error: &clap::Error) -> Result<(), CommandError> {
        let text = error.render().to_string();
        if error.use_stderr() {
            self.talk(text.trim_end());
            Ok(())
        } else {
            self.text(&text)
        }
    }

    /// Asks a question whose answer is no unless it is `y` or `yes`.
    pub fn ask(&mut self, question: &str) -> Result<Answer, CommandError> {
        self.flush()?;
        let Some(person) = &mut self.person else { return Ok(Answer::Nobody) };
        write!(self.stderr, "{} [y/N] ", escape_line(question))
            .and_then(|()| self.stderr.flush())
            .map_err(|error| lost(&error))?;
        let mut answer = String::new();
        person.read_line(&mut answer).map_err(|error| lost(&error))?;
        let yes = matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes");
        Ok(if yes { Answer::Yes } else { Answer::No })
    }

    /// Sends out what is buffered; a full disk shows here.
    pub fn flush(&mut self) -> Result<(), CommandError> {
        self.stdout.flush().map_err(|error| lost(&error))
    }

    /// Writes to standard error. When even that fails there is nobody left to tell.
    fn talk(&mut self, text: &str) {
        drop(writeln!(self.stderr, "{text}"));
    }
}

/// Whether a program reads what we write, so that its words may come at any time.
fn is_pipe(stdout: &std::io::Stdout) -> bool {
    let found = rustix::fs::fstat(stdout).map(|found| rustix::fs::FileType::from_raw_mode(found.st_mode));
    matches!(found, Ok(rustix::fs::FileType::Fifo | rustix::fs::FileType::Socket))
}

/// The columns of a terminal. A serial console or a fresh pseudo-terminal says 0; below 40 nothing fits anyway.
fn terminal_width(told: Option<u16>) -> u16 {
    told.filter(|width| *width >= 40).unwrap_or(80)
}

/// An output error: a reader that has left is no fault of ours.
fn lost(error: &std::io::Error) -> CommandError {
    match error.kind() {
        ErrorKind::BrokenPipe => CommandError::new(Kind::ReaderGone, ""),
        _ => CommandError::new(Kind::Failed, format!("cannot write the output: {error}")),
    }
}

/// A table without lines; the first column is never broken, since it is what one copies.
fn terminal_table(header: &[&str], rows: &[Vec<String>], width: u16) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
    table.set_header(header);
    for row in rows {
        table.add_row(row.iter().map(|cell| escape_text(cell)));
    }
    if let Some(column) = table.column_mut(0) {
        column.set_constraint(ColumnConstraint::ContentWidth);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe whose reader has left.
    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn printed(surface: Surface, print: impl Fn(&mut Output<'_>)) -> String {
        let mut bytes = Vec::new();
        print(&mut Output::new(&mut bytes, std::io::sink(), surface));
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn a_reader_that_leaves_early_is_no_error() {
        let mut said = Vec::new();
        let mut out = Output::new(Closed, &mut said, Surface::Pipe);
        let error = out.line("x").unwrap_err();
        assert_eq!((error.kind, error.code()), (Kind::ReaderGone, 0));
        out.error(&error);
        drop(out);
        assert_eq!(said, b"");
    }

    #[test]
    fn a_cell_can_neither_forge_a_column_nor_move_the_cursor() {
        let rows = [vec!["a\tb".to_owned(), "\u{1b}[2J\u{202e}x".to_owned(), "1\n2".to_owned()]];
        let stream = printed(Surface::Pipe, |out| out.table(&["h", "h", "h"], &rows).unwrap());
        assert_eq!(stream, "a\\tb\t\\u{1b}[2J\\u{202e}x\t1; 2\n");
        let table = printed(Surface::Terminal { width: 80 }, |out| out.table(&["a", "b", "c"], &rows).unwrap());
        assert_eq!(table, "a     b                   c\na\\tb  \\u{1b}[2J\\u{202e}x  1\n                          2\n");
    }

    #[test]
    fn json_keeps_its_value_and_shows_no_control_to_a_terminal() {
        let value = serde_json::json!({"a": "\u{9b}2J \u{7f} \u{202e} \u{e0041} ж \\ \n"});
        let text = printed(Surface::Pipe, |out| out.json(&value).unwrap());
        assert_eq!(text, "{\"a\":\"\\u009b2J \\u007f \\u202e \\udb40\\udc41 ж \\\\ \\n\"}\n");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn a_terminal_that_does_not_know_its_width_has_eighty_columns() {
        assert_eq!([None, Some(0), Some(39), Some(40), Some(200)].map(terminal_width), [80, 80, 80, 40, 200]);
    }

    #[test]
    fn progress_is_one_line_that_goes_and_only_a_person_sees_it() {
        let shown = |person: bool, surface| {
            let mut bytes = Vec::new();
            let mut out = Output::new(std::io::sink(), &mut bytes, surface);
            if person {
                out = out.with_person(&b""[..]);
            }
            let (_, mut progress) = out.bytes_with_progress();
            for percent in [0, 50, 50, 100] {
                progress.show(percent);
            }
            drop(progress);
            drop(out);
            String::from_utf8(bytes).unwrap()
        };
        let line = |full: usize, percent| format!("\r[{}{}] {percent:>3} %", "#".repeat(full), ".".repeat(BAR - full));
        let all = format!("{}{}{}\r{}\r", line(0, 0), line(20, 50), line(40, 100), " ".repeat(48));
        assert_eq!(shown(true, Surface::Pipe), all);
        assert_eq!(shown(false, Surface::Pipe), "");
        assert_eq!(shown(true, Surface::Terminal { width: 80 }), "", "data on its way to the same terminal");
    }

    #[test]
    fn only_yes_means_yes() {
        for (typed, answer) in
            [("y\n", Answer::Yes), ("YES\n", Answer::Yes), ("\n", Answer::No), ("", Answer::No), ("yep\n", Answer::No)]
        {
            let mut out = Output::new(std::io::sink(), std::io::sink(), Surface::Pipe).with_person(typed.as_bytes());
            assert_eq!(out.ask("erase?"), Ok(answer), "{typed:?}");
        }
        let mut out = Output::new(std::io::sink(), std::io::sink(), Surface::Pipe);
        assert_eq!(out.ask("erase?"), Ok(Answer::Nobody));
    }
}
