//! Cost before work: a request takes permits before it makes the service receive, decompress or compute anything, and
//! returns them when they are dropped.
//!
//! | what is bounded | type | when there is no more |
//! |---|---|---|
//! | bytes of bodies and large answers in memory | [`Pool`], [`Permit`] | refused at once |
//! | work whose cost the sender chooses, off the connection threads | [`Queue`], [`Budget::run`] | waits; beyond the bound on waiters it is refused |
//! | reading of bytes that a client or a device sent | [`UntrustedBytes`] | waits as work does |
//! | CPU steps of one request | [`Steps`] | refused at once |
//!
//! Every bound applies in total, to each client address and to each account. The bounds are set in `[budget]`
//! (`docs/operations/limits.md`); the reasons are in `docs/adr/0013-cost-before-work.md`.

mod exhausted;
mod metrics;
mod payer;
mod pool;
mod queue;
mod root;
mod shares;
mod steps;
mod untrusted;

pub use exhausted::{Bound, Exhausted, RunError};
pub use payer::{Payer, wide_network};
pub use pool::{Permit, Pool};
pub use queue::{Queue, QueueLimits, Slot, StrangerLimits};
pub use root::Budget;
pub use steps::{OutOfSteps, Steps};
pub use untrusted::UntrustedBytes;
