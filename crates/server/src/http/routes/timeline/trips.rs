//! Trips of all visible devices.

use perigee_core::id::SegmentId;
use perigee_core::store::{DriverKey, RemovedTrip, TripFilter, TripOrder};
use perigee_core::time::Timestamp;
use perigee_core::timeline::StoredSegment;

use super::view::SegmentView;
use crate::budget::Payer;
use crate::http::cursor::Cursor;
use crate::http::names::{device_param, group_param};
use crate::http::place::place_param;
use crate::http::prelude::*;
use crate::http::read_turn::ReadTurn;

/// The names that the cursors of both orders are bound to.
const BY_TIME: &str = "trips";
const BY_CHANGE: &str = "trips by change";
/// The default and the greatest number of trips in a page.
const PAGE: u32 = 100;
const PAGE_MAX: u32 = 1_000;

/// A trip that no longer exists.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = RemovedTrip)]
pub struct RemovedTripView {
    /// ID that the trip had.
    #[schema(example = "seg_01jc2m8k4n5p6")]
    id: String,
    /// ID of its device.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Beginning of the trip when it was removed.
    #[schema(example = "2026-05-01T08:12:00Z", format = DateTime)]
    from: String,
    /// End of the trip when it was removed.
    #[schema(example = "2026-05-01T08:55:00Z", format = DateTime)]
    to: String,
    /// Time at which the trip was removed.
    #[schema(example = "2026-05-02T09:00:00Z", format = DateTime)]
    removed_at: String,
}

/// A list of trips.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TripList {
    /// The trips, sorted by `from`, or by their last change with `updatedSince`.
    trips: Vec<SegmentView>,
    /// Trips that no longer exist, sorted by their removal. Present only with `updatedSince`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    removed: Option<Vec<RemovedTripView>>,
    /// Cursor of the next page. Absent on the last page; with `updatedSince` always present.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    next_cursor: Option<String>,
}

impl From<RemovedTrip> for RemovedTripView {
    fn from(trip: RemovedTrip) -> Self {
        Self {
            id: trip.id.to_string(),
            device_id: trip.device.to_string(),
            from: trip.from.to_string(),
            to: trip.to.to_string(),
            removed_at: trip.removed_at.to_string(),
        }
    }
}

/// List trips
///
/// Returns trips of all devices that the caller may see, sorted by `from`, in pages.
///
/// With `updatedSince`, the trips that were changed at or after this time are returned, in the order of their last change,
/// and every answer has `nextCursor`. A client that passes it as `cursor` of the next request, with the same `updatedSince`,
/// gets every later change. Trips that no longer exist are in `removed` for 90 days after their removal; of the filters,
/// only the device, the group and the period apply to them. Any user may call this operation.
#[utoipa::path(get, path = "/api/trips", tag = "trips", params(
    ("from" = Option<String>, Query, description = "Only trips that end after this time. Default: no lower bound.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "Only trips that begin before this time. Must not be before `from`. Default: no upper bound.", format = DateTime, example = "2026-05-02T00:00:00Z"),
    ("device" = Option<String>, Query, description = "Only trips of this device, by ID, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("group" = Option<String>, Query, description = "Only trips of devices in this group, by ID or name.", example = "grp_01jc2m8k4n5p6"),
    ("driver" = Option<String>, Query, description = "Only trips of this driver, by ID or by the name on the trip; `none` for trips without a driver.", example = "Ana", max_length = 100),
    ("purpose" = Option<String>, Query, description = "Only trips with this purpose.", example = "business", max_length = 100),
    ("minDistance" = Option<u32>, Query, description = "Only trips of at least this distance, in kilometres. Default: no limit.", example = 10, minimum = 0, maximum = 100_000),
    ("updatedSince" = Option<String>, Query, description = "Only trips that were changed at or after this time, in the order of their last change.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("place" = Option<bool>, Query, description = "`true` to add `place`, the position in words, to `start` and `end`. Default: `false`.", example = true),
    ("language" = Option<crate::http::routes::access::session_preferences::ConsoleLanguageName>, Query, description = "Language of `place`. Default: the language of the caller's preferences, or else of the caller's country."),
    ("units" = Option<crate::http::routes::notifications::alert_routing::view::UnitsName>, Query, description = "Units of distances in `place`. Default: the units of the caller's preferences."),
    ("limit" = Option<u32>, Query, description = "Maximum number of trips in a page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Trips of visible devices.", body = TripList)))]
pub async fn list_trips(Call(app, caller): Call, mut params: Params) -> ApiReply<TripList> {
    let zone = caller.zone();
    let (from, to) = (params.instant("from", zone), params.instant("to", zone));
    if from.zip(to).is_some_and(|(from, to)| to < from) {
        params.refuse("to", "The parameter \"to\" must not be before \"from\".");
    }
    let mut filter = TripFilter {
        device: device_param(&app, &caller, &mut params, "device").await?,
        group: group_param(&app, &caller, &mut params, "group").await?,
        from,
        to,
        updated_since: params.instant("updatedSince", zone),
        purpose: params.text("purpose"),
        driver: params.text("driver").filter(|text| !text.is_empty()).map(driver_key),
        least_distance_m: params.number("minDistance", 0, 100_000).map(|km| u64::from(km) * 1_000),
    };
    let reader = place_param(&app, &caller, &mut params).await?;
    let limit = params.number("limit", 1, PAGE_MAX).unwrap_or(PAGE);
    let cursor = params.text("cursor");
    params.finish()?;
    let is_feed = filter.updated_since.is_some();
    let cursor =
        cursor.map(|text| Cursor::read(if is_feed { BY_CHANGE } else { BY_TIME }, &text)).transpose()?;
    let order = if is_feed {
        // What comes after a cursor was changed later, whatever the clock said.
        filter.updated_since =
            filter.updated_since.filter(|_| cursor.is_none_or(|cursor| cursor.number == 0));
        TripOrder::Change(cursor.map(|cursor| cursor.number))
    } else {
        let after =
            |cursor: Cursor| (Timestamp::from_millis(cursor.time), SegmentId::from_i64(cursor.number));
        TripOrder::Time(cursor.map(after))
    };
    let (mut trips, mut removed) = {
        let _slot = ReadTurn::of(&app, Payer::account(caller.account().id)).first().await?;
        let trips = app.store.list_trips(caller.scope(), &filter, order, limit).await?;
        let removed = match order {
            TripOrder::Change(after) => {
                app.store.list_removed_trips(caller.scope(), &filter, after, limit).await?
            }
            TripOrder::Time(_) => Vec::new(),
        };
        (trips, removed)
    };
    let last_change = keep_first(&mut trips, &mut removed, limit);
    let is_full = u32::try_from(trips.len()).is_ok_and(|count| count >= limit);
    let next_cursor = match trips.last() {
        _ if is_feed => {
            let next = last_change.map(Cursor::at).or(cursor);
            Some(next.unwrap_or(Cursor::at(0)).write(BY_CHANGE))
        }
        Some(last) if is_full => Some(position(last).write(BY_TIME)),
        _ => None,
    };
    let trips = trips.into_iter().map(|trip| SegmentView::described(trip, reader)).collect();
    let removed = is_feed.then(|| removed.into_iter().map(RemovedTripView::from).collect());
    Ok(caller.reply(TripList { trips, removed, next_cursor }))
}

/// The driver that a filter names: an ID, a name, or `none`.
fn driver_key(text: String) -> DriverKey {
    match text.parse() {
        Ok(id) => DriverKey::Known(id),
        Err(_) if text == "none" => DriverKey::Unknown,
        Err(_) => DriverKey::Named(text),
    }
}

/// Keeps the first changes of both lists, as many as a page has; returns the number of the last one.
fn keep_first(trips: &mut Vec<StoredSegment>, removed: &mut Vec<RemovedTrip>, limit: u32) -> Option<i64> {
    let mut changes: Vec<i64> = trips.iter().map(|trip| trip.change).collect();
    if !removed.is_empty() {
        changes.extend(removed.iter().map(|trip| trip.change));
        changes.sort_unstable();
        changes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let last = changes.last().copied()?;
        trips.retain(|trip| trip.change <= last);
        removed.retain(|trip| trip.change <= last);
    }
    changes.last().copied()
}

fn position(trip: &StoredSegment) -> Cursor {
    Cursor { number: trip.id.as_i64(), time: trip.segment.from.as_millis() }
}
