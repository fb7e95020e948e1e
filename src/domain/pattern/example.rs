//! Texts that a pattern is likely to take, made from its syntax: of each choice the first, of each repetition as many as
//! asked for, of each class a plain character. Bounded in length and time; whether one matches, the pattern itself says.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

/// Longest text, in bytes.
const LONGEST: usize = 4096;
/// Characters to prefer, the plainest first.
const PLAIN: &str = "aA1";

/// The texts, with more and more of what may be repeated.
pub(super) fn of(source: &str) -> impl Iterator<Item = String> {
    let syntax = regex_syntax::parse(source).ok();
    let mores = (1..=64).chain([0, 128, 256, 512, 1024, 2048, 4096]);
    mores.filter_map(move |more| {
        let mut text = String::new();
        write(syntax.as_ref()?, more, &mut text);
        Some(text)
    })
}

/// Appends a text for `syntax`, every repetition with `more` beyond its least.
fn write(syntax: &Hir, more: u32, text: &mut String) {
    match syntax.kind() {
        HirKind::Empty | HirKind::Look(_) => {}
        HirKind::Literal(literal) => text.push_str(&String::from_utf8_lossy(&literal.0)),
        HirKind::Class(Class::Unicode(class)) => text.extend(character(class)),
        HirKind::Class(Class::Bytes(class)) => text.extend(class.to_unicode_class().as_ref().and_then(character)),
        HirKind::Repetition(repeated) => {
            let times = repeated.min.saturating_add(more).min(repeated.max.unwrap_or(u32::MAX));
            for _ in 0..times {
                let before = text.len();
                write(&repeated.sub, more, text);
                // What adds nothing once never does.
                if text.len() == before || text.len() > LONGEST {
                    return;
                }
            }
        }
        HirKind::Capture(group) => write(&group.sub, more, text),
        HirKind::Concat(parts) => parts.iter().for_each(|part| write(part, more, text)),
        HirKind::Alternation(choices) => choices.iter().take(1).for_each(|choice| write(choice, more, text)),
    }
}

/// The plainest character of a class.
fn character(class: &ClassUnicode) -> Option<char> {
    let has = |c: char| class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&c));
    let visible = ('!'..='~').find(|c| has(*c));
    PLAIN.chars().find(|c| has(*c)).or(visible).or_else(|| class.ranges().first().map(ClassUnicodeRange::start))
}
