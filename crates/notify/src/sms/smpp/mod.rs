//! SMS by SMPP: one bound session to a message centre, re-established when it is lost.
//!
//! Packets are those of rusmpp, the session is our own. Its companion rusmppc has a dependency with an incompatible
//! licence and does not tell whether a lost request was written.

mod encode;
mod gateway;
mod pace;
mod receipt;
mod session;
mod settings;
mod verdict;

pub use gateway::SmppGateway;
pub use settings::{LongTexts, SmppError, SmppSettings};
