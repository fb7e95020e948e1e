//! A field's `pattern`: a regular expression that must match the whole value, in linear time.

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
    fn a_bad_or_enormous_pattern_is_refused_in_one_line() {
        assert_eq!(Pattern::parse("(a").unwrap_err(), "error: unclosed group");
        assert_eq!(Pattern::parse("(a{1000}){1000}").unwrap_err(), "the pattern is too large");
    }
}
