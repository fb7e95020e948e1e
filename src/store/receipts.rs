//! Receipts with their values and attachments: record, find, list, show, erase, sweep.

use super::{SealedFile, Store, StoreError};
use crate::domain::delivery::{Channel, Reason};
use crate::domain::digest::Sha256Sum;
use crate::domain::filekind::FileKind;
use crate::domain::fingerprint::{ClientHash, ContentHash, KeyHash};
use crate::domain::form::Target;
use crate::domain::ids::{AttachmentId, DeliveryId, DestinationId, FormId, ReceiptId, ReceiptPrefix, SiteId};
use crate::domain::receipt::{Outcome, ReceiptState};
use crate::domain::submission::Contents;
use crate::domain::time::{Span, Timestamp};

/// Everything one transaction records.
#[derive(Debug)]
pub struct NewReceipt {
    /// The receipt; when its number is taken the writer draws again from `redraw`.
    pub id: ReceiptId,
    /// Random bits for further draws.
    pub redraw: [u32; 4],
    /// The address that was posted to, such as `/f/acme/quote`.
    pub address: String,
    /// Its site.
    pub site: SiteId,
    /// Its form.
    pub form: FormId,
    /// The page the form stands on.
    pub page: Option<String>,
    /// The language of the answer: `en`, `ru`.
    pub locale: &'static str,
    /// When it arrived.
    pub received_at: Timestamp,
    /// Arrival and the retention in force.
    pub erase_at: Timestamp,
    /// The submission key's hash.
    pub key_hash: Option<KeyHash>,
    /// The content's hash.
    pub content_hash: ContentHash,
    /// The client's hash.
    pub client_hash: ClientHash,
    /// The values.
    pub contents: Contents,
    /// The files, sealed.
    pub files: Vec<NewAttachment>,
    /// One per destination that is not paused, in order; the n-th is delivery n.
    pub deliveries: Vec<NewDelivery>,
}

/// One file of a new receipt.
#[derive(Debug)]
pub struct NewAttachment {
    /// The file on disk.
    pub sealed: SealedFile,
    /// From 1.
    pub position: u8,
    /// The field's name.
    pub field: String,
    /// The display name.
    pub name: String,
    /// The true type.
    pub kind: FileKind,
    /// Bytes.
    pub size: u64,
    /// Their hash.
    pub sha256: Sha256Sum,
}

/// One delivery of a new receipt.
#[derive(Debug)]
pub struct NewDelivery {
    /// The destination's id.
    pub destination: DestinationId,
    /// Where it goes and how it is written.
    pub target: Target,
}

/// A receipt found by its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownKey {
    /// The receipt.
    pub receipt: ReceiptId,
    /// Its content.
    pub content_hash: ContentHash,
}

/// What a list shows; `None` does not restrict.
#[derive(Clone, Debug, Default)]
pub struct ListFilter {
    /// Receipts that begin so.
    pub prefix: Option<ReceiptPrefix>,
    /// Of this site.
    pub site: Option<SiteId>,
    /// Of this form.
    pub form: Option<FormId>,
    /// Arrived at or after.
    pub since: Option<Timestamp>,
    /// Arrived before.
    pub until: Option<Timestamp>,
    /// With a delivery in this state (`pending`, `retrying`, `delivered`, `failed`).
    pub state: Option<&'static str>,
    /// Judged spam.
    pub spam: bool,
    /// Found by this key.
    pub key_hash: Option<KeyHash>,
}

/// A receipt as a list shows it.
#[derive(Clone, Debug)]
pub struct ReceiptRow {
    /// Its id.
    pub id: ReceiptId,
    /// Its site; text, since it may come from a configuration of long ago.
    pub site: String,
    /// Its form.
    pub form: String,
    /// The page.
    pub page: Option<String>,
    /// The language.
    pub locale: String,
    /// The erase date fixed at arrival.
    pub erase_at: Timestamp,
    /// Kept or erased, judged at the moment of the question: past `erase_at` it is erased, swept or not.
    pub state: ReceiptState,
    /// Judged spam.
    pub spam: bool,
    /// Its deliveries in order.
    pub deliveries: Vec<DeliveryRow>,
}

/// A delivery as a list shows it.
#[derive(Clone, Debug)]
pub struct DeliveryRow {
    /// Its id.
    pub id: DeliveryId,
    /// Its channel.
    pub channel: Channel,
    /// Its destination's id.
    pub destination: String,
    /// Address, or webhook as scheme, host and path; `None` once values are unreadable.
    pub target: Option<String>,
    /// `pending`, `retrying`, `delivered`, `failed`.
    pub state: &'static str,
    /// Attempts claimed since the last resend.
    pub attempts: u32,
    /// When the next attempt is due; `None` when it has ended or is held.
    pub next_attempt_at: Option<Timestamp>,
    /// Why it stopped.
    pub reason: Option<Reason>,
    /// Waits for a release.
    pub held: bool,
    /// Whether a claim that has not expired is sending it now.
    pub sending: bool,
    /// What the peer or the network said last.
    pub note: Option<String>,
}

/// All of one receipt.
#[derive(Clone, Debug)]
pub struct ReceiptView {
    /// What the list shows.
    pub row: ReceiptRow,
    /// The values; `None` once unreadable.
    pub contents: Option<Contents>,
    /// The files; `None` once unreadable.
    pub attachments: Option<Vec<AttachmentRow>>,
    /// The attempts of each delivery, in the order of `row.deliveries`.
    pub attempts: Vec<Vec<AttemptRow>>,
}

/// One file of a receipt.
#[derive(Clone, Debug)]
pub struct AttachmentRow {
    /// Its id.
    pub id: AttachmentId,
    /// The field's name.
    pub field: String,
    /// The display name.
    pub name: String,
    /// The MIME type.
    pub mime: String,
    /// Bytes.
    pub size: u64,
    /// Their hash.
    pub sha256: Sha256Sum,
    /// The absolute path of the file.
    pub path: std::path::PathBuf,
}

/// One attempt that ended.
#[derive(Clone, Debug)]
pub struct AttemptRow {
    /// When it began.
    pub at: Timestamp,
    /// How long it took.
    pub milliseconds: i64,
    /// `accepted`, `try_later`, `refused`.
    pub outcome: String,
    /// What the peer or the network said.
    pub note: Option<String>,
}

/// What an erasure came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Receipts whose values are unreadable now and were readable before.
    pub receipts: u64,
    /// Sends under way that could not be recalled.
    pub sending: Vec<DeliveryId>,
    /// Files that could not be unlinked yet.
    pub files_left: u64,
    /// Whether every trace is gone from the database and its log (`false`: an old reader still pins the log).
    pub wal_truncated: bool,
}

/// The ages of the sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepRules {
    /// `.part` files older than this are removed.
    pub part_age: Span,
    /// Files without a row older than this go to quarantine.
    pub orphan_age: Span,
    /// Quarantined files older than this are removed.
    pub quarantine_age: Span,
}

/// What a sweep did, or would do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweepReport {
    /// Receipts whose values were erased because their time was over.
    pub expired: u64,
    /// `.part` files removed.
    pub parts_removed: u64,
    /// Files without a row moved to quarantine.
    pub quarantined: u64,
    /// Files removed from quarantine.
    pub quarantine_removed: u64,
    /// State files of the limiter removed.
    pub limiter_removed: u64,
    /// Postponed removals that succeeded now.
    pub removals_retried: u64,
    /// Whether the log was truncated behind it; `false`: an old reader still pins it.
    pub wal_truncated: bool,
}

impl Store {
    /// Records a submission durably: seal the group's folders, one transaction, then `reply`. Returns at once;
    /// `reply` runs on the writer's thread and must not block. UNIQUE decides about a key; without one, the same
    /// content from the same client within 10 minutes is a repeat. Losers' files are removed; after an unclear
    /// COMMIT (reply `Err`) the files stay and the sweep decides.
    pub fn record(&self, new: NewReceipt, reply: impl FnOnce(Result<Outcome, StoreError>) + Send + 'static) {
        todo!()
    }

    /// The receipt of a key; blocking.
    pub fn find_by_key(&self, key: KeyHash) -> Result<Option<KnownKey>, StoreError> {
        todo!()
    }

    /// The site and form whose receipts came in under this address, though the configuration may have lost it.
    pub fn find_address(&self, path: &str) -> Result<Option<(SiteId, FormId)>, StoreError> {
        todo!()
    }

    /// Sites and forms that have receipts, for "does not exist" messages.
    pub fn known_forms(&self) -> Result<Vec<(String, String)>, StoreError> {
        todo!()
    }

    /// Up to `limit` receipts, latest first, older than `before` where given (for paging).
    pub fn list(
        &self,
        filter: &ListFilter,
        before: Option<ReceiptId>,
        limit: u32,
        now: Timestamp,
    ) -> Result<Vec<ReceiptRow>, StoreError> {
        todo!()
    }

    /// Receipts that begin with `prefix`, at most `limit`: one is a match, none is not found, more are candidates.
    pub fn find_by_prefix(&self, prefix: ReceiptPrefix, limit: u32) -> Result<Vec<ReceiptId>, StoreError> {
        todo!()
    }

    /// All of one receipt; blocking.
    pub fn show(&self, id: ReceiptId, now: Timestamp) -> Result<Option<ReceiptView>, StoreError> {
        todo!()
    }

    /// Erases the values of `ids` now: rows deleted, waiting deliveries failed as `values_gone`, files unlinked,
    /// folders synced, the log truncated. Already erased ones are counted neither way, but their leftovers are
    /// retried. Blocking.
    pub fn erase(&self, ids: &[ReceiptId], now: Timestamp) -> Result<Erased, StoreError> {
        todo!()
    }

    /// One sweep in small transactions; safe beside the daemon and another sweep. Blocking.
    pub fn sweep(
        &self,
        rules: SweepRules,
        limiter: &super::Throttle,
        now: Timestamp,
    ) -> Result<SweepReport, StoreError> {
        todo!()
    }

    /// What a sweep would do, without doing it. Blocking.
    pub fn plan_sweep(
        &self,
        rules: SweepRules,
        limiter: &super::Throttle,
        now: Timestamp,
    ) -> Result<SweepReport, StoreError> {
        todo!()
    }
}
