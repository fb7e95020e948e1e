//! One control of the form page for each field.

use minijinja::{Value, context};

use super::form::FormPage;
use crate::domain::bounds::Bounds;
use crate::domain::draft::{Draft, Entry};
use crate::domain::form::{DateRules, Field, FieldKind, FileRules, Form, NumberRules, TextRules};
use crate::domain::pattern::Pattern;
use crate::domain::text::Texts;
use crate::domain::time::Timestamp;

/// One control as the template wants it; an empty text leaves its attribute out.
#[derive(Debug, Default)]
pub(super) struct Control {
    /// Which part of the template makes it.
    pub(super) widget: &'static str,
    /// `type` of the input.
    kind: &'static str,
    /// Made of its place, since a name may be any text.
    pub(super) id: String,
    /// The field's name.
    pub(super) field: String,
    /// What is sent as its name.
    name: String,
    /// What the visitor reads.
    label: String,
    /// What is in it.
    value: String,
    /// Whether it must be filled.
    pub(super) required: bool,
    /// `placeholder`.
    placeholder: String,
    /// Beside the input.
    help: String,
    /// `min`.
    min: String,
    /// `max`.
    max: String,
    /// `minlength`.
    min_length: String,
    /// `maxlength`.
    max_length: String,
    /// `pattern`.
    pattern: String,
    /// `accept`.
    accept: String,
    /// `autocomplete`.
    autocomplete: &'static str,
    /// `inputmode`.
    input_mode: &'static str,
    /// Whether it takes several files.
    multiple: bool,
    /// Whether the box is ticked.
    checked: bool,
    /// What can be chosen, and whether it is.
    options: Vec<(String, bool)>,
    /// What is wrong with it.
    error: String,
}

/// A text where there is one.
fn written(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

impl Control {
    /// The template's view of it.
    pub(super) fn value(&self) -> Value {
        let option = |(place, (value, chosen)): (usize, &(String, bool))| {
            context! { id => format!("{}-{}", self.id, place + 1), value => value.as_str(), chosen => *chosen }
        };
        let described: Vec<String> = [(&self.help, "help"), (&self.error, "error")]
            .into_iter()
            .filter(|(text, _)| !text.is_empty())
            .map(|(_, part)| format!("{}-{part}", self.id))
            .collect();
        context! {
            widget => self.widget,
            type => self.kind,
            id => self.id.as_str(),
            name => self.name.as_str(),
            label => self.label.as_str(),
            value => self.value.as_str(),
            required => self.required,
            placeholder => self.placeholder.as_str(),
            help => self.help.as_str(),
            min => self.min.as_str(),
            max => self.max.as_str(),
            minlength => self.min_length.as_str(),
            maxlength => self.max_length.as_str(),
            pattern => self.pattern.as_str(),
            accept => self.accept.as_str(),
            autocomplete => self.autocomplete,
            inputmode => self.input_mode,
            multiple => self.multiple,
            checked => self.checked,
            options => self.options.iter().enumerate().map(option).collect::<Value>(),
            error => self.error.as_str(),
            described => described.join(" "),
        }
    }

    /// Takes what the field's kind says.
    fn take_kind(&mut self, kind: &FieldKind, texts: &Texts, sent: &[&str]) {
        match kind {
            FieldKind::Text(rules) => self.line("text", rules),
            FieldKind::Email(rules) => {
                self.line("email", rules);
                self.autocomplete = "email";
            }
            FieldKind::Tel(rules) => {
                self.line("tel", rules);
                self.autocomplete = "tel";
            }
            FieldKind::Url(rules) => self.line("url", rules),
            FieldKind::Textarea(rules) => {
                self.line("", rules);
                self.widget = "textarea";
            }
            // Hidden fields are written by the form itself, in front of the controls.
            FieldKind::Hidden(_) => self.widget = "hidden",
            FieldKind::Number(NumberRules { min, max }) => {
                if self.strict("number", is_number) {
                    (self.min, self.max) = (written(*min), written(*max));
                } else {
                    self.input_mode = "decimal";
                }
            }
            FieldKind::Date(DateRules { min, max }) => {
                if self.strict("date", is_date) {
                    (self.min, self.max) = (written(min.as_ref()), written(max.as_ref()));
                    // HTML knows none here: the browser shows the form of a date.
                    self.placeholder.clear();
                }
            }
            FieldKind::Select(options) => self.choice("select", "", options, sent),
            FieldKind::Radio(options) => self.choice("group", "radio", options, sent),
            FieldKind::Checkboxes(options) => self.choice("group", "checkbox", options, sent),
            FieldKind::Checkbox => {
                self.widget = "checkbox";
                let ticked = |value: &&str| !matches!(*value, "" | "0" | "off" | "false" | "no");
                self.checked = sent.last().is_some_and(ticked);
            }
            FieldKind::File(rules) => self.file(rules, texts),
        }
    }

    /// An input that a browser shows empty unless its value is well formed. What is not stays to be seen and mended
    /// in an input for any text. Whether it is the strict one.
    fn strict(&mut self, kind: &'static str, is_formed: fn(&str) -> bool) -> bool {
        let fits = self.value.is_empty() || is_formed(&self.value);
        (self.widget, self.kind) = ("input", if fits { kind } else { "text" });
        fits
    }

    /// An input of one line.
    fn line(&mut self, kind: &'static str, rules: &TextRules) {
        (self.widget, self.kind) = ("input", kind);
        (self.min_length, self.max_length) = (written(rules.min_length), written(rules.max_length));
        self.pattern = written(rules.pattern.as_ref().map(Pattern::as_str));
    }

    /// A choice among options.
    fn choice(&mut self, widget: &'static str, kind: &'static str, options: &[String], sent: &[&str]) {
        (self.widget, self.kind) = (widget, kind);
        self.options = options.iter().map(|option| (option.clone(), sent.contains(&option.as_str()))).collect();
    }

    /// A file input, with its limits in words.
    fn file(&mut self, rules: &FileRules, texts: &Texts) {
        self.widget = "file";
        self.multiple = rules.max_files > 1;
        let words = rules.types.iter().flat_map(|kind| [format!(".{}", kind.extension()), kind.mime().to_owned()]);
        self.accept = words.collect::<Vec<_>>().join(",");
        let size = texts.size(rules.max_size);
        let limit = match rules.max_files {
            0 | 1 => texts.max_size(&size),
            several => texts.max_files(u64::from(several), &size),
        };
        let kinds: Vec<String> = rules.types.iter().map(|kind| kind.extension().to_uppercase()).collect();
        let kinds = (!kinds.is_empty()).then(|| texts.file_kinds(&kinds.join(", ")));
        self.add_help(&[kinds.as_deref(), Some(&limit)]);
    }

    /// Adds sentences to the help.
    fn add_help(&mut self, sentences: &[Option<&str>]) {
        let own = Some(self.help.as_str()).filter(|help| !help.is_empty());
        let all: Vec<&str> = std::iter::once(own).chain(sentences.iter().copied()).flatten().collect();
        self.help = all.join(" ");
    }
}

/// Whether a browser keeps a text as the value of a number input.
fn is_number(text: &str) -> bool {
    let plain = text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
    plain && !text.starts_with('+') && !text.ends_with('.') && text.parse::<f64>().is_ok()
}

/// Whether a browser keeps a text as the value of a date input.
fn is_date(text: &str) -> bool {
    text.len() == 10 && Timestamp::parse(text).is_some()
}

/// The controls of a page in order, hidden fields left out.
pub(super) fn controls(page: &FormPage<'_>) -> Vec<Control> {
    let nothing = Draft::default();
    let draft = page.again.as_ref().map_or(&nothing, |again| again.draft);
    let filled = if page.form.takes_any_field() { undeclared(page, draft) } else { declared(page.form, draft) };
    let shown = filled.iter().filter(|(field, _)| !matches!(field.kind, FieldKind::Hidden(_)));
    shown.enumerate().map(|(place, (field, sent))| control(page, field, place, sent)).collect()
}

/// One control, filled with what was sent.
fn control(page: &FormPage<'_>, field: &Field, place: usize, sent: &[&str]) -> Control {
    let mut control = Control {
        id: format!("f{}", place + 1),
        field: field.name.clone(),
        name: field.name.clone(),
        label: field.label.clone(),
        value: sent.last().copied().unwrap_or_default().to_owned(),
        required: field.required,
        placeholder: field.placeholder.clone().unwrap_or_default(),
        help: field.help.clone().unwrap_or_default(),
        autocomplete: if field.name == "name" { "name" } else { "" },
        ..Control::default()
    };
    control.take_kind(&field.kind, page.texts, sent);
    if let Some(again) = &page.again {
        if control.widget == "file" {
            control.add_help(&[Some(page.texts.choose_again())]);
        }
        let messages = again.messages.iter().filter(|message| message.field == field.name);
        let words = messages.flat_map(|message| [Some(message.message.as_str()), message.hint.as_deref()]);
        control.error = words.flatten().collect::<Vec<_>>().join(" ");
    }
    control
}

/// A field and what was sent for it.
type Filled<'a> = (Field, Vec<&'a str>);

/// The fields of a form.
fn declared<'a>(form: &Form, draft: &'a Draft) -> Vec<Filled<'a>> {
    form.fields.iter().map(|field| (field.clone(), values(draft, &field.name))).collect()
}

/// What was sent under a name, or under it with `[]`.
fn values<'a>(draft: &'a Draft, name: &str) -> Vec<&'a str> {
    let same = |entry: &&Entry| entry.name == name || entry.name.strip_suffix("[]") == Some(name);
    draft.entries.iter().filter(same).map(|entry| entry.value.as_str()).collect()
}

/// The fields of a form that declares none: those that were sent, one for each value, so that none is lost; else the
/// three usual ones; and a file where the form takes files.
fn undeclared<'a>(page: &FormPage<'_>, draft: &'a Draft) -> Vec<Filled<'a>> {
    let texts = page.texts;
    let plain = |name: &str, label: &str, kind: FieldKind| Field {
        name: name.to_owned(),
        label: label.to_owned(),
        kind,
        required: false,
        placeholder: None,
        help: None,
    };
    let mut fields: Vec<Filled<'_>> = Vec::new();
    for entry in draft.entries.iter().filter(|entry| !page.form.is_control(&entry.name)) {
        let long = entry.value.contains('\n') || entry.value.len() > 80;
        let rules = TextRules::default();
        let kind = if long { FieldKind::Textarea(rules) } else { FieldKind::Text(rules) };
        fields.push((plain(&entry.name, &entry.name, kind), vec![&entry.value]));
    }
    if fields.is_empty() {
        let usual = [
            plain("name", texts.label_name(), FieldKind::Text(TextRules::default())),
            plain("email", texts.label_email(), FieldKind::Email(TextRules::default())),
            plain("message", texts.label_message(), FieldKind::Textarea(TextRules::default())),
        ];
        fields.extend(usual.map(|field| (field, Vec::new())));
    }
    if page.form.accept_files {
        let rules = FileRules { types: Vec::new(), max_files: 1, max_size: Bounds::default().max_file };
        fields.push((plain("file", texts.label_file(), FieldKind::File(rules)), Vec::new()));
    }
    fields
}
