//! Pages for a browser: a form made from its definition, and notes (thank you, refusals).
//!
//! * Every value is escaped: the engine escapes whatever it is given, and only the style sheet and a body that came
//!   out of the engine are marked as safe. A visitor's value is data and never read as a template.
//! * A page needs nothing else: no script, no image, no second request. The one style sheet stands inside and is
//!   allowed by its hash. A separate file would need a second address, and a form often answers under one path of
//!   the operator's own site, where formd's other addresses are not reachable.
//! * The `Content-Security-Policy` that belongs to a page comes with it.
//!
//! A template that fails is a mistake in formd: it is logged, and the visitor gets the bare words.

mod control;
mod form;

pub use form::{Again, Button, FormPage, Said};

use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value, context, escape_formatter};

use crate::domain::digest::Sha256Sum;
use crate::domain::form::Form;
use crate::domain::origin::Origin;
use crate::domain::text::Texts;

/// The style sheet of every page.
const CSS: &str = include_str!("../../web/page.css");
/// Steps a template may take: far more than 200 fields need, and an end.
const FUEL: u64 = 2_000_000;

/// The templates, read once.
#[derive(Debug)]
pub struct Pages {
    /// The engine.
    engine: Environment<'static>,
    /// The style sheet's source expression for the policy.
    style: String,
}

/// A page and what the browser may do with it.
#[derive(Debug)]
pub struct Page {
    /// The document.
    pub html: String,
    /// Its `Content-Security-Policy`.
    pub policy: String,
}

/// A page that only says something.
#[derive(Debug)]
pub struct Note<'a> {
    /// The visitor's language, in the site's words.
    pub texts: &'a Texts,
    /// The heading.
    pub title: &'a str,
    /// Paragraphs.
    pub lines: &'a [&'a str],
    /// The receipt's line, on a thank-you page.
    pub receipt: Option<&'a str>,
    /// Where a link leads back to.
    pub back: Option<&'a str>,
}

impl Pages {
    /// Reads the templates; fails only when one of them is broken, which a test would have seen.
    pub fn new() -> Result<Self, PageError> {
        let mut engine = Environment::empty();
        engine.set_auto_escape_callback(|_| AutoEscape::Html);
        engine.set_formatter(|out, state, value| match value.as_str() {
            // The engine would escape slashes as well, and addresses in a page's source are for people to read.
            Some(text) if !value.is_safe() => Ok(out.write_str(&escape(text))?),
            _ => escape_formatter(out, state, value),
        });
        engine.set_undefined_behavior(UndefinedBehavior::Strict);
        engine.set_fuel(Some(FUEL));
        engine.add_template("layout", include_str!("../../web/layout.html"))?;
        engine.add_template("note", include_str!("../../web/note.html"))?;
        engine.add_template("form", include_str!("../../web/form.html"))?;
        let style = format!("'sha256-{}'", base64(Sha256Sum::of(CSS.as_bytes()).as_bytes()));
        Ok(Self { engine, style })
    }

    /// A page that only says something.
    pub fn note(&self, note: &Note<'_>) -> Page {
        let body = self.body("note", note.texts, note.title, |words| {
            context! {
                title => note.title,
                lines => note.lines.iter().copied().collect::<Value>(),
                receipt => note.receipt.unwrap_or_default(),
                back => note.back.unwrap_or_default(),
                words => words,
            }
        });
        Page { html: body, policy: self.policy("'none'") }
    }

    /// A form, empty or shown again.
    pub fn form(&self, page: &FormPage<'_>) -> Page {
        let heading = heading(page.form, page.texts);
        // A page that says what is wrong says so in its title as well, which is what a screen reader reads first.
        let said = page.again.as_ref().map(|again| format!("{} – {heading}", again.said.title));
        let title = said.as_deref().unwrap_or(heading);
        let html = self.body("form", page.texts, title, |words| form::context(page, heading, words));
        Page { html, policy: self.policy(&form_targets(page)) }
    }

    /// Renders a template into the layout.
    fn body(&self, name: &str, texts: &Texts, title: &str, fill: impl FnOnce(Value) -> Value) -> String {
        let render = |name: &str, value: Value| self.engine.get_template(name)?.render(value);
        let words = words(texts);
        let whole = render(name, fill(words)).and_then(|body| {
            let layout = context! {
                lang => texts.language().tag(),
                title => title,
                css => Value::from_safe_string(CSS.to_owned()),
                body => Value::from_safe_string(body),
            };
            render("layout", layout)
        });
        whole.unwrap_or_else(|error| {
            tracing::error!(%error, template = name, "a page could not be made");
            format!("<!doctype html><meta charset=\"utf-8\"><title>formd</title><h1>{}</h1>", escape(title))
        })
    }

    /// The policy of a page whose form may lead to `targets`. `form-action` binds the redirect after a form as well,
    /// so the page that follows has to be in it.
    fn policy(&self, targets: &str) -> String {
        let style = &self.style;
        format!("default-src 'none'; style-src {style}; form-action {targets}; base-uri 'none'; frame-ancestors 'none'")
    }
}

/// Why the templates could not be read.
#[derive(Debug, thiserror::Error)]
#[error("a page template is broken: {0}")]
pub struct PageError(#[from] Error);

/// The form's title, or the usual words.
fn heading<'a>(form: &'a Form, texts: &'a Texts) -> &'a str {
    form.title.as_deref().unwrap_or(texts.form_title())
}

/// Where sending the form may lead: here, and from here to the page after success.
fn form_targets(page: &FormPage<'_>) -> String {
    let after = [page.next, page.form.success_url.as_deref()];
    let mut origins: Vec<String> =
        after.into_iter().flatten().filter_map(Origin::of_url).map(|o| o.to_string()).collect();
    origins.dedup();
    origins.insert(0, "'self'".to_owned());
    origins.join(" ")
}

/// The words that templates use themselves.
fn words(texts: &Texts) -> Value {
    context! {
        back => texts.back(),
        choose => texts.choose(),
        fault_prefix => texts.fault_prefix(),
        faults_label => texts.faults_label(),
        required_note => texts.required_note(),
    }
}

/// HTML escaping, for text and for quoted attributes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}

/// RFC 4648, section 4, as a source expression of a policy wants its hash.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = group.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - group.len()));
        for place in 0..4 {
            let sextet = usize::try_from(bits >> (18 - 6 * place) & 63).unwrap_or(0);
            let shown = if place <= group.len() { ALPHABET.get(sextet).copied().unwrap_or(b'=') } else { b'=' };
            text.push(char::from(shown));
        }
    }
    text
}

#[cfg(test)]
mod tests;
