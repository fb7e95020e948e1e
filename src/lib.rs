//! formd: a self-hosted form backend.

mod clock;
mod config;
mod ctl;
mod daemon;
mod delivery;
mod domain;
mod http;
mod intake;
mod log;
mod outbound;
mod pages;
mod store;
