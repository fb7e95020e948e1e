//! Files in, [`Config`] out, or every mistake of every file at once.
//!
//! Each file is read to its end whatever it holds: where a value is wrong its default stands in, so that later rules
//! still have something to look at, and the run as a whole fails. One file a part: [`daemon`], [`limits`], [`mail`] and
//! [`alert`] read `formd.toml`; [`site`], [`texts`], [`destination`],
//! [`webhook`], [`form`], [`confirmation`], [`response`] and [`field`] a
//! site's file; [`secret`] and [`url`] know what secrets and addresses may be.

mod alert;
mod confirmation;
mod daemon;
mod destination;
mod field;
mod form;
mod limits;
mod mail;
mod response;
mod secret;
mod shared_path;
mod site;
mod texts;
mod url;
mod webhook;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::files::Files;
use super::problem::Problem;
use super::table::Sheet;
use super::{Addresses, Config, notices};
use crate::domain::bounds::Bounds;
use crate::domain::digest::RunningSum;
use secret::Secrets;

/// What every site's file is checked against.
struct Ground<'a> {
    /// The daemon's bounds.
    bounds: &'a Bounds,
    /// Where secrets are looked up.
    secrets: &'a Secrets<'a>,
    /// The address in `[mail] from`.
    operator: Option<String>,
    /// `[delivery] confirmations_per_hour`.
    confirmations: u32,
}

/// What a check came to.
#[derive(Debug)]
pub(super) struct Checked {
    /// The configuration; good for use only without problems.
    pub(super) config: Config,
    /// The mistakes in the order of files and lines.
    pub(super) problems: Vec<Problem>,
}

/// Checks all files. The hash is right even where there are problems.
pub(super) fn check(mut files: Files) -> Checked {
    let mut problems = std::mem::take(&mut files.problems);
    let secrets = Secrets::new(&files);
    let daemon = files.daemon.as_ref().map_or_else(daemon::defaults, |file| {
        let sheet = Sheet::parse(&file.name, &file.text);
        let daemon = daemon::check(&sheet, file, &files.base, &secrets);
        problems.extend(sheet.findings.finish());
        daemon
    });
    let ground = Ground {
        bounds: &daemon.bounds,
        secrets: &secrets,
        operator: daemon.mail.as_ref().map(|mail| mail.from_address.clone()),
        confirmations: daemon.delivery.confirmations_per_hour,
    };
    let mut paths = form::Paths::default();
    let mut sites = BTreeMap::new();
    for (id, file) in &files.sites {
        let sheet = Sheet::parse(&file.name, &file.text);
        let site = site::check(&sheet, id.clone(), file, &ground, &mut paths);
        problems.extend(sheet.findings.finish());
        sites.insert(id.clone(), Arc::new(site));
    }
    let mut sum = RunningSum::default();
    files.sum(&mut sum);
    secrets.sum(&mut sum);
    let hash = sum.finish().to_string();
    let notices = notices::of(&daemon, &sites);
    let addresses = Addresses::of(&sites);
    Checked { config: Config { source: files.source.clone(), daemon, sites, hash, notices, addresses }, problems }
}
