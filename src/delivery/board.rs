//! Who is being served: the seats that are taken and whose turn it is not. Pure bookkeeping under one lock.
//!
//! A claim asks for a seat; what gets none is given back uncounted and its site or destination skipped until
//! something changes, so a pass over the queue ends, and nothing waits on a thread.
//!
//! Three caps: 32 sends in all, `[delivery] workers` (8) for a site, 2 for a destination. Within a site the turn goes
//! to a destination that has no send under way, and of those to the one whose last send ended longest ago: of ten that
//! hang, those that have just hung stand behind one that is well. So that one waits until some places of its site are
//! free, one attempt, as long as fewer than twice the site's places hang at once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::mail::Weight;
use crate::config::Config;
use crate::store::{Served, Turn};

/// Sends at once for all sites together (contract 10.4). For one site it is `[delivery] workers`.
pub const IN_ALL: usize = 32;
/// Sends at once for one destination.
const PER_DESTINATION: usize = 2;

/// The board that all threads of a deliverer share. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Board(Arc<Mutex<Places>>);

/// What stands on it.
#[derive(Debug, Default)]
pub struct Places {
    /// One entry a send under way.
    seated: Vec<Place>,
    /// Destinations whose next mail has files and must wait for the one that is being sent.
    parked: BTreeSet<(String, String)>,
    /// The configuration in force, which says how many sends a site may have.
    config: Option<Arc<Config>>,
    /// The site served last.
    last_site: Option<String>,
    /// When a send of each destination ended last; begun anew with each configuration, which bounds it.
    served: Arc<Served>,
}

/// One send under way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    /// Its site.
    site: String,
    /// Its destination.
    destination: String,
    /// What it costs in memory.
    weight: Weight,
}

/// A place on the board; dropping it frees the place, also when a thread panics.
#[derive(Debug)]
pub struct Seat {
    /// The board.
    board: Board,
    /// The entry.
    place: Place,
}

/// Whether something was not known before: when it was, the store handed out what it was asked to skip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum News {
    /// It is new.
    New,
    /// It stood there already.
    Known,
}

impl Board {
    /// The board, locked. A thread that panicked under the lock left it whole: every change is one statement.
    pub fn lock(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place; call it with what [`Places::has_room`] allowed.
    pub fn seat(&self, places: &mut Places, site: &str, destination: &str, weight: Weight) -> Seat {
        let place = Place { site: site.to_owned(), destination: destination.to_owned(), weight };
        places.seated.push(place.clone());
        places.last_site = Some(site.to_owned());
        Seat { board: self.clone(), place }
    }
}

impl Places {
    /// Sends under way.
    pub fn taken(&self) -> usize {
        self.seated.len()
    }

    /// Forgets what was found out under another configuration.
    pub fn renew(&mut self, config: &Arc<Config>) {
        if !self.config.as_ref().is_some_and(|known| Arc::ptr_eq(known, config)) {
            self.served = Arc::default();
            self.config = Some(Arc::clone(config));
        }
    }

    /// Sends at once for one site.
    fn per_site(&self) -> usize {
        let workers = self.config.as_ref().map_or(1, |config| config.daemon.delivery.workers);
        usize::try_from(workers).unwrap_or(IN_ALL)
    }

    /// Whom a claim must skip, and where it begins; `disabled` are the sites that the configuration disables.
    pub fn turn(&self, disabled: impl IntoIterator<Item = String>) -> Turn {
        let mut sites: BTreeSet<String> = disabled.into_iter().collect();
        let mut destinations = self.parked.clone();
        for place in &self.seated {
            if self.count(|other| other.site == place.site) >= self.per_site() {
                sites.insert(place.site.clone());
            }
            if self.count(|other| other.site == place.site && other.destination == place.destination) >= PER_DESTINATION
            {
                destinations.insert((place.site.clone(), place.destination.clone()));
            }
        }
        Turn {
            skip_sites: sites.into_iter().collect(),
            skip_destinations: destinations.into_iter().collect(),
            after_site: self.last_site.clone(),
            seated: self.seated.iter().map(|place| (place.site.clone(), place.destination.clone())).collect(),
            served: Arc::clone(&self.served),
        }
    }

    /// Whether a message of this weight may be sent now.
    pub fn has_room(&self, weight: Weight) -> bool {
        weight == Weight::Light || self.count(|place| place.weight == Weight::Heavy) == 0
    }

    /// Lets a destination wait for the mail with files that is being sent.
    pub fn park(&mut self, site: &str, destination: &str) -> News {
        let key = (site.to_owned(), destination.to_owned());
        self.last_site = Some(site.to_owned());
        if self.parked.insert(key) { News::New } else { News::Known }
    }

    /// How many places are such.
    fn count(&self, such: impl Fn(&Place) -> bool) -> usize {
        self.seated.iter().filter(|place| such(place)).count()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut places = self.board.lock();
        if let Some(at) = places.seated.iter().position(|place| *place == self.place) {
            places.seated.swap_remove(at);
        }
        Arc::make_mut(&mut places.served).note(&self.place.site, &self.place.destination);
        if self.place.weight == Weight::Heavy {
            places.parked.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A board under a configuration with the usual places.
    fn board() -> Board {
        let board = Board::default();
        board.lock().renew(&Arc::new(Config::load(None).unwrap()));
        board
    }

    /// Takes a light place.
    fn sit(board: &Board, site: &str, destination: &str) -> Seat {
        board.seat(&mut board.lock(), site, destination, Weight::Light)
    }

    /// The turn without disabled sites.
    fn turn(board: &Board) -> Turn {
        board.lock().turn([])
    }

    #[test]
    fn a_destination_has_two_sends_at_once_and_a_site_eight() {
        let board = board();
        let mut seats = vec![sit(&board, "a", "x")];
        assert!(turn(&board).skip_destinations.is_empty());
        seats.push(sit(&board, "a", "x"));
        assert_eq!(turn(&board).skip_destinations, [("a".to_owned(), "x".to_owned())]);
        for destination in ["p", "p", "q", "q", "r", "r"] {
            assert!(turn(&board).skip_sites.is_empty());
            seats.push(sit(&board, "a", destination));
        }
        assert_eq!(turn(&board).skip_sites, ["a"]);
        drop(seats);
        let turn = turn(&board);
        assert!(turn.skip_sites.is_empty() && turn.skip_destinations.is_empty());
        assert_eq!(turn.after_site.as_deref(), Some("a"));
    }

    #[test]
    fn the_places_of_a_site_are_what_workers_says() {
        let board = Board::default();
        let mut config = Config::load(None).unwrap();
        config.daemon.delivery.workers = 2;
        board.lock().renew(&Arc::new(config));
        let _seats = ["x", "y"].map(|destination| sit(&board, "a", destination));
        let _other = sit(&board, "b", "x");
        assert_eq!(turn(&board).skip_sites, ["a"]);
    }

    #[test]
    fn what_has_just_hung_stands_behind_what_is_well() {
        let board = board();
        let rank = |destination: &str| turn(&board).served.rank("a", destination);
        let (hangs, well) = (sit(&board, "a", "hangs"), sit(&board, "a", "well"));
        assert_eq!(turn(&board).seated, [("a".to_owned(), "hangs".to_owned()), ("a".to_owned(), "well".to_owned())]);
        drop(well);
        drop(hangs);
        assert!(turn(&board).seated.is_empty());
        assert!(rank("never") < rank("well") && rank("well") < rank("hangs"));
    }

    #[test]
    fn mails_with_files_go_one_at_a_time_and_the_next_one_holds_no_place() {
        let board = board();
        let heavy = board.seat(&mut board.lock(), "a", "x", Weight::Heavy);
        assert!(!board.lock().has_room(Weight::Heavy) && board.lock().has_room(Weight::Light));
        assert_eq!(board.lock().park("b", "y"), News::New);
        assert_eq!(board.lock().park("b", "y"), News::Known);
        assert_eq!(turn(&board).skip_destinations, [("b".to_owned(), "y".to_owned())]);
        assert_eq!(board.lock().taken(), 1);
        drop(heavy);
        assert!(board.lock().has_room(Weight::Heavy));
        assert!(turn(&board).skip_destinations.is_empty());
    }

    #[test]
    fn a_thread_that_panics_frees_its_place() {
        let board = board();
        let seat = sit(&board, "a", "x");
        let ended = std::thread::spawn(move || {
            let _seat = seat;
            panic!("boom");
        });
        assert!(ended.join().is_err());
        assert_eq!(board.lock().taken(), 0);
    }

    #[test]
    fn disabled_sites_are_skipped() {
        assert_eq!(board().lock().turn(["off".to_owned()]).skip_sites, ["off"]);
    }
}
