//! Tokens and sessions, rate limits, and the counters of calls, views and refusals. Knows nothing of HTTP.

mod authenticator;
mod code_backoff;
mod hours;
mod identity;
mod key_ring;
mod rates;
mod refusals;
mod running_keys;
mod token_bucket;
mod usage;
mod views;

pub use authenticator::{AccessError, Admitted, Authenticator, Proof};
pub use code_backoff::CodeBackoff;
pub use hours::HourBook;
pub use identity::Identities;
pub use key_ring::KeyLoadError;
pub(crate) use key_ring::read_keys;
pub use rates::{Rated, Rates};
pub use refusals::RefusalBook;
pub use running_keys::{RunningKey, RunningKeys};
pub use token_bucket::{Allowance, Quota, TokenBuckets};
pub use usage::{Usage, UsageBook};
pub use views::ViewBook;
