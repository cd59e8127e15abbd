//! Who is let in, how often, and what is counted of it.

mod attempt;
mod buckets;
mod code_backoff;
mod gate;
mod hours;
mod identity;
mod key_ring;
mod rates;
mod refusals;
mod running_keys;
mod usage;
mod views;

pub use attempt::{Attempt, Trial};
pub use buckets::{Allowance, Buckets, Quota};
pub use code_backoff::CodeBackoff;
pub use gate::{
    Admitted, CHALLENGE, Gate, Proof, SESSION_COOKIE, cookie, refuse_foreign_origin, session_over,
};
pub use hours::HourBook;
pub use identity::Identities;
pub use key_ring::KeyLoadError;
pub(crate) use key_ring::read_keys;
pub use rates::{Rated, Rates};
pub use refusals::RefusalBook;
pub use running_keys::{RunningKey, RunningKeys};
pub use usage::{Usage, UsageBook};
pub use views::ViewBook;
