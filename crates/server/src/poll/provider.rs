//! The polled providers: one entry each, and their common types.

use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::time::Timestamp;
use perigee_gateways::setting::SettingError;
use perigee_gateways::{FeedDecoded, Options};
use url::Url;

use super::{garmin, mapshare, spot};
use crate::webhook::{Credentials, Guard};

pub(super) struct Request {
    pub(super) url: Url,
    pub(super) credentials: Credentials,
}

/// Where a poller continues after an answer that is stored.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) cursor: String,
    /// Everything up to this instant is stored.
    pub(super) complete_to: Option<Timestamp>,
    /// Seconds until the next request.
    pub(super) wait_s: i64,
}

/// A poll in progress: the gateway, its settings and the instant of its lease.
pub(super) struct Context<'a> {
    pub(super) gateway: &'a Gateway,
    pub(super) options: &'a Options,
    pub(super) guard: &'a Guard,
    pub(super) now: Timestamp,
}

impl Context<'_> {
    pub(super) fn cursor(&self) -> &str {
        self.gateway.state.poll.as_ref().map_or("", |poll| poll.cursor.as_str())
    }
}

/// A provider whose messages are fetched.
pub struct Provider {
    /// The name of its feed.
    pub feed: &'static str,
    /// Seconds between requests of different gateways, by the provider's rules; 0 for none.
    pub(super) spacing_s: u64,
    /// Seconds to wait after the provider refused a request without a waiting time.
    pub(super) refused_s: i64,
    /// The shortest wait after a failure, in seconds.
    pub(super) retry_s: i64,
    pub(super) check: fn(&Options, &Guard) -> Result<(), SettingError>,
    pub(super) request: fn(&Context<'_>) -> Result<Request, SettingError>,
    pub(super) step: fn(&Context<'_>, &FeedDecoded) -> Step,
    /// The cursor to continue with after an answer that was too long; `None` if it cannot be made shorter.
    pub(super) shorter: fn(&Context<'_>) -> Option<String>,
}

impl Provider {
    /// Every provider.
    pub const ALL: &'static [Self] = &[garmin::HISTORY, mapshare::MAPSHARE, spot::SPOT];

    /// The provider of this feed, if it is polled.
    pub fn find(feed: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|provider| provider.feed == feed)
    }

    /// Checks the options of a gateway.
    pub fn check(&self, options: &Options, guard: &Guard) -> Result<(), SettingError> {
        (self.check)(options, guard)
    }
}

/// The newest time in an answer.
pub(super) fn newest(decoded: &FeedDecoded) -> Option<Timestamp> {
    decoded.messages.iter().flat_map(|message| &message.reports).filter_map(|report| report.time).max()
}
