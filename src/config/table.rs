//! A reader over TOML tables that finds every mistake.
//!
//! A table is read by taking its keys one after another; what nobody took is an unknown key when the table is
//! finished. A mistake never stops the reading: it is noted with its place and the reader goes on with `None`. That is
//! why serde is not used here: it stops at the first mistake, and `deny_unknown_fields` with it.
//!
//! A file that is not TOML is read as far as the parser recovers. There [`Findings::absent`] stays silent, since what
//! seems missing may stand in the broken part, and a line with a syntax error gets no second mistake.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::problem::{Page, Problem, line_around, printable, quoted, suggestion};
use super::redact;
use super::value::Value;

/// Mistakes of one file that are shown; a file of noise has thousands.
const MOST_SHOWN: usize = 100;
/// Mistakes of one file that are kept until they are sorted; beyond they are only counted.
const MOST_KEPT: usize = 1000;

/// The mistakes found in one file so far.
#[derive(Debug)]
pub(super) struct Findings {
    /// The file.
    page: Arc<Page>,
    /// The lines with a syntax error: start and end.
    broken: BTreeMap<usize, usize>,
    /// The mistakes.
    problems: RefCell<Vec<Problem>>,
    /// How many were not kept.
    dropped: Cell<usize>,
}

impl Findings {
    /// Notes a mistake at `span`.
    pub(super) fn wrong(&self, span: &Range<usize>, message: impl Into<String>, remedy: impl Into<String>) {
        self.note(span, || Problem::at(&self.page, span, message.into(), remedy.into()));
    }

    /// Notes an unknown key at `span`.
    fn unknown(&self, span: &Range<usize>, message: String, remedy: String) {
        self.note(span, || Problem::at_key(&self.page, span, message, remedy));
    }

    /// Keeps a mistake, unless its line has a syntax error already.
    fn note(&self, span: &Range<usize>, problem: impl FnOnce() -> Problem) {
        if is_within(&self.broken, span.start) {
            return;
        }
        if self.problems.borrow().len() < MOST_KEPT {
            self.problems.borrow_mut().push(problem());
        } else {
            self.dropped.set(self.dropped.get() + 1);
        }
    }

    /// Notes that something is missing, unless the file is broken and it may stand in the broken part.
    pub(super) fn absent(&self, span: &Range<usize>, message: impl Into<String>, remedy: impl Into<String>) {
        if self.broken.is_empty() {
            self.wrong(span, message, remedy);
        }
    }

    /// `FILE:LINE` of a place, for a message that points at a second one.
    pub(super) fn place(&self, span: &Range<usize>) -> String {
        let problem = Problem::at(&self.page, span, String::new(), String::new());
        format!("{}:{}", self.page.name, problem.line().unwrap_or(1))
    }

    /// The mistakes in the order of the lines, at most [`MOST_SHOWN`] and a word on the rest.
    pub(super) fn finish(self) -> Vec<Problem> {
        let mut problems = self.problems.into_inner();
        problems.sort_by_key(Problem::start);
        let more = problems.len().saturating_sub(MOST_SHOWN) + self.dropped.get();
        if more > 0 {
            problems.truncate(MOST_SHOWN);
            let message = format!("{more} more mistakes in this file");
            problems.push(Problem::of_file(&self.page.name, message, "mend the first ones and check again".into()));
        }
        problems
    }
}

/// A file as TOML and what was found in it.
pub(super) struct Sheet<'d> {
    /// The root table.
    root: Spanned<DeTable<'d>>,
    /// The mistakes.
    pub(super) findings: Findings,
}

impl<'d> Sheet<'d> {
    /// Parses `text`; syntax errors are noted, one a line.
    pub(super) fn parse(name: &str, text: &'d Arc<str>) -> Self {
        let (root, errors) = DeTable::parse_recoverable(text);
        let mut hidden = redact::of_text(text);
        redact::of_keys(root.get_ref(), &mut hidden);
        let page = Arc::new(Page { name: printable(name), text: Arc::clone(text), hidden });
        let mut broken = BTreeMap::new();
        let mut problems = Vec::new();
        for error in errors {
            let span = error.span().unwrap_or_default();
            if is_within(&broken, span.start) {
                continue;
            }
            let problem = Problem::at(&page, &span, syntax_message(error.message()), syntax_remedy(error.message()));
            let line = line_around(text, problem.start());
            if broken.insert(line.start, line.end).is_none() {
                problems.push(problem);
            }
        }
        let (problems, dropped) = (RefCell::new(problems), Cell::new(0));
        Self { root, findings: Findings { page, broken, problems, dropped } }
    }

    /// The root table, which messages call `name`.
    pub(super) fn root<'s>(&'s self, name: &'static str) -> Table<'s> {
        Table::new(&self.findings, self.root.get_ref(), 0..0, name.into())
    }
}

/// Whether byte `at` lies on one of the lines.
fn is_within(lines: &BTreeMap<usize, usize>, at: usize) -> bool {
    lines.range(..=at).next_back().is_some_and(|(_, end)| at <= *end)
}

/// The parser's message, in one line.
fn syntax_message(message: &str) -> String {
    format!("not valid TOML: {}", printable(message.split(", expected").next().unwrap_or(message)))
}

/// What usually helps against a syntax error.
fn syntax_remedy(message: &str) -> String {
    let advice = [
        ("duplicate key", "each key and each `[table]` stands once: remove or rename this one"),
        ("unclosed array", "close the list with `]`"),
        ("missing comma", "put a comma between the values of the list"),
        ("unclosed table", "close the header with `]`"),
        ("key with no value", "write `key = value`"),
        ("string, expected", "close the text with the quote that opened it, on the same line"),
        ("string values must be quoted", "put a text between quotes; numbers, `true` and `false` stand without"),
        ("invalid", "a text stands between quotes, numbers and `true` or `false` stand without"),
    ];
    let found = advice.iter().find(|(mark, _)| message.contains(mark)).map(|(_, advice)| *advice);
    found.unwrap_or("write one `key = value` a line; a text stands between quotes").into()
}

/// A table whose keys are taken one after another.
#[must_use = "a table that is not finished does not report its unknown keys"]
pub(super) struct Table<'d> {
    /// Where mistakes go.
    pub(super) findings: &'d Findings,
    /// The keys and values.
    map: &'d DeTable<'d>,
    /// Where it is declared.
    pub(super) span: Range<usize>,
    /// How messages call it.
    name: String,
    /// The keys that were asked for, whether present or not.
    asked: Vec<&'static str>,
}

impl<'d> Table<'d> {
    /// A table declared at `span`.
    pub(super) fn new(findings: &'d Findings, map: &'d DeTable<'d>, span: Range<usize>, name: String) -> Self {
        Self { findings, map, span, name, asked: Vec::new() }
    }

    /// How messages call it from now on.
    pub(super) fn rename(&mut self, name: String) {
        self.name = name;
    }

    /// The value of `key`, if present.
    pub(super) fn take(&mut self, key: &'static str) -> Option<Value<'d>> {
        self.asked.push(key);
        let (written, value) = self.map.get_key_value(key)?;
        Some(Value::new(self.findings, written.get_ref(), written.span(), value))
    }

    /// The value of `key`, which must be present.
    pub(super) fn need(&mut self, key: &'static str, remedy: &str) -> Option<Value<'d>> {
        let value = self.take(key);
        if value.is_none() {
            self.missing(key, remedy);
        }
        value
    }

    /// Notes that `key` is missing.
    pub(super) fn missing(&self, key: &str, remedy: &str) {
        self.missing_all(&format!("no {}", quoted(key)), remedy);
    }

    /// Notes that the table has `none` of several keys.
    pub(super) fn missing_all(&self, none: &str, remedy: &str) {
        self.findings.absent(&self.span, format!("{} has {none}", self.name), remedy);
    }

    /// The table of `key`, empty when absent.
    pub(super) fn section(&mut self, key: &'static str) -> Option<Table<'d>> {
        self.take(key)?.table(format!("`[{key}]`"))
    }

    /// All keys and values, for a table whose keys are names that the operator chose.
    pub(super) fn entries(self) -> impl Iterator<Item = Value<'d>> {
        let findings = self.findings;
        self.map.iter().map(move |(key, value)| Value::new(findings, key.get_ref(), key.span(), value))
    }

    /// Ends the reading: every key that nobody took is unknown.
    pub(super) fn finish(self) {
        for (key, _) in self.map {
            if !self.asked.iter().any(|asked| asked == key.get_ref()) {
                self.findings.unknown(
                    &key.span(),
                    format!("unknown key {} in {}", quoted(key.get_ref()), self.name),
                    suggestion(key.get_ref(), self.asked.iter().copied(), "the keys here are"),
                );
            }
        }
    }
}

/// The word of a message for what a value is.
pub(super) fn type_word(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
