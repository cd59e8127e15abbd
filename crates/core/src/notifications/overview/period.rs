//! The days that a report covers, and when it is due.
//!
//! A report is due when the account's clock reaches its hour on its day, and covers the whole days before. The last
//! reported date is stored, so that neither an hour that comes twice nor a restart reports a day again. A report
//! begins where the one before ended, so that a change of time zone leaves no gap.

use serde::{Deserialize, Serialize};

use super::{Frequency, OverviewSettings};
use crate::accounts::account::Account;
use crate::day::{Date, day_on};
use crate::rules::schedule::Weekday;
use crate::time::Timestamp;

/// Days in a week.
const WEEK: u32 = 7;
/// A mark this far in the future, in milliseconds, was made with a wrong clock.
const AHEAD_MS: i64 = 2 * 24 * 60 * 60 * 1000;

/// How far reports have been written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedUntil {
    /// The last date reported.
    pub last: Date,
    /// The first instant after that date.
    pub ends: Timestamp,
}

/// The days that a report covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Period {
    /// The first date it covers.
    pub first: Date,
    /// The last date it covers.
    pub last: Date,
    /// The first instant it covers.
    pub begins: Timestamp,
    /// The first instant that it does not cover.
    pub ends: Timestamp,
}

impl Period {
    /// The latest period whose report is due by now, written or not; `None` while reports are off.
    pub fn latest(settings: &OverviewSettings, account: &Account, now: Timestamp) -> Option<Self> {
        let days = match settings.frequency {
            Frequency::Off => return None,
            Frequency::Daily => 1,
            Frequency::Weekly => WEEK,
        };
        let (today, zone) = account.day_at(now);
        let clock = zone.as_jiff().to_datetime(now.to_jiff());
        let shown = Date::new(clock.year(), clock.month(), clock.day())?;
        // During a change of time zone a day may continue past midnight; its hours have all passed.
        let reached = shown > today.date || clock.hour() >= i8::try_from(settings.hour).unwrap_or(i8::MAX);
        let mut written_on = if reached { today.date } else { today.date.yesterday()? };
        if settings.frequency == Frequency::Weekly {
            while Weekday::of(written_on.to_jiff()) != settings.weekday {
                written_on = written_on.yesterday()?;
            }
        }
        let ends = start_of(account, written_on);
        let mut last = written_on.yesterday()?;
        // A date skipped by a change of time zone is not reported.
        while start_of(account, last) >= ends {
            last = last.yesterday()?;
        }
        let first = (1..days).try_fold(last, |date, _| date.yesterday())?;
        Some(Self { first, last, begins: start_of(account, first), ends })
    }

    /// The period to report now, if one is due and not written yet.
    pub fn due(
        settings: &OverviewSettings,
        account: &Account,
        mark: ReportedUntil,
        now: Timestamp,
    ) -> Option<Self> {
        let latest = Self::latest(settings, account, now)?;
        if mark.last >= latest.last {
            return None;
        }
        let follows = mark.last.tomorrow() == Some(latest.first) && mark.ends < latest.ends;
        Some(Self { begins: if follows { mark.ends } else { latest.begins }, ..latest })
    }

    /// The mark to store when this period's report is written.
    pub const fn mark(&self) -> ReportedUntil {
        ReportedUntil { last: self.last, ends: self.ends }
    }
}

impl ReportedUntil {
    /// Whether it can only be from a wrong clock.
    pub fn is_ahead(&self, now: Timestamp) -> bool {
        self.ends > now.plus_millis(AHEAD_MS)
    }
}

/// When a date of the account began, considering the last change of time zone.
fn start_of(account: &Account, date: Date) -> Timestamp {
    let present = || day_on(date, &account.settings.time_zone).starts;
    match (&account.day_in_progress, &account.zone_in_progress) {
        (Some(day), Some(_)) if date == day.date => day.starts,
        (Some(day), Some(zone)) if date < day.date => day_on(date, zone).starts,
        (Some(day), Some(_)) => present().max(day.ends),
        _ => present(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn account(zone: &str) -> Account {
        crate::accounts::account::tests::account(zone.parse().unwrap())
    }

    fn wanted(frequency: Frequency, hour: u8) -> OverviewSettings {
        OverviewSettings { frequency, hour, ..OverviewSettings::default() }
    }

    #[test]
    fn a_report_covers_the_days_before_it() {
        let madrid = account("Europe/Madrid");
        let check = |frequency, now: &str, first: &str, last: &str| {
            let period = Period::latest(&wanted(frequency, 7), &madrid, at(now)).unwrap();
            assert_eq!(
                (period.first.to_string().as_str(), period.last.to_string().as_str()),
                (first, last),
                "{now}"
            );
        };
        // 2026-05-04 is a Monday; Madrid is two hours ahead of UTC in May.
        check(Frequency::Daily, "2026-05-04T04:59:59Z", "2026-05-02", "2026-05-02");
        check(Frequency::Daily, "2026-05-04T05:00:00Z", "2026-05-03", "2026-05-03");
        check(Frequency::Weekly, "2026-05-04T04:59:59Z", "2026-04-20", "2026-04-26");
        check(Frequency::Weekly, "2026-05-04T05:00:00Z", "2026-04-27", "2026-05-03");
        check(Frequency::Weekly, "2026-05-10T22:30:00Z", "2026-04-27", "2026-05-03");
        assert_eq!(Period::latest(&wanted(Frequency::Off, 7), &madrid, at("2026-05-04T05:00:00Z")), None);
    }

    /// All reports that are due from start to end, checked every ten minutes.
    fn reports(
        settings: &OverviewSettings,
        account_at: impl Fn(Timestamp) -> Account,
        (from, to): (&str, &str),
    ) -> Vec<Period> {
        let mut now = at(from);
        let mut mark = Period::latest(settings, &account_at(now), now).unwrap().mark();
        let mut written = Vec::new();
        while now < at(to) {
            if let Some(period) = Period::due(settings, &account_at(now), mark, now) {
                mark = period.mark();
                written.push(period);
            }
            now = now.plus_seconds(600);
        }
        written
    }

    fn assert_seamless(reports: &[Period]) {
        for pair in reports.windows(2) {
            assert_eq!(pair[0].ends, pair[1].begins, "{pair:?}");
            assert!(pair[0].last < pair[1].first, "{pair:?}");
        }
    }

    #[test]
    fn clocks_set_forth_and_back_report_each_day_once() {
        for (zone, from, to) in [
            // Two o'clock is skipped, and occurs twice.
            ("Europe/Madrid", "2026-03-26T12:00:00Z", "2026-04-02T12:00:00Z"),
            ("Europe/Madrid", "2026-10-22T12:00:00Z", "2026-10-29T12:00:00Z"),
            // Midnight is skipped, and occurs twice.
            ("Africa/Cairo", "2026-04-22T12:00:00Z", "2026-04-29T12:00:00Z"),
            ("America/Havana", "2026-10-29T12:00:00Z", "2026-11-05T12:00:00Z"),
        ] {
            for hour in [0, 2, 23] {
                let written = reports(&wanted(Frequency::Daily, hour), |_| account(zone), (from, to));
                assert_eq!(written.len(), 7, "{zone} at {hour}: {written:?}");
                assert_seamless(&written);
            }
        }
    }

    #[test]
    fn a_change_of_zone_leaves_no_gap() {
        for (from, to) in [
            ("Europe/Madrid", "Asia/Tokyo"),
            ("Asia/Tokyo", "Europe/Madrid"),
            ("Europe/Madrid", "America/Lima"),
            ("Pacific/Kiritimati", "Pacific/Pago_Pago"),
            ("Pacific/Pago_Pago", "Pacific/Kiritimati"),
        ] {
            let changed_at = at("2026-05-06T12:00:00Z");
            let after = {
                let mut changed = account(from);
                let zone = to.parse().unwrap();
                let (day, counted_in) = changed.day_through_change(&zone, changed_at).unwrap();
                let counted_in = counted_in.clone();
                (changed.day_in_progress, changed.zone_in_progress) = (Some(day), Some(counted_in));
                changed.settings.time_zone = zone;
                changed
            };
            let account_at = |now| if now < changed_at { account(from) } else { after.clone() };
            for (frequency, hour) in [(Frequency::Daily, 0), (Frequency::Daily, 7), (Frequency::Weekly, 7)] {
                let span = ("2026-05-01T12:00:00Z", "2026-05-25T12:00:00Z");
                let written = reports(&wanted(frequency, hour), account_at, span);
                assert!(written.len() >= 3, "{from} to {to}: {written:?}");
                assert_seamless(&written);
            }
        }
    }

    #[test]
    fn missed_periods_are_reported_once() {
        let (madrid, daily) = (account("Europe/Madrid"), wanted(Frequency::Daily, 7));
        let mark = Period::latest(&daily, &madrid, at("2026-05-04T06:00:00Z")).unwrap().mark();
        let later = at("2026-05-20T06:00:00Z");
        let period = Period::due(&daily, &madrid, mark, later).unwrap();
        assert_eq!(
            (period.first.to_string(), period.last.to_string()),
            ("2026-05-19".into(), "2026-05-19".into())
        );
        assert_eq!(Period::due(&daily, &madrid, period.mark(), later), None);
        assert_eq!(
            Period::due(&daily, &madrid, period.mark(), at("2026-05-04T06:00:00Z")),
            None,
            "a clock going back"
        );
        assert!(period.mark().is_ahead(at("2026-05-04T06:00:00Z")) && !mark.is_ahead(later));
    }
}
