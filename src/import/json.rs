//! Submissions in JSON, read one at a time from a list of any length: the list itself, or the member `submissions` of
//! an object around it; several of either, one behind the other, as saved pages of an API are.
//!
//! A list that is broken ends the reading there: in JSON nothing tells where the next submission begins. What came
//! before it was given. Memory is bounded: a submission has [`Budgeted`] bytes at most.

use std::cell::Cell;
use std::fmt;
use std::io::Read;
use std::rc::Rc;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Deserializer, Map, Value as Json};

use super::ImportError;

/// The member of an object around a list.
const LIST: &str = "submissions";

/// Takes a submission and its number; an error ends the reading.
pub type Each<'a> = dyn FnMut(u64, Json) -> Result<(), ImportError> + 'a;

/// Gives every submission to `each`; a single one is at most `most` bytes long.
pub fn read(input: impl Read, most: u64, each: &mut Each<'_>) -> Result<(), ImportError> {
    let left = Rc::new(Cell::new(most));
    let mut reader = Deserializer::from_reader(Budgeted { input, left: Rc::clone(&left) });
    let mut walk = Walk { each, most, left, number: 0, begun: false, stopped: None };
    loop {
        walk.begun = false;
        let Err(error) = (Level { walk: &mut walk, depth: Depth::Top }).deserialize(&mut reader) else { continue };
        return match walk.stopped {
            Some(stopped) => Err(stopped),
            None if error.is_eof() && !walk.begun => Ok(()),
            None if walk.left.get() == 0 => Err(ImportError::TooLarge { number: walk.number + 1 }),
            None if error.is_io() => Err(ImportError::Read(error.into())),
            None => Err(ImportError::Broken { line: error.line(), column: error.column(), number: walk.number }),
        };
    }
}

/// Bytes that may be read until the next submission begins.
struct Budgeted<R> {
    /// The bytes.
    input: R,
    /// How many more.
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for Budgeted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let left = usize::try_from(self.left.get()).unwrap_or(usize::MAX);
        if left == 0 {
            return Err(std::io::Error::other("a submission of more bytes than are taken"));
        }
        let count = buffer.len().min(left);
        let count = self.input.read(buffer.get_mut(..count).unwrap_or_default())?;
        self.left.set(self.left.get() - u64::try_from(count).unwrap_or(0));
        Ok(count)
    }
}

/// What the levels share.
struct Walk<'a, 'e> {
    /// Takes submissions.
    each: &'a mut Each<'e>,
    /// The most bytes of one.
    most: u64,
    /// What is left of them.
    left: Rc<Cell<u64>>,
    /// Submissions given so far.
    number: u64,
    /// Whether a value has begun.
    begun: bool,
    /// Why `each` wanted no more.
    stopped: Option<ImportError>,
}

impl Walk<'_, '_> {
    /// Hands a submission over; the next one has its whole budget.
    fn give<E: Error>(&mut self, submission: Json) -> Result<(), E> {
        self.number += 1;
        let given = (self.each)(self.number, submission);
        self.left.set(self.most);
        given.map_err(|stopped| {
            self.stopped = Some(stopped);
            E::custom("stopped")
        })
    }
}

/// Where a value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Depth {
    /// Alone: a list, an object around one, or a submission.
    Top,
    /// The list.
    List,
}

/// One value that may hold submissions.
struct Level<'w, 'a, 'e> {
    /// What the levels share.
    walk: &'w mut Walk<'a, 'e>,
    /// Where it stands.
    depth: Depth,
}

impl<'de> DeserializeSeed<'de> for Level<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        reader.deserialize_any(self)
    }
}

/// One item of a list, whatever it is.
struct Item<'w, 'a, 'e>(&'w mut Walk<'a, 'e>);

impl<'de> DeserializeSeed<'de> for Item<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<(), D::Error> {
        let submission = serde::Deserialize::deserialize(reader)?;
        self.0.give(submission)
    }
}

impl<'de> Visitor<'de> for Level<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("submissions")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        self.walk.begun = true;
        while list.next_element_seed(Item(self.walk))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        self.walk.begun = true;
        let (mut others, mut is_around) = (Map::new(), false);
        while let Some(name) = members.next_key::<String>()? {
            if name == LIST && self.depth == Depth::Top {
                is_around = true;
                members.next_value_seed(Level { walk: self.walk, depth: Depth::List })?;
            } else {
                others.insert(name, members.next_value()?);
            }
        }
        if is_around { Ok(()) } else { self.walk.give(Json::Object(others)) }
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        self.no_list()
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.no_list()
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        self.no_list()
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        self.no_list()
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        self.no_list()
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.no_list()
    }
}

impl Level<'_, '_, '_> {
    /// A value where a list or an object belongs.
    fn no_list<E: Error>(self) -> Result<(), E> {
        self.walk.begun = true;
        self.walk.give(Json::Null)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(text: &str) -> (Vec<Json>, Result<(), ImportError>) {
        let mut all = Vec::new();
        let ended = read(text.as_bytes(), 60, &mut |number, submission| {
            all.push(submission);
            assert_eq!(number, all.len() as u64);
            Ok(())
        });
        (all, ended)
    }

    #[test]
    fn a_list_is_found_wherever_services_put_it() {
        for text in [
            r#"[{"a":1},{"a":2}]"#,
            r#"{"fields":["a"],"submissions":[{"a":1},{"a":2}]}"#,
            "{\"a\":1}\n{\"a\":2}\n",
            "[{\"a\":1}]\n[{\"a\":2}]",
            "  [{\"a\":1},\n{\"a\":2}]  ",
        ] {
            let (all, ended) = read_all(text);
            assert!(ended.is_ok(), "{text}: {ended:?}");
            assert_eq!(all, [serde_json::json!({"a": 1}), serde_json::json!({"a": 2})], "{text}");
        }
        assert_eq!(read_all("[]").0.len(), 0);
        assert_eq!(read_all("[7, \"x\", {\"a\":1}]").0.len(), 3, "what is no object is given, to be refused");
    }

    #[test]
    fn a_broken_list_ends_there_and_what_came_before_is_given() {
        for text in [r#"[{"a":1},{"a""#, r#"[{"a":1} {"a":2}]"#, r#"{"submissions":[{"a":1}"#, "[{\"a\":1},]"] {
            let (all, ended) = read_all(text);
            assert_eq!(all.len(), 1, "{text}");
            assert!(matches!(ended, Err(ImportError::Broken { number: 1, .. })), "{text}: {ended:?}");
        }
    }

    #[test]
    fn a_submission_without_end_is_refused_before_memory_is_gone() {
        let (all, ended) = read_all(&format!(r#"[{{"a":1}},{{"a":"{}"}}]"#, "x".repeat(100)));
        assert_eq!(all.len(), 1);
        assert!(matches!(ended, Err(ImportError::TooLarge { number: 2 })), "{ended:?}");
        let many = format!("[{}{{}}]", "{\"a\":1234567890},".repeat(100));
        assert_eq!(read_all(&many).0.len(), 101, "the budget is one submission's");
    }
}
