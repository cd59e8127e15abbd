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
//! | a device has more than eight newer connections | at once |
//! | a frame of more than 8 KiB before a known device was named | at once |
//! | half of all connections have not named a known device, and most of these are of its network | when others connect |
//! | first bytes of no protocol, on the port for any | at once |
//! | a reply is not taken | 10 s |
//! | the store failed: the tracker sends again | at once |

mod device_places;
mod listeners;
mod newcomers;
mod pace;
mod session;
mod tcp;
mod udp;
mod udp_commands;

pub use listeners::{GatewayBindError, GatewayListeners, RunningListeners};
