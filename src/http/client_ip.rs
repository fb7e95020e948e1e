//! Whose request it is: the peer's, unless the peer is a trusted proxy; then the one the proxy names.
//!
//! A header from anybody else is not looked at. A proxy that names nobody, or whose header is no address, leaves its
//! own address: all its visitors are limited together then, which the operator notices; believing the visitor would
//! let anyone pass the limit, and nobody would notice.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use hyper::HeaderMap;

use super::listener::Peer;

/// Whose request it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Client(Peer);

impl Client {
    /// The client behind `peer`. The Unix socket is a trusted proxy by itself.
    pub(super) fn behind(peer: Peer, headers: &HeaderMap, is_trusted: impl Fn(&IpAddr) -> bool) -> Self {
        match peer {
            Peer::Ip(address) if !is_trusted(&address) => Self(peer),
            Peer::Ip(_) | Peer::Local => {
                let named = real_ip(headers).or_else(|| forwarded_for(headers, is_trusted));
                Self(named.map_or(peer, Peer::Ip))
            }
        }
    }

    /// Its key in the limiter: an IPv6 client is its /64, since it may use any address of it.
    pub(super) fn limiter_key(self, site: &str) -> String {
        match self.0 {
            Peer::Ip(IpAddr::V6(address)) => {
                let network = Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX));
                format!("{site}/ip:{network}/64")
            }
            Peer::Ip(IpAddr::V4(address)) => format!("{site}/ip:{address}"),
            Peer::Local => format!("{site}/ip:unix"),
        }
    }
}

/// The whole address, to be hashed at once.
impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Peer::Ip(address) => write!(f, "{address}"),
            Peer::Local => f.write_str("unix"),
        }
    }
}

/// `X-Real-IP`; of several the last, which the nearest proxy wrote.
fn real_ip(headers: &HeaderMap) -> Option<IpAddr> {
    headers.get_all("x-real-ip").iter().next_back().and_then(|value| address(value.to_str().ok()?))
}

/// The rightmost address of `X-Forwarded-For` that is no trusted proxy. What stands left of it, or left of
/// something that is no address, anybody may have written.
fn forwarded_for(headers: &HeaderMap, is_trusted: impl Fn(&IpAddr) -> bool) -> Option<IpAddr> {
    for line in headers.get_all("x-forwarded-for").iter().rev() {
        for word in line.to_str().ok()?.rsplit(',') {
            let address = address(word)?;
            if !is_trusted(&address) {
                return Some(address);
            }
        }
    }
    None
}

/// An address, bare, in brackets or with a port; an IPv4 address in IPv6 clothes is itself.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse::<IpAddr>().or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip())).ok()?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The client as the limiter sees it.
    fn client(peer: &str, headers: &[(&'static str, &str)]) -> String {
        let peer = if peer == "unix" { Peer::Local } else { Peer::Ip(peer.parse().unwrap()) };
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.append(*name, value.parse().unwrap());
        }
        let is_trusted = |address: &IpAddr| address.is_loopback() || address.to_string().starts_with("10.");
        Client::behind(peer, &map, is_trusted).limiter_key("acme").replace("acme/ip:", "")
    }

    #[test]
    fn only_a_trusted_proxy_names_the_client() {
        let real = |ip| ("x-real-ip", ip);
        let chain = |ips| ("x-forwarded-for", ips);
        for (peer, headers, expected) in [
            ("203.0.113.7", vec![], "203.0.113.7"),
            ("203.0.113.7", vec![real("198.51.100.1"), chain("198.51.100.2")], "203.0.113.7"),
            ("127.0.0.1", vec![], "127.0.0.1"),
            ("127.0.0.1", vec![real("198.51.100.1")], "198.51.100.1"),
            ("127.0.0.1", vec![real("198.51.100.1"), chain("198.51.100.2")], "198.51.100.1"),
            ("127.0.0.1", vec![real("1.1.1.1"), real("198.51.100.1")], "198.51.100.1"),
            ("127.0.0.1", vec![chain("1.1.1.1, 198.51.100.2")], "198.51.100.2"),
            ("127.0.0.1", vec![chain("1.1.1.1, 198.51.100.2, 10.0.0.3")], "198.51.100.2"),
            ("127.0.0.1", vec![chain("1.1.1.1"), chain("198.51.100.2:4711,10.0.0.3")], "198.51.100.2"),
            ("127.0.0.1", vec![chain("1.1.1.1, unknown, 10.0.0.3")], "127.0.0.1"),
            ("127.0.0.1", vec![chain("10.0.0.1, 10.0.0.3")], "127.0.0.1"),
            ("127.0.0.1", vec![real("nonsense"), chain("198.51.100.2")], "198.51.100.2"),
            ("::1", vec![real("2001:db8:1:2:3:4:5:6")], "2001:db8:1:2::/64"),
            ("::1", vec![real("[2001:db8:1:2::9]")], "2001:db8:1:2::/64"),
            ("::1", vec![real("::ffff:198.51.100.1")], "198.51.100.1"),
            ("unix", vec![], "unix"),
            ("unix", vec![real("198.51.100.1")], "198.51.100.1"),
        ] {
            assert_eq!(client(peer, &headers), expected, "{peer} {headers:?}");
        }
    }

    #[test]
    fn the_whole_address_tells_clients_of_one_network_apart() {
        let client = Client(Peer::Ip("2001:db8::9".parse().unwrap()));
        assert_eq!(client.to_string(), "2001:db8::9");
    }
}
