//! Records what providers say later of messages they took.

use perigee_core::notification::{Channel, Receipt};
use tokio::sync::mpsc;

use crate::app::App;

/// Records receipts for as long as they come.
pub async fn note_receipts(app: App, mut receipts: mpsc::Receiver<Receipt>) {
    while let Some(receipt) = receipts.recv().await {
        let reference = receipt.reference.clone();
        match app.store.note_receipt(Channel::Sms, receipt).await {
            Ok(true) => {}
            Ok(false) => tracing::debug!(reference, "a receipt is of no message that is known"),
            Err(error) => {
                tracing::warn!(
                    reference,
                    error = &error as &dyn std::error::Error,
                    "could not record a receipt"
                );
            }
        }
    }
}
