//! Which addresses a call may reach.
//!
//! A form's owner writes the URL, the daemon dials it from inside the operator's network: without this list a
//! tenant could make it knock at the database, the router or a cloud's metadata service (SSRF). The list is
//! IANA's special-purpose registries (RFC 6890 and successors). For IPv4 it names what is refused; for IPv6 it
//! names what is global, `2000::/3`, and the holes in that, so that a range assigned tomorrow is refused today.
//!
//! An address that wraps another one (`::ffff:10.0.0.1`, 6to4, NAT64, Teredo) is refused as a whole: what it
//! leads to is decided elsewhere.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// Which addresses one call may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Addresses of the public internet only.
    Public,
    /// This machine only: an `http` URL, whose content must not leave the machine unencrypted.
    Loopback,
    /// Any address: the operator allowed private ones.
    Any,
}

/// Shortens the table below.
const fn v4(a: u8, b: u8, c: u8, prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::new(a, b, c, 0), prefix)
}

/// Shortens the table below.
const fn v6(a: u16, b: u16, prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::new(a, b, 0, 0, 0, 0, 0, 0), prefix)
}

/// IPv4 that is not the public internet.
const SPECIAL_V4: [Ipv4Net; 15] = [
    v4(0, 0, 0, 8),       // this network, unspecified
    v4(10, 0, 0, 8),      // private
    v4(100, 64, 0, 10),   // carrier-grade NAT
    v4(127, 0, 0, 8),     // loopback
    v4(169, 254, 0, 16),  // link-local, metadata services
    v4(172, 16, 0, 12),   // private
    v4(192, 0, 0, 24),    // protocol assignments
    v4(192, 0, 2, 24),    // documentation
    v4(192, 88, 99, 24),  // 6to4 relays
    v4(192, 168, 0, 16),  // private
    v4(198, 18, 0, 15),   // benchmarks
    v4(198, 51, 100, 24), // documentation
    v4(203, 0, 113, 24),  // documentation
    v4(224, 0, 0, 4),     // multicast
    v4(240, 0, 0, 4),     // reserved, broadcast
];

/// All that IPv6 calls global unicast.
const GLOBAL_V6: Ipv6Net = v6(0x2000, 0, 3);

/// IPv6 inside global unicast that is not the public internet.
const SPECIAL_V6: [Ipv6Net; 4] = [
    v6(0x2001, 0, 23),     // protocol assignments, Teredo among them
    v6(0x2001, 0xdb8, 32), // documentation
    v6(0x2002, 0, 16),     // 6to4: wraps any IPv4 address
    v6(0x3fff, 0, 20),     // documentation
];

impl Reach {
    /// Whether `address` may be dialled.
    pub fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Any => true,
            Self::Loopback => address.to_canonical().is_loopback(),
            Self::Public => match address {
                IpAddr::V4(v4) => !SPECIAL_V4.iter().any(|net| net.contains(&v4)),
                IpAddr::V6(v6) => GLOBAL_V6.contains(&v6) && !SPECIAL_V6.iter().any(|net| net.contains(&v6)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Addresses at the inner edges of the public internet.
    const PUBLIC: &str = "1.1.1.1 9.255.255.255 100.63.255.255 100.128.0.1 172.15.255.255 172.32.0.1 192.0.1.1 198.20.0.1 \
        223.255.255.255 2001:200::1 2001:4860:4860::8888 2003::1 2606:4700::1111 2a00:1450:4001::200e";
    /// Addresses of every special range.
    const SPECIAL: &str = "0.0.0.0 0.1.2.3 10.0.0.5 100.64.0.1 100.127.255.255 127.0.0.1 127.255.0.1 169.254.169.254 \
        172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.7 \
        203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 \
        :: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 64:ff9b:1::1 100::1 2001::1 \
        2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1 2002:7f00:1:: 3fff::1 4000::1 5f00::1 fc00::1 fd12:3456::1 \
        fe80::1 fec0::1 ff02::1";

    #[test]
    fn the_public_internet_is_all_that_a_webhook_reaches() {
        for good in PUBLIC.split_whitespace() {
            assert!(Reach::Public.allows(good.parse().unwrap()), "{good}");
        }
        for bad in SPECIAL.split_whitespace() {
            assert!(!Reach::Public.allows(bad.parse().unwrap()), "{bad}");
        }
    }

    #[test]
    fn plain_http_stays_on_this_machine() {
        for good in ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"] {
            assert!(Reach::Loopback.allows(good.parse().unwrap()), "{good}");
        }
        for bad in ["10.0.0.1", "1.1.1.1", "0.0.0.0", "::", "fe80::1", "::ffff:10.0.0.1"] {
            assert!(!Reach::Loopback.allows(bad.parse().unwrap()), "{bad}");
        }
    }
}
