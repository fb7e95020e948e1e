//! TLS with a mail server: version 1.2 or 1.3, the certificate must lead to an authority that is believed and be for
//! the configured host.
//!
//! Where `ca_file` names authorities, they alone are believed: who runs a private one wants no other to vouch for the
//! server. Else it is the system's root store, read at each attempt, so that an update of it needs no restart.

use std::sync::Arc;

use rustls::crypto::ring;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore};

use super::trouble::{Trouble, told};
use crate::config::{Authorities, Server};

/// A session with `server`, not yet begun.
pub(super) fn session(server: &Server) -> Result<ClientConnection, Trouble> {
    let failed = |error: &rustls::Error| Trouble::Tls(told(error));
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| failed(&error))?
        .with_root_certificates(roots(server.ca.as_ref())?)
        .with_no_client_auth();
    let name = ServerName::try_from(server.host.clone()).map_err(|_| Trouble::UnknownHost)?;
    ClientConnection::new(Arc::new(config), name).map_err(|error| failed(&error))
}

/// The certificates that are believed.
fn roots(own: Option<&Authorities>) -> Result<RootCertStore, Trouble> {
    let mut roots = RootCertStore::empty();
    match own {
        Some(own) => {
            roots.add_parsable_certificates(own.certificates.iter().map(|der| CertificateDer::from(der.clone())));
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() { Err(Trouble::NoRoots) } else { Ok(roots) }
}
