//! A field of a form. Each kind takes just the rules it can keep; a rule that does not fit the kind is a mistake that
//! names the kinds it fits.

use super::super::problem::{listed, printable, quoted, suggestion};
use super::super::table::Table;
use super::super::value::{Value, size_text};
use crate::domain::bounds::Bounds;
use crate::domain::control;
use crate::domain::filekind::FileKind;
use crate::domain::form::{DateRules, Field, FieldKind, FileRules, NumberRules, TextRules};
use crate::domain::pattern::Pattern;

/// The most options of a field.
const MOST_OPTIONS: usize = 1000;

/// The group of rules that a kind takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rules {
    /// Lengths and a pattern.
    Text,
    /// A lowest and a highest number.
    Number,
    /// A first and a last date.
    Date,
    /// Options.
    Choice,
    /// Types, count and size of files.
    File,
    /// None.
    Tick,
}

/// The words of `kind`, with the rules each takes.
const KINDS: &[(&str, Rules)] = &[
    ("text", Rules::Text),
    ("textarea", Rules::Text),
    ("email", Rules::Text),
    ("tel", Rules::Text),
    ("url", Rules::Text),
    ("number", Rules::Number),
    ("date", Rules::Date),
    ("select", Rules::Choice),
    ("radio", Rules::Choice),
    ("checkbox", Rules::Tick),
    ("checkboxes", Rules::Choice),
    ("hidden", Rules::Text),
    ("file", Rules::File),
];

/// The keys of rules, with the groups that have them.
const RULES: &[(&str, &[Rules])] = &[
    ("min_length", &[Rules::Text]),
    ("max_length", &[Rules::Text]),
    ("pattern", &[Rules::Text]),
    ("min", &[Rules::Number, Rules::Date]),
    ("max", &[Rules::Number, Rules::Date]),
    ("options", &[Rules::Choice]),
    ("types", &[Rules::File]),
    ("max_files", &[Rules::File]),
    ("max_size", &[Rules::File]),
];

/// A field as far as it could be read.
pub(super) struct Declared<'d> {
    /// The field; where a rule is wrong it has none.
    pub(super) field: Field,
    /// Where its name stands.
    pub(super) name: Value<'d>,
}

/// Reads a field; `None` when it has no name.
pub(super) fn check<'d>(mut table: Table<'d>, bounds: &Bounds) -> Option<Declared<'d>> {
    let name_value = table.need("name", "give the field the name under which it is sent: `name = \"email\"`");
    let name = name_value.as_ref().and_then(|value| name(value, bounds));
    if let Some(text) = name {
        table.rename(format!("field {}", quoted(text)));
    }
    let label = table.take("label").and_then(|value| value.line());
    let required = table.take("required").and_then(|value| value.flag()).unwrap_or_default();
    let word = table.take("kind").map_or(Some("text"), |value| kind_word(&value));
    let placeholder = table.take("placeholder");
    let help = table.take("help").and_then(|value| value.line()).map(str::to_owned);
    let rules: Vec<Value<'_>> = RULES.iter().filter_map(|(key, _)| table.take(key)).collect();
    let kind = word.and_then(|word| {
        let shown = !matches!(word, "date" | "select" | "radio" | "checkbox" | "checkboxes" | "hidden" | "file");
        if let Some(value) = placeholder.as_ref().filter(|_| !shown) {
            value.misplaced(
                format!("`placeholder` does not fit kind `{word}`"),
                "it stands in an empty text input: remove it, or use `help`",
            );
        }
        kind(&table, word, &rules, bounds)
    });
    table.finish();
    let name = name?;
    let field = Field {
        name: name.to_owned(),
        label: label.unwrap_or(name).to_owned(),
        kind: kind.unwrap_or_else(|| FieldKind::Text(TextRules::default())),
        required,
        placeholder: placeholder.and_then(|value| value.line()).map(str::to_owned),
        help,
    };
    Some(Declared { field, name: name_value? })
}

/// The name under which a field is sent.
fn name<'d>(value: &Value<'d>, bounds: &Bounds) -> Option<&'d str> {
    let name = value.text()?;
    let most = usize::try_from(bounds.field_name).unwrap_or(usize::MAX).min(200);
    if name.is_empty() || name.len() > most || name.chars().any(char::is_control) {
        value.wrong(
            format!("{} cannot be the name of a field", quoted(name)),
            format!("take 1 to {most} bytes without control characters"),
        );
        return None;
    }
    if control::STEERING.contains(&name) {
        value.wrong(
            format!("{} would let a visitor steer mail or calls", quoted(name)),
            "set this in the destination, and give the field another name",
        );
    } else if control::is_control(name) {
        value.wrong(
            format!("{} is a control field, which is never stored", quoted(name)),
            "give the field another name",
        );
    }
    Some(name)
}

/// The word of `kind`.
fn kind_word<'d>(value: &Value<'d>) -> Option<&'d str> {
    let word = value.text()?;
    let words = KINDS.iter().map(|(word, _)| *word);
    if !words.clone().any(|known| known == word) {
        value.wrong(format!("there is no kind {}", quoted(word)), suggestion(word, words, "the kinds are"));
        return None;
    }
    Some(word)
}

/// The kind with its rules; those that do not fit are noted.
fn kind(table: &Table<'_>, word: &str, values: &[Value<'_>], bounds: &Bounds) -> Option<FieldKind> {
    let (_, own) = KINDS.iter().find(|(known, _)| *known == word)?;
    for value in values {
        let groups = RULES.iter().find(|(key, _)| *key == value.key).map_or(&[][..], |(_, groups)| *groups);
        if !groups.contains(own) {
            let fitting = KINDS.iter().filter(|(_, rules)| groups.contains(rules)).map(|(word, _)| *word);
            value.misplaced(
                format!("{} does not fit kind `{word}`", quoted(value.key)),
                format!("remove it, or choose another kind; it fits {}", listed(fitting)),
            );
        }
    }
    let rule = |key: &str| values.iter().find(|value| value.key == key);
    Some(match word {
        "text" => FieldKind::Text(text(&rule, bounds)),
        "textarea" => FieldKind::Textarea(text(&rule, bounds)),
        "email" => FieldKind::Email(text(&rule, bounds)),
        "tel" => FieldKind::Tel(text(&rule, bounds)),
        "url" => FieldKind::Url(text(&rule, bounds)),
        "number" => FieldKind::Number(number(&rule)),
        "date" => FieldKind::Date(date(&rule)),
        "select" => FieldKind::Select(options(table, rule("options"), bounds)),
        "radio" => FieldKind::Radio(options(table, rule("options"), bounds)),
        "checkbox" => FieldKind::Checkbox,
        "checkboxes" => FieldKind::Checkboxes(options(table, rule("options"), bounds)),
        "hidden" => FieldKind::Hidden(text(&rule, bounds)),
        "file" => FieldKind::File(file(&rule, bounds)),
        _ => return None,
    })
}

/// Lengths and pattern.
fn text<'a>(rule: &impl Fn(&str) -> Option<&'a Value<'a>>, bounds: &Bounds) -> TextRules {
    let most = bounds.value.min(u64::from(u32::MAX));
    let length = |key: &str| rule(key)?.whole(0..=most).and_then(|length| u32::try_from(length).ok());
    let (min_length, max_length) = (length("min_length"), length("max_length"));
    order(rule("min_length"), min_length, max_length);
    let pattern = rule("pattern").and_then(|value| {
        let compiled = Pattern::parse(value.text()?);
        let refuse = |fault: String| {
            let fault = fault.strip_prefix("error: ").unwrap_or(&fault);
            value.wrong(format!("`pattern` cannot be used: {}", printable(fault)), PATTERN_REMEDY);
        };
        compiled.map_err(refuse).ok()
    });
    TextRules { min_length, max_length, pattern }
}

/// What a pattern must be.
const PATTERN_REMEDY: &str = "write a regular expression for the whole value, without look-around and \
                              back-references, best between single quotes";

/// Lowest and highest number.
fn number<'a>(rule: &impl Fn(&str) -> Option<&'a Value<'a>>) -> NumberRules {
    let rules = NumberRules { min: rule("min").and_then(Value::number), max: rule("max").and_then(Value::number) };
    order(rule("min"), rules.min, rules.max);
    rules
}

/// First and last date.
fn date<'a>(rule: &impl Fn(&str) -> Option<&'a Value<'a>>) -> DateRules {
    let rules = DateRules { min: rule("min").and_then(Value::date), max: rule("max").and_then(Value::date) };
    order(rule("min"), rules.min.as_ref(), rules.max.as_ref());
    rules
}

/// Notes, at the lower one, that two bounds leave nothing between them.
fn order<T: PartialOrd>(value: Option<&Value<'_>>, low: Option<T>, high: Option<T>) {
    let crossed = low.zip(high).is_some_and(|(low, high)| low > high);
    if let Some(value) = value.filter(|_| crossed) {
        let upper = value.key.replace("min", "max");
        value.wrong(
            format!("{} is above {}", quoted(value.key), quoted(&upper)),
            "nothing could be entered: exchange or correct the two",
        );
    }
}

/// The options of a choice.
fn options(table: &Table<'_>, value: Option<&Value<'_>>, bounds: &Bounds) -> Vec<String> {
    let Some(value) = value else {
        table.missing("options", "name what can be chosen: `options = [\"one\", \"two\"]`");
        return Vec::new();
    };
    let Some(items) = value.list() else { return Vec::new() };
    if items.is_empty() || items.len() > MOST_OPTIONS {
        value.wrong("`options` has no options or too many", format!("name 1 to {MOST_OPTIONS}"));
    }
    let most = usize::try_from(bounds.value).unwrap_or(usize::MAX);
    let mut options: Vec<String> = Vec::new();
    for item in &items {
        let Some(option) = item.line() else { continue };
        if option.len() > most {
            item.wrong("the option is longer than a value may be", format!("take at most {most} bytes"));
        } else if options.iter().any(|known| known == option) {
            item.wrong(format!("the option {} stands twice", quoted(option)), "remove one of the two");
        } else {
            options.push(option.to_owned());
        }
    }
    options
}

/// Types, count and size of files.
fn file<'a>(rule: &impl Fn(&str) -> Option<&'a Value<'a>>, bounds: &Bounds) -> FileRules {
    let words = rule("types").and_then(Value::list).unwrap_or_default();
    let mut types: Vec<FileKind> = Vec::new();
    for kind in words.iter().filter_map(file_kind) {
        if !types.contains(&kind) {
            types.push(kind);
        }
    }
    let max_files = rule("max_files").and_then(|value| value.whole(1..=bounds.max_files)).unwrap_or(1);
    let max_size = rule("max_size").and_then(|value| {
        let size = value.size(0..=u64::MAX)?;
        if size == 0 || size > bounds.max_file {
            value.wrong(
                format!("`max_size` must be from 1B to {}", size_text(bounds.max_file)),
                "change it, or let the daemon's owner raise `max_file` in `[limits]` of formd.toml",
            );
        }
        Some(size)
    });
    FileRules {
        types,
        max_files: u8::try_from(max_files).unwrap_or(u8::MAX),
        max_size: max_size.unwrap_or(bounds.max_file),
    }
}

/// A word of `types`.
fn file_kind(value: &Value<'_>) -> Option<FileKind> {
    let word = value.text()?;
    let kind = FileKind::parse(word);
    if kind.is_none() {
        let supported = FileKind::ALL.iter().map(|kind| format!("`.{}`", kind.extension()));
        let supported = supported.collect::<Vec<_>>().join(", ");
        let (message, remedy) = if word.contains('*') {
            ("is a wildcard", format!("name each type; this version takes {supported}; no `types` means all of them"))
        } else {
            ("is no supported type", format!("this version takes {supported}"))
        };
        value.wrong(format!("{} {message}", quoted(word)), remedy);
    }
    kind
}
