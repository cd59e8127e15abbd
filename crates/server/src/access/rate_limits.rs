//! The rate limits: by account for the API, by address for failed attempts and share links.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::time::Duration;

use perigee_core::id::{AccountId, DeviceId, GatewayId, KeyId, ShareId, UserId};
use perigee_core::time::{Clock, Monotonic};

use super::token_bucket::{Allowance, Quota, TokenBuckets};
use crate::config::Limits;

/// The token buckets of every limit.
#[derive(Debug)]
pub struct RateLimits {
    clock: Arc<dyn Clock>,
    requests: TokenBuckets<AccountId>,
    own: HashMap<AccountId, TokenBuckets<()>>,
    submissions: Option<TokenBuckets<AccountId>>,
    failures: TokenBuckets<IpAddr>,
    named_failures: TokenBuckets<(String, IpAddr)>,
    bad_tokens: TokenBuckets<IpAddr>,
    key_uses: TokenBuckets<KeyId>,
    viewers: TokenBuckets<IpAddr>,
    views: TokenBuckets<String>,
    tile_readers: TokenBuckets<TileReader>,
    tiles: TokenBuckets<AccountId>,
    unknown_devices: TokenBuckets<IpAddr>,
    network_findings: TokenBuckets<IpAddr>,
    datagrams: TokenBuckets<IpAddr>,
    device_messages: TokenBuckets<DeviceId>,
    examined_datagrams: TokenBuckets<DeviceId>,
    examined_of_address: TokenBuckets<IpAddr>,
    examined_of_all: TokenBuckets<()>,
    device_alarms: TokenBuckets<DeviceId>,
    gateway_requests: TokenBuckets<GatewayId>,
}

/// Rate of share links that one address may open, per second, and burst.
const VIEWS_OF_ADDRESS: (u32, u32) = (10, 100);
/// Rate of openings of one share link by all addresses together, per second, and burst.
const VIEWS_OF_LINK: (u32, u32) = (100, 500);

/// Rate of map tiles that one viewer may request from tile servers, per second, and burst. A screen shows about fifty.
const TILE_READER: (u32, u32) = (30, 600);
/// The same for all viewers of an account together.
const TILES: (u32, u32) = (100, 2_000);

/// Unknown devices that one address may report per minute. A real address has few; the rest are guesses.
const UNKNOWN_DEVICES_PER_MINUTE: u32 = 60;
/// Identifiers sent by one address that may be recorded as reporting from two networks, per minute.
const NETWORK_FINDINGS_PER_MINUTE: u32 = 10;
/// Rate of datagrams of one address, per second, and burst. Many trackers may share the address of their mobile
/// network.
const DATAGRAMS: (u32, u32) = (1_000, 5_000);

/// Rate of messages of one device on all its connections, per second, and burst. A tracker that empties its memory
/// after an outage sends a few hundred at a time.
const DEVICE_MESSAGES: (u32, u32) = (200, 2_000);
/// Rate of datagrams of one device above all other limits that are decoded to look for an SOS, per second, and burst.
const EXAMINED_DATAGRAMS: (u32, u32) = (200, 400);
/// The same for one address above its limit, from ports that are not those of known devices; and for all such addresses
/// together, because the address of a datagram can be forged.
const EXAMINED_OF_ADDRESS: (u32, u32) = (50, 500);
const EXAMINED_OF_ALL: (u32, u32) = (500, 2_000);
/// Rate of datagrams with an SOS of one device that are stored above its other limits, per second, and burst.
const DEVICE_ALARMS: (u32, u32) = (1, 20);
/// Rate of requests to the URL of one gateway, per second, and burst. A provider sends for all devices of an account.
const GATEWAY_REQUESTS: (u32, u32) = (500, 5_000);

/// The state of a bucket, with the policy and quota for the `RateLimit` headers.
#[derive(Clone, Copy, Debug)]
pub struct Rated {
    /// Name of the policy in the `RateLimit` headers.
    pub policy: &'static str,
    /// Size and rate of the bucket.
    pub quota: Quota,
    /// Whether there was a token, and how many are left.
    pub allowance: Allowance,
}

/// The requester of map tiles of tile servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileReader {
    /// A signed-in user.
    User(UserId),
    /// A viewer of a share link, by address.
    Link(ShareId, IpAddr),
}

/// The address by which failures are counted. One customer has a whole /64 of IPv6 and could use each of its addresses,
/// so a /64 counts as one.
fn source(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => IpAddr::V6(Ipv6Addr::from_bits(six.to_bits() >> 64 << 64)),
        four @ IpAddr::V4(_) => four,
    }
}

impl RateLimits {
    /// Full buckets with the configured sizes.
    pub fn new(limits: &Limits, clock: Arc<dyn Clock>) -> Self {
        let own = limits.accounts.iter().map(|(account, limit)| {
            (*account, TokenBuckets::new(Quota::per_second(limit.requests_per_second, limit.burst)))
        });
        Self {
            clock,
            requests: TokenBuckets::new(Quota::per_second(limits.requests_per_second, limits.burst)),
            own: own.collect(),
            submissions: (limits.submissions_per_second > 0).then(|| {
                TokenBuckets::new(Quota::per_second(limits.submissions_per_second, limits.submissions_burst))
            }),
            failures: TokenBuckets::new(Quota::per_minute(limits.token_failures_per_minute)),
            named_failures: TokenBuckets::new(Quota::per_minute(limits.token_failures_per_minute)),
            bad_tokens: TokenBuckets::new(Quota::per_second(
                limits.bad_tokens_per_second,
                limits.bad_tokens_per_second,
            )),
            key_uses: TokenBuckets::new(Quota::per_minute(1)),
            viewers: TokenBuckets::new(Quota::per_second(VIEWS_OF_ADDRESS.0, VIEWS_OF_ADDRESS.1)),
            views: TokenBuckets::new(Quota::per_second(VIEWS_OF_LINK.0, VIEWS_OF_LINK.1)),
            tile_readers: TokenBuckets::new(Quota::per_second(TILE_READER.0, TILE_READER.1)),
            tiles: TokenBuckets::new(Quota::per_second(TILES.0, TILES.1)),
            unknown_devices: TokenBuckets::new(Quota::per_minute(UNKNOWN_DEVICES_PER_MINUTE)),
            network_findings: TokenBuckets::new(Quota::per_minute(NETWORK_FINDINGS_PER_MINUTE)),
            datagrams: TokenBuckets::new(Quota::per_second(DATAGRAMS.0, DATAGRAMS.1)),
            device_messages: TokenBuckets::new(Quota::per_second(DEVICE_MESSAGES.0, DEVICE_MESSAGES.1)),
            examined_datagrams: TokenBuckets::new(Quota::per_second(
                EXAMINED_DATAGRAMS.0,
                EXAMINED_DATAGRAMS.1,
            )),
            examined_of_address: TokenBuckets::new(Quota::per_second(
                EXAMINED_OF_ADDRESS.0,
                EXAMINED_OF_ADDRESS.1,
            )),
            examined_of_all: TokenBuckets::new(Quota::per_second(EXAMINED_OF_ALL.0, EXAMINED_OF_ALL.1)),
            device_alarms: TokenBuckets::new(Quota::per_second(DEVICE_ALARMS.0, DEVICE_ALARMS.1)),
            gateway_requests: TokenBuckets::new(Quota::per_second(GATEWAY_REQUESTS.0, GATEWAY_REQUESTS.1)),
        }
    }

    fn now(&self) -> Monotonic {
        self.clock.monotonic()
    }

    /// Takes a token for a call of an account.
    pub fn request(&self, account: AccountId) -> Rated {
        let (quota, allowance) = match self.own.get(&account) {
            Some(bucket) => (bucket.quota(), bucket.take(&(), self.now())),
            None => (self.requests.quota(), self.requests.take(&account, self.now())),
        };
        Rated { policy: "account", quota, allowance }
    }

    /// Takes this many tokens of an account, even if it has fewer, and returns what is left.
    pub fn spend_requests(&self, account: AccountId, count: usize) -> Rated {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        match self.own.get(&account) {
            Some(bucket) => bucket.spend(&(), count, self.now()),
            None => self.requests.spend(&account, count, self.now()),
        };
        self.requests_left(account)
    }

    /// The calls an account has left, without taking one.
    pub fn requests_left(&self, account: AccountId) -> Rated {
        let (quota, allowance) = match self.own.get(&account) {
            Some(bucket) => (bucket.quota(), bucket.peek(&(), self.now())),
            None => (self.requests.quota(), self.requests.peek(&account, self.now())),
        };
        Rated { policy: "account", quota, allowance }
    }

    /// Takes a token for a submission of locations or alerts; none if submissions are not limited.
    pub fn submission(&self, account: AccountId) -> Option<Rated> {
        let bucket = self.submissions.as_ref()?;
        Some(Rated {
            policy: "submissions",
            quota: bucket.quota(),
            allowance: bucket.take(&account, self.now()),
        })
    }

    /// Whether an attempt to sign in with this name from this address is allowed, without taking a token.
    pub fn attempt(&self, name: &str, address: IpAddr) -> Rated {
        let address = source(address);
        let by_address = self.failures.peek(&address, self.now());
        let by_name = self.named_failures.peek(&(name.to_lowercase(), address), self.now());
        let allowance = if by_name.remaining < by_address.remaining { by_name } else { by_address };
        Rated { policy: "failures", quota: self.failures.quota(), allowance }
    }

    /// Takes a token from the buckets of name and address before the result of the attempt is known; from both or from
    /// none.
    pub fn begin_attempt(&self, name: &str, address: IpAddr) -> Rated {
        let (address, name, now) = (source(address), name.to_lowercase(), self.now());
        let by_address = self.failures.take(&address, now);
        let rated = |allowance| Rated { policy: "failures", quota: self.failures.quota(), allowance };
        if !by_address.allowed {
            return rated(by_address);
        }
        let by_name = self.named_failures.take(&(name, address), now);
        if !by_name.allowed {
            self.failures.give_back(&address, now);
        }
        rated(if by_name.remaining < by_address.remaining || !by_name.allowed { by_name } else { by_address })
    }

    /// Returns the tokens of an attempt that did not fail.
    pub fn end_attempt(&self, name: &str, address: IpAddr) {
        let (address, now) = (source(address), self.now());
        self.failures.give_back(&address, now);
        self.named_failures.give_back(&(name.to_lowercase(), address), now);
    }

    /// Whether this address may send an unknown token; takes a token from its bucket if one was invalid (`failed`).
    pub fn bad_token(&self, address: IpAddr, failed: bool) -> Rated {
        let address = source(address);
        let allowance = if failed {
            self.bad_tokens.take(&address, self.now())
        } else {
            self.bad_tokens.peek(&address, self.now())
        };
        Rated { policy: "address", quota: self.bad_tokens.quota(), allowance }
    }

    /// Takes a token for opening the share link with this secret, valid or not, from the buckets of the address and of
    /// the link: anybody can open a link, and the page of a large group is expensive.
    pub fn view(&self, secret: &str, address: IpAddr) -> Rated {
        let by_address = self.viewers.take(&source(address), self.now());
        if !by_address.allowed {
            return Rated { policy: "views", quota: self.viewers.quota(), allowance: by_address };
        }
        let by_link = self.views.take(&secret.to_owned(), self.now());
        if by_link.allowed {
            Rated { policy: "views", quota: self.viewers.quota(), allowance: by_address }
        } else {
            Rated { policy: "link", quota: self.views.quota(), allowance: by_link }
        }
    }

    /// Takes a token for a map tile from the buckets of the viewer and of the account of the viewer or of the share
    /// link.
    pub fn tile(&self, reader: TileReader, account: AccountId) -> Rated {
        let reader = match reader {
            TileReader::Link(link, address) => TileReader::Link(link, source(address)),
            user @ TileReader::User(_) => user,
        };
        let own = self.tile_readers.take(&reader, self.now());
        if !own.allowed {
            return Rated { policy: "tiles", quota: self.tile_readers.quota(), allowance: own };
        }
        let all = self.tiles.take(&account, self.now());
        let allowance = if all.allowed { own } else { all };
        Rated { policy: "tiles", quota: self.tile_readers.quota(), allowance }
    }

    /// Whether this address may report one more unknown device.
    pub fn unknown_device(&self, address: IpAddr) -> bool {
        self.unknown_devices.take(&source(address), self.now()).allowed
    }

    /// Whether one more identifier sent by this address may be recorded as reporting from two networks.
    pub fn network_finding(&self, address: IpAddr) -> bool {
        self.network_findings.take(&source(address), self.now()).allowed
    }

    /// Whether one more datagram of this address is accepted.
    pub fn datagram(&self, address: IpAddr) -> bool {
        self.datagrams.take(&source(address), self.now()).allowed
    }

    /// Takes a token for a request to the address of a gateway.
    pub fn gateway_request(&self, gateway: GatewayId) -> Rated {
        let allowance = self.gateway_requests.take(&gateway, self.now());
        Rated { policy: "gateway", quota: self.gateway_requests.quota(), allowance }
    }

    /// Counts messages of a device, and returns how long to wait before more are accepted; `None` if there is no need
    /// to wait.
    pub fn device_messages(&self, device: DeviceId, count: usize) -> Option<Duration> {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        Some(self.device_messages.spend(&device, count, self.now())).filter(|wait| !wait.is_zero())
    }

    /// Takes a token for a message of a device if there is one; returns whether there was.
    pub fn device_message(&self, device: DeviceId) -> bool {
        self.device_messages.take(&device, self.now()).allowed
    }

    /// Whether one more datagram of a device that sends too many is decoded to look for an SOS.
    pub fn examined_datagram(&self, device: DeviceId) -> bool {
        self.examined_datagrams.take(&device, self.now()).allowed
    }

    /// Whether one more datagram of an address that sends too many is decoded to look for an SOS.
    pub fn examined_datagram_from(&self, address: IpAddr) -> bool {
        self.examined_of_address.take(&source(address), self.now()).allowed
            && self.examined_of_all.take(&(), self.now()).allowed
    }

    /// Whether one more SOS of a device that sends too many is accepted.
    pub fn device_alarm(&self, device: DeviceId) -> bool {
        self.device_alarms.take(&device, self.now()).allowed
    }

    /// Whether to record the use of this key: once a minute.
    pub fn note_key_use(&self, key: KeyId) -> bool {
        self.key_uses.take(&key, self.now()).allowed
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::time::{MockClock, Timestamp};

    use super::*;

    #[test]
    fn openings_of_one_link_are_limited() {
        let limits: crate::config::Config =
            toml::from_str(include_str!("../../../../config.default.toml")).unwrap();
        let clock = MockClock::at(Timestamp::from_millis(1_000_000));
        let rates = RateLimits::new(&limits.limits, Arc::new(clock));
        let view = |secret: &str, address: u32| rates.view(secret, IpAddr::from(address.to_be_bytes()));
        let opened = (0..1_000).filter(|address| view("one", *address).allowance.allowed).count();
        assert_eq!(opened, 500);
        assert_eq!(view("one", 2_000).policy, "link");
        assert!(view("other", 2_001).allowance.allowed);
    }

    #[test]
    fn few_datagrams_above_the_rates_are_decoded_of_one_address_and_of_all() {
        let limits: crate::config::Config =
            toml::from_str(include_str!("../../../../config.default.toml")).unwrap();
        let clock = MockClock::at(Timestamp::from_millis(1_000_000));
        let rates = RateLimits::new(&limits.limits, Arc::new(clock.clone()));
        let examined = |address: u32| {
            (0..1_000).filter(|_| rates.examined_datagram_from(IpAddr::from(address.to_be_bytes()))).count()
        };
        assert_eq!((examined(1), examined(1), examined(2)), (500, 0, 500));
        assert_eq!((3..100).map(examined).sum::<usize>(), 1_000, "of forged addresses");
        clock.advance_seconds(1);
        assert_eq!(examined(1), 50);
    }

    #[test]
    fn a_network_of_ipv6_counts_as_one_address() {
        let check = |address: &str, expect: &str| {
            assert_eq!(source(address.parse().unwrap()), expect.parse::<IpAddr>().unwrap(), "{address}");
        };
        check("192.0.2.1", "192.0.2.1");
        check("::ffff:192.0.2.1", "192.0.2.1");
        check("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::");
        check("2001:db8:1:3::6", "2001:db8:1:3::");
    }
}
