//! Fields that take files.

use super::super::bounds::Bounds;
use super::super::draft::{DraftFile, Shape};
use super::super::filekind::{self, Agreement, Close, FileKind, Resolved};
use super::super::filename;
use super::super::form::{Field, FileRules};
use super::super::submission::AcceptedFile;
use super::fault::{Fault, Missing};
use super::{Findings, Given};

/// What is left of the bounds on all files of a submission. Each bound that breaks is a fault once, at the field
/// whose file broke it.
#[derive(Debug)]
pub(super) struct Budget<'b> {
    /// The bounds.
    bounds: &'b Bounds,
    /// Files so far, and those that came before one of them.
    files: u64,
    /// Bytes so far.
    bytes: u64,
}

impl<'b> Budget<'b> {
    /// A fresh one.
    pub(super) fn new(bounds: &'b Bounds) -> Self {
        Self { bounds, files: 0, bytes: 0 }
    }

    /// Counts the file that came as number `index` of the body; the faults are those that it brings. Of a file
    /// beyond the most that a submission may have the reader keeps the size alone, so nothing may be said of its
    /// content.
    fn charge(&mut self, index: usize, size: u64) -> (Content, impl Iterator<Item = Fault> + use<>) {
        let came = u64::try_from(index).unwrap_or(u64::MAX).saturating_add(1);
        let (files, bytes) = (came.max(self.files.saturating_add(1)), self.bytes.saturating_add(size));
        let (most, most_bytes) = (self.bounds.max_files, self.bounds.max_files_total);
        let count = (files > most && self.files <= most).then_some(Fault::FilesTooMany { max: most });
        let total = (bytes > most_bytes && self.bytes <= most_bytes).then_some(Fault::FilesTotal { max: most_bytes });
        (self.files, self.bytes) = (files, bytes);
        let content = if came > most { Content::NotRead } else { Content::Read };
        (content, count.into_iter().chain(total))
    }
}

/// Whether the bytes of a file were looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// They were.
    Read,
    /// They were only counted.
    NotRead,
}

/// Judges a file field. An empty text for it is how scripts send "no file"; any other text is a mistake of the page.
pub(super) fn judge(
    field: &Field,
    rules: &FileRules,
    given: &Given<'_>,
    budget: &mut Budget<'_>,
    findings: &mut Findings,
) {
    let is_text = given.entries.iter().any(|entry| !entry.value.is_empty() || entry.shape != Shape::Scalar);
    if is_text {
        findings.fault(&field.name, Fault::FileExpected);
    } else if field.required && given.files.is_empty() {
        findings.fault(&field.name, Fault::Required(Missing::File));
    }
    let most = usize::from(rules.max_files);
    if given.files.len() > most {
        findings.fault(&field.name, Fault::FilesTooMany { max: u64::from(rules.max_files) });
    }
    for (place, &(index, file)) in given.files.iter().enumerate() {
        let (content, faults) = budget.charge(index, file.size);
        for fault in faults {
            // The field's own bound on the number has said it already.
            if given.files.len() <= most || !matches!(fault, Fault::FilesTooMany { .. }) {
                findings.fault(&field.name, fault);
            }
        }
        if content == Content::NotRead {
            continue;
        }
        match kind(file, rules, budget.bounds) {
            Err(fault) => findings.fault_at(&field.name, place + 1, fault),
            Ok(kind) => findings.files.push(accepted(index, file, kind)),
        }
    }
}

/// A file that is taken.
fn accepted(index: usize, file: &DraftFile, kind: FileKind) -> AcceptedFile {
    AcceptedFile {
        index,
        field: file.field.clone(),
        name: if file.name.is_empty() { format!("file.{}", kind.extension()) } else { file.name.clone() },
        kind,
        size: file.size,
        sha256: file.sha256,
    }
}

/// The true kind of a file that the rules allow.
fn kind(file: &DraftFile, rules: &FileRules, bounds: &Bounds) -> Result<FileKind, Fault> {
    let name = || file.name.clone();
    let max = rules.max_size.min(bounds.max_file);
    if file.size == 0 {
        return Err(Fault::FileEmpty { file: name() });
    }
    if file.size > max {
        return Err(Fault::FileTooLarge { file: name(), max });
    }
    let extension = filename::extension(&file.name);
    let accepted = || rules.types.clone();
    let unfit = |close| Fault::FileType { file: name(), accepted: accepted(), close };
    let Resolved { kind, agreement } = match filekind::resolve(file.sniffed, &extension) {
        Ok(resolved) => resolved,
        // Whole it would not be taken either.
        Err(Close::Damaged(was)) if !is_taken(was, &rules.types) => return Err(unfit(None)),
        Err(Close::Damaged(_)) => return Err(Fault::FileDamaged { file: name() }),
        // Nothing better is known of it than that its name is wrong.
        Err(Close::Unknown) if FileKind::from_extension(&extension).is_some() => {
            return Err(Fault::FileContradicts { file: name(), extension });
        }
        Err(close) => return Err(unfit(Some(close))),
    };
    match agreement {
        Agreement::TextUnderBinary => Err(Fault::FileContradicts { file: name(), extension }),
        _ if rules.types.is_empty() => Ok(kind),
        _ if !rules.types.contains(&kind) => Err(unfit(None)),
        Agreement::Contradicts(_) => Err(Fault::FileContradicts { file: name(), extension }),
        Agreement::Agrees => Ok(kind),
    }
}

/// Whether `types` (empty: all) have what a damaged file was; `None`: a package of whatever program.
fn is_taken(was: Option<FileKind>, types: &[FileKind]) -> bool {
    types.is_empty() || types.iter().any(|kind| was.map_or(kind.is_office(), |was| was == *kind))
}

/// Charges a file of a form that declares no fields.
pub(super) fn take_any(index: usize, file: &DraftFile, budget: &mut Budget<'_>, findings: &mut Findings) {
    let (content, faults) = budget.charge(index, file.size);
    for fault in faults {
        findings.fault(&file.field, fault);
    }
    if content == Content::NotRead {
        return;
    }
    let rules = FileRules { types: Vec::new(), max_files: u8::MAX, max_size: budget.bounds.max_file };
    match kind(file, &rules, budget.bounds) {
        Err(fault) => findings.fault(&file.field, fault),
        Ok(kind) => findings.files.push(accepted(index, file, kind)),
    }
}
