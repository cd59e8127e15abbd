//! The built binary, end to end: real processes, real sockets, real files.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod backup;
mod client;
mod commands;
mod demo;
mod fleet;
mod process;
mod reloading;
mod serving;
mod stopping;
mod trackers;
mod transfer;
