//! Totals of timelines by interval, for each device, each group, or the account.

use std::collections::HashMap;

use perigee_core::access::actor::Scope;
use perigee_core::devices::device::{DeviceFilter, DeviceRef};
use perigee_core::id::GroupId;
use perigee_core::page::PageRequest;
use perigee_core::store::DriverKey;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{Interval, NamedPeriod, Totals};
use perigee_core::zone::Zone;
use perigee_reports::Grouping;

use super::input::GroupingName;
use super::period::{Asked, IntervalName, PeriodName, limits};
use crate::budget::Payer;
use crate::http::cursor::Cursor;
use crate::http::held_answer::hold;
use crate::http::names::{device_param, group_param};
use crate::http::prelude::*;
use crate::http::read_turn::ReadTurn;
use crate::http::reply::encode;
use crate::reports::{
    DevicePages, DriverSums, ReportDevice, Selection, add_drivers, driver_names, sum_by_group,
};

/// The name that cursors are bound to.
const LIST: &str = "totals";
/// Totals of an answer.
const TOTALS_MAX: usize = 50_000;
/// Devices of a page.
const DEVICES_MAX: u32 = 1_000;

/// An ID, or null: unlike an absent member, null says something.
#[derive(Serialize)]
struct NullableId(Option<String>);

/// Totals of a device, a group or the account in an interval.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TimelineTotals)]
pub struct TotalsView {
    /// ID of the device. Present only with `by=device`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// ID of the group. Present only with `by=group`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "grp_01jc2m8k4n5p6")]
    group_id: Option<String>,
    /// ID of the driver. Present only with `by=driver`; null for trips of a driver who was deleted or whom a user named only
    /// by a text, and for trips without a driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, value_type = Option<String>, example = "drv_01jc2m8k4n5p6")]
    driver_id: Option<NullableId>,
    /// Name of the device, group or driver. Null with `by=account`, and for trips without a driver.
    #[schema(example = "Northern Star")]
    name: Option<String>,
    /// Beginning of the interval.
    #[schema(example = "2026-05-01T00:00:00Z", format = DateTime)]
    from: String,
    /// End of the interval, which does not belong to it.
    #[schema(example = "2026-05-02T00:00:00Z", format = DateTime)]
    to: String,
    /// Distance of trips, in km.
    #[schema(example = 143.215, minimum = 0)]
    distance: f64,
    /// Straight distance of gaps, in km. It belongs to no trip.
    #[schema(example = 0.0, minimum = 0)]
    gap_distance: f64,
    /// Seconds in motion.
    #[schema(example = 9_400, minimum = 0)]
    moving_seconds: u64,
    /// Seconds at rest: stops, and waiting within trips.
    #[schema(example = 77_000, minimum = 0)]
    standing_seconds: u64,
    /// Seconds at rest with the engine on; a part of `standingSeconds`.
    #[schema(example = 600, minimum = 0)]
    idling_seconds: u64,
    /// Seconds with the engine on. Null if no device reported it.
    #[schema(example = 10_000, minimum = 0)]
    engine_seconds: Option<u64>,
    /// Seconds of gaps.
    #[schema(example = 0, minimum = 0)]
    gap_seconds: u64,
    /// Number of trips that began in the interval.
    #[schema(example = 4, minimum = 0)]
    trips: u64,
    /// Number of stops that began in the interval.
    #[schema(example = 4, minimum = 0)]
    stops: u64,
    /// First beginning of a trip in the interval. Null if no trip began in it.
    #[schema(example = "2026-05-01T08:12:00Z", format = DateTime)]
    first_departure: Option<String>,
    /// Last end of a finished trip in the interval. Null if no trip ended in it.
    #[schema(example = "2026-05-01T18:40:00Z", format = DateTime)]
    last_arrival: Option<String>,
    /// Greatest speed in km/h of the trips in the interval. Null without trips.
    #[schema(example = 96.5, minimum = 0)]
    max_speed: Option<f64>,
}

/// Totals of a period.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TimelineTotalsList)]
pub struct TotalsList {
    /// Beginning of the period.
    #[schema(example = "2026-05-01T00:00:00Z", format = DateTime)]
    from: String,
    /// End of the period, which does not belong to it.
    #[schema(example = "2026-06-01T00:00:00Z", format = DateTime)]
    to: String,
    /// Time zone of days, weeks and months.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Totals, sorted by device or group, then by time. Intervals without segments are left out.
    totals: Vec<TotalsView>,
    /// Cursor of the next page of devices. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[expect(clippy::cast_precision_loss, reason = "distances are far below 2^53 metres")]
fn km(metres: u64) -> f64 {
    metres as f64 / 1_000.0
}

impl TotalsView {
    fn of(totals: &Totals, interval: usize, limits: &[Timestamp]) -> Self {
        let limit = |at: usize| limits.get(at).map(ToString::to_string).unwrap_or_default();
        Self {
            device_id: None,
            group_id: None,
            driver_id: None,
            name: None,
            from: limit(interval),
            to: limit(interval + 1),
            distance: km(totals.distance_m),
            gap_distance: km(totals.gap_distance_m),
            moving_seconds: totals.moving_s,
            standing_seconds: totals.standing_s,
            idling_seconds: totals.idling_s,
            engine_seconds: totals.engine_s,
            gap_seconds: totals.gap_s,
            trips: totals.trips,
            stops: totals.stops,
            first_departure: totals.first_departure.map(|at| at.to_string()),
            last_arrival: totals.last_arrival.map(|at| at.to_string()),
            max_speed: totals.max_speed.map(perigee_core::locations::location::Milli::as_f64),
        }
    }
}

/// The question that a query asks.
struct Asking {
    scope: Scope,
    payer: Payer,
    limits: Vec<Timestamp>,
    device: Option<perigee_core::id::DeviceId>,
    group: Option<GroupId>,
}

/// List totals of timelines
///
/// Adds up the trips, stops and gaps of a period: for each device that the caller may see, for each group, for each driver, or
/// for the whole account; by day, week or month, or for the whole period. Segments at the limits of intervals are divided in proportion to
/// time, so that the totals of the intervals add up to those of the period. A device counts in each of its groups. With
/// `by=driver`, only trips are added up, because stops and gaps count for nobody. With
/// `by=device`, the answer is paged by device. Any user may call this operation.
#[utoipa::path(get, path = "/api/totals", tag = "reports", params(
    ("period" = Option<PeriodName>, Query, description = "The period. Must not be given together with `from` or `to`. Default without them: `thisMonth`."),
    ("from" = Option<String>, Query, description = "Start of the period, inclusive.", format = DateTime, example = "2026-05-01T00:00:00Z"),
    ("to" = Option<String>, Query, description = "End of the period, exclusive. Must be later than `from`. Default: now.", format = DateTime, example = "2026-06-01T00:00:00Z"),
    ("interval" = Option<IntervalName>, Query, description = "The intervals to add up; at most 400. Default: `day`."),
    ("by" = Option<GroupingName>, Query, description = "What the totals are about. Default: `device`."),
    ("device" = Option<String>, Query, description = "Only this device, by ID, identifier or name.", example = "dev_01jc2m8k4n5p7"),
    ("group" = Option<String>, Query, description = "Only devices in this group, by ID or name.", example = "grp_01jc2m8k4n5p6"),
    ("timeZone" = Option<String>, Query, description = "Time zone of days, weeks and months, and of times without an offset, as an IANA name. Default: that of the caller.", example = "Europe/Madrid"),
    ("limit" = Option<u32>, Query, description = "Maximum number of devices in a page, with `by=device`. Default: as many as have at most 50000 totals, up to 1000.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Totals of the period.", body = TotalsList)))]
pub async fn list_totals(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let zone = params.parsed::<Zone>("timeZone", "an IANA time zone such as Europe/Madrid");
    let zone = zone.unwrap_or_else(|| caller.zone().clone());
    let asked = Asked {
        named: params.word("period", &NamedPeriod::ALL.map(|period| (period.name(), period))),
        from: params.instant("from", &zone),
        to: params.instant("to", &zone),
    };
    let interval = params.word("interval", &Interval::ALL.map(|interval| (interval.name(), interval)));
    let by = params.word("by", &Grouping::ALL.map(|by| (by.name(), by))).unwrap_or(Grouping::Device);
    let device = device_param(&app, &caller, &mut params, "device").await?;
    let group = group_param(&app, &caller, &mut params, "group").await?;
    let limit = params.number("limit", 1, DEVICES_MAX);
    let cursor = params.text("cursor");
    for (name, is_given) in [("limit", limit.is_some()), ("cursor", cursor.is_some())] {
        if is_given && by != Grouping::Device {
            params.refuse(name, format!("The parameter \"{name}\" is supported only with \"by=device\"."));
        }
    }
    let limits = asked
        .resolve(NamedPeriod::ThisMonth, caller.now(), &zone)
        .and_then(|period| limits(interval.unwrap_or(Interval::Day), period, &zone));
    let limits = limits.unwrap_or_else(|(name, problem)| {
        params.refuse(name, format!("The parameter \"{name}\" {problem}."));
        Vec::new()
    });
    let count = limits.len().saturating_sub(1).max(1);
    let most = u32::try_from(TOTALS_MAX / count).unwrap_or(DEVICES_MAX).min(DEVICES_MAX);
    if limit.is_some_and(|limit| limit > most) {
        params.refuse(
            "limit",
            format!("The parameter \"limit\" must be at most {most} with {count} intervals."),
        );
    }
    params.finish()?;
    let after = cursor.map(|text| Cursor::read(LIST, &text)).transpose()?.map(|cursor| cursor.number);
    let payer = Payer::account(caller.account().id);
    let asking = Asking { scope: caller.scope(), payer, limits, device, group };
    let (totals, next) = if by == Grouping::Device {
        asking.by_device(&app, PageRequest { after, limit: limit.unwrap_or(most) }).await?
    } else if by == Grouping::Driver {
        (asking.by_driver(&app).await?, None)
    } else {
        (asking.by_group(&app, by).await?, None)
    };
    let text = |limit: Option<&Timestamp>| limit.map(ToString::to_string).unwrap_or_default();
    let list = TotalsList {
        from: text(asking.limits.first()),
        to: text(asking.limits.last()),
        time_zone: zone.id().to_owned(),
        totals,
        next_cursor: next.map(|next| Cursor::at(next).write(LIST)),
    };
    let bytes = hold(&app, caller.payer(), encode(Some(caller.usage()), &list).map_err(internal)?)?;
    Ok(([(http::header::CONTENT_TYPE, "application/json")], bytes).into_response())
}

fn too_many_totals() -> ApiError {
    invalid_parameter(
        "interval",
        format!("The answer has more than {TOTALS_MAX} totals. Choose a longer interval, or one group."),
    )
}

impl Asking {
    async fn by_device(&self, app: &App, page: PageRequest) -> ApiResult<(Vec<TotalsView>, Option<i64>)> {
        let _slot = ReadTurn::of(app, self.payer).first().await?;
        let (devices, next): (Vec<ReportDevice>, _) = if let Some(id) = self.device {
            let found = app.store.find_device(self.scope, &DeviceRef::Id(id)).await?;
            let in_group =
                |device: &ReportDevice| self.group.is_none_or(|group| device.groups.contains(&group));
            (found.map(ReportDevice::from).filter(in_group).into_iter().collect(), None)
        } else {
            let filter = DeviceFilter { group: self.group, ..DeviceFilter::default() };
            let found = app.store.list_devices(self.scope, &filter, page).await?;
            (found.items.into_iter().map(ReportDevice::from).collect(), found.next)
        };
        let ids = devices.iter().map(|device| device.id).collect();
        let sums = app.store.sum_segments(self.scope, ids, self.limits.clone()).await?;
        let names: HashMap<_, _> = devices.iter().map(|device| (device.id, &device.name)).collect();
        let view = |sum: &perigee_core::store::DeviceTotals| TotalsView {
            device_id: Some(sum.device.to_string()),
            name: names.get(&sum.device).map(ToString::to_string),
            ..TotalsView::of(&sum.totals, sum.interval, &self.limits)
        };
        Ok((sums.iter().map(view).collect(), next))
    }

    fn selection(&self) -> Selection {
        match (self.device, self.group) {
            (Some(device), _) => Selection::Some(vec![device], Vec::new()),
            (None, Some(group)) => Selection::Some(Vec::new(), vec![group]),
            (None, None) => Selection::All,
        }
    }

    async fn by_driver(&self, app: &App) -> ApiResult<Vec<TotalsView>> {
        let turn = ReadTurn::of(app, self.payer);
        let mut first = Some(turn.first().await?);
        let mut pages = DevicePages::new(self.scope, &self.selection());
        let mut sums = DriverSums::new();
        loop {
            let _slot = match first.take() {
                Some(slot) => slot,
                None => turn.next().await?,
            };
            let devices = pages.next(app.store.as_ref()).await?;
            if devices.is_empty() {
                break;
            }
            let in_group =
                |device: &&ReportDevice| self.group.is_none_or(|group| device.groups.contains(&group));
            let ids = devices.iter().filter(in_group).map(|device| device.id).collect();
            add_drivers(&mut sums, app.store.sum_driver_trips(self.scope, ids, self.limits.clone()).await?);
            if sums.len() > TOTALS_MAX {
                return Err(too_many_totals());
            }
        }
        let names = driver_names(app.store.as_ref(), self.scope, &sums).await?;
        let views = sums.iter().map(|((driver, interval), totals)| {
            let id = match driver {
                DriverKey::Known(id) => Some(id.to_string()),
                DriverKey::Named(_) | DriverKey::Unknown => None,
            };
            TotalsView {
                driver_id: Some(NullableId(id)),
                name: names.of(driver).map(|name| name.to_string()),
                ..TotalsView::of(totals, *interval, &self.limits)
            }
        });
        Ok(views.collect())
    }

    async fn by_group(&self, app: &App, by: Grouping) -> ApiResult<Vec<TotalsView>> {
        let selection = self.selection();
        let turn = ReadTurn::of(app, self.payer);
        let mut first = Some(turn.first().await?);
        let mut pages = DevicePages::new(self.scope, &selection);
        let mut sums = std::collections::BTreeMap::new();
        loop {
            let _slot = match first.take() {
                Some(slot) => slot,
                None => turn.next().await?,
            };
            let devices = pages.next(app.store.as_ref()).await?;
            if devices.is_empty() {
                break;
            }
            let ids = devices.iter().map(|device| device.id).collect();
            let found = app.store.sum_segments(self.scope, ids, self.limits.clone()).await?;
            sum_by_group(&mut sums, by, self.scope, &devices, &found);
            if sums.len() > TOTALS_MAX {
                return Err(too_many_totals());
            }
        }
        if let Some(group) = self.group {
            sums.retain(|(of, _), _| of.is_none_or(|of| of == group));
        }
        let mut ids: Vec<GroupId> = sums.keys().filter_map(|(group, _)| *group).collect();
        ids.dedup();
        let names = app.store.group_names(self.scope.account, ids).await?;
        let views = sums.iter().map(|((group, interval), totals)| TotalsView {
            group_id: group.map(|group| group.to_string()),
            name: group.and_then(|group| names.get(&group).cloned()),
            ..TotalsView::of(totals, *interval, &self.limits)
        });
        Ok(views.collect())
    }
}
