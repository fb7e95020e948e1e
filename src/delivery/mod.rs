//! What is sent, and how. At least once: see the essay to be written here.

mod mail;
mod webhook;
mod worker;

pub use worker::{Deliverer, Handle, Step};
