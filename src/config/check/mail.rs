//! `[mail]`: who writes, and the way out.
//!
//! Guarantees: a login has both its halves and never leaves this machine without TLS, mail without TLS goes to a
//! loopback host only, the host is one that a certificate can be for, `ca_file` holds at least one certificate. With
//! `transport = "file"` the keys of a server may stay unread, since an owner tries things out; only a password that
//! others could read is a mistake there too. Whether a server answers is not asked: it may come and go.

use std::path::Path;

use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};

use super::super::files::{self, TextFile};
use super::super::mail::{Authorities, Login, Mail, Security, Server, Transport};
use super::super::problem::quoted;
use super::super::table::Table;
use super::super::value::Value;
use super::secret::{Given, Secrets};
use super::url;
use crate::domain::email;
use crate::domain::secret::Secret;

/// The longest password in characters.
const PASSWORD: usize = 1000;

/// How `[mail]` says that mail leaves.
#[derive(Clone, Copy)]
enum Way {
    /// `transport = "smtp"`.
    Smtp,
    /// `transport = "file"`.
    File,
}

/// Reads `[mail]` of `file`.
pub(super) fn check(mut table: Table<'_>, file: &TextFile, base: &Path, secrets: &Secrets<'_>) -> Option<Mail> {
    let from = table
        .need("from", "name the operator's own address: `from = \"Forms <forms@example.com>\"`")
        .and_then(|value| value.parsed("write `ADDRESS` or `NAME <ADDRESS>`", mailbox));
    let way = table.take("transport").map_or(Some(Way::Smtp), |value| {
        value.parsed("write `smtp`, or `file` to have mails written into the data directory", |word| match word {
            "smtp" => Some(Way::Smtp),
            "file" => Some(Way::File),
            _ => None,
        })
    });
    let transport = match way {
        Some(Way::Smtp) => server(&mut table, file, base, secrets).map(Transport::Smtp),
        Some(Way::File) | None => {
            unread(&mut table, file);
            way.map(|_| Transport::File)
        }
    };
    table.finish();
    let (from_name, from_address) = from?;
    Some(Mail { from_name, from_address, transport: transport? })
}

/// Passes over the keys of a server.
fn unread(table: &mut Table<'_>, file: &TextFile) {
    for key in ["host", "port", "tls", "ca_file", "username", "password_file"] {
        table.take(key);
    }
    if let Some(password) = table.take("password") {
        file.keeps_secret(&password);
    }
}

/// The server of `[mail]`.
fn server(table: &mut Table<'_>, file: &TextFile, base: &Path, secrets: &Secrets<'_>) -> Option<Server> {
    let (host, port, tls) = (table.take("host"), table.take("port"), table.take("tls"));
    let security = tls.map_or(Some(Security::StartTls), |value| {
        value.parsed("write `starttls`, `tls` (from the first byte), or `none` for a loopback host", |word| {
            [Security::StartTls, Security::Tls, Security::None].into_iter().find(|security| security.word() == word)
        })
    });
    let port = match port {
        None => security.map(Security::usual_port),
        Some(port) => port.whole(1..=65535).and_then(|port| u16::try_from(port).ok()),
    };
    let ca_file = table.take("ca_file");
    if let (Some(Security::None), Some(ca_file)) = (security, &ca_file) {
        ca_file.misplaced("`ca_file` says nothing where mail leaves without TLS", "remove it, or remove `tls`");
    }
    let ca = ca_file.and_then(|value| authorities(&value, base, secrets));
    let login = login(table, file, secrets);
    let Some(host) = host else {
        table.missing("host", "name the mail server: `host = \"mail.example.com\"`");
        return None;
    };
    let name = host.line()?;
    let unbracketed = name.trim_start_matches('[').trim_end_matches(']');
    if ServerName::try_from(unbracketed).is_err() {
        host.wrong(
            format!("{} is no host name", quoted(name)),
            "write the name or address alone, in ASCII; the port stands in `port`",
        );
    } else if security == Some(Security::None) && !url::is_loopback(name) {
        host.wrong(
            "mail without TLS goes to a loopback host only",
            "remove `tls` for STARTTLS, or write `tls = \"tls\"` where the server speaks TLS from the first byte",
        );
    }
    Some(Server { host: unbracketed.to_owned(), port: port?, security: security?, ca, login })
}

/// The login, if there is one: a name and a password.
fn login(table: &mut Table<'_>, file: &TextFile, secrets: &Secrets<'_>) -> Option<Login> {
    let username = table.take("username");
    let password = secrets.given(table, file, "password", "password_file");
    match (username, password) {
        (None, Given::Nothing) | (_, Given::Wrong) => None,
        (Some(username), Given::Nothing) => {
            username.misplaced("`username` stands without a password", "add `password_file = \"NAME\"`, or remove it");
            None
        }
        (None, Given::Text(password, _)) => {
            password.misplaced(
                format!("{} stands without `username`", quoted(password.key)),
                "add `username = \"NAME\"`, or remove it",
            );
            None
        }
        (Some(username), Given::Text(value, password)) => {
            let fits = !password.is_empty() && password.chars().count() <= PASSWORD;
            if !fits || password.chars().any(char::is_control) {
                value.wrong(
                    "the password is empty, too long, or not one line",
                    "write the password as one line without control characters",
                );
                return None;
            }
            Some(Login { username: username.line()?.to_owned(), password: Secret::new(password) })
        }
    }
}

/// The certificates of the file that `value` names, relative to `base`.
fn authorities(value: &Value<'_>, base: &Path, secrets: &Secrets<'_>) -> Option<Authorities> {
    let name = value.line()?;
    let path = base.join(name);
    let shown = quoted(&path.to_string_lossy());
    let bytes = match files::read_regular(&path, files::LARGEST) {
        Ok((bytes, _)) => bytes,
        Err(error) => {
            value.wrong(
                format!("the file of certificates {shown} cannot be read: {}", files::reason(&error)),
                "name a PEM file that formd may read, relative to formd.toml",
            );
            return None;
        }
    };
    secrets.count(format!("ca_file {name}"), &bytes);
    let found: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(&bytes).filter_map(Result::ok).collect();
    let (usable, _) = RootCertStore::empty().add_parsable_certificates(found.iter().cloned());
    if usable == 0 {
        value.wrong(
            format!("the file {shown} holds no certificate"),
            "name the PEM file of the authority: lines between `-----BEGIN CERTIFICATE-----` and `-----END CERTIFICATE-----`",
        );
        return None;
    }
    Some(Authorities { file: path, certificates: found.into_iter().map(|one| one.to_vec()).collect() })
}

/// Reads `ADDRESS` or `NAME <ADDRESS>` into name and address.
fn mailbox(text: &str) -> Option<(String, String)> {
    let (name, address) = match text.trim().strip_suffix('>') {
        Some(text) => text.split_once('<')?,
        None => ("", text.trim()),
    };
    let name = name.trim();
    let name = name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).unwrap_or(name);
    let fits = !name.chars().any(|c| c.is_control() || matches!(c, '"' | '<' | '>')) && email::is_mailbox(address);
    fits.then(|| (name.to_owned(), address.to_owned()))
}
