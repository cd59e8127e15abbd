//! The bodies of maintenance plans, and of what was done.

use perigee_core::day::Date;
use perigee_core::id::DeviceId;
use perigee_core::maintenance::{
    Cost, CycleStart, MaintenanceDone, MaintenanceLimits, MaintenancePlan, MaintenanceSettings,
    MaintenanceWarning, Period,
};
use perigee_core::text::{Description, Name};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{ByName, Instant, Member, Whole, read_fields, text};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;

const KM_MAX: u32 = MaintenanceSettings::DISTANCE_MAX_KM;
const HOURS_MAX: u32 = MaintenanceSettings::HOURS_MAX;
const DAYS_MAX: u32 = MaintenanceSettings::DAYS_MAX;
const MONTHS_MAX: u32 = MaintenanceSettings::MONTHS_MAX;

input! {
    /// Settings of a maintenance plan. It needs at least one of `distance`, `engineHours`, `days`, `months` and `date`; the first
    /// that is reached counts.
    pub(super) struct MaintenancePlanInput {
        /// Device that is maintained, by ID, identifier or a name that only one device has. It cannot be changed later.
        device_id as "deviceId": ByName<DeviceId>, required, example "dev_01jc2m8k4n5p7";
        /// Name of the plan: what is to be done.
        name: Name, required, example "Oil change";
        /// Interval in kilometres. Null for no limit by distance.
        distance: Whole<1, KM_MAX>, nullable, example 15000;
        /// Interval in engine hours. Null for no limit by engine hours.
        engine_hours as "engineHours": Whole<1, HOURS_MAX>, nullable, example 250;
        /// Interval in days. Null for none. Must not be given together with `months`.
        days: Whole<1, DAYS_MAX>, nullable, example null;
        /// Interval in months of the calendar. Null for none.
        months: Whole<1, MONTHS_MAX>, nullable, example 12;
        /// Fixed date on which the work is due, in the time zone of the account. Null for none.
        date: Date, nullable, example null;
        /// Kilometres before it is due, from which it counts as due soon. Less than `distance`. Null for no warning by distance.
        soon_distance as "soonDistance": Whole<0, KM_MAX>, nullable, example 1000;
        /// Engine hours before it is due, from which it counts as due soon. Less than `engineHours`. Null for no warning.
        soon_engine_hours as "soonEngineHours": Whole<0, HOURS_MAX>, nullable, example 20;
        /// Days before it is due, from which it counts as due soon. Null for no warning by date.
        soon_days as "soonDays": Whole<0, DAYS_MAX>, nullable, example 14;
        /// Free text about the plan. Null for none.
        notes: Description, nullable, example "5W-30, 6 litres";
        /// Time at which the work was last done, not in the future. Default: now for a new plan, and unchanged otherwise.
        last_done as "lastDone": Instant, nullable, example "2026-05-01T08:00:00Z";
        /// Reading of the odometer at `lastDone`, in kilometres with up to three decimals. Null if it is not known.
        odometer: Reading, nullable, example 120_500.0;
        /// Reading of the hour meter of the engine at `lastDone`, in hours with up to three decimals. Null if it is not known.
        hour_meter as "hourMeter": Reading, nullable, example 3100.5;
    }
}

input! {
    /// What was done for a maintenance plan.
    pub(super) struct MaintenanceDoneInput {
        /// Time at which the work was done: the beginning of the next cycle. Not before `lastDone` of the plan and not in the
        /// future. Default: now.
        date_time as "dateTime": Instant, nullable, example "2026-05-01T08:00:00Z";
        /// Reading of the odometer, in kilometres. Default: the last reading and the kilometres since then.
        odometer: Reading, nullable, example 135_120.0;
        /// Reading of the hour meter of the engine, in hours. Default: the last reading and the engine hours since then.
        hour_meter as "hourMeter": Reading, nullable, example null;
        /// Free text about the work. Null for none.
        note: Description, nullable, example "Filter replaced too";
        /// Amount that was paid, with up to three decimals. Null if it is not known.
        cost: Amount, nullable, example 120.5;
        /// Currency of `cost` as a code of ISO 4217. Required with `cost`.
        currency: Currency, nullable, example "EUR";
        /// Fixed date on which the work is due next. Default: none; only the intervals of the plan apply.
        next_date as "nextDate": Date, nullable, example null;
    }
}

/// A number of at most this size with up to three decimals, as thousandths.
fn thousandths(value: f64, most: u32) -> Result<u64, crate::http::json::Refusal> {
    let scaled = value * 1_000.0;
    if !(0.0..=f64::from(most)).contains(&value) {
        return Err(format!("must be between 0 and {most}").into());
    }
    if (scaled - scaled.round()).abs() > 1e-3 {
        return Err("must have at most three decimals".into());
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be in range")]
    let whole = scaled.round() as u64;
    Ok(whole)
}

fn decimal(most: u32) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::Number)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)))
        .minimum(Some(0))
        .maximum(Some(most))
        .into()
}

/// A reading in kilometres or hours, as thousandths.
#[derive(Debug)]
pub(super) enum Reading {}

impl Member for Reading {
    type Value = u64;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, u64> {
        fields.number(name).convert(|value| thousandths(value, MaintenanceSettings::READING_MAX))
    }

    fn schema() -> RefOr<Schema> {
        decimal(MaintenanceSettings::READING_MAX)
    }
}

/// An amount of money, as thousandths.
#[derive(Debug)]
pub(super) enum Amount {}

impl Member for Amount {
    type Value = u64;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, u64> {
        fields.number(name).convert(|value| thousandths(value, Cost::MAX))
    }

    fn schema() -> RefOr<Schema> {
        decimal(Cost::MAX)
    }
}

/// The code of a currency.
#[derive(Debug)]
pub(super) enum Currency {}

impl Member for Currency {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        fields.text(name).check(|code| {
            let is_code = code.len() == 3 && code.bytes().all(|byte| byte.is_ascii_uppercase());
            if is_code { Ok(()) } else { Err("must be a code of ISO 4217 such as EUR".into()) }
        })
    }

    fn schema() -> RefOr<Schema> {
        text(3, 3, |text| text.pattern(Some("^[A-Z]{3}$")))
    }
}

/// Thousandths of an hour as seconds.
fn seconds(thousandths: u64) -> u64 {
    thousandths.saturating_mul(18) / 5
}

/// Hours as seconds; a reading that was answered in rounded hours stays as it is.
fn meter(given: Option<u64>, present: Option<u64>) -> Option<u64> {
    let shown = present.map(|seconds| (seconds * 5 + 9) / 18);
    if given == shown { present } else { given.map(seconds) }
}

fn refuse_future(fields: &mut Fields<'_>, member: &str, at: Timestamp, now: Timestamp) {
    if at > now {
        fields.refuse(member, "must not be in the future");
    }
}

/// Reads a plan; `present` is the plan that is changed.
pub(super) fn read_plan(
    body: &Value,
    zone: &Zone,
    now: Timestamp,
    present: Option<&MaintenancePlan>,
) -> ApiResult<(DeviceId, MaintenanceSettings)> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    let ignored: &[&[&str]] = &[ENVELOPE, &["id", "timesDone", "due", "creation", "lastModified"]];
    read_fields(fields, ignored, |input: MaintenancePlanInput, fields| {
        let period = match (input.days, input.months) {
            (Some(_), Some(_)) => {
                fields.refuse("days", "must not be given together with \"months\"");
                None
            }
            (days, months) => days.map(Period::Days).or(months.map(Period::Months)),
        };
        let metres = |km: Option<u32>| km.map(|km| u64::from(km) * 1_000);
        let engine_s = |hours: Option<u32>| hours.map(|hours| u64::from(hours) * 3_600);
        let limits = MaintenanceLimits {
            distance_m: metres(input.distance),
            engine_s: engine_s(input.engine_hours),
            period,
            date: input.date,
        };
        let warning = MaintenanceWarning {
            distance_m: metres(input.soon_distance),
            engine_s: engine_s(input.soon_engine_hours),
            days: input.soon_days,
        };
        check_warning(fields, &limits, &warning);
        if limits.is_empty() && present.is_none() {
            fields.refuse(
                "distance",
                "or another limit is required: \"engineHours\", \"days\", \"months\" or \"date\"",
            );
        }
        let device = input.device_id?;
        if present.is_some_and(|present| present.device != device) {
            fields.refuse("deviceId", "cannot be changed. Create a plan for the other device instead");
        }
        let before = present.map(|plan| plan.settings.start);
        let at = input.last_done.or(before.map(|start| start.at)).unwrap_or(now);
        refuse_future(fields, "lastDone", at, now);
        let start = CycleStart {
            at,
            odometer_m: input.odometer,
            hour_meter_s: meter(input.hour_meter, before.and_then(|start| start.hour_meter_s)),
        };
        let notes = input.notes.filter(|notes| !notes.is_empty());
        Some((device, MaintenanceSettings { name: input.name?, limits, warning, start, notes }))
    })
}

fn check_warning(fields: &mut Fields<'_>, limits: &MaintenanceLimits, warning: &MaintenanceWarning) {
    let amounts = [
        ("soonDistance", warning.distance_m, limits.distance_m, "distance"),
        ("soonEngineHours", warning.engine_s, limits.engine_s, "engineHours"),
    ];
    for (member, soon, limit, of) in amounts {
        match (soon, limit) {
            (Some(_), None) => fields.refuse(member, &format!("is accepted only with \"{of}\"")),
            (Some(soon), Some(limit)) if soon >= limit => {
                fields.refuse(member, &format!("must be less than \"{of}\""));
            }
            _ => {}
        }
    }
    if warning.days.is_some() && limits.period.is_none() && limits.date.is_none() {
        fields.refuse("soonDays", "is accepted only with \"days\", \"months\" or \"date\"");
    }
}

/// Reads what was done for a plan.
pub(super) fn read_done(
    body: &Value,
    zone: &Zone,
    now: Timestamp,
    plan: &MaintenancePlan,
) -> ApiResult<MaintenanceDone> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE], |input: MaintenanceDoneInput, fields| {
        let at = input.date_time.unwrap_or(now);
        refuse_future(fields, "dateTime", at, now);
        if at < plan.settings.start.at {
            fields.refuse("dateTime", "must not be before \"lastDone\" of the plan");
        }
        let cost = match (input.cost, input.currency) {
            (Some(thousandths), Some(currency)) => Some(Cost { thousandths, currency }),
            (Some(_), None) => {
                fields.refuse("currency", "is required with \"cost\"");
                None
            }
            (None, Some(_)) => {
                fields.refuse("currency", "is accepted only with \"cost\"");
                None
            }
            (None, None) => None,
        };
        Some(MaintenanceDone {
            at,
            odometer_m: input.odometer,
            hour_meter_s: input.hour_meter.map(seconds),
            note: input.note.filter(|note| !note.is_empty()),
            cost,
            next_date: input.next_date,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_that_are_read_back_stay_the_same() {
        for present in [0, 1, 3_599, 3_600, 11_161_805] {
            #[expect(clippy::cast_precision_loss, reason = "small numbers")]
            let shown = ((present as f64 / 3.6).round() / 1_000.0 * 1_000.0).round();
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small numbers")]
            let given = shown as u64;
            assert_eq!(meter(Some(given), Some(present)), Some(present));
        }
        assert_eq!(meter(Some(1_500), Some(3_600)), Some(5_400));
        assert_eq!(meter(None, Some(3_600)), None);
    }

    #[test]
    fn readings_have_three_decimals() {
        assert_eq!(thousandths(120_500.125, 1_000_000).ok(), Some(120_500_125));
        assert!(thousandths(0.000_5, 10).is_err());
        assert!(thousandths(-1.0, 10).is_err());
        assert!(thousandths(10.5, 10).is_err());
    }
}
