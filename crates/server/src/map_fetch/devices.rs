//! The places where devices were, from the store.

use std::sync::Arc;

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::AccountId;
use perigee_core::locations::location::{HistoryRequest, LastFilter, Order, StoredLocation, TimeRange};
use perigee_core::page::PageRequest;
use perigee_core::store::{LocationSink, Next, Store};
use perigee_core::time::Timestamp;
use tokio_util::sync::CancellationToken;

use super::area::DevicesSpec;
use super::cells::{CellSet, Cells};
use super::error::{FetchError, Result};

/// Locations that are read at a time.
const PART: u32 = 50_000;
const DAY_S: i64 = 86_400;

/// The squares around the places of the last days.
pub(super) async fn cells(
    store: &Arc<dyn Store>,
    spec: DevicesSpec,
    now: Timestamp,
    stop: &CancellationToken,
) -> Result<Cells> {
    let accounts: Vec<AccountId> = match spec.account {
        Some(account) => vec![account],
        None => store
            .list_accounts()
            .await
            .map_err(|error| failed(&error))?
            .into_iter()
            .map(|one| one.account.id)
            .collect(),
    };
    let range = TimeRange { from: now.plus_seconds(-i64::from(spec.days) * DAY_S), to: now };
    let mut places = Places { set: CellSet::default(), too_many: false };
    for account in accounts {
        places = read_account(store, account, range, places, stop).await?;
    }
    places.set.with_neighbours().ok_or_else(|| {
        FetchError::Area(
            "no device has reported a position in this time, so there is nothing to copy".to_owned(),
        )
    })
}

async fn read_account(
    store: &Arc<dyn Store>,
    account: AccountId,
    range: TimeRange,
    mut places: Places,
    stop: &CancellationToken,
) -> Result<Places> {
    let scope = Scope::for_background_job(account);
    let mut page = PageRequest::first(PageRequest::LIMIT_MAX);
    loop {
        let last = store
            .list_last_locations(scope, &LastFilter::default(), page)
            .await
            .map_err(|error| failed(&error))?;
        for (device, _) in &last.items {
            let mut after = None;
            loop {
                if stop.is_cancelled() {
                    return Err(FetchError::Stopped);
                }
                let request = HistoryRequest { range, order: Order::Ascending, after, limit: PART };
                let read = store.read_locations(scope, *device, request, Box::new(places)).await;
                let (sink, next) = read.map_err(|error| failed(&error))?;
                let sink: Box<dyn std::any::Any> = sink;
                places = *sink
                    .downcast::<Places>()
                    .map_err(|_other| FetchError::Disk("the store returned another sink".to_owned()))?;
                if places.too_many {
                    return Err(FetchError::Area(
                        "the devices were in too many places; draw the area instead, or look back fewer days"
                            .to_owned(),
                    ));
                }
                after = next;
                if after.is_none() {
                    break;
                }
            }
        }
        let Some(next) = last.next else { return Ok(places) };
        page.after = Some(next);
    }
}

fn failed(error: &StoreError) -> FetchError {
    tracing::warn!(error = error as &dyn std::error::Error, "the places of devices could not be read");
    FetchError::Disk("the places of devices could not be read from the database".to_owned())
}

/// Collects the squares of positions.
struct Places {
    set: CellSet,
    too_many: bool,
}

impl LocationSink for Places {
    fn take(&mut self, stored: &StoredLocation) -> Next {
        if stored.trust.suspect {
            return Next::More;
        }
        let location = &stored.location;
        self.too_many |= !self.set.add(location.longitude.as_degrees(), location.latitude.as_degrees());
        if self.too_many { Next::Stop } else { Next::More }
    }
}
