//! Tokens and sessions, rate limits, and the counters of calls, views and refusals. Independent of HTTP.

mod authenticator;
mod code_backoff;
mod hourly_calls;
mod identity;
mod key_ring;
mod known_networks;
mod rate_limits;
mod refusal_counter;
mod running_keys;
mod share_view_counter;
mod token_bucket;
mod usage_counter;

pub use authenticator::{AccessError, Admitted, Authenticator, Proof};
pub use code_backoff::CodeBackoff;
pub use hourly_calls::HourlyCalls;
pub use identity::Identities;
pub use key_ring::KeyLoadError;
pub(crate) use key_ring::read_keys;
pub use known_networks::KnownNetworks;
pub use rate_limits::{RateLimits, Rated, TileReader};
pub use refusal_counter::RefusalCounter;
pub use running_keys::{RunningKey, RunningKeys};
pub use share_view_counter::ShareViewCounter;
pub use token_bucket::{Allowance, Quota, TokenBuckets};
pub use usage_counter::{Usage, UsageCounter};
