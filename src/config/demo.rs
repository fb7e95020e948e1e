//! The embedded default (contract 2.2): what `formd` runs when there is no configuration at all. It is read by the same
//! checker as any file, so it is an example as well.

/// The daemon's file as messages call it.
pub(super) const DAEMON_NAME: &str = "(embedded formd.toml)";
/// The site's file as messages call it.
pub(super) const SITE_NAME: &str = "(embedded sites/demo.toml)";
/// The site's id.
pub(super) const SITE_ID: &str = "demo";

/// `formd.toml`.
pub(super) const DAEMON: &str = r#"listen   = "127.0.0.1:8787"
data_dir = "./formd-data"

[mail]
from      = "formd <formd@localhost>"
transport = "file"                   # mail/DELIVERY.eml in the data directory
"#;

/// `sites/demo.toml`.
pub(super) const SITE: &str = r#"rate = ["10/10m", "300/d"]

[[destination]]
id    = "owner"
email = "owner@localhost"

[form.quote]
title = "Ask for a quote"

[[form.quote.field]]
name       = "name"
label      = "Name"
kind       = "text"
required   = true
max_length = 200

[[form.quote.field]]
name     = "email"
label    = "E-mail"
kind     = "email"
required = true

[[form.quote.field]]
name  = "message"
label = "Message"
kind  = "textarea"

[[form.quote.field]]
name  = "file"
label = "Specification (PDF)"
kind  = "file"
types = [".pdf"]
"#;

#[cfg(test)]
mod tests {
    use super::super::{Activity, Config, Transport};
    use crate::domain::delivery::Channel;

    #[test]
    fn without_any_file_there_is_a_form_that_works() {
        let config = Config::load(None).unwrap();
        let (site, form) = config.form_at("/f/demo/quote").unwrap();
        assert_eq!((site.id.as_str(), form.id.as_str()), ("demo", "quote"));
        let names: Vec<_> = form.fields.iter().map(|f| (f.name.as_str(), f.kind.name())).collect();
        assert_eq!(names, [("name", "text"), ("email", "email"), ("message", "textarea"), ("file", "file")]);
        assert_eq!(config.daemon.mail.as_ref().unwrap().transport, Transport::File);
        assert_eq!(config.daemon.data_dir.to_str(), Some("./formd-data"));
        assert_eq!(config.activity("demo", "quote", Channel::Email, "owner"), Activity::Active);
        assert!(config.notices.is_empty() && config.untold_forms().is_empty());
    }
}
