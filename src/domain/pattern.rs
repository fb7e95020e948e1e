//! A field's `pattern`: a regular expression that must match the whole value, in linear time.

mod example;

/// A compiled pattern. The `regex` crate never backtracks, and the size of the program is bounded, so that
/// neither a pattern nor a value can make matching slow.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The text between `^(?:` and `)$`, as the HTML attribute wants it.
    source: String,
    /// The anchored program.
    program: regex::Regex,
}

/// The largest compiled program, in bytes.
const PROGRAM_SIZE: usize = 256 * 1024;

impl Pattern {
    /// Compiles `source`; the error says in one line what is wrong with it.
    pub fn parse(source: &str) -> Result<Self, String> {
        regex::RegexBuilder::new(&format!("^(?:{source})$"))
            .size_limit(PROGRAM_SIZE)
            .build()
            .map(|program| Self { source: source.to_owned(), program })
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => "the pattern is too large".to_owned(),
                other => other.to_string().lines().last().unwrap_or("not a regular expression").trim().to_owned(),
            })
    }

    /// Whether the whole of `value` matches.
    pub fn matches(&self, value: &str) -> bool {
        self.program.is_match(value)
    }

    /// A value that matches, of a length in UTF-16 units that `fits`; `None` when none was found, though there may be
    /// one.
    pub fn example(&self, fits: impl Fn(usize) -> bool) -> Option<String> {
        example::of(&self.source).find(|text| fits(text.encode_utf16().count()) && self.matches(text))
    }

    /// The pattern as declared.
    pub fn as_str(&self) -> &str {
        &self.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_value_must_match() {
        let pattern = Pattern::parse("[0-9]{2}|x").unwrap();
        assert!(pattern.matches("12") && pattern.matches("x"));
        assert!(!pattern.matches("123") && !pattern.matches("ax") && !pattern.matches("12\n"));
    }

    #[test]
    fn an_example_matches_its_pattern() {
        for (source, example) in [
            ("[0-9]{5}", "11111"),
            ("[A-Z]{2}-\\d{4}|none", "AA-1111"),
            (r"\+?[0-9 ()/-]{6,20}", "+1111111"),
            ("[^@]+", "aa"),
            ("(?i:yes|no)", "yes"),
            ("[а-я]*", "а"),
            (r"\bword\b", "word"),
        ] {
            let found = Pattern::parse(source).unwrap().example(|_| true);
            assert_eq!(found.as_deref().map(str::to_lowercase), Some(example.to_lowercase()), "{source}");
        }
        let long = Pattern::parse("[a-z]+").unwrap().example(|length| length >= 100);
        assert!(long.is_some_and(|text| text.len() >= 100));
        assert_eq!(Pattern::parse("[a-z]{3}").unwrap().example(|length| length > 3), None);
        assert_eq!(Pattern::parse("a{900}").unwrap().example(|_| true).map(|text| text.len()), Some(900));
        assert_eq!(Pattern::parse(r"a\bb").unwrap().example(|_| true), None);
    }

    #[test]
    fn a_bad_or_enormous_pattern_is_refused_in_one_line() {
        assert_eq!(Pattern::parse("(a").unwrap_err(), "error: unclosed group");
        assert_eq!(Pattern::parse("(a{1000}){1000}").unwrap_err(), "the pattern is too large");
    }
}
