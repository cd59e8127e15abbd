//! Takes events from the log for webhooks that are behind.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use perigee_core::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::event::{Event, EventFilter};
use perigee_core::id::{AccountId, WebhookId};
use perigee_core::time::Timestamp;
use perigee_core::webhook::{NewDelivery, Webhook};
use tokio::time::Instant;

use super::deliver::begin;
use crate::app::App;
use crate::http::routes::events::body::{event_id, write_event};

/// Events taken at once.
const PAGE: u32 = 500;
/// Pages taken for one webhook before the others have their turn.
const PAGES: u32 = 20;
/// Webhooks events are taken for at once.
const AT_ONCE: usize = 4;
/// A place is kept in memory for as long while nothing was found for the webhook: a busy fleet moves it all the time.
const SAVE_EVERY: Duration = Duration::from_secs(10);
/// How long a webhook is left to another node that was quicker.
const LEAVE_FOR: Duration = Duration::from_secs(3);

/// What is remembered of the webhooks that are followed.
#[derive(Debug, Default)]
pub(super) struct Followed(Mutex<HashMap<(AccountId, WebhookId), Place>>);

/// How far a webhook's log was looked at beyond what is stored.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The stored place it belongs to: a webhook that was moved otherwise begins anew.
    stored: i64,
    looked_to: i64,
    since: Instant,
    left_until: Option<Instant>,
}

/// Takes what is new for every webhook that is behind.
pub(super) async fn follow_all(app: &App, followed: &Followed) -> Result<(), StoreError> {
    let behind = app.store.webhooks_behind().await?;
    followed.forget_others(&behind);
    stream::iter(behind)
        .for_each_concurrent(AT_ONCE, |webhook| async move {
            let id = webhook.id;
            if let Err(error) = follow(app, followed, webhook).await {
                tracing::warn!(error = &error as &dyn std::error::Error, webhook = %id, "could not take events for a webhook");
            }
        })
        .await;
    Ok(())
}

async fn follow(app: &App, followed: &Followed, webhook: Webhook) -> Result<(), StoreError> {
    let mut place = followed.place(&webhook);
    if place.left_until.is_some_and(|until| Instant::now() < until) {
        return Ok(());
    }
    let filter = EventFilter { reader: Some(webhook.id), ..webhook.settings.filter.clone() };
    for _ in 0..PAGES {
        let scope = Scope::whole(webhook.account);
        let read = app.store.read_events(scope, &filter, place.looked_to, PAGE).await;
        let page = match read {
            Err(StoreError::CursorExpired) => {
                return app.store.note_webhook_gap(webhook.account, webhook.id).await;
            }
            read => read?,
        };
        let is_end = page.next == place.looked_to;
        place.looked_to = page.next;
        let is_worth_it = !page.events.is_empty() || place.since.elapsed() >= SAVE_EVERY;
        if !is_worth_it || place.looked_to == place.stored {
            if is_end {
                break;
            }
            continue;
        }
        let now = app.clock.now();
        let new = page.events.iter().map(|event| write_delivery(event, now)).collect();
        let store = &app.store;
        let moved = store.advance_webhook(webhook.account, webhook.id, place.stored, page.next, new).await?;
        place.stored = page.next;
        place.since = Instant::now();
        if moved && !page.events.is_empty() {
            // Nobody waits for the events of others.
            begin(app, webhook.account, webhook.id);
        } else if !moved {
            place.left_until = Some(Instant::now() + LEAVE_FOR);
            break;
        }
    }
    followed.put(&webhook, place);
    Ok(())
}

fn write_delivery(event: &Event, now: Timestamp) -> NewDelivery {
    let mut body = Vec::new();
    write_event(&mut body, event, now);
    NewDelivery {
        message: event_id(event.number),
        kind: event.kind.name().to_owned(),
        device: event.device,
        // It was written as JSON, which is text.
        body: String::from_utf8(body).unwrap_or_default(),
    }
}

impl Followed {
    fn place(&self, webhook: &Webhook) -> Place {
        let places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let stored = webhook.read_to;
        let anew = Place { stored, looked_to: stored, since: Instant::now(), left_until: None };
        let known = places.get(&(webhook.account, webhook.id)).copied();
        match known {
            Some(place) if place.stored == stored => place,
            Some(place) if place.left_until.is_some() => Place { left_until: place.left_until, ..anew },
            _ => anew,
        }
    }

    fn put(&self, webhook: &Webhook, place: Place) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        places.insert((webhook.account, webhook.id), place);
    }

    fn forget_others(&self, behind: &[Webhook]) {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if places.len() > behind.len() {
            let ids: std::collections::HashSet<_> =
                behind.iter().map(|webhook| (webhook.account, webhook.id)).collect();
            places.retain(|id, _| ids.contains(id));
        }
    }
}
