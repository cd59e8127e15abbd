//! Errors of budgets: why a permit was refused, and why work in a queue was not done.

use tokio::sync::oneshot::error::RecvError;
use tokio::task::JoinError;

/// One of the bounds that a budget has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The bound for all requests of the node together.
    Total,
    /// The bound for one client address.
    Address,
    /// The bound for one account.
    Account,
}

impl Bound {
    /// The value of the label in metrics.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Address => "address",
            Self::Account => "account",
        }
    }
}

/// A budget has nothing left for this request, which is refused before any work is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the budget \"{budget}\" is exhausted ({})", bound.label())]
pub struct Exhausted {
    /// The name of the budget in metrics.
    pub budget: &'static str,
    /// Which of its bounds was reached.
    pub bound: Bound,
}

impl Exhausted {
    /// Seconds after which a client may try again. One is enough: permits are held for fractions of a second.
    pub const RETRY_AFTER_S: u32 = 1;

    /// Creates the error and counts it in the metrics.
    pub(super) fn counted(budget: &'static str, bound: Bound) -> Self {
        super::metrics::count_refusal(budget, bound);
        Self { budget, bound }
    }
}

/// Why work in a queue gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The queue was full.
    #[error(transparent)]
    Exhausted(#[from] Exhausted),
    /// The work panicked, or the service stopped before it ended.
    #[error("queued work panicked, or the service stopped before it ended")]
    Lost(#[from] JoinError),
    /// Large work panicked on the thread that was started for it.
    #[error("large work panicked on its thread")]
    LostThread(#[from] RecvError),
    /// The operating system could not start a thread for large work.
    #[error("no thread can be started for large work")]
    NoThread(#[source] std::io::Error),
}
