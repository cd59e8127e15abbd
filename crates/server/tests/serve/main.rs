//! The serving layer over real sockets: every limit closes the right connections, and has no effect when it is switched
//! off.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod bad_clients;
mod client;
mod http2;
mod limits;
mod proxy;
mod readers;
mod server;
mod shutdown;
mod slow;
mod tls;
