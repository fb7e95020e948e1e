//! What an import came to, in numbers, names of the form and places in the file; never in values.

use std::collections::{BTreeMap, BTreeSet};

use super::row::{Place, Refusal};
use super::text::Encoding;

/// Refusals that are kept one by one; the rest is counted.
const NAMED: usize = 100;

/// What an import came to; of a plan, what it would come to.
#[derive(Debug, Default)]
pub struct Report {
    /// Submissions read.
    pub read: u64,
    /// Stored.
    pub imported: u64,
    /// Stored before.
    pub known: u64,
    /// Not taken.
    pub refused: u64,
    /// The first of them, with why.
    pub refusals: Vec<(Place, Refusal)>,
    /// Of those stored: what today's form would refuse, how many.
    pub faulty: u64,
    /// By field and word.
    pub faults: BTreeMap<(String, &'static str), u64>,
    /// Of those stored: whose time would be over, had they arrived here.
    pub outlived: u64,
    /// Of those stored: without a time that can be read.
    pub timeless: u64,
    /// Of those stored: marked as spam.
    pub spam: u64,
    /// Of those stored: files whose bytes were not in the export.
    pub files: u64,
    /// Of those stored: links to files, kept as text.
    pub links: u64,
    /// Names of columns and members that are no values.
    pub left_out: BTreeSet<String>,
    /// The file's encoding, once known.
    pub encoding: Option<Encoding>,
}

/// What there is to say of one submission once it is stored.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// What today's form would say.
    pub faults: BTreeSet<(String, &'static str)>,
    /// Whether its time would be over.
    pub outlived: bool,
    /// Whether it has no time that can be read.
    pub timeless: bool,
    /// Whether it is spam.
    pub spam: bool,
    /// Files that are not there.
    pub files: u64,
    /// Links to files.
    pub links: u64,
}

impl Report {
    /// One more is stored.
    pub(super) fn stored(&mut self, facts: Facts) {
        self.imported += 1;
        self.faulty += u64::from(!facts.faults.is_empty());
        for fault in facts.faults {
            *self.faults.entry(fault).or_default() += 1;
        }
        self.outlived += u64::from(facts.outlived);
        self.timeless += u64::from(facts.timeless);
        self.spam += u64::from(facts.spam);
        self.files += facts.files;
        self.links += facts.links;
    }

    /// One more is not taken.
    pub(super) fn refuse(&mut self, place: Place, why: Refusal) {
        self.refused += 1;
        if self.refusals.len() < NAMED {
            self.refusals.push((place, why));
        }
    }
}
