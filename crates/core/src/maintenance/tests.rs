//! Cases of due plans, and properties of the state.

use proptest::prelude::*;

use super::*;
use crate::day::{Date, day_of};
use crate::time::Timestamp;
use crate::zone::Zone;

fn instant(text: &str) -> Timestamp {
    Timestamp::from_jiff(text.parse().unwrap())
}

fn date(text: &str) -> Date {
    text.parse().unwrap()
}

fn plan(limits: MaintenanceLimits, warning: MaintenanceWarning) -> MaintenanceSettings {
    let start =
        CycleStart { at: instant("2026-01-31T10:00:00Z"), odometer_m: Some(100_000_000), hour_meter_s: None };
    MaintenanceSettings { name: "Oil".to_owned(), limits, warning, start, notes: None }
}

fn due(settings: &MaintenanceSettings, usage: (u64, u64), now: &str) -> Due {
    let (zone, now): (Zone, _) = ("Europe/Madrid".parse().unwrap(), instant(now));
    let usage = Usage { distance_m: usage.0, engine_s: usage.1, is_partial: false };
    settings.due(usage, now, (day_of(now, &zone), &zone))
}

#[test]
fn the_first_limit_that_is_reached_counts() {
    let limits = MaintenanceLimits {
        distance_m: Some(10_000_000),
        engine_s: Some(360_000),
        period: Some(Period::Months(1)),
        date: None,
    };
    let warning = MaintenanceWarning { distance_m: Some(1_000_000), engine_s: Some(36_000), days: Some(7) };
    let settings = plan(limits, warning);
    let check = |usage, now, state, by| {
        let due = due(&settings, usage, now);
        assert_eq!((due.state, due.by), (state, Some(by)), "{usage:?} {now}");
    };
    check((1_000, 0), "2026-02-01T10:00:00Z", DueState::Ok, Measure::Date);
    check((8_999_999, 0), "2026-02-01T10:00:00Z", DueState::Ok, Measure::Distance);
    check((9_000_000, 0), "2026-02-01T10:00:00Z", DueState::Soon, Measure::Distance);
    check((10_000_000, 0), "2026-02-01T10:00:00Z", DueState::Due, Measure::Distance);
    check((9_000_000, 360_000), "2026-02-01T10:00:00Z", DueState::Due, Measure::EngineHours);
    // The month after January 31 ends on February 28, a date that begins at 23:00 UTC of the day before.
    check((0, 0), "2026-02-20T22:59:59Z", DueState::Ok, Measure::Date);
    check((0, 0), "2026-02-20T23:00:00Z", DueState::Soon, Measure::Date);
    check((0, 0), "2026-02-27T22:59:59Z", DueState::Soon, Measure::Date);
    check((0, 0), "2026-02-27T23:00:00Z", DueState::Due, Measure::Date);
}

#[test]
fn what_is_left_and_when_it_ends() {
    let limits = MaintenanceLimits { distance_m: Some(1_000_000), ..MaintenanceLimits::default() };
    let settings = plan(limits, MaintenanceWarning::default());
    // A quarter in ten days: the rest takes another thirty.
    let due_then = due(&settings, (250_000, 0), "2026-02-10T10:00:00Z");
    assert_eq!(due_then.distance_left_m, Some(750_000));
    assert_eq!((due_then.share, due_then.days_left, due_then.date), (250, None, None));
    assert_eq!(due_then.estimated, Some(date("2026-03-12")));
    assert_eq!(due_then.next_change, None);
    let over = due(&settings, (1_250_000, 0), "2026-02-10T10:00:00Z");
    assert_eq!((over.distance_left_m, over.share, over.estimated), (Some(-250_000), 1_250, None));
    let early = due(&settings, (250_000, 0), "2026-01-31T20:00:00Z");
    assert_eq!(early.estimated, None, "less than a day is too little");
}

#[test]
fn a_fixed_date_comes_before_a_longer_period() {
    let limits = MaintenanceLimits {
        period: Some(Period::Days(100)),
        date: Some(date("2026-03-01")),
        ..MaintenanceLimits::default()
    };
    let settings = plan(limits, MaintenanceWarning { days: Some(10), ..MaintenanceWarning::default() });
    let found = due(&settings, (0, 0), "2026-02-01T10:00:00Z");
    assert_eq!((found.date, found.days_left), (Some(date("2026-03-01")), Some(28)));
    assert_eq!(found.next_change, Some(instant("2026-02-18T23:00:00Z")));
    assert_eq!(due(&settings, (0, 0), "2026-03-05T10:00:00Z").days_left, Some(-4));
    let none = plan(MaintenanceLimits::default(), MaintenanceWarning::default());
    let never = due(&none, (1, 1), "2030-01-01T00:00:00Z");
    assert_eq!((never.state, never.by, never.share), (DueState::Ok, None, 0));
}

proptest! {
    /// More use and more time never make a plan less urgent, and the state changes by the calendar when it says so.
    #[test]
    fn a_plan_only_becomes_more_urgent(
        limit_m in 1_u64..100_000, soon_m in 0_u64..50_000, used in (0_u64..200_000, 0_u64..200_000),
        days in 1_u32..90, soon_days in 0_u32..100, hours in 0_i64..3_000,
    ) {
        let limits = MaintenanceLimits {
            distance_m: Some(limit_m), period: Some(Period::Days(days)), ..MaintenanceLimits::default()
        };
        let warning = MaintenanceWarning {
            distance_m: Some(soon_m), days: Some(soon_days), ..MaintenanceWarning::default()
        };
        let settings = plan(limits, warning);
        let zone: Zone = "Europe/Madrid".parse().unwrap();
        let at = |now: Timestamp, distance_m| {
            let usage = Usage { distance_m, ..Usage::default() };
            settings.due(usage, now, (day_of(now, &zone), &zone))
        };
        let now = settings.start.at.plus_seconds(hours * 3_600);
        let (less, more) = (used.0.min(used.1), used.0.max(used.1));
        prop_assert!(at(now, less).state <= at(now, more).state);
        prop_assert!(at(now, less).state <= at(now.plus_seconds(86_400), less).state);
        if let Some(change) = at(now, 0).next_change {
            prop_assert!(change > now);
            prop_assert_eq!(at(change.plus_millis(-1), 0).state, at(now, 0).state);
        } else {
            prop_assert_eq!(at(now, 0).state, DueState::Due);
        }
    }
}
