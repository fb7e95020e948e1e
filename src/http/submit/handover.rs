//! From the async side to intake, and the wait for its word.
//!
//! Between the end of the body and the hand-over nothing is awaited, unless 64 others are in flight; then the wait
//! runs in a task of its own. So a client that leaves cancels the answer and never the submission.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::{Course, Problem, ProblemKind};
use crate::clock::Clock;
use crate::domain::bounds::Bounds;
use crate::domain::receipt::Outcome;
use crate::http::route::internal;
use crate::intake::{self, Arrival, Refusal, Room};
use crate::store::Store;

/// How long a submission waits for a place among those in flight.
const QUEUE_TIME: Duration = Duration::from_secs(10);
/// How long an answer waits for the commit. Beyond, nobody knows yet whether it was kept: 503, the key settles it.
const COMMIT_TIME: Duration = Duration::from_secs(5);

/// What intake says.
type Word = Result<Outcome, Refusal>;
/// Where intake says it; an error when there was no place in flight.
type Reply = oneshot::Sender<Result<Word, Crowded>>;

/// Too many submissions were in flight for too long.
#[derive(Debug)]
struct Crowded;

/// What intake needs beside the arrival.
#[derive(Clone)]
struct Tools {
    /// What is kept.
    store: Store,
    /// The bounds.
    bounds: Arc<Bounds>,
    /// Time and chance.
    clock: Clock,
}

impl Course<'_> {
    /// Hands the arrival to intake and waits for its word.
    pub(super) async fn hand_over(&self, arrival: Arrival) -> Result<Word, Problem> {
        let tools = Tools {
            store: self.inner.store.clone(),
            bounds: Arc::clone(&self.bounds),
            clock: self.inner.clock.clone(),
        };
        let (reply, word) = oneshot::channel();
        let places = Arc::clone(&self.inner.in_flight);
        let patience = if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            start(tools, arrival, place, reply);
            COMMIT_TIME
        } else {
            tokio::spawn(async move {
                match timeout(QUEUE_TIME, places.acquire_owned()).await {
                    Ok(Ok(place)) => start(tools, arrival, place, reply),
                    Ok(Err(_)) | Err(_) => drop(reply.send(Err(Crowded))),
                }
            });
            QUEUE_TIME + COMMIT_TIME
        };
        match timeout(patience, word).await {
            Ok(Ok(Ok(word))) => Ok(word),
            Ok(Ok(Err(Crowded))) => {
                tracing::warn!("too many submissions are in flight");
                Err(self.refuse_whole(ProblemKind::Unavailable))
            }
            Ok(Err(_)) => Err(internal(self.inner, &self.visit.ask.texts, "a submission was dropped by intake")),
            Err(_) => {
                tracing::error!("a submission was not committed in time");
                Err(self.refuse_whole(ProblemKind::Unavailable))
            }
        }
    }
}

/// Judges in place, then goes on where intake says that it may: in place, or on a thread that may block. The place in
/// flight is given back with the word.
fn start(tools: Tools, arrival: Arrival, place: OwnedSemaphorePermit, reply: Reply) {
    let tell = move |word: Word| {
        drop(place);
        // A client that has left does not hear it.
        drop(reply.send(Ok(word)));
    };
    let judged = intake::judge(tools.store.key(), &tools.bounds, arrival);
    match judged.room() {
        Room::Inline => judged.accept(&tools.store, &tools.clock, tell),
        Room::Blocking => drop(spawn_blocking(move || judged.accept(&tools.store, &tools.clock, tell))),
    }
}
