//! Writes the overview reports that are due. Sending them is left to the outbox.

use std::any::Any;
use std::time::Duration;

use perigee_core::access::actor::Scope;
use perigee_core::accounts::license::DeviceState;
use perigee_core::devices::device::{Device, DeviceFilter};
use perigee_core::error::StoreError;
use perigee_core::locations::location::{HistoryRequest, Order, StoredLocation, TimeRange};
use perigee_core::notifications::overview::{
    DeviceActivity, Odometer, Overview, OverviewBuilder, OverviewTask, Period,
};
use perigee_core::page::PageRequest;
use perigee_core::store::{LocationSink, Next};

use crate::app::App;

/// Milliseconds for which a report is claimed by one node. If two nodes write the same one it is stored once.
const CLAIM_MS: i64 = 10 * 60 * 1000;
/// Pause when no report is due; a report is at most this late.
const IDLE: Duration = Duration::from_mins(1);
/// Devices of one page.
const DEVICES: u32 = 200;
/// Locations of one read.
const LOCATIONS: u32 = 10_000;
/// How far before the period the starting point of a device is looked for: milliseconds, and number of locations.
const BEFORE_MS: i64 = 7 * 24 * 60 * 60 * 1000;
const BEFORE_MOST: u32 = 20;

/// Writes one report that is due, and gives the pause until the next.
pub async fn write_overview(app: &App) -> Duration {
    match write_one(app).await {
        Ok(true) => Duration::ZERO,
        Ok(false) => IDLE,
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not write an overview report");
            IDLE
        }
    }
}

async fn write_one(app: &App) -> Result<bool, StoreError> {
    let Some(task) = app.store.claim_overview(CLAIM_MS).await? else { return Ok(false) };
    let account = task.account.id;
    let overview = summarise(app, &task).await?;
    let filed = app.store.finish_overview(task, overview).await?;
    tracing::info!(%account, filed, "an overview report was written");
    Ok(true)
}

/// Sums up one device after another, reading histories in parts.
async fn summarise(app: &App, task: &OverviewTask) -> Result<Overview, StoreError> {
    let (account, period) = (task.account.id, task.period);
    let mut summary = OverviewBuilder::new(&task.settings);
    let mut page = PageRequest::first(DEVICES);
    loop {
        let devices = app
            .store
            .list_devices(Scope::for_background_job(account), &DeviceFilter::default(), page)
            .await?;
        let (last, is_end) = (devices.items.last().map(|device| device.id.as_i64()), devices.next.is_none());
        let told = devices.items.into_iter().filter(|device| task.settings.tells_of(&device.settings.groups));
        let told: Vec<Device> = told.collect();
        let ids = told.iter().map(|device| device.id).collect();
        let counts = app.store.overview_counts(account, period, ids).await?;
        for device in told {
            let counts = counts.get(&device.id).copied().unwrap_or_default();
            let is_active = device.state(app.clock.now()) == DeviceState::Active;
            let was_heard = device.last_seen.is_some_and(|seen| seen >= period.begins);
            let metres = if was_heard { distance_m(app, &device, period).await? } else { 0 };
            let name = device.settings.name;
            let figures = DeviceActivity { name, metres, counts, is_silent: is_active && !was_heard };
            summary.add(&device.settings.groups, &figures);
        }
        page.after = last;
        if is_end || last.is_none() {
            break;
        }
    }
    let names = app.store.group_names(account, summary.groups()).await?;
    Ok(summary.finish(period, names))
}

/// The distance of a device in metres, from its last location before the period over every trusted location.
async fn distance_m(app: &App, device: &Device, period: Period) -> Result<u64, StoreError> {
    let scope = Scope::for_background_job(device.account);
    let to = period.begins.plus_millis(-1);
    let range = TimeRange { from: period.begins.plus_millis(-BEFORE_MS), to };
    let request = HistoryRequest { range, order: Order::Descending, after: None, limit: BEFORE_MOST };
    let before = app.store.list_locations(scope, device.id, request).await;
    let mut journey = Odometer::default();
    let Some(before) = unless_gone(before)? else { return Ok(0) };
    for location in before.items {
        if !journey.has_position() {
            journey.start_at(&location);
        }
    }
    let range = TimeRange { from: period.begins, to: period.ends.plus_millis(-1) };
    let mut request = HistoryRequest { range, order: Order::Ascending, after: None, limit: LOCATIONS };
    loop {
        let read = app.store.read_locations(scope, device.id, request, Box::new(DistanceSink(journey))).await;
        let Some((sink, next)) = unless_gone(read)? else { return Ok(0) };
        let sink: Box<dyn Any> = sink;
        journey = sink.downcast::<DistanceSink>().map(|sink| sink.0).unwrap_or_default();
        request.after = next;
        if next.is_none() {
            return Ok(journey.metres());
        }
    }
}

/// A device that was deleted meanwhile counts as not moving.
fn unless_gone<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(StoreError::NotFound(_)) => Ok(None),
        read => read.map(Some),
    }
}

/// Adds up the distance while a history is read.
struct DistanceSink(Odometer);

impl LocationSink for DistanceSink {
    fn take(&mut self, stored: &StoredLocation) -> Next {
        self.0.add(stored);
        Next::More
    }
}
