//! The serving layer over real sockets: every defence closes what it should, and stays away when
//! it is switched off.

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
