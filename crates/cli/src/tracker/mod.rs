//! A simulated tracker: speaks a tracker's protocol over a socket, keeps each record until the server lets it forget it, and
//! sends again what was not acknowledged.

mod binary;
mod record;
mod run;
mod text;
mod voice;

pub use record::Record;
pub use run::{Plan, Step, Summary, run};
pub use voice::{Expect, PROTOCOLS, Voice, voice_of};
