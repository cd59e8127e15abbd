//! The JSON of maintenance plans.

use perigee_core::maintenance::{Due, DueState, MaintenancePlan, MaintenanceStatus, Measure, Period};
use perigee_core::time::Timestamp;

use crate::http::input::{Word, words};
use crate::http::prelude::*;

words! {
    "MaintenanceState", "State of a maintenance plan. `ok`: not due. `soon`: due within the warning of one of its limits. `due`: a limit is \
     reached." => DueState;
    "MaintenanceMeasure", "What a limit of a maintenance plan measures. `distance`: kilometres of trips. `engineHours`: hours with the engine \
     on. `date`: dates of the calendar." => Measure;
}

/// A state, as the API describes it.
pub(super) type StateName = Word<DueState>;
/// A measure, as the API describes it.
pub(super) type MeasureName = Word<Measure>;

/// A maintenance plan of a device: what is to be done after which distance, engine hours or time.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MaintenancePlan)]
pub struct PlanView {
    /// Unique identifier of the maintenance plan, assigned by the server. It never changes.
    #[schema(example = "mnt_01jc2m8k4n5p6")]
    id: String,
    /// ID of the device that is maintained. It never changes.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Name of the plan: what is to be done.
    #[schema(example = "Oil change")]
    name: String,
    /// Interval in kilometres. Null for no limit by distance.
    #[schema(example = 15000, minimum = 1)]
    distance: Option<u64>,
    /// Interval in engine hours. Null for no limit by engine hours.
    #[schema(example = 250, minimum = 1)]
    engine_hours: Option<u64>,
    /// Interval in days. Null for none.
    #[schema(example = json!(null), minimum = 1)]
    days: Option<u32>,
    /// Interval in months of the calendar. Null for none.
    #[schema(example = 12, minimum = 1)]
    months: Option<u32>,
    /// Fixed date on which the work is due. Null for none. It is cleared when the work is done, unless the next one is given.
    #[schema(example = json!(null), format = Date)]
    date: Option<String>,
    /// Kilometres before it is due, from which the state is `soon`. Null for no warning by distance.
    #[schema(example = 1000, minimum = 0)]
    soon_distance: Option<u64>,
    /// Engine hours before it is due, from which the state is `soon`. Null for no warning by engine hours.
    #[schema(example = 20, minimum = 0)]
    soon_engine_hours: Option<u64>,
    /// Days before it is due, from which the state is `soon`. Null for no warning by date.
    #[schema(example = 14, minimum = 0)]
    soon_days: Option<u32>,
    /// Free text about the plan. Null if not set.
    #[schema(example = "5W-30, 6 litres")]
    notes: Option<String>,
    /// Time at which the work was last done: the beginning of the present cycle.
    #[schema(example = "2026-05-01T08:00:00Z", format = DateTime)]
    last_done: String,
    /// Reading of the odometer at `lastDone`, in kilometres. Null if it is not known.
    #[schema(example = 120_500.0, minimum = 0)]
    odometer: Option<f64>,
    /// Reading of the hour meter of the engine at `lastDone`, in hours. Null if it is not known.
    #[schema(example = 3100.5, minimum = 0)]
    hour_meter: Option<f64>,
    /// Number of times that the work was done.
    #[schema(example = 2, minimum = 0)]
    times_done: i64,
    /// How much is left until the work is due.
    due: DueView,
    /// Time at which the plan was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the plan, or reported that the work was done.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// How much is left until the work of a maintenance plan is due. It is computed from the timeline of the device, as totals
/// and reports are.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = MaintenanceDue)]
pub(super) struct DueView {
    /// State of the plan: `ok`, `soon` or `due`.
    #[schema(value_type = StateName, example = "soon")]
    state: &'static str,
    /// Limit that is nearest: `distance`, `engineHours` or `date`. Null if the plan has no limit.
    #[schema(value_type = Option<MeasureName>, example = "distance")]
    by: Option<&'static str>,
    /// Share of the nearest limit that is used: 1 if the work is due, more if it is overdue.
    #[schema(example = 0.952, minimum = 0)]
    share: f64,
    /// Kilometres left. Negative if the work is overdue. Null without `distance`.
    #[schema(example = 714.8)]
    distance_left: Option<f64>,
    /// Engine hours left. Negative if the work is overdue. Null without `engineHours`.
    #[schema(example = 41.25)]
    engine_hours_left: Option<f64>,
    /// Days left: 0 on the day on which the work is due, negative later. Null without `days`, `months` and `date`.
    #[schema(example = 120)]
    days_left: Option<i64>,
    /// Date on which the work is due by the calendar of the account. Null without `days`, `months` and `date`.
    #[schema(example = "2027-05-01", format = Date)]
    date: Option<String>,
    /// Date on which the work is probably due if the device is used as since `lastDone`. Null if it is due, within the first
    /// day, and if nothing is known.
    #[schema(example = "2026-06-12", format = Date)]
    estimated_date: Option<String>,
    /// Kilometres of trips since `lastDone`.
    #[schema(example = 14_285.2, minimum = 0)]
    distance: f64,
    /// Hours with the engine on since `lastDone`.
    #[schema(example = 208.75, minimum = 0)]
    engine_hours: f64,
    /// Present reading of the odometer, in kilometres: `odometer` of the plan and `distance`. Null if the former is null.
    #[schema(example = 134_785.2, minimum = 0)]
    odometer: Option<f64>,
    /// Present reading of the hour meter, in hours. Null if `hourMeter` of the plan is null.
    #[schema(example = 3309.25, minimum = 0)]
    hour_meter: Option<f64>,
    /// Whether the server is still adding up the timeline, for example after a change of the settings of timelines. The work
    /// may be more urgent than it seems.
    #[schema(example = false)]
    pending: bool,
}

/// Metres as kilometres.
#[expect(clippy::cast_precision_loss, reason = "readings are far below 2^53 metres or seconds")]
pub(super) fn kilometres(metres: u64) -> f64 {
    metres as f64 / 1_000.0
}

/// Seconds as hours, rounded to three decimals.
#[expect(clippy::cast_precision_loss, reason = "readings are far below 2^53 metres or seconds")]
pub(super) fn hours(seconds: u64) -> f64 {
    (seconds as f64 / 3.6).round() / 1_000.0
}

/// An amount in a unit, with its sign.
fn signed(amount: i64, unit: fn(u64) -> f64) -> f64 {
    let size = unit(amount.unsigned_abs());
    if amount < 0 { -size } else { size }
}

impl PlanView {
    /// The plan at an instant, as a caller of its account sees it.
    pub(super) fn of(status: MaintenanceStatus, due: &Due) -> Self {
        let MaintenanceStatus { plan, usage } = status;
        let MaintenancePlan { id, device, settings, cycle, creation, last_modified, .. } = plan;
        let (limits, warning, start) = (settings.limits, settings.warning, settings.start);
        let (days, months) = match limits.period {
            Some(Period::Days(days)) => (Some(days), None),
            Some(Period::Months(months)) => (None, Some(months)),
            None => (None, None),
        };
        let reading = |at: Option<u64>, since: u64| at.map(|at| at.saturating_add(since));
        Self {
            id: id.to_string(),
            device_id: device.to_string(),
            name: settings.name,
            distance: limits.distance_m.map(|metres| metres / 1_000),
            engine_hours: limits.engine_s.map(|seconds| seconds / 3_600),
            days,
            months,
            date: limits.date.map(|date| date.to_string()),
            soon_distance: warning.distance_m.map(|metres| metres / 1_000),
            soon_engine_hours: warning.engine_s.map(|seconds| seconds / 3_600),
            soon_days: warning.days,
            notes: settings.notes,
            last_done: start.at.to_string(),
            odometer: start.odometer_m.map(kilometres),
            hour_meter: start.hour_meter_s.map(hours),
            times_done: cycle,
            due: DueView {
                state: due.state.name(),
                by: due.by.map(Measure::name),
                share: f64::from(due.share) / 1_000.0,
                distance_left: due.distance_left_m.map(|left| signed(left, kilometres)),
                engine_hours_left: due.engine_left_s.map(|left| signed(left, hours)),
                days_left: due.days_left,
                date: due.date.map(|date| date.to_string()),
                estimated_date: due.estimated.map(|date| date.to_string()),
                distance: kilometres(usage.distance_m),
                engine_hours: hours(usage.engine_s),
                odometer: reading(start.odometer_m, usage.distance_m).map(kilometres),
                hour_meter: reading(start.hour_meter_s, usage.engine_s).map(hours),
                pending: usage.is_partial,
            },
            creation: creation.to_string(),
            last_modified: last_modified.to_string(),
        }
    }

    /// The plan now, by the calendar of the account of the caller.
    pub(super) fn now(caller: &Caller, status: MaintenanceStatus) -> Self {
        let now: Timestamp = caller.now();
        let due = status.plan.due(status.usage, now, caller.account().day_at(now));
        Self::of(status, &due)
    }
}
