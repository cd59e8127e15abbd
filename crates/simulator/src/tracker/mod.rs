//! A simulated tracker: implements a tracker protocol over a socket, keeps each record until the server has
//! acknowledged it, and sends unacknowledged records again.

mod binary;
mod client;
mod record;
mod run;
mod text;

pub use client::{Expect, PROTOCOLS, ProtocolClient, protocol_client};
pub use record::Record;
pub use run::{Plan, Step, Summary, run};
