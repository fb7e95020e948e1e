//! The faults that a field can have by its declaration: what a front-end may look for before it sends, and say in the
//! very words of the server.

use super::super::form::{Field, FieldKind, TextRules};
use super::fault::{Fault, FieldError, Missing};

/// What stands for the name of a file.
const FILE: &str = "{file}";

/// The faults of a field that follow from its declaration alone, each once. A message about a file has `{file}` where
/// its name goes.
pub fn expected(field: &Field) -> Vec<FieldError> {
    let mut faults = Vec::new();
    let missing = match &field.kind {
        FieldKind::Checkbox => Missing::Tick,
        FieldKind::Select(_) | FieldKind::Radio(_) | FieldKind::Checkboxes(_) => Missing::Choice,
        FieldKind::File(_) => Missing::File,
        FieldKind::Text(_)
        | FieldKind::Textarea(_)
        | FieldKind::Email(_)
        | FieldKind::Tel(_)
        | FieldKind::Url(_)
        | FieldKind::Number(_)
        | FieldKind::Date(_)
        | FieldKind::Hidden(_) => Missing::Text,
    };
    faults.extend(field.required.then_some(Fault::Required(missing)));
    match &field.kind {
        FieldKind::Text(rules) | FieldKind::Textarea(rules) | FieldKind::Tel(rules) | FieldKind::Hidden(rules) => {
            text(rules, &mut faults);
        }
        FieldKind::Email(rules) => {
            faults.push(Fault::Email);
            text(rules, &mut faults);
        }
        FieldKind::Url(rules) => {
            faults.push(Fault::Url);
            text(rules, &mut faults);
        }
        FieldKind::Number(rules) => {
            faults.push(Fault::Number);
            faults.extend(rules.min.map(Fault::NumberMin));
            faults.extend(rules.max.map(Fault::NumberMax));
        }
        FieldKind::Date(rules) => {
            faults.push(Fault::Date);
            faults.extend(rules.min.clone().map(Fault::DateMin));
            faults.extend(rules.max.clone().map(Fault::DateMax));
        }
        FieldKind::Select(_) | FieldKind::Radio(_) | FieldKind::Checkboxes(_) => faults.push(Fault::Option),
        FieldKind::Checkbox => {}
        FieldKind::File(rules) => {
            let accepted = rules.types.clone();
            faults.push(Fault::FileType { file: FILE.to_owned(), accepted, close: None });
            faults.push(Fault::FileEmpty { file: FILE.to_owned() });
            faults.push(Fault::FileTooLarge { file: FILE.to_owned(), max: rules.max_size });
            faults.push(Fault::FilesTooMany { max: u64::from(rules.max_files) });
        }
    }
    faults.into_iter().map(|fault| FieldError { field: field.name.clone(), fault, row: None }).collect()
}

/// The faults of a text by its rules.
fn text(rules: &TextRules, faults: &mut Vec<Fault>) {
    faults.extend(rules.min_length.map(|min| Fault::TooShort { min }));
    faults.extend(rules.max_length.map(|max| Fault::TooLong { max }));
    faults.extend(rules.pattern.is_some().then_some(Fault::Pattern));
}
