//! Listeners for trackers over TCP, TLS and UDP.
//!
//! Each connection has a task of its own, which frames, decodes, stores and then writes the replies of what is stored: a
//! slow peer delays nobody else. Unknown devices get no answer at all.
//!
//! | who is closed | after |
//! |---|---|
//! | no known device was named | 60 s |
//! | a TLS handshake is not finished | 10 s |
//! | nothing was sent | `gateways.idle_seconds` |
//! | first bytes of no protocol, on the port for any | at once |
//! | a reply is not taken | 10 s |
//! | the store failed: the tracker sends again | at once |

mod listeners;
mod pace;
mod session;
mod tcp;
mod udp;
mod udp_commands;

pub use listeners::{GatewayBindError, GatewayListeners, RunningListeners};
