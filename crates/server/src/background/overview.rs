//! Writes the overview reports that are due. Sending them is left to the outbox.

use std::time::Duration;

use perigee_core::access::actor::Scope;
use perigee_core::accounts::license::DeviceState;
use perigee_core::devices::device::{Device, DeviceFilter};
use perigee_core::error::StoreError;
use perigee_core::locations::location::TimeRange;
use perigee_core::notifications::overview::{
    DeviceActivity, Overview, OverviewBuilder, OverviewTask, Period,
};
use perigee_core::page::PageRequest;
use perigee_core::timeline::{Segment, SegmentKind, clip};

use crate::app::App;

/// Milliseconds for which a report is claimed by one node. If two nodes write the same one it is stored once.
const CLAIM_MS: i64 = 10 * 60 * 1000;
/// Pause when no report is due; a report is at most this late.
const IDLE: Duration = Duration::from_mins(1);
/// Devices of one page.
const DEVICES: u32 = 200;
/// Trips of one read.
const TRIPS: u32 = 1_000;

/// Writes one due report, and returns the pause until the next.
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

/// Sums up one device after another.
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
        let covered =
            devices.items.into_iter().filter(|device| task.settings.covers(&device.settings.groups));
        let covered: Vec<Device> = covered.collect();
        let ids = covered.iter().map(|device| device.id).collect();
        let counts = app.store.overview_counts(account, period, ids).await?;
        for device in covered {
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

/// The distance of a device in metres: that of its trips, those at the ends of the period cut, as its timeline shows it.
async fn distance_m(app: &App, device: &Device, period: Period) -> Result<u64, StoreError> {
    let scope = Scope::for_background_job(device.account);
    let (mut from, to, mut metres) = (period.begins, period.ends, 0);
    loop {
        let range = TimeRange { from, to };
        let trips = app.store.list_segments(scope, device.id, range, Some(SegmentKind::Trip), TRIPS).await;
        let Some(page) = unless_deleted(trips)? else { return Ok(0) };
        let trips: Vec<Segment> = page.segments.into_iter().map(|stored| stored.segment).collect();
        metres += clip(&trips, from, to).iter().map(|trip| trip.distance_m).sum::<u64>();
        match trips.last() {
            Some(last) if page.more => from = last.to,
            _ => return Ok(metres),
        }
    }
}

/// A device that was deleted meanwhile counts as not moving.
fn unless_deleted<T>(read: Result<T, StoreError>) -> Result<Option<T>, StoreError> {
    match read {
        Err(StoreError::NotFound(_)) => Ok(None),
        read => read.map(Some),
    }
}
