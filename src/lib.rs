//! formd: a self-hosted form backend for people with a small VPS.
//!
//! A visitor sends a form with a file; [`http`] reads it within bounds, [`intake`] judges it and makes it durable
//! through [`store`], and the visitor has an answer; [`delivery`] carries it on by mail and webhook from the rows that
//! were written in the same transaction; [`ctl`] is how the owner works; the [`sweep`] erases what expired.
//!
//! Layers, arrows go down only (`tests/tidy.rs` holds it):
//!
//! ```text
//! 4  http  ctl                                             how it is reached
//! 3  intake  delivery  outbound  pages  sweep  status  import  export  what is done
//! 2  store                                                 what is kept
//! 1  config                                                what is declared
//! 0  domain                                                what is true
//! ```
//!
//! Start reading at [`intake`], then [`store`], then [`domain::delivery`]. `ARCHITECTURE.md` has the whole house.

mod clock;
mod config;
mod ctl;
mod daemon;
mod delivery;
mod demo;
mod domain;
mod export;
mod http;
mod import;
mod intake;
mod log;
mod outbound;
mod pages;
mod status;
mod store;
mod sweep;

#[doc(hidden)]
pub mod harness;

pub use ctl::main as formctl_main;
pub use daemon::{Demo, Ended, Options, main as formd_main};
