//! The sender of the demo: it accepts every message and sends nothing.

use async_trait::async_trait;
use perigee_core::notifications::notification::{Message, SendOutcome, Sender};

/// Accepts every message and sends none.
#[derive(Debug)]
pub struct Sink;

#[async_trait]
impl Sender for Sink {
    async fn send(&self, message: &Message) -> SendOutcome {
        SendOutcome::Sent { reference: Some(format!("demo-{}", message.id)) }
    }
}
