//! How mail leaves: what `[mail]` says, once it has been checked.

use std::path::PathBuf;

use crate::domain::secret::Secret;

/// `[mail]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mail {
    /// The display name of `from`; empty when none was given.
    pub from_name: String,
    /// The address of `from`.
    pub from_address: String,
    /// The way out.
    pub transport: Transport,
}

/// How mail leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// To a mail server.
    Smtp(Server),
    /// `mail/<delivery>.eml` in the data directory.
    File,
}

/// The mail server that takes every mail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    /// Host name or address, an IPv6 one without brackets; with TLS its certificate must be for this name.
    pub host: String,
    /// Port.
    pub port: u16,
    /// How the connection is protected.
    pub security: Security,
    /// Whose certificates are believed; `None`: the system's root store.
    pub ca: Option<Authorities>,
    /// Who we are there; `None`: the server takes our mail without asking.
    pub login: Option<Login>,
}

/// How a connection is protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// TLS after STARTTLS, which the server must offer.
    StartTls,
    /// TLS from the first byte.
    Tls,
    /// None: to this machine only.
    None,
}

impl Security {
    /// The word of `tls`.
    pub fn word(self) -> &'static str {
        match self {
            Self::StartTls => "starttls",
            Self::Tls => "tls",
            Self::None => "none",
        }
    }

    /// The port where servers wait for this.
    pub fn usual_port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

/// The certificates of `ca_file`; where they are given, no others are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorities {
    /// Where they came from.
    pub file: PathBuf,
    /// Each as DER; at least one can be a trust anchor.
    pub certificates: Vec<Vec<u8>>,
}

/// A login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub username: String,
    /// The password.
    pub password: Secret,
}
