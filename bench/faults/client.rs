//! Clients that use the server until it is killed: writers on separate connections, and a reader of the location feed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use perigee_bench::http::Connection;
use rand::Rng;
use rand::rngs::StdRng;
use serde::Deserialize;
use tokio::sync::Notify;

use crate::check::Found;
use crate::ledger::{Ledger, Purpose};
use crate::point::{Seen, recognise};

/// Locations of the largest batch.
pub(crate) const BATCH_MAX: usize = 400;
/// The same for the writer that keeps compaction busy.
pub(crate) const BULK_MAX: usize = 6000;
/// The acknowledgement of so many new locations is a moment to kill the server: a commit that still runs is the longest.
const AIMED_MIN: usize = 500;

/// State shared by writers and reader.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) address: String,
    pub(crate) token: String,
    /// The identifiers of the devices, in the order of the ledger's pages.
    pub(crate) identifiers: Arc<Vec<String>>,
    /// Index of each device by id.
    pub(crate) indices: Arc<HashMap<String, usize>>,
    pub(crate) ledger: Arc<Mutex<Ledger>>,
    pub(crate) found: Arc<Mutex<Found>>,
    /// Notified when a large request with new locations was acknowledged, before anything else is done.
    pub(crate) large_acknowledged: Arc<Notify>,
}

/// Locks a mutex, ignoring poisoning.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Deserialize)]
struct Stored {
    accepted: usize,
    duplicates: usize,
}

/// Sends requests until the connection breaks.
pub(crate) async fn write(shared: Shared, most: usize, mut random: StdRng) {
    let Ok(mut connection) = Connection::open(&shared.address).await else { return };
    loop {
        let request = locked(&shared.ledger).next(&mut random, most);
        let line = format!("POST /api/devices/{}/locations", shared.identifiers[request.device]);
        let answered = connection.call(&line, &shared.token, &request.body()).await;
        let Ok(answer) = answered else {
            locked(&shared.ledger).leave_unanswered(request);
            return;
        };
        if answer.is_success() {
            if request.purpose == Purpose::Fresh && request.slots.len() >= AIMED_MIN {
                shared.large_acknowledged.notify_waiters();
            }
            let sizes = answer.json().ok().and_then(|body| serde_json::from_value::<Stored>(body).ok());
            let fits = sizes.is_some_and(|Stored { accepted, duplicates }| {
                let whole = accepted + duplicates == request.slots.len();
                whole
                    && match request.purpose {
                        Purpose::Fresh => duplicates == 0,
                        Purpose::Known => accepted == 0,
                        Purpose::Unknown => true,
                    }
            });
            if !fits {
                locked(&shared.found).note_answer(&request, &answer.text());
            }
            locked(&shared.ledger).acknowledge(request);
        } else {
            let is_expected = answer.status == 503;
            if !is_expected {
                locked(&shared.found).note_answer(&request, &answer.text());
            }
            let mut ledger = locked(&shared.ledger);
            ledger.counts.refused += 1;
            ledger.leave_unanswered(request);
        }
        // Limits the rate, so that the database does not grow too large.
        let rest = Duration::from_micros(random.random_range(0..4_000));
        tokio::time::sleep(rest).await;
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FeedPage {
    locations: Vec<InFeed>,
    next_cursor: String,
}

/// A location of the location feed.
#[derive(Deserialize)]
#[serde(untagged)]
enum InFeed {
    /// With every member that a location of the ledger has.
    Whole(Seen),
    /// Without some of them.
    Other(Other),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Other {
    device_id: Option<String>,
    date_time: String,
}

/// Reads the location feed from a cursor until the server is killed, or until its end if `to_end` is set. The cursor moves
/// only after a page was read completely.
pub(crate) async fn follow(shared: &Shared, cursor: &mut String, to_end: bool) -> Result<()> {
    let mut connection = Connection::open(&shared.address).await?;
    loop {
        let wait = u8::from(!to_end);
        let line = format!("GET /api/locations/feed?cursor={cursor}&limit=5000&wait={wait}");
        let answer = connection.call(&line, &shared.token, b"").await?;
        if answer.status == 503 && !to_end {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        }
        let page: FeedPage = serde_json::from_slice(&answer.content())
            .with_context(|| format!("{line}: {}", answer.text()))?;
        let is_end = page.locations.is_empty();
        let (mut ledger, mut found) = (locked(&shared.ledger), locked(&shared.found));
        let index_of = |id: Option<&String>| id.and_then(|id| shared.indices.get(id).copied());
        for seen in page.locations {
            let seen = match seen {
                InFeed::Whole(seen) => seen,
                InFeed::Other(other) => {
                    // A second node has a device of its own, which is in no ledger (`freeze.rs`).
                    if let Some(device) = index_of(other.device_id.as_ref()) {
                        found.note_unknown_location("feed", &(device, other.date_time));
                    }
                    continue;
                }
            };
            let index = index_of(seen.device_id.as_ref());
            let shown = index.and_then(|index| {
                let slot = recognise(index, &seen)?;
                ledger.pages[index].shown.get_mut(slot as usize)
            });
            match shown {
                Some(shown) => *shown = shown.saturating_add(1),
                None => found.note_unknown_location("feed", &seen),
            }
        }
        *cursor = page.next_cursor;
        if to_end && is_end {
            return Ok(());
        }
    }
}
