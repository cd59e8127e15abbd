//! Which URLs the server may call for an account: those on the public Internet, and those that the operator allows.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::config;
use crate::serve::Network;

/// Decides which URLs the server may call: of webhooks, and of feeds that it fetches.
#[derive(Clone, Debug, Default)]
pub struct Guard {
    /// Whether plain HTTP is allowed.
    pub allow_http: bool,
    /// Whether addresses of private and special networks are allowed.
    pub allow_private: bool,
    /// Addresses that are allowed even if they are private or special.
    pub allowed: Vec<Network>,
}

/// Why a URL is refused, as a phrase that follows "the URL" in a text for the person who set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is not an HTTP URL.
    #[error("must be a URL that begins with https://, such as https://example.com/path")]
    NotWeb,
    /// It is not encrypted.
    #[error("must begin with https://; the operator of the server permits no other URLs")]
    NotEncrypted,
    /// It contains a user name or password.
    #[error("must not have a user name or password")]
    HasPassword,
    /// It is not on the public Internet.
    #[error("must have a host on the public Internet")]
    NotGlobal,
}

impl Guard {
    /// The guard that the operator configured.
    pub fn configured(settings: &config::Webhooks) -> Self {
        Self {
            allow_http: settings.allow_http,
            allow_private: settings.allow_private,
            allowed: settings.networks(),
        }
    }

    /// Reads and checks a URL, before its host name is resolved.
    pub fn parse(&self, text: &str) -> Result<Url, Refused> {
        let url = Url::parse(text).map_err(|_unreadable| Refused::NotWeb)?;
        self.check_url(&url)?;
        Ok(url)
    }

    /// Checks a URL before its host name is resolved.
    pub fn check_url(&self, url: &Url) -> Result<(), Refused> {
        match url.scheme() {
            "https" => {}
            "http" if self.allow_http => {}
            "http" => return Err(Refused::NotEncrypted),
            _ => return Err(Refused::NotWeb),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refused::HasPassword);
        }
        match url.host() {
            Some(Host::Ipv4(address)) => self.check(address.into()),
            Some(Host::Ipv6(address)) => self.check(address.into()),
            Some(Host::Domain(_)) => Ok(()),
            None => Err(Refused::NotWeb),
        }
    }

    /// Checks a resolved address.
    pub fn check(&self, address: IpAddr) -> Result<(), Refused> {
        let is_allowed = self.allow_private
            || is_global(address)
            || self.allowed.iter().any(|network| network.contains(address));
        if is_allowed { Ok(()) } else { Err(Refused::NotGlobal) }
    }
}

/// Whether an address lies on the public Internet, by the registries of special addresses (RFC 6890 and its
/// successors).
fn is_global(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_global_v4(address),
        IpAddr::V6(address) => is_global_v6(address),
    }
}

fn is_global_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let is_special = matches!(
        (a, b, c),
        // This network, private, loopback; multicast, reserved, broadcast.
        (0 | 10 | 127 | 224..=255, _, _)
            // Shared by carriers; link-local, with the metadata services of clouds; private.
            | (100, 64..=127, _) | (169, 254, _) | (172, 16..=31, _) | (192, 168, _)
            // Protocol assignments, documentation, relays of 6to4, AS112, AMT.
            | (192, 0, 0 | 2) | (192, 88, 99) | (192, 31, 196) | (192, 52, 193) | (192, 175, 48)
            // Benchmarks and documentation.
            | (198, 18 | 19, _) | (198, 51, 100) | (203, 0, 113)
    );
    !is_special
}

fn is_global_v6(address: Ipv6Addr) -> bool {
    // IPv4 addresses inside IPv6 (mapped, translated, tunnelled) are checked as IPv4.
    let low = |bits: u128| is_global_v4(Ipv4Addr::from_bits(u32::try_from(bits & 0xffff_ffff).unwrap_or(0)));
    let bits = address.to_bits();
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => low(bits),
        [0x2002, ..] => low(bits >> 80),
        // Protocol assignments with Teredo and ORCHID, documentation, AS112.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] | [0x2620, 0x4f, 0x8000, ..] => false,
        // Global unicast is the rest of 2000::/3; all other blocks are special or not allocated.
        [first, ..] => (0x2000..=0x3fff).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_internet_is_global() {
        let special = [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.0.170",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::7f00:1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "64:ff9b::127.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:4136::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "2002:c0a8:1::",
            "2620:4f:8000::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd12:3456::1",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "ff0e::1",
            "4000::1",
            "8000::1",
        ];
        for address in special {
            assert!(!is_global(address.parse().unwrap()), "{address} is special");
        }
        let global = [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.255.255",
            "100.128.0.1",
            "172.15.0.1",
            "172.32.0.1",
            "192.0.1.1",
            "198.17.0.1",
            "198.20.0.1",
            "223.255.255.254",
            "2606:4700::1",
            "2a00:1450::1",
            "2001:4860::1",
            "2001:200::1",
            "::ffff:8.8.8.8",
            "64:ff9b::808:808",
            "2002:808:808::1",
            "3ffe::1",
        ];
        for address in global {
            assert!(is_global(address.parse().unwrap()), "{address} is global");
        }
    }

    #[test]
    fn an_address_is_checked_however_it_is_written() {
        let guard = Guard::default();
        let check = |url: &str| guard.check_url(&Url::parse(url).unwrap());
        assert_eq!(check("https://example.com/hook?a=b"), Ok(()));
        assert_eq!(check("https://8.8.8.8:8443/"), Ok(()));
        for url in [
            "https://127.0.0.1/",
            "https://127.1/",
            "https://2130706433/",
            "https://0x7f.0.0.1/",
            "https://0177.0.0.1/",
            "https://[::1]/",
            "https://[::ffff:7f00:1]/",
            "https://[64:ff9b::7f00:1]/",
            "https://169.254.169.254/latest/meta-data",
            "https://0/",
        ] {
            assert_eq!(check(url), Err(Refused::NotGlobal), "{url}");
        }
        assert_eq!(check("http://example.com/"), Err(Refused::NotEncrypted));
        assert_eq!(check("ftp://example.com/"), Err(Refused::NotWeb));
        assert_eq!(check("mailto:a@example.com"), Err(Refused::NotWeb));
        assert_eq!(check("https://user@example.com/"), Err(Refused::HasPassword));
    }

    #[test]
    fn an_operator_allows_what_they_know() {
        let network = |text: &str| text.parse::<Network>().unwrap();
        let guard = Guard { allowed: vec![network("10.1.0.0/16"), network("fd00::/8")], ..Guard::default() };
        let check = |text: &str| guard.check(text.parse().unwrap());
        assert_eq!(check("10.1.2.3"), Ok(()));
        assert_eq!(check("fd00::7"), Ok(()));
        assert_eq!(check("10.2.0.1"), Err(Refused::NotGlobal));
        let open = Guard { allow_private: true, ..Guard::default() };
        assert_eq!(open.check("127.0.0.1".parse().unwrap()), Ok(()));
    }
}
