//! When a plan is due: how much is left by each limit, and the state that follows from it.

use jiff::Span;
use jiff::civil::Date as CivilDate;
use serde::{Deserialize, Serialize};

use super::{MaintenanceLimits, MaintenancePlan, MaintenanceSettings, Period, Usage};
use crate::day::{Date, Day, day_of, day_on};
use crate::time::Timestamp;
use crate::zone::Zone;

/// Shortest part of a cycle from which the date is estimated.
const ESTIMATED_FROM_MS: i64 = 24 * 60 * 60 * 1_000;
/// Dates later than this are not estimated.
const ESTIMATED_TO_MS: i64 = 20 * 366 * 24 * 60 * 60 * 1_000;
/// The greatest share in thousandths.
const SHARE_MAX: i128 = 99_999;

/// Whether a plan is due, in ascending order of urgency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DueState {
    /// Neither due nor due soon.
    #[default]
    Ok,
    /// Due within the warning of one of its limits.
    Soon,
    /// One of its limits is reached.
    Due,
}

/// What a limit measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Kilometres since it was last done.
    Distance,
    /// Engine hours since it was last done.
    EngineHours,
    /// Dates of the calendar.
    Date,
}

/// How much is left until a plan is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// The most urgent state of all limits.
    pub state: DueState,
    /// The limit that is nearest, if there is one.
    pub by: Option<Measure>,
    /// How much of the cycle is over by the nearest limit, in thousandths; more than 1,000 if it is exceeded.
    pub share: u32,
    /// Metres left; negative if the limit is exceeded.
    pub distance_left_m: Option<i64>,
    /// Seconds with the engine on that are left; negative if the limit is exceeded.
    pub engine_left_s: Option<i64>,
    /// Dates left; 0 on the date on which it is due, negative later.
    pub days_left: Option<i64>,
    /// The date on which it is due by the calendar.
    pub date: Option<Date>,
    /// The date on which it is probably due if the device is used as since the cycle began. `None` if it is due, or if
    /// too little is known.
    pub estimated: Option<Date>,
    /// When the state changes next by the calendar.
    pub next_change: Option<Timestamp>,
}

impl DueState {
    /// Every state, in the order of the API document.
    pub const ALL: [Self; 3] = [Self::Ok, Self::Soon, Self::Due];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Soon => "soon",
            Self::Due => "due",
        }
    }

    /// The name of the alert that is raised when a plan gets into this state.
    pub const fn alert_name(self) -> Option<&'static str> {
        match self {
            Self::Ok => None,
            Self::Soon => Some("MaintenanceSoon"),
            Self::Due => Some("MaintenanceDue"),
        }
    }
}

impl Measure {
    /// Every measure, in the order of the API document.
    pub const ALL: [Self; 3] = [Self::Distance, Self::EngineHours, Self::Date];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Distance => "distance",
            Self::EngineHours => "engineHours",
            Self::Date => "date",
        }
    }
}

impl MaintenancePlan {
    /// Whether the plan is due at an instant that is in a day of the account.
    pub fn due(&self, usage: Usage, now: Timestamp, day: (Day, &Zone)) -> Due {
        self.settings.due(usage, now, day)
    }
}

impl MaintenanceSettings {
    /// Whether a plan with these settings is due; see [`MaintenancePlan::due`].
    pub fn due(&self, usage: Usage, now: Timestamp, (day, zone): (Day, &Zone)) -> Due {
        let (limits, warning, start) = (&self.limits, &self.warning, self.start);
        let date = due_date(limits, start.at, zone);
        let amount = |measure, limit: Option<u64>, used: u64, warning: Option<u64>| {
            limit.map(|limit| Gauge::of_amount(measure, limit, used, warning))
        };
        let gauges = [
            amount(Measure::Distance, limits.distance_m, usage.distance_m, warning.distance_m),
            amount(Measure::EngineHours, limits.engine_s, usage.engine_s, warning.engine_s),
            date.map(|date| Gauge::of_date(date, day_of(start.at, zone).date, day.date, warning.days)),
        ];
        let nearest = gauges.iter().flatten().max_by_key(|gauge| (gauge.state, gauge.share));
        let left =
            |measure| gauges.iter().flatten().find(|gauge| gauge.of == measure).map(|gauge| gauge.left);
        let state = nearest.map_or(DueState::Ok, |gauge| gauge.state);
        let forecasts = gauges.iter().flatten().filter_map(|gauge| gauge.estimate(start.at, now, zone));
        let estimated = forecasts.chain(date).min().filter(|_| state != DueState::Due);
        let next_change = date.and_then(|date| {
            let soon = warning.days.and_then(|days| shifted(date, -i64::from(days)));
            let starts = [soon, Some(date)].map(|date| date.map(|date| day_on(date, zone).starts));
            starts.into_iter().flatten().find(|starts| *starts > now)
        });
        Due {
            state,
            by: nearest.map(|gauge| gauge.of),
            share: nearest.map_or(0, |gauge| gauge.share),
            distance_left_m: left(Measure::Distance),
            engine_left_s: left(Measure::EngineHours),
            days_left: left(Measure::Date),
            date,
            estimated,
            next_change,
        }
    }
}

/// One limit, and how near it is.
#[derive(Clone, Copy, Debug)]
struct Gauge {
    of: Measure,
    /// What was used of the limit, in its unit.
    used: u64,
    /// What is left, in its unit.
    left: i64,
    /// Thousandths of the limit that are used.
    share: u32,
    state: DueState,
}

impl Gauge {
    fn of_amount(of: Measure, limit: u64, used: u64, warning: Option<u64>) -> Self {
        let whole = |amount: u64| i64::try_from(amount).unwrap_or(i64::MAX);
        let left = whole(limit).saturating_sub(whole(used));
        let state = state(left, warning.map(whole));
        Self { of, used, left, share: share(used.into(), limit.into()), state }
    }

    fn of_date(date: Date, begins: Date, today: Date, warning: Option<u32>) -> Self {
        let (left, whole) = (days(today, date), days(begins, date));
        let used = days(begins, today);
        let state = state(left, warning.map(i64::from));
        Self {
            of: Measure::Date,
            used: used.max(0).unsigned_abs(),
            left,
            share: share(used.into(), whole.into()),
            state,
        }
    }

    /// The date on which an amount will probably be used up, if the device is used as before.
    fn estimate(&self, start: Timestamp, now: Timestamp, zone: &Zone) -> Option<Date> {
        let elapsed_ms = now.as_millis().saturating_sub(start.as_millis());
        if self.of == Measure::Date || self.left <= 0 || self.used == 0 || elapsed_ms < ESTIMATED_FROM_MS {
            return None;
        }
        let wait_ms = i128::from(self.left) * i128::from(elapsed_ms) / i128::from(self.used);
        let wait_ms = i64::try_from(wait_ms).ok().filter(|wait_ms| *wait_ms <= ESTIMATED_TO_MS)?;
        Some(day_of(now.plus_millis(wait_ms), zone).date)
    }
}

fn state(left: i64, warning: Option<i64>) -> DueState {
    if left <= 0 {
        DueState::Due
    } else if warning.is_some_and(|warning| left <= warning) {
        DueState::Soon
    } else {
        DueState::Ok
    }
}

/// Thousandths; a limit of nothing is reached.
fn share(used: i128, whole: i128) -> u32 {
    let thousandths = if whole <= 0 { 1_000 } else { used.max(0) * 1_000 / whole };
    u32::try_from(thousandths.min(SHARE_MAX)).unwrap_or(u32::MAX)
}

/// The date on which a plan is due by the calendar: the earlier of a fixed date and the end of the period.
fn due_date(limits: &MaintenanceLimits, start: Timestamp, zone: &Zone) -> Option<Date> {
    let begins = day_of(start, zone).date;
    let by_period = limits.period.map(|period| {
        let span = match period {
            Period::Days(days) => Span::new().try_days(days),
            Period::Months(months) => Span::new().try_months(months),
        };
        let end = span.and_then(|span| begins.to_jiff().checked_add(span));
        end.ok().and_then(from_civil).unwrap_or(Date::MAX)
    });
    by_period.into_iter().chain(limits.date).min()
}

fn from_civil(date: CivilDate) -> Option<Date> {
    Date::new(date.year(), date.month(), date.day())
}

/// The date this many days later.
fn shifted(date: Date, days: i64) -> Option<Date> {
    let span = Span::new().try_days(days).ok()?;
    from_civil(date.to_jiff().checked_add(span).ok()?)
}

/// Days from one date to another.
fn days(from: Date, to: Date) -> i64 {
    from.to_jiff().until(to.to_jiff()).map_or(0, |span| i64::from(span.get_days()))
}
