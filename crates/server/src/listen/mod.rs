//! Listeners for trackers over TCP, TLS and UDP.
//!
//! Each connection has a task of its own, which frames, decodes, stores and then replies: a slow peer delays no other.
//! Unknown devices get no reply.
//!
//! | reason to close a connection | after |
//! |---|---|
//! | no known device was named | 60 s |
//! | a TLS handshake is not finished | 10 s |
//! | nothing was sent | `gateways.idle_seconds` |
//! | a device has more than eight newer connections | at once |
//! | a frame of more than 8 KiB before a known device was named | at once |
//! | half of all connections have not named a known device, and most of these are of its network | when others connect |
//! | the first bytes match no protocol, on the port for all protocols | at once |
//! | the peer does not accept a reply | 10 s |
//! | the store failed: the tracker sends again | at once |

mod device_slots;
mod listeners;
mod newcomers;
mod pace;
mod session;
mod tcp;
mod udp;
mod udp_commands;

pub use listeners::{GatewayBindError, GatewayListeners, RunningListeners};
