//! SMS by SMPP: one bound session to a message centre, re-established when it is lost.
//!
//! Packets are those of rusmpp, the session is our own. Its companion rusmppc has a dependency with an incompatible
//! licence and does not report whether a lost request was written.

mod encode;
mod pace;
mod receipt;
mod sender;
mod session;
mod settings;
mod verdict;

pub use sender::SmppSender;
pub use settings::{LongTexts, SmppError, SmppSettings};
