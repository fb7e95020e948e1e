//! Sites, forms, fields and destinations as declared: what the configuration becomes once it is checked.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::control;
use super::filekind::FileKind;
use super::ids::{DestinationId, FormId, SiteId};
use super::origin::OriginPattern;
use super::pattern::Pattern;
use super::quota::Quota;
use super::response::Response;
use super::secret::Secret;
use super::shared_path::SharedPath;
use super::target::Target;
use super::text::{Language, Overrides, Texts};

/// One web site with its own settings. Nothing of one site reaches another's destinations or listings.
#[derive(Clone, Debug)]
pub struct Site {
    /// The name of its file.
    pub id: SiteId,
    /// `false`: intake closed and deliveries wait; the sweep and formctl go on.
    pub enabled: bool,
    /// `false`: intake closed; waiting deliveries are not touched.
    pub accept: bool,
    /// Origins whose pages may post; empty: any.
    pub origins: Vec<OriginPattern>,
    /// Refuse a post that names no origin.
    pub origins_strict: bool,
    /// Days until values are erased, 1..=365.
    pub retention_days: u16,
    /// Up to four windows; empty: no limit.
    pub rate: Vec<Quota>,
    /// The language of its forms; `None`: the visitor's.
    pub locale: Option<Language>,
    /// The texts that it words itself.
    pub texts: HashMap<Language, Arc<Overrides>>,
    /// All destinations of the site, in the order of the file.
    pub destinations: Vec<Destination>,
    /// Addresses that find their form by a field.
    pub shared_paths: Vec<SharedPath>,
    /// The forms by id.
    pub forms: BTreeMap<FormId, Arc<Form>>,
}

impl Site {
    /// The texts of a language as the site words them.
    pub fn texts(&self, language: Language) -> Texts {
        self.texts.get(&language).map_or_else(|| language.texts(), |own| language.texts_with(own))
    }
}

/// A declared set of fields of a site.
#[derive(Clone, Debug)]
pub struct Form {
    /// Its id.
    pub id: FormId,
    /// What the visitor and the mail call it.
    pub title: Option<String>,
    /// The page that the receipt names; `None`: the field `_page` that formd.js sends.
    pub page: Option<String>,
    /// The language: the form's, else the site's; `None`: the visitor's.
    pub locale: Option<Language>,
    /// `false`: intake of this form closed.
    pub accept: bool,
    /// Whether a form without declared fields takes files.
    pub accept_files: bool,
    /// Further addresses under which the form answers, each beginning with `/`.
    pub paths: Vec<String>,
    /// The fields by which shared paths find it: never stored or delivered.
    pub selectors: Vec<String>,
    /// The object or bracket prefix whose members are the fields: `fields` of `fields[name]`.
    pub unwrap: Option<String>,
    /// What signs its bodies; `None`: they need no signature.
    pub signature: Option<Secret>,
    /// Where its submissions go, at most 5; its own choice, else all of the site.
    pub destinations: Vec<Destination>,
    /// Where a browser goes after success.
    pub success_url: Option<String>,
    /// The checkbox that gives consent; a declared field of kind `checkbox`.
    pub consent: Option<String>,
    /// The mail that tells the visitor; `None`: none is sent.
    pub confirmation: Option<Confirmation>,
    /// What happens to a text field that is not declared.
    pub extra_fields: ExtraFields,
    /// How it answers programs.
    pub response: Response,
    /// The fields in order; empty: any field is taken, in the sender's order.
    pub fields: Vec<Field>,
}

impl Form {
    /// The declared field of this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Whether `name` steers a submission of this form and is none of its values.
    pub fn is_control(&self, name: &str) -> bool {
        control::is_control(name) || self.selectors.iter().any(|selector| selector == name)
    }

    /// Whether the form takes whatever fields are sent.
    pub fn takes_any_field(&self) -> bool {
        self.fields.is_empty()
    }
}

/// The mail that tells a visitor that the submission has come. Off unless declared; it never leaves without a ticked
/// consent box (contract 11.4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Confirmation {
    /// The declared e-mail field whose address it goes to.
    pub to: String,
    /// A template of the subject; `None`: the standard one in the visitor's language.
    pub subject: Option<String>,
    /// A template of the text; `None`: the standard one in the visitor's language.
    pub text: Option<String>,
    /// The address in `[mail] from`: a confirmation to it would go round in circles.
    pub operator: Option<String>,
    /// `[delivery] confirmations_per_hour`, which all forms share.
    pub per_hour: u32,
}

/// What happens to a text field that the form does not declare. An undeclared file is always an error.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtraFields {
    /// Kept behind the declared ones.
    #[default]
    Keep,
    /// Dropped.
    Ignore,
    /// An error at the field.
    Reject,
}

/// One field of a form.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name under which it is sent: 1..200 bytes without control characters.
    pub name: String,
    /// What the visitor, the mail and formctl call it; the name when none was given.
    pub label: String,
    /// What it takes.
    pub kind: FieldKind,
    /// Whether it must be filled, ticked or chosen.
    pub required: bool,
    /// Shown in an empty input of the hosted page.
    pub placeholder: Option<String>,
    /// Shown beside the input of the hosted page.
    pub help: Option<String>,
}

/// What a field takes; each kind carries just the rules it can have.
#[derive(Clone, Debug)]
pub enum FieldKind {
    /// One line.
    Text(TextRules),
    /// Several lines.
    Textarea(TextRules),
    /// An e-mail address as HTML means it.
    Email(TextRules),
    /// A telephone number: any text without a line break.
    Tel(TextRules),
    /// An absolute http or https URL.
    Url(TextRules),
    /// A decimal number.
    Number(NumberRules),
    /// A calendar date, `YYYY-MM-DD`.
    Date(DateRules),
    /// One of the options.
    Select(Vec<String>),
    /// One of the options.
    Radio(Vec<String>),
    /// On or off.
    Checkbox,
    /// Any number of the options.
    Checkboxes(Vec<String>),
    /// A text that the page sets.
    Hidden(TextRules),
    /// Files.
    File(FileRules),
}

impl FieldKind {
    /// The word of the configuration.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Textarea(_) => "textarea",
            Self::Email(_) => "email",
            Self::Tel(_) => "tel",
            Self::Url(_) => "url",
            Self::Number(_) => "number",
            Self::Date(_) => "date",
            Self::Select(_) => "select",
            Self::Radio(_) => "radio",
            Self::Checkbox => "checkbox",
            Self::Checkboxes(_) => "checkboxes",
            Self::Hidden(_) => "hidden",
            Self::File(_) => "file",
        }
    }
}

/// Rules of a text. Lengths count as HTML `maxlength` does, in UTF-16 units after CR LF became LF.
#[derive(Clone, Debug, Default)]
pub struct TextRules {
    /// At least so long, when not empty.
    pub min_length: Option<u32>,
    /// At most so long.
    pub max_length: Option<u32>,
    /// What the whole value must match.
    pub pattern: Option<Pattern>,
}

/// Rules of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NumberRules {
    /// Not below.
    pub min: Option<f64>,
    /// Not above.
    pub max: Option<f64>,
}

/// Rules of a date, each `YYYY-MM-DD`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DateRules {
    /// Not before.
    pub min: Option<String>,
    /// Not after.
    pub max: Option<String>,
}

/// Rules of a file field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRules {
    /// The kinds it takes; empty: all supported ones.
    pub types: Vec<FileKind>,
    /// At most so many files.
    pub max_files: u8,
    /// At most so many bytes each.
    pub max_size: u64,
}

/// Where the operator wants a submission delivered.
#[derive(Clone, Debug)]
pub struct Destination {
    /// Its id within the site.
    pub id: DestinationId,
    /// `true`: new submissions make no delivery and waiting ones end.
    pub paused: bool,
    /// The way there, copied into each submission at acceptance.
    pub target: Target,
}
