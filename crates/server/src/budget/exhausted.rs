//! Why a permit was refused.

use tokio::sync::oneshot::error::RecvError;
use tokio::task::JoinError;

/// Which bound was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// That of the whole node.
    Total,
    /// That of one client address.
    Address,
    /// That of one account.
    Account,
}

impl Bound {
    /// Its name in metrics.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Address => "address",
            Self::Account => "account",
        }
    }
}

/// A budget has nothing left for this client; the request is refused before it costs anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the budget \"{budget}\" is exhausted ({})", bound.label())]
pub struct Exhausted {
    /// The budget's name in metrics.
    pub budget: &'static str,
    /// Which of its bounds was reached.
    pub bound: Bound,
}

impl Exhausted {
    /// Seconds after which a client may try again. Permits are held for fractions of a second.
    pub const RETRY_AFTER_S: u32 = 1;

    /// Makes the refusal and counts it.
    pub(super) fn counted(budget: &'static str, bound: Bound) -> Self {
        super::metrics::count_refusal(budget, bound);
        Self { budget, bound }
    }
}

/// Why work was not done.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The queue was full.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// It panicked, or the service stopped meanwhile.
    #[error("work off the connection threads was lost")]
    Lost(#[from] JoinError),
    /// It panicked on the thread that was started for it.
    #[error("large work was lost with its thread")]
    LostThread(#[from] RecvError),
    /// The operating system has no thread for it.
    #[error("no thread can be started for large work")]
    NoThread(#[source] std::io::Error),
}
