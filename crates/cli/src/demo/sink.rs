//! Where the messages of a demonstration go: nowhere. They are taken and forgotten.

use async_trait::async_trait;
use perigee_core::notification::{Delivery, Message, Sender};

/// Takes every message and sends none.
#[derive(Debug)]
pub(crate) struct Sink;

#[async_trait]
impl Sender for Sink {
    async fn send(&self, message: &Message) -> Delivery {
        Delivery::Sent { reference: Some(format!("demo-{}", message.id)) }
    }
}
