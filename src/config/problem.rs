//! A mistake in a configuration file and how it is shown.

/// One mistake.
#[derive(Clone, Debug)]
pub struct Problem {}

/// All mistakes of one run, in the order of the files and lines.
#[derive(Clone, Debug)]
pub struct Problems(pub Vec<Problem>);

impl std::fmt::Display for Problems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} mistakes", self.0.len())
    }
}
