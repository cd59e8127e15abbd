//! Records delivery receipts that a message centre sends after it accepted a message.

use std::time::Duration;

use perigee_core::notifications::notification::{Channel, Receipt};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use crate::app::App;

/// Pauses before each search for the message of a receipt, which may arrive before the acceptance of the message is
/// stored.
const SEARCH_PAUSES: [Duration; 4] =
    [Duration::ZERO, Duration::from_secs(1), Duration::from_secs(10), Duration::from_mins(1)];
/// Receipts that are looked up at the same time.
const AT_ONCE: usize = 1_000;

/// Records receipts until the session ends.
pub async fn note_receipts(app: &App, mut receipts: mpsc::Receiver<Receipt>) {
    let mut under_way = JoinSet::new();
    while let Some(receipt) = receipts.recv().await {
        while under_way.try_join_next().is_some() {}
        if under_way.len() >= AT_ONCE {
            under_way.join_next().await;
        }
        let app = app.clone();
        under_way.spawn(async move { note(&app, receipt).await });
    }
}

async fn note(app: &App, receipt: Receipt) {
    for pause in SEARCH_PAUSES {
        tokio::time::sleep(pause).await;
        match app.store.record_receipt(Channel::SMS, receipt.clone()).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "could not record a delivery receipt"
                );
            }
        }
    }
    tracing::info!(reference = receipt.reference, "a delivery receipt matches no notification");
}
