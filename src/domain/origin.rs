//! Web origins: scheme, host and port, as the `Origin` header carries them (RFC 6454).

use std::fmt;

/// Where a page came from. The host is in lower case; a default port is not written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// `http` or `https`.
    scheme: Scheme,
    /// Host in lower case, an IPv6 address in brackets.
    host: String,
    /// Port; the scheme's own when none was written.
    port: u16,
}

/// The two schemes a form can live under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scheme {
    /// Port 80.
    Http,
    /// Port 443.
    Https,
}

impl Scheme {
    /// The port that is not written.
    fn default_port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    /// As it stands before `://`.
    fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

impl Origin {
    /// Reads `scheme://host[:port]` with nothing behind it. `null` and anything else is no origin.
    pub fn parse(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => Scheme::Http,
            "https" => Scheme::Https,
            _ => return None,
        };
        let (host, port) = split_port(authority)?;
        let port = port.unwrap_or_else(|| scheme.default_port());
        Some(Self { scheme, host: host.to_ascii_lowercase(), port })
    }

    /// The origin of an absolute URL: its scheme, host and port; `None` with a user name in it.
    pub fn of_url(url: &str) -> Option<Self> {
        let start = url.find("://")? + 3;
        let end = url.get(start..)?.find(['/', '?', '#']).map_or(url.len(), |i| start + i);
        Self::parse(url.get(..end)?)
    }

    /// The host in lower case, an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.host
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.host)?;
        if self.port != self.scheme.default_port() {
            write!(f, ":{}", self.port)?;
        }
        Ok(())
    }
}

/// Splits `host[:port]`; `None` when either is not well formed.
fn split_port(authority: &str) -> Option<(&str, Option<u16>)> {
    let colon = match authority.strip_prefix('[') {
        Some(rest) => {
            let close = rest.find(']')? + 2;
            match authority.get(close..)? {
                "" => None,
                rest if rest.starts_with(':') => Some(close),
                _ => return None,
            }
        }
        None => authority.find(':'),
    };
    let (host, port) = match colon {
        Some(at) => (authority.get(..at)?, Some(authority.get(at + 1..)?)),
        None => (authority, None),
    };
    let fits = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'[' | b']' | b':');
    if host.is_empty() || host.len() > 253 || !host.bytes().all(fits) {
        return None;
    }
    match port {
        None => Some((host, None)),
        Some(port) if port.bytes().all(|b| b.is_ascii_digit()) => Some((host, Some(port.parse().ok()?))),
        Some(_) => None,
    }
}

/// One entry of a site's `origins`: an origin, or `https://*.acme.example` for every subdomain of a host
/// (the host itself not included).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginPattern {
    /// The origin; its host without the `*.`.
    origin: Origin,
    /// What else it stands for.
    breadth: Breadth,
}

/// What an [`OriginPattern`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Breadth {
    /// The host as written.
    Host,
    /// Any name below it.
    Subdomains,
}

impl OriginPattern {
    /// Reads an origin whose host may begin with `*.`.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once("://*.") {
            Some((scheme, rest)) => {
                Some(Self { origin: Origin::parse(&format!("{scheme}://{rest}"))?, breadth: Breadth::Subdomains })
            }
            None => Some(Self { origin: Origin::parse(text)?, breadth: Breadth::Host }),
        }
    }

    /// Whether `origin` is meant: scheme, host and port all match.
    pub fn matches(&self, origin: &Origin) -> bool {
        if origin.scheme != self.origin.scheme || origin.port != self.origin.port {
            return false;
        }
        match self.breadth {
            Breadth::Host => origin.host == self.origin.host,
            Breadth::Subdomains => {
                origin.host.strip_suffix(&self.origin.host).is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
        }
    }
}

/// As it is written in `origins`.
impl fmt::Display for OriginPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let origin = self.origin.to_string();
        match self.breadth {
            Breadth::Host => f.write_str(&origin),
            Breadth::Subdomains => f.write_str(&origin.replacen("://", "://*.", 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port_and_nothing_else() {
        let text = |t: &str| Origin::parse(t).map(|o| o.to_string());
        assert_eq!(text("https://Acme.Example:443").as_deref(), Some("https://acme.example"));
        assert_eq!(text("http://[::1]:8787").as_deref(), Some("http://[::1]:8787"));
        for bad in [
            "null",
            "",
            "acme.example",
            "https://",
            "https://a/b",
            "https://u@a",
            "ftp://a",
            "https://a:x",
            "https://a:99999",
        ] {
            assert_eq!(text(bad), None, "{bad}");
        }
        assert_eq!(
            Origin::of_url("https://a.example/x?y").map(|o| o.to_string()).as_deref(),
            Some("https://a.example")
        );
        assert_eq!(Origin::of_url("https://u:p@a.example/x"), None);
        assert_eq!(Origin::of_url("//a.example/x"), None);
    }

    #[test]
    fn a_star_stands_for_subdomains_only() {
        let matches = |p: &str, o: &str| OriginPattern::parse(p).unwrap().matches(&Origin::parse(o).unwrap());
        let text = |p: &str| OriginPattern::parse(p).map(|p| p.to_string());
        assert_eq!(text("https://*.Acme.example:8443").as_deref(), Some("https://*.acme.example:8443"));
        assert!(matches("https://*.acme.example", "https://www.acme.example"));
        assert!(matches("https://*.acme.example", "https://a.b.acme.example"));
        assert!(!matches("https://*.acme.example", "https://acme.example"));
        assert!(!matches("https://*.acme.example", "https://evilacme.example"));
        assert!(!matches("https://*.acme.example", "http://www.acme.example"));
        assert!(!matches("https://acme.example", "https://acme.example:8443"));
    }
}
