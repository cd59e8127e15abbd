//! Messages to people: by which channel, to whom, and what became of each.

mod channel;
mod message;

pub use channel::{Channel, UnknownChannel};
pub use message::{Delivery, Message, Sender};
