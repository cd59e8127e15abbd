//! Reads the log for webhooks that are behind, and stores a delivery for each event that matches their filter.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use parking_lot::Mutex;
use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::events::event::{Event, EventFilter};
use perigee_core::id::{AccountId, WebhookId};
use perigee_core::time::Timestamp;
use perigee_core::webhooks::webhook::{NewDelivery, Webhook};
use tokio::time::Instant;

use super::deliver::begin;
use super::run::{WebhookParts, Webhooks};
use crate::event_format::EventFormat;

/// Events of one read.
const PAGE: u32 = 500;
/// Maximum number of pages read for one webhook before the others have their turn.
const PAGES_MAX: u32 = 20;
/// Webhooks for which the log is read at the same time.
const CONCURRENCY: usize = 4;
/// How often the cursor of a webhook is stored while no event matches its filter. A busy fleet moves the cursor with
/// every commit.
const SAVE_EVERY: Duration = Duration::from_secs(10);
/// How long a webhook is left to another node that moved its cursor first.
const LEAVE_FOR: Duration = Duration::from_secs(3);

/// How far the log was read for each webhook.
#[derive(Debug, Default)]
pub(super) struct Cursors(Mutex<HashMap<(AccountId, WebhookId), Cursor>>);

/// How far the log was read for a webhook, beyond the stored cursor.
#[derive(Clone, Copy, Debug)]
struct Cursor {
    /// The cursor in the store. If another task or node changed it, this entry is discarded.
    stored: i64,
    read_to: i64,
    stored_at: Instant,
    left_until: Option<Instant>,
}

/// Stores deliveries for every webhook that is behind.
pub(super) async fn follow_all(webhooks: &Arc<Webhooks>) -> Result<(), StoreError> {
    let behind = webhooks.parts.store.webhooks_behind().await?;
    webhooks.cursors.retain(&behind);
    stream::iter(behind)
        .for_each_concurrent(CONCURRENCY, |webhook| async move {
            let id = webhook.id;
            if let Err(error) = follow(webhooks, webhook).await {
                tracing::warn!(error = &error as &dyn std::error::Error, webhook = %id, "could not take events for a webhook");
            }
        })
        .await;
    Ok(())
}

async fn follow(webhooks: &Arc<Webhooks>, webhook: Webhook) -> Result<(), StoreError> {
    let WebhookParts { store, clock, format, .. } = &webhooks.parts;
    let mut cursor = webhooks.cursors.get(&webhook);
    if cursor.left_until.is_some_and(|until| Instant::now() < until) {
        return Ok(());
    }
    let filter = EventFilter { reader: Some(webhook.id), ..webhook.settings.filter.clone() };
    for _ in 0..PAGES_MAX {
        let scope = Scope::for_background_job(webhook.account);
        let read = store.read_events(scope, &filter, cursor.read_to, PAGE).await;
        let page = match read {
            Err(StoreError::CursorExpired) => {
                return store.record_webhook_gap(webhook.account, webhook.id).await;
            }
            read => read?,
        };
        let is_end = page.next == cursor.read_to;
        cursor.read_to = page.next;
        let must_store = !page.events.is_empty() || cursor.stored_at.elapsed() >= SAVE_EVERY;
        if !must_store || cursor.read_to == cursor.stored {
            if is_end {
                break;
            }
            continue;
        }
        let now = clock.now();
        let new = page.events.iter().map(|event| write_delivery(*format, event, now)).collect();
        let moved = store.advance_webhook(webhook.account, webhook.id, cursor.stored, page.next, new).await?;
        cursor.stored = page.next;
        cursor.stored_at = Instant::now();
        if moved && !page.events.is_empty() {
            // Sent in a task of its own, so that a slow receiver delays no other webhook.
            begin(webhooks, webhook.account, webhook.id);
        } else if !moved {
            cursor.left_until = Some(Instant::now() + LEAVE_FOR);
            break;
        }
    }
    webhooks.cursors.put(&webhook, cursor);
    Ok(())
}

fn write_delivery(format: EventFormat, event: &Event, now: Timestamp) -> NewDelivery {
    let mut body = Vec::new();
    (format.write)(&mut body, event, now);
    NewDelivery {
        message: (format.id)(event.number),
        kind: event.kind.name().to_owned(),
        device: event.device,
        // JSON is UTF-8.
        body: String::from_utf8(body).unwrap_or_default(),
    }
}

impl Cursors {
    fn get(&self, webhook: &Webhook) -> Cursor {
        let cursors = self.0.lock();
        let stored = webhook.read_to;
        let fresh = Cursor { stored, read_to: stored, stored_at: Instant::now(), left_until: None };
        let known = cursors.get(&(webhook.account, webhook.id)).copied();
        match known {
            Some(cursor) if cursor.stored == stored => cursor,
            Some(cursor) if cursor.left_until.is_some() => Cursor { left_until: cursor.left_until, ..fresh },
            _ => fresh,
        }
    }

    fn put(&self, webhook: &Webhook, cursor: Cursor) {
        let mut cursors = self.0.lock();
        cursors.insert((webhook.account, webhook.id), cursor);
    }

    /// Removes the cursors of webhooks that are not behind.
    fn retain(&self, behind: &[Webhook]) {
        let mut cursors = self.0.lock();
        if cursors.len() > behind.len() {
            let ids: std::collections::HashSet<_> =
                behind.iter().map(|webhook| (webhook.account, webhook.id)).collect();
            cursors.retain(|id, _| ids.contains(id));
        }
    }
}
