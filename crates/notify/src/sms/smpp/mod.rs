//! SMS by SMPP: one bound session to a message centre, made anew when it is lost.
//!
//! The packets are rusmpp's; the session is our own. rusmppc, its companion, brings a dependency whose licence asks for
//! more than Apache-2.0 does, and hides whether a lost request was written.

mod encode;
mod gateway;
mod pace;
mod receipt;
mod session;
mod settings;
mod verdict;

pub use gateway::SmppGateway;
pub use settings::{LongTexts, SmppError, SmppSettings};
