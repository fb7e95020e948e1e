//! A mistake in a configuration file and how it is shown.
//!
//! A problem knows its place: file, line and column, and carries a message (what is wrong) and a remedy (what to
//! write instead). [`Problem::render`] draws the line with a caret for a terminal, [`Problem::one_line`] is the
//! form for a log. Both print text of the files only with control and bidi characters escaped, and a line that may
//! hold a secret is never drawn (see [`super::redact`]).

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};

/// A file as problems refer to it.
#[derive(Debug)]
pub(super) struct Page {
    /// The name as the operator wrote it, ready to be printed.
    pub(super) name: String,
    /// The whole text; empty when the file could not be read.
    pub(super) text: Arc<str>,
    /// Bytes whose lines may hold a secret and are not drawn.
    pub(super) hidden: Vec<Range<usize>>,
}

/// One mistake.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The file.
    page: Arc<Page>,
    /// The offending bytes, within one line; `None` when the file as a whole is meant.
    span: Option<Range<usize>>,
    /// How much of its line is drawn.
    drawn: Drawn,
    /// What is wrong.
    message: String,
    /// What to do.
    remedy: String,
}

/// How much of a line is drawn.
#[derive(Clone, Copy, Debug)]
enum Drawn {
    /// All of it.
    Line,
    /// What stands before the value: nobody knows what the value of an unknown key is.
    Key,
}

/// All mistakes of one run, in the order of the files and lines.
#[derive(Clone, Debug)]
pub struct Problems(pub Vec<Problem>);

impl Problem {
    /// A mistake at `span`, which is brought within one line of the text.
    pub(super) fn at(page: &Arc<Page>, span: &Range<usize>, message: String, remedy: String) -> Self {
        let span = Some(within_line(&page.text, span));
        Self { span, page: Arc::clone(page), drawn: Drawn::Line, message, remedy }
    }

    /// A key at `span` that is not known; its value is not drawn.
    pub(super) fn at_key(page: &Arc<Page>, span: &Range<usize>, message: String, remedy: String) -> Self {
        Self { drawn: Drawn::Key, ..Self::at(page, span, message, remedy) }
    }

    /// A mistake of a file as a whole: missing, unreadable, wrongly named.
    pub(super) fn of_file(name: &str, message: String, remedy: String) -> Self {
        let page = Page { name: printable(name), text: Arc::from(""), hidden: Vec::new() };
        Self { page: Arc::new(page), span: None, drawn: Drawn::Line, message, remedy }
    }

    /// The file's name.
    pub fn file(&self) -> &str {
        &self.page.name
    }

    /// The line, from 1.
    pub fn line(&self) -> Option<usize> {
        let before = self.page.text.get(..self.span.as_ref()?.start)?;
        Some(before.matches('\n').count() + 1)
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> Option<usize> {
        let before = self.page.text.get(..self.span.as_ref()?.start)?;
        Some(before.rsplit('\n').next()?.chars().count() + 1)
    }

    /// Where it begins in the file, for sorting; a mistake of the whole file comes first.
    pub(super) fn start(&self) -> usize {
        self.span.as_ref().map_or(0, |span| span.start)
    }

    /// `FILE:LINE:COLUMN: message; remedy`, for a log.
    pub fn one_line(&self) -> String {
        match (self.line(), self.column()) {
            (Some(line), Some(column)) => {
                format!("{}:{line}:{column}: {}; {}", self.page.name, self.message, self.remedy)
            }
            _ => format!("{}: {}; {}", self.page.name, self.message, self.remedy),
        }
    }

    /// The mistake for a terminal, without colour: message, place, the line with a caret, remedy.
    pub fn render(&self) -> String {
        let group = Level::ERROR.primary_title(self.message.as_str());
        let group = match (self.drawn_line(), self.line(), self.column()) {
            (Some((line, span)), Some(number), _) => group.element(
                Snippet::source(self.shortened(line, span.end))
                    .path(self.page.name.as_str())
                    .line_start(number)
                    .annotation(AnnotationKind::Primary.span(span)),
            ),
            (_, Some(line), Some(column)) => group
                .element(Origin::path(self.page.name.as_str()).line(line).char_column(column))
                .element(Level::NOTE.message("the line is not shown since it may hold a secret")),
            _ => group.element(Origin::path(self.page.name.as_str())),
        };
        Renderer::plain().render(&[group.element(Level::HELP.message(self.remedy.as_str()))])
    }

    /// As much of a line as may be drawn, where the offending bytes end at `end`.
    fn shortened<'l>(&self, line: &'l str, end: usize) -> Cow<'l, str> {
        match (self.drawn, line.split_at_checked(end)) {
            (Drawn::Key, Some((key, rest))) if rest.contains('=') => format!("{key} = ...").into(),
            (Drawn::Key | Drawn::Line, _) => line.into(),
        }
    }

    /// The line to draw and the offending bytes in it; `None` where it may hold a secret.
    fn drawn_line(&self) -> Option<(&str, Range<usize>)> {
        let span = self.span.clone()?;
        let line = line_around(&self.page.text, span.start);
        let touches = |hidden: &Range<usize>| hidden.start <= line.end && line.start <= hidden.end;
        if self.page.hidden.iter().any(touches) {
            return None;
        }
        Some((self.page.text.get(line.clone())?, span.start - line.start..span.end - line.start))
    }
}

impl Problems {
    /// All mistakes for a terminal, a blank line between two.
    pub fn render(&self) -> String {
        self.0.iter().map(Problem::render).collect::<Vec<_>>().join("\n\n")
    }
}

/// One line a mistake.
impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.iter().map(Problem::one_line).collect::<Vec<_>>().join("\n"))
    }
}

impl std::error::Error for Problems {}

/// The bytes of the line that holds byte `at`, without its line break.
pub(super) fn line_around(text: &str, at: usize) -> Range<usize> {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let end = text.get(at..).and_then(|rest| rest.find('\n')).map_or(text.len(), |newline| at + newline);
    let end = if end > start && text.as_bytes().get(end - 1) == Some(&b'\r') { end - 1 } else { end };
    start..end
}

/// `span` cut to the line in which it begins and, where it is empty, widened to the character before it: a caret
/// needs something to stand under, and a parser points behind the end of an unclosed text.
fn within_line(text: &str, span: &Range<usize>) -> Range<usize> {
    let mut start = span.start.min(text.trim_end().len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let line = line_around(text, start);
    start = start.min(line.end);
    let mut end = span.end.clamp(start, line.end);
    while !text.is_char_boundary(end) {
        end += 1;
    }
    if start == end {
        let before = text.get(line.start..start).and_then(|before| before.chars().next_back());
        start -= before.map_or(0, char::len_utf8);
    }
    start..end
}

/// `text` with whatever a terminal might obey written as an escape.
pub(super) fn printable(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\'' | '\\' => c.to_string(),
        other => other.escape_debug().to_string(),
    };
    text.chars().map(escaped).collect()
}

/// `text` in backticks, printable and cut to one line of a length that a message can bear. A text of several lines
/// may have swallowed the lines after an unclosed quote, and with them a secret.
pub(super) fn quoted(text: &str) -> String {
    /// Characters that are shown.
    const SHOWN: usize = 60;
    let cut: String = text.chars().take_while(|&c| c != '\n').take(SHOWN).collect();
    let dots = if cut.len() < text.len() { "..." } else { "" };
    format!("`{}{dots}`", printable(&cut))
}

/// The words in backticks, with commas.
pub(super) fn listed<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(quoted).collect::<Vec<_>>().join(", ")
}

/// The candidate that `word` was probably meant to be.
pub(super) fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let distance = |candidate: &str| strsim::damerau_levenshtein(&word, &candidate.to_lowercase());
    let like = |candidate: &&str| candidate.len().abs_diff(word.len()) <= candidate.len() / 2 + 1;
    let closest = candidates.into_iter().filter(like).map(|candidate| (distance(candidate), candidate)).min()?;
    let near = closest.0 <= (closest.1.chars().count() / 3).max(1);
    near.then_some(closest.1)
}

/// "did you mean" where a candidate is near, else the list of what exists, introduced by `otherwise`.
pub(super) fn suggestion<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str> + Clone,
    otherwise: &str,
) -> String {
    match nearest(word, candidates.clone()) {
        Some(near) => format!("did you mean {}?", quoted(near)),
        None => format!("{otherwise} {}", listed(candidates)),
    }
}
