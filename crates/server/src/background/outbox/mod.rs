//! Sends the messages of the outbox: a message that is due is written, reserved, sent and settled.

mod in_flight;
mod worker;

pub use worker::Worker;
