//! When a scheduled report is made: on which dates, and at which local time.
//!
//! An occurrence is identified by its local date. The last date that was done is stored, so that neither an hour that
//! comes twice, nor a clock that goes back, nor a restart makes a report of a date again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::day::{Date, day_of, day_on};
use crate::notifications::routing::AlertRouting;
use crate::rules::schedule::{TimeOfDay, Weekday};
use crate::time::Timestamp;
use crate::zone::Zone;

/// Days that are searched for an occurrence: more than a month has.
const DAYS_SEARCHED: usize = 64;
/// A date so many milliseconds ahead of the clock was marked as done by a wrong clock.
const AHEAD_MS: i64 = 2 * 24 * 60 * 60 * 1000;

/// A day of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MonthDay {
    /// A day from 1 to 31; the last day of months that have fewer.
    Number(u8),
    /// The last day of the month.
    Last,
}

/// The error for a text that is not a day of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a day of a month from 1 to 31, or last")]
pub struct ParseMonthDayError;

impl std::str::FromStr for MonthDay {
    type Err = ParseMonthDayError;

    fn from_str(text: &str) -> Result<Self, ParseMonthDayError> {
        if text == "last" {
            return Ok(Self::Last);
        }
        let is_short = text.len() <= 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|day| is_short && (1..=31).contains(day));
        number.map(Self::Number).ok_or(ParseMonthDayError)
    }
}

impl fmt::Display for MonthDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(day) => write!(f, "{day}"),
            Self::Last => f.write_str("last"),
        }
    }
}

/// The dates of a schedule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Recurrence {
    /// Every date.
    Daily,
    /// The dates of these days of the week, ascending, each once.
    Weekly(Vec<Weekday>),
    /// One date of each month.
    Monthly(MonthDay),
}

impl Recurrence {
    /// The names of the frequencies in the API.
    pub const NAMES: [&'static str; 3] = ["daily", "weekly", "monthly"];

    /// The name of its frequency in the API.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Daily => "daily",
            Self::Weekly(_) => "weekly",
            Self::Monthly(_) => "monthly",
        }
    }

    fn falls_on(&self, date: Date) -> bool {
        let civil = date.to_jiff();
        match self {
            Self::Daily => true,
            Self::Weekly(days) => days.contains(&Weekday::of(civil)),
            Self::Monthly(MonthDay::Last) => civil.day() == civil.days_in_month(),
            Self::Monthly(MonthDay::Number(day)) => {
                let day = i8::try_from(*day).unwrap_or(i8::MAX);
                civil.day() == day.min(civil.days_in_month())
            }
        }
    }
}

/// The format of an attached report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AttachmentFormat {
    /// A workbook.
    Xlsx,
    /// Pages for reading and printing.
    Pdf,
    /// Comma-separated values.
    Csv,
}

impl AttachmentFormat {
    /// Every format, in the order of the API document.
    pub const ALL: [Self; 3] = [Self::Xlsx, Self::Pdf, Self::Csv];

    /// Its name in the API, and the extension of files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Xlsx => "xlsx",
            Self::Pdf => "pdf",
            Self::Csv => "csv",
        }
    }
}

/// When a saved report is made, in which format, and who receives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReportSchedule {
    /// Whether reports are made. A schedule that is off keeps its settings.
    pub enabled: bool,
    /// The dates.
    pub recurrence: Recurrence,
    /// The local time, before 24:00.
    pub at: TimeOfDay,
    /// The zone of dates and of the time.
    pub time_zone: Zone,
    /// The format of the attached file.
    pub format: AttachmentFormat,
    /// Who receives it by e-mail. Severities, schedules and escalations of the routing are not used.
    pub recipients: AlertRouting,
}

/// One time at which a report is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Occurrence {
    /// The local date, by which it is recognised.
    pub date: Date,
    /// The instant from which it is due. Named periods of the report are those of this instant, however late it is made.
    pub at: Timestamp,
}

impl ReportSchedule {
    /// The occurrence of a date; `None` if there is none, or if the zone skipped the date. A local time that is skipped
    /// moves forward by the length of the skip, and one that comes twice is the first of both.
    fn on(&self, date: Date) -> Option<Occurrence> {
        let day = day_on(date, &self.time_zone);
        if !self.recurrence.falls_on(date) || day.starts >= day.ends {
            return None;
        }
        let minutes = i64::from(self.at.minutes());
        let local = date.to_jiff().at(0, 0, 0, 0).checked_add(jiff::Span::new().minutes(minutes)).ok()?;
        let at = Timestamp::from_jiff(self.time_zone.as_jiff().to_timestamp(local).ok()?);
        Some(Occurrence { date, at: at.clamp(day.starts, day.ends.plus_millis(-1)) })
    }

    /// The latest occurrence that is due by now.
    pub fn latest(&self, now: Timestamp) -> Option<Occurrence> {
        let today = day_of(now, &self.time_zone).date;
        let dates = std::iter::successors(Some(today), |date| date.yesterday()).take(DAYS_SEARCHED);
        dates.filter_map(|date| self.on(date)).find(|one| one.at <= now)
    }

    /// The first occurrence of a date after `done` that is not due yet.
    pub fn next(&self, done: Option<Date>, now: Timestamp) -> Option<Occurrence> {
        let today = day_of(now, &self.time_zone).date;
        let dates = std::iter::successors(Some(today), |date| date.tomorrow()).take(DAYS_SEARCHED);
        let is_new = |one: &Occurrence| one.at > now && done.is_none_or(|done| one.date > done);
        dates.filter_map(|date| self.on(date)).find(is_new)
    }

    /// The occurrence to make now, if one is due whose date is after `done`. Of several that were missed it is the latest.
    pub fn due(&self, done: Option<Date>, now: Timestamp) -> Option<Occurrence> {
        self.latest(now).filter(|latest| done.is_none_or(|done| latest.date > done))
    }

    /// Whether a date can only have been marked as done by a wrong clock.
    pub fn is_ahead(&self, done: Date, now: Timestamp) -> bool {
        day_on(done, &self.time_zone).starts > now.plus_millis(AHEAD_MS)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn schedule(recurrence: Recurrence, time: &str, zone: &str) -> ReportSchedule {
        ReportSchedule {
            enabled: true,
            recurrence,
            at: time.parse().unwrap(),
            time_zone: zone.parse().unwrap(),
            format: AttachmentFormat::Xlsx,
            recipients: AlertRouting::default(),
        }
    }

    /// The occurrences that are made between two instants, looked for every ten minutes.
    fn made(schedule: &ReportSchedule, from: &str, to: &str) -> Vec<Occurrence> {
        let mut now = at(from);
        let mut done = schedule.latest(now).map(|latest| latest.date);
        let mut made = Vec::new();
        while now < at(to) {
            if let Some(occurrence) = schedule.due(done, now) {
                assert!(
                    occurrence.at <= now && now < occurrence.at.plus_seconds(600),
                    "{occurrence:?} at {now}"
                );
                done = Some(occurrence.date);
                made.push(occurrence);
            }
            now = now.plus_seconds(600);
        }
        made
    }

    #[test]
    fn each_local_day_has_exactly_one() {
        for (zone, from, to, days) in [
            // Two o'clock is skipped, and occurs twice.
            ("Europe/Madrid", "2026-03-26T12:00:00Z", "2026-04-02T12:00:00Z", 7),
            ("Europe/Madrid", "2026-10-22T12:00:00Z", "2026-10-29T12:00:00Z", 7),
            // Midnight is skipped, and occurs twice.
            ("Africa/Cairo", "2026-04-22T12:00:00Z", "2026-04-29T12:00:00Z", 7),
            ("America/Havana", "2026-10-29T12:00:00Z", "2026-11-05T12:00:00Z", 7),
            // 30 December was skipped.
            ("Pacific/Apia", "2011-12-27T20:00:00Z", "2012-01-03T20:00:00Z", 7),
        ] {
            for time in ["00:00", "00:30", "02:00", "02:30", "12:00", "23:59"] {
                let daily = schedule(Recurrence::Daily, time, zone);
                let made = made(&daily, from, to);
                assert_eq!(made.len(), days, "{zone} at {time}: {made:?}");
                let dates: BTreeSet<Date> = made.iter().map(|one| one.date).collect();
                assert_eq!(dates.len(), days, "{zone} at {time}: {made:?}");
                for one in &made {
                    assert!(day_on(one.date, &daily.time_zone).contains(one.at), "{zone} at {time}: {one:?}");
                }
            }
        }
    }

    #[test]
    fn dates_of_a_month_and_a_week() {
        let check = |recurrence: Recurrence, now: &str, latest: &str, next: &str| {
            let schedule = schedule(recurrence, "07:30", "Europe/Madrid");
            let found = schedule.latest(at(now)).unwrap();
            assert_eq!(found.date.to_string(), latest, "{schedule:?}");
            let found = schedule.next(Some(found.date), at(now)).unwrap();
            assert_eq!(found.date.to_string(), next, "{schedule:?}");
        };
        // Madrid is two hours ahead of UTC in May; 2026-05-04 is a Monday.
        check(Recurrence::Daily, "2026-05-04T05:29:59Z", "2026-05-03", "2026-05-04");
        check(Recurrence::Daily, "2026-05-04T05:30:00Z", "2026-05-04", "2026-05-05");
        let days = vec![Weekday::Monday, Weekday::Thursday];
        check(Recurrence::Weekly(days), "2026-05-05T05:30:00Z", "2026-05-04", "2026-05-07");
        let day = |day| Recurrence::Monthly(MonthDay::Number(day));
        check(day(1), "2026-05-01T05:29:59Z", "2026-04-01", "2026-05-01");
        check(day(31), "2026-02-28T12:00:00Z", "2026-02-28", "2026-03-31");
        check(Recurrence::Monthly(MonthDay::Last), "2028-02-28T12:00:00Z", "2028-01-31", "2028-02-29");
    }

    #[test]
    fn what_was_missed_is_made_once_and_a_clock_that_goes_back_makes_nothing() {
        let daily = schedule(Recurrence::Daily, "07:00", "Europe/Madrid");
        let first = daily.latest(at("2026-05-04T06:00:00Z")).unwrap();
        let later = at("2026-05-20T06:00:00Z");
        let late = daily.due(Some(first.date), later).unwrap();
        assert_eq!(late.date.to_string(), "2026-05-20");
        assert_eq!(daily.due(Some(late.date), later), None);
        assert_eq!(daily.due(Some(late.date), at("2026-05-04T06:00:00Z")), None);
        assert_eq!(
            daily.next(Some(late.date), at("2026-05-19T06:00:00Z")).unwrap().date.to_string(),
            "2026-05-21"
        );
        assert!(daily.is_ahead(late.date, at("2026-05-04T06:00:00Z")));
        assert!(!daily.is_ahead(late.date, at("2026-05-19T06:00:00Z")));
    }
}
