//! What is true: the words of formd and their rules. No I/O, no clock, no randomness, no async; time and chance
//! come in as values.
//!
//! # Glossary
//!
//! One word a thing, the same in Rust, SQL, TOML, on the command line and in the manual.
//!
//! | word | meaning |
//! | --- | --- |
//! | site | one web site with its own settings |
//! | form | a declared set of fields of a site |
//! | draft | what arrived, before anyone judged it |
//! | submission | what a visitor sent once and validation accepted: values and attachments |
//! | receipt | the durable record that a submission was accepted; outlives its values |
//! | contents | the values of a submission as they are kept |
//! | attachment | a file of a submission |
//! | destination | where the operator wants a submission delivered |
//! | target | the way to a destination, fixed at acceptance |
//! | delivery | one submission on its way to one destination |
//! | attempt | one try of a delivery |
//! | claim | the right to make one attempt |
//! | submission key | the random string a browser keeps across clicks of one form filling |
//! | sweep | the periodic work that erases what expired and clears what was left behind |
//!
//! # Invariants
//!
//! * A value of a type in [`ids`] is well formed; only `parse` and `from_*` build one.
//! * Only [`validate::validate`] makes a [`submission::Submission`].
//! * Only [`delivery::next`] moves a delivery's state.

pub mod backoff;
pub mod bounds;
pub mod charset;
pub mod chat_url;
pub mod confirmation;
pub mod control;
pub mod delivery;
pub mod digest;
pub mod disposition;
pub mod draft;
pub mod email;
pub mod filekind;
pub mod filename;
pub mod fingerprint;
pub mod form;
pub mod ids;
pub mod json_body;
pub mod origin;
pub mod pattern;
pub mod quantity;
pub mod quota;
pub mod receipt;
pub mod response;
pub mod secret;
pub mod shared_path;
pub mod signature;
pub mod signing;
pub mod steady;
pub mod submission;
pub mod target;
pub mod template;
pub mod text;
pub mod time;
pub mod validate;
pub mod visible;
