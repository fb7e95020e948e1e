//! Texts of the operator with places for values: `{{field}}`, `{{@receipt}}`, `{{@form}}`, `{{@page}}`,
//! `{{@received_at}}`, nothing else. A value is inserted as it is and never read again, so a visitor who
//! writes `{{email}}` into a message gets just that.

/// A template, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template(Vec<Piece>);

/// A run of text or a place.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    /// Stands as it is.
    Text(String),
    /// Filled at rendering.
    Place(Name),
}

/// What fills a place.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Name {
    /// A field of the form.
    Field(String),
    /// The receipt's id.
    Receipt,
    /// The form's id.
    Form,
    /// The page of the receipt.
    Page,
    /// When the submission arrived.
    ReceivedAt,
}

/// Why a text is no template.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// `{{` without `}}`.
    #[error("`{{{{` without `}}}}`")]
    Unclosed,
    /// `{{}}`.
    #[error("`{{{{}}}}` names nothing")]
    NoName,
    /// An `@` name that does not exist.
    #[error("unknown name `{{{{{0}}}}}`; there are `@receipt`, `@form`, `@page`, `@received_at`")]
    UnknownName(String),
}

impl Template {
    /// Reads a template; the names of fields are not checked here, see [`Template::names`].
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut pieces = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let (name, after) = after.split_once("}}").ok_or(TemplateError::Unclosed)?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(Piece::Place(match name.trim() {
                "@receipt" => Name::Receipt,
                "@form" => Name::Form,
                "@page" => Name::Page,
                "@received_at" => Name::ReceivedAt,
                unknown if unknown.starts_with('@') => return Err(TemplateError::UnknownName(unknown.to_owned())),
                "" => return Err(TemplateError::NoName),
                field => Name::Field(field.to_owned()),
            }));
            rest = after;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    /// The names it uses, in order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Place(name) => Some(name),
        })
    }

    /// The text with every place filled.
    pub fn render(&self, value: impl Fn(&Name) -> String) -> String {
        self.0
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text.clone(),
                Piece::Place(name) => value(name),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_inserted_once_and_never_read_again() {
        let template = Template::parse("Hi {{ name }}, {{@receipt}}{{x}}!").unwrap();
        let text = template.render(|name| match name {
            Name::Field(field) if field == "name" => "{{@receipt}}".to_owned(),
            Name::Receipt => "R".to_owned(),
            _ => String::new(),
        });
        assert_eq!(text, "Hi {{@receipt}}, R!");
        assert_eq!(template.names().count(), 3);
    }

    #[test]
    fn a_broken_template_says_what_is_wrong() {
        assert_eq!(Template::parse("a {{b"), Err(TemplateError::Unclosed));
        assert_eq!(Template::parse("a {{ }}"), Err(TemplateError::NoName));
        assert_eq!(
            Template::parse("{{@date}}").unwrap_err().to_string(),
            "unknown name `{{@date}}`; there are `@receipt`, `@form`, `@page`, `@received_at`"
        );
    }
}
