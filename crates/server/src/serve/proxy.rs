//! The address of the client and the host that it used. Forwarding headers are trusted only from configured proxies.

use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use http::uri::Authority;
use http::{HeaderMap, HeaderName, Request, Version, header};

/// The address of the client that made a request, in the request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientAddress(pub IpAddr);

/// Marks a request with several `Host` headers, or an HTTP/1.1 request with none; in the extensions of the request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AmbiguousHost;

/// The scheme and host the client used, in the request's extensions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicOrigin {
    /// How the client reached the service, or the outermost trusted proxy.
    pub scheme: Scheme,
    /// The host and port the client requested, if it named a valid one.
    pub host: Option<String>,
}

/// Whether a request was encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scheme {
    /// The client connected without TLS.
    Http,
    /// The client connected with TLS.
    Https,
}

impl Scheme {
    /// The name as in a URL.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::Http, Self::Https].into_iter().find(|scheme| text.eq_ignore_ascii_case(scheme.as_str()))
    }
}

/// Which header the trusted proxies write.
///
/// Only one header is trusted: a proxy that writes one passes the other through as the client sent it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ForwardedHeader {
    /// `X-Forwarded-For`, `X-Forwarded-Proto` and `X-Forwarded-Host`.
    #[default]
    XForwarded,
    /// The `Forwarded` header of RFC 7239.
    Rfc7239,
}

/// A block of addresses, such as `10.0.0.0/8`, `fd00::/8` or a single address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

/// Why a text is not a network.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is neither an IP address nor a block such as 10.0.0.0/8")]
pub struct NetworkError(String);

impl Network {
    /// Whether `address` lies in this block; an IPv4 address written as IPv6 counts as IPv4.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let unused = 32u32.saturating_sub(u32::from(self.prefix));
                (own.to_bits() ^ other.to_bits()).checked_shr(unused).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let unused = 128u32.saturating_sub(u32::from(self.prefix));
                (own.to_bits() ^ other.to_bits()).checked_shr(unused).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl FromStr for Network {
    type Err = NetworkError;

    fn from_str(text: &str) -> Result<Self, NetworkError> {
        let wrong = || NetworkError(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr = address.parse().ok().ok_or_else(wrong)?;
        let longest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            Some(digits) => digits.parse().ok().ok_or_else(wrong)?,
            None => longest,
        };
        if prefix > longest || address.to_canonical() != address {
            return Err(wrong());
        }
        Ok(Self { address, prefix })
    }
}

/// The peers whose forwarding headers are trusted.
#[derive(Debug, Clone, Default)]
pub struct TrustedProxies(Vec<Network>);

impl TrustedProxies {
    /// Trusts every address in `networks`.
    pub fn new(networks: Vec<Network>) -> Self {
        Self(networks)
    }

    /// Whether `address` is a trusted proxy's.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(address))
    }
}

/// Puts [`ClientAddress`] and [`PublicOrigin`] into the extensions of a request.
pub(super) fn identify<B>(
    request: &mut Request<B>,
    peer: SocketAddr,
    connection_scheme: Scheme,
    proxies: &TrustedProxies,
    header: ForwardedHeader,
) {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    // HTTP/1.0 requests may have none, and HTTP/2 sends the host as `:authority`.
    if hosts > 1 || (hosts == 0 && request.version() == Version::HTTP_11) {
        request.extensions_mut().insert(AmbiguousHost);
    }
    let peer = peer.ip().to_canonical();
    let mut origin = PublicOrigin { scheme: connection_scheme, host: requested_host(request) };
    let mut client = peer;
    if proxies.contains(peer) {
        let headers = request.headers();
        let forwarded = match header {
            ForwardedHeader::XForwarded => from_x_forwarded(headers, peer, proxies),
            ForwardedHeader::Rfc7239 => from_forwarded(headers, peer, proxies),
        };
        client = forwarded.client;
        origin.scheme = forwarded.scheme.unwrap_or(origin.scheme);
        origin.host = forwarded.host.or(origin.host);
    }
    request.extensions_mut().insert(ClientAddress(client));
    request.extensions_mut().insert(origin);
}

/// The origin of a request as reported by trusted proxies.
struct Forwarded {
    client: IpAddr,
    scheme: Option<Scheme>,
    host: Option<String>,
}

fn from_x_forwarded(headers: &HeaderMap, peer: IpAddr, proxies: &TrustedProxies) -> Forwarded {
    const FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
    const PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
    const HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
    let mut client = peer;
    let mut trusted_hops = 0;
    for hop in items(headers, &FOR).rev() {
        let Some(address) = parse_hop(hop) else { break };
        client = address;
        trusted_hops += 1;
        if !proxies.contains(address) {
            break;
        }
    }
    let hops = items(headers, &FOR).count();
    let value = |name| value_of_hop(headers, name, trusted_hops, hops);
    Forwarded {
        client,
        scheme: value(&PROTO).and_then(Scheme::parse),
        host: value(&HOST).and_then(valid_host),
    }
}

/// The value that the outermost trusted proxy wrote. If this header has as many values as the header with the
/// addresses, every proxy appended to both, and the value is as far from the right as the client's address. Otherwise
/// only the last value is certain to come from a proxy and not from the client.
fn value_of_hop<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
    trusted_hops: usize,
    hops: usize,
) -> Option<&'a str> {
    let is_parallel = trusted_hops > 0 && items(headers, name).count() == hops;
    items(headers, name).rev().nth(if is_parallel { trusted_hops - 1 } else { 0 })
}

fn from_forwarded(headers: &HeaderMap, peer: IpAddr, proxies: &TrustedProxies) -> Forwarded {
    let mut forwarded = Forwarded { client: peer, scheme: None, host: None };
    for element in items(headers, &header::FORWARDED).rev() {
        let parameter = |name: &str| {
            let pairs = element.split(';').filter_map(|pair| pair.split_once('='));
            let mut values = pairs.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name));
            values.next().map(|(_, value)| value.trim().trim_matches('"'))
        };
        // Each element was written by a proxy that was already found to be trusted.
        forwarded.scheme = parameter("proto").and_then(Scheme::parse).or(forwarded.scheme);
        forwarded.host = parameter("host").and_then(valid_host).or(forwarded.host);
        let Some(address) = parameter("for").and_then(parse_hop) else { break };
        forwarded.client = address;
        if !proxies.contains(address) {
            break;
        }
    }
    forwarded
}

/// The comma-separated items of all lines of a header, in order. A comma inside quotes would
/// split an item too; none of the values read here can contain one.
fn items<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl DoubleEndedIterator<Item = &'a str> {
    let lines: Vec<_> = headers.get_all(name).iter().collect();
    // A line that is not text makes one item that parses as nothing.
    lines.into_iter().flat_map(|line| line.to_str().unwrap_or_default().split(',')).map(str::trim)
}

/// An address with or without port, brackets and quotes.
fn parse_hop(text: &str) -> Option<IpAddr> {
    let text = text.trim_matches('"');
    let address = text
        .parse::<IpAddr>()
        .or_else(|_| text.parse::<SocketAddr>().map(|socket| socket.ip()))
        .or_else(|_| text.trim_start_matches('[').trim_end_matches(']').parse());
    address.ok().map(|address| address.to_canonical())
}

fn requested_host<B>(request: &Request<B>) -> Option<String> {
    let from_header = || request.headers().get(header::HOST)?.to_str().ok().and_then(valid_host);
    request.uri().authority().map(Authority::as_str).and_then(valid_host).or_else(from_header)
}

fn valid_host(text: &str) -> Option<String> {
    let authority: Authority = text.trim_matches('"').parse().ok()?;
    (!authority.as_str().contains('@')).then(|| authority.as_str().to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(text: &str) -> Network {
        text.parse().unwrap()
    }

    /// The client, scheme and host seen for a request with these headers from this peer, where
    /// 10.0.0.0/8 and `::1` are trusted.
    fn seen(header: ForwardedHeader, peer: &str, headers: &[(&str, &str)]) -> String {
        let proxies = TrustedProxies::new(vec![network("10.0.0.0/8"), network("::1")]);
        let mut request = Request::builder().header("host", "own.example");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut request = request.body(()).unwrap();
        let peer = SocketAddr::new(peer.parse().unwrap(), 40000);
        identify(&mut request, peer, Scheme::Http, &proxies, header);
        let client = request.extensions().get::<ClientAddress>().unwrap().0;
        let origin = request.extensions().get::<PublicOrigin>().unwrap();
        format!("{client} {}://{}", origin.scheme.as_str(), origin.host.as_deref().unwrap_or("-"))
    }

    #[test]
    fn networks_contain_what_their_prefix_says() {
        for (block, inside, outside) in [
            ("10.0.0.0/8", "10.255.0.1", "11.0.0.1"),
            ("192.0.2.7", "192.0.2.7", "192.0.2.8"),
            ("192.0.2.128/25", "192.0.2.200", "192.0.2.100"),
            ("2001:db8::/32", "2001:db8:ffff::1", "2001:db9::1"),
            ("::1", "::1", "::2"),
            ("10.0.0.0/8", "::ffff:10.1.1.1", "::ffff:11.1.1.1"),
            ("0.0.0.0/0", "203.0.113.9", "2001:db8::1"),
            ("::/0", "2001:db8::1", "203.0.113.9"),
        ] {
            assert!(network(block).contains(inside.parse().unwrap()), "{inside} in {block}");
            assert!(!network(block).contains(outside.parse().unwrap()), "{outside} not in {block}");
        }
    }

    #[test]
    fn malformed_networks_are_refused() {
        for text in ["", "/8", "10.0.0.0/33", "::/129", "10.0.0.0/-1", "10.0.0.0/", "ten", "::ffff:10.0.0.1"]
        {
            assert_eq!(text.parse::<Network>(), Err(NetworkError(text.to_owned())), "{text}");
        }
    }

    #[test]
    fn an_untrusted_peer_is_the_client_whatever_it_says() {
        let lies = [
            ("x-forwarded-for", "192.0.2.1"),
            ("x-forwarded-proto", "https"),
            ("x-forwarded-host", "lie.example"),
            ("forwarded", "for=192.0.2.1;proto=https;host=lie.example"),
        ];
        for header in [ForwardedHeader::XForwarded, ForwardedHeader::Rfc7239] {
            assert_eq!(seen(header, "203.0.113.9", &lies), "203.0.113.9 http://own.example");
        }
    }

    #[test]
    fn the_right_most_untrusted_hop_is_the_client() {
        let origin = "http://own.example";
        for (chain, client) in [
            (&["198.51.100.1"][..], "198.51.100.1"),
            (&["192.0.2.66, 198.51.100.1"], "198.51.100.1"),
            (&["192.0.2.66, 198.51.100.1, 10.0.0.2"], "198.51.100.1"),
            (&["192.0.2.66, 198.51.100.1", "10.0.0.3 ,10.0.0.2"], "198.51.100.1"),
            (&["10.9.9.9, 10.0.0.2"], "10.9.9.9"),
            (&["198.51.100.1:5000"], "198.51.100.1"),
            (&["[2001:db8::7]:5000"], "2001:db8::7"),
            (&["2001:db8::7"], "2001:db8::7"),
            (&["::ffff:198.51.100.1"], "198.51.100.1"),
            (&["198.51.100.1, nonsense"], "10.0.0.1"),
            (&["198.51.100.1, nonsense, 10.0.0.2"], "10.0.0.2"),
            (&[""], "10.0.0.1"),
            (&[], "10.0.0.1"),
        ] {
            let headers: Vec<_> = chain.iter().map(|line| ("x-forwarded-for", *line)).collect();
            let seen = seen(ForwardedHeader::XForwarded, "10.0.0.1", &headers);
            assert_eq!(seen, format!("{client} {origin}"), "{chain:?}");
        }
    }

    #[test]
    fn scheme_and_host_come_from_the_nearest_proxy() {
        let headers = [
            ("x-forwarded-for", "198.51.100.1"),
            ("x-forwarded-proto", "http, HTTPS"),
            ("x-forwarded-host", "lie.example, Public.example:8443"),
        ];
        let seen_ = seen(ForwardedHeader::XForwarded, "::1", &headers);
        assert_eq!(seen_, "198.51.100.1 https://public.example:8443");
        let bad = [("x-forwarded-proto", "gopher"), ("x-forwarded-host", "a b")];
        assert_eq!(seen(ForwardedHeader::XForwarded, "::1", &bad), "::1 http://own.example");
    }

    #[test]
    fn the_outermost_trusted_proxy_sets_the_scheme() {
        for (chain, schemes, expected) in [
            // TLS ends at the first of two trusted proxies; the second is called without TLS.
            ("198.51.100.1, 10.0.0.2", "https, http", "198.51.100.1 https://own.example"),
            ("198.51.100.1, 10.0.0.2", "http, https", "198.51.100.1 http://own.example"),
            // Values that the client itself sent do not count.
            ("192.0.2.66, 198.51.100.1, 10.0.0.2", "https, http, http", "198.51.100.1 http://own.example"),
            // Only the last value is certain to come from a proxy.
            ("198.51.100.1, 10.0.0.2", "https", "198.51.100.1 https://own.example"),
            ("198.51.100.1", "https, http", "198.51.100.1 http://own.example"),
            ("nonsense", "https", "10.0.0.1 https://own.example"),
        ] {
            let headers = [("x-forwarded-for", chain), ("x-forwarded-proto", schemes)];
            assert_eq!(
                seen(ForwardedHeader::XForwarded, "10.0.0.1", &headers),
                expected,
                "{chain} {schemes}"
            );
        }
    }

    #[test]
    fn forwarded_elements_are_read_from_the_right() {
        for (value, expected) in [
            ("for=198.51.100.1;proto=https;host=a.example", "198.51.100.1 https://a.example"),
            (
                "for=192.0.2.66;host=lie.example, For=\"[2001:db8::7]:4711\" ; Proto=https",
                "2001:db8::7 https://own.example",
            ),
            ("for=198.51.100.1;proto=https, for=10.0.0.2;proto=http", "198.51.100.1 https://own.example"),
            ("for=198.51.100.1, for=_hidden", "10.0.0.1 http://own.example"),
            ("for=unknown;proto=https", "10.0.0.1 https://own.example"),
            (";;=,", "10.0.0.1 http://own.example"),
        ] {
            assert_eq!(
                seen(ForwardedHeader::Rfc7239, "10.0.0.1", &[("forwarded", value)]),
                expected,
                "{value}"
            );
        }
    }

    #[test]
    fn only_the_configured_header_is_trusted() {
        let forwarded = [("forwarded", "for=192.0.2.66")];
        assert_eq!(seen(ForwardedHeader::XForwarded, "10.0.0.1", &forwarded), "10.0.0.1 http://own.example");
        let x_forwarded = [("x-forwarded-for", "192.0.2.66")];
        assert_eq!(seen(ForwardedHeader::Rfc7239, "10.0.0.1", &x_forwarded), "10.0.0.1 http://own.example");
    }
}
