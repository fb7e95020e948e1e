//! `formctl resend`: a delivery that stopped or waits for its next attempt is sent again now, with the same id and
//! receipt and its attempts back to 0. One line a delivery says what came of it. A send under way is not doubled:
//! exit 4, `delivery_in_progress`.

use super::installation::{DRAFT, Installation};
use super::lookup::{self, KnownForms, Named};
use super::moment::Moment;
use super::outcome::{CommandError, Exit, Kind};
use super::print::Output;
use crate::config::{Activity, Config};
use crate::delivery::Standing;
use crate::domain::delivery::{IllegalStep, Reason};
use crate::domain::ids::{DeliveryId, ReceiptId};
use crate::domain::receipt::ReceiptState;
use crate::domain::time::Timestamp;
use crate::store::{DeliveryRow, ListFilter, ReceiptRow, ResendError, Store};

/// Receipts of one question to the database.
const PAGE: u32 = 500;

/// Which deliveries.
#[derive(Debug, clap::Args)]
#[command(
    group = clap::ArgGroup::new("which").required(true).args(["named", "failed"]),
    override_usage = "formctl resend DELIVERY|RECEIPT\n       formctl resend --failed [--since T] [--site S]",
    after_help = "\
Examples:
  formctl resend 4qzk1p8-d2                one delivery
  formctl resend 4qzk1p8                   what did not arrive of a receipt
  formctl resend --failed --since 2d       all that failed while a server was down

A delivery keeps its id and receipt, so a receiver recognises a duplicate. Recipient, URL and secret are those of \
the arrival; the mail set-up is that of now. The daemon begins within 2 seconds; without a daemon: `formctl deliver`.

Exit codes: 0 sent again, 1 refused (the line says why), 3 not found, 4 a send is under way.")]
pub struct Args {
    /// One delivery (RECEIPT-dN), or a receipt with all its deliveries.
    #[arg(value_name = "DELIVERY|RECEIPT")]
    named: Option<String>,
    /// Every failed delivery.
    #[arg(long)]
    failed: bool,
    /// With --failed: of submissions that arrived at T or later.
    #[arg(long, value_name = "T", value_parser = Moment::parse, requires = "failed", conflicts_with = "named")]
    since: Option<Moment>,
    /// With --failed: only this site.
    #[arg(long, value_name = "S", requires = "failed", conflicts_with = "named")]
    site: Option<String>,
}

/// What became of one delivery.
type Answer = Result<(), ResendError>;

/// How far a command went, from the answers so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    /// Sent again.
    resent: u64,
    /// Under way.
    in_progress: u64,
    /// Refused.
    refused: u64,
    /// Nothing to do: delivered, or waiting for the first attempt anyway.
    idle: u64,
}

/// Sends again.
pub fn run(
    args: &Args,
    installation: &Installation,
    now: Timestamp,
    out: &mut Output<'_>,
) -> Result<Exit, CommandError> {
    let config = installation.config()?;
    let store = installation.open()?;
    let mut work = Work { store: &store, config, now, tally: Tally::default() };
    let exit = if let Some(text) = args.named.as_deref() {
        match lookup::delivery_or_receipt(&store, text)? {
            Named::Delivery(id) => work.one(id, out)?,
            Named::Receipt(id) => work.all_of(id, out)?,
        }
    } else {
        let known = KnownForms::gather(&store, Some(config))?;
        let (site, _) = known.choose(args.site.as_deref(), None)?;
        let since = args.since.map(|moment| moment.at(now));
        work.failed(&ListFilter { site, since, state: Some("failed"), ..ListFilter::default() }, out)?
    };
    if work.tally.resent > 0 {
        store.directory().wake();
        if installation.standing(&store)? == Standing::Draft {
            out.note(DRAFT);
        }
        if store.directory().daemon_pid()?.is_none() {
            out.note("the daemon is not running: start it, or send now with `formctl deliver`");
        }
    }
    Ok(exit)
}

/// The store, the rules and the answers of one command.
struct Work<'a> {
    /// Where deliveries stand.
    store: &'a Store,
    /// Which destinations are active.
    config: &'a Config,
    /// Now.
    now: Timestamp,
    /// The answers so far.
    tally: Tally,
}

impl Work<'_> {
    /// One delivery that was named.
    fn one(&mut self, id: DeliveryId, out: &mut Output<'_>) -> Result<Exit, CommandError> {
        let row = self.receipt(id.receipt)?;
        let Some(delivery) = row.deliveries.iter().find(|delivery| delivery.id == id) else {
            return Err(CommandError::new(Kind::NotFound, format!("there is no delivery `{id}`"))
                .hint(format!("`formctl show {}` names its deliveries", id.receipt)));
        };
        self.again(&row, delivery, out)?;
        Ok(self.tally.exit_named())
    }

    /// All deliveries of a receipt that was named.
    fn all_of(&mut self, id: ReceiptId, out: &mut Output<'_>) -> Result<Exit, CommandError> {
        let row = self.receipt(id)?;
        if row.deliveries.is_empty() {
            return Err(CommandError::new(Kind::NotFound, format!("receipt `{id}` has no deliveries")));
        }
        row.deliveries.iter().try_for_each(|delivery| self.again(&row, delivery, out))?;
        Ok(self.tally.exit_of_many())
    }

    /// Every failed delivery that can be sent at all: what retention or the operator ended stays ended.
    fn failed(&mut self, filter: &ListFilter, out: &mut Output<'_>) -> Result<Exit, CommandError> {
        let mut before = None;
        loop {
            let rows = self.store.list(filter, before, PAGE, self.now)?;
            for row in rows.iter().filter(|row| matches!(row.state, ReceiptState::Kept { .. })) {
                row.deliveries.iter().filter(|d| has_failed(d)).try_for_each(|d| self.again(row, d, out))?;
            }
            match rows.last() {
                Some(last) => before = Some(last.id),
                None => break,
            }
        }
        if self.tally == Tally::default() {
            out.line("no failed delivery to send again")?;
        }
        Ok(self.tally.exit_of_many())
    }

    /// Sends one again and says so.
    fn again(&mut self, row: &ReceiptRow, delivery: &DeliveryRow, out: &mut Output<'_>) -> Result<(), CommandError> {
        let activity = self.config.activity(&row.site, &row.form, delivery.channel, &delivery.destination);
        let active = may_be_sent(activity);
        let answer = self.store.resend(delivery.id, self.now, move |_, _| active)?.map(|_| ());
        self.tally.add(answer);
        out.line(&phrase(row, delivery, answer, activity))
    }

    /// The receipt with its deliveries.
    fn receipt(&self, id: ReceiptId) -> Result<ReceiptRow, CommandError> {
        let view = self.store.show(id, self.now)?;
        view.map(|view| view.row)
            .ok_or_else(|| CommandError::new(Kind::NotFound, format!("there is no receipt `{id}`")))
    }
}

/// Whether a delivery failed by a peer's verdict or by its destination, and not because its values are gone.
fn has_failed(delivery: &DeliveryRow) -> bool {
    match delivery.reason {
        Some(Reason::Refused | Reason::Exhausted | Reason::DestinationInactive) => true,
        Some(Reason::ValuesGone) | None => false,
    }
}

/// A disabled site's deliveries wait, so one may be made to wait again; what nobody configures would wait for ever.
fn may_be_sent(activity: Activity) -> bool {
    match activity {
        Activity::Active | Activity::SiteDisabled => true,
        Activity::SiteGone | Activity::Inactive => false,
    }
}

/// The line about one delivery.
fn phrase(row: &ReceiptRow, delivery: &DeliveryRow, answer: Answer, activity: Activity) -> String {
    let what = format!("{}  {} {}", delivery.id, delivery.channel.word(), delivery.destination);
    match answer {
        Ok(()) if activity == Activity::SiteDisabled => {
            format!("{what}: pending; waits until site `{}` is enabled", row.site)
        }
        Ok(()) => format!("{what}: sent again"),
        Err(why) => format!("{what}: not sent again: {why}"),
    }
}

impl Tally {
    /// Counts an answer.
    fn add(&mut self, answer: Answer) {
        let counter = match answer {
            Ok(()) => &mut self.resent,
            Err(ResendError::InProgress) => &mut self.in_progress,
            Err(ResendError::State(IllegalStep::AlreadyPending | IllegalStep::AlreadyDelivered)) => &mut self.idle,
            Err(
                ResendError::ValuesGone
                | ResendError::DestinationInactive
                | ResendError::State(IllegalStep::AlreadyEnded | IllegalStep::AlreadyHeld | IllegalStep::AlreadyDue)
                | ResendError::Missing,
            ) => &mut self.refused,
        };
        *counter += 1;
    }

    /// The one delivery that was named must have been sent again.
    fn exit_named(self) -> Exit {
        if self.idle > 0 { Exit::Failed } else { self.exit_of_many() }
    }

    /// Of several, those with nothing to do are no failure while any other was sent again. A refusal goes before
    /// a send under way: waiting does not mend it.
    fn exit_of_many(self) -> Exit {
        match self {
            Self { refused: 1.., .. } => Exit::Failed,
            Self { in_progress: 1.., .. } => Exit::Pending,
            Self { resent: 0, idle: 1.., .. } => Exit::Failed,
            Self { .. } => Exit::Done,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctl::testing::row;

    /// The tally of these answers.
    fn tally(answers: &[Answer]) -> Tally {
        let mut tally = Tally::default();
        for answer in answers {
            tally.add(*answer);
        }
        tally
    }

    #[test]
    fn the_exit_code_says_the_worst_that_waiting_does_not_mend() {
        let delivered = Err(ResendError::State(IllegalStep::AlreadyDelivered));
        for (answers, named, many) in [
            (&[Ok(())][..], Exit::Done, Exit::Done),
            (&[delivered], Exit::Failed, Exit::Failed),
            (&[delivered, Ok(())], Exit::Failed, Exit::Done),
            (&[Err(ResendError::InProgress)], Exit::Pending, Exit::Pending),
            (&[Err(ResendError::InProgress), Err(ResendError::ValuesGone)], Exit::Failed, Exit::Failed),
            (&[Err(ResendError::DestinationInactive)], Exit::Failed, Exit::Failed),
            (&[], Exit::Done, Exit::Done),
        ] {
            assert_eq!((tally(answers).exit_named(), tally(answers).exit_of_many()), (named, many), "{answers:?}");
        }
    }

    #[test]
    fn each_delivery_gets_a_line_that_says_why() {
        let row = row();
        let answers = [
            (Ok(()), Activity::Active),
            (Ok(()), Activity::SiteDisabled),
            (Err(ResendError::InProgress), Activity::Active),
            (Err(ResendError::ValuesGone), Activity::Active),
            (Err(ResendError::DestinationInactive), Activity::Inactive),
            (Err(ResendError::State(IllegalStep::AlreadyPending)), Activity::Active),
            (Err(ResendError::State(IllegalStep::AlreadyDelivered)), Activity::Active),
            (Err(ResendError::Missing), Activity::SiteGone),
        ];
        let lines = answers.map(|(answer, activity)| phrase(&row, &row.deliveries[0], answer, activity));
        insta::assert_snapshot!("resend_lines", lines.join("\n"));
    }

    #[test]
    fn only_what_somebody_configures_is_sent_again() {
        let all = [Activity::Active, Activity::SiteDisabled, Activity::SiteGone, Activity::Inactive];
        assert_eq!(all.map(may_be_sent), [true, true, false, false]);
    }
}
