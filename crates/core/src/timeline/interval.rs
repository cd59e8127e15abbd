//! Days, weeks and months of a zone, and periods with names such as "last week".

use crate::day::{Date, day_of, day_on};
use crate::rules::schedule::Weekday;
use crate::time::Timestamp;
use crate::zone::Zone;

/// The length of the intervals that a period is divided into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interval {
    /// A date of the zone.
    Day,
    /// From Monday to Sunday.
    Week,
    /// A month of the calendar.
    Month,
    /// The period is not divided.
    Period,
}

/// A period that is named instead of given by two times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NamedPeriod {
    /// The current date.
    Today,
    /// The date before.
    Yesterday,
    /// From Monday of this week to the next Monday.
    ThisWeek,
    /// The week before.
    LastWeek,
    /// The current month of the calendar.
    ThisMonth,
    /// The month before.
    LastMonth,
}

impl Interval {
    /// Every interval, in the order of the API document.
    pub const ALL: [Self; 4] = [Self::Day, Self::Week, Self::Month, Self::Period];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Period => "period",
        }
    }

    /// The limits of the intervals of a period: the first is `from`, the last is `to`, and there is one more than
    /// intervals. `None` for more than `most` intervals, or for an empty period.
    pub fn limits(
        self,
        (from, to): (Timestamp, Timestamp),
        zone: &Zone,
        most: usize,
    ) -> Option<Vec<Timestamp>> {
        if from >= to {
            return None;
        }
        let mut limits = vec![from];
        let mut date = day_of(from, zone).date;
        while let Some(next) = self.next(date) {
            date = next;
            let limit = day_on(date, zone).starts;
            if limit >= to {
                break;
            }
            // A date that the zone skipped has no length.
            if limits.last().is_some_and(|last| *last < limit) {
                limits.push(limit);
            }
            if limits.len() > most {
                return None;
            }
        }
        limits.push(to);
        Some(limits)
    }

    /// The first date of the interval after the one with this date.
    fn next(self, date: Date) -> Option<Date> {
        match self {
            Self::Day => date.tomorrow(),
            Self::Week => shifted(first_of_week(date)?, 7),
            Self::Month => next_month(date),
            Self::Period => None,
        }
    }
}

impl NamedPeriod {
    /// Every period, in the order of the API document.
    pub const ALL: [Self; 6] =
        [Self::Today, Self::Yesterday, Self::ThisWeek, Self::LastWeek, Self::ThisMonth, Self::LastMonth];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Today => "today",
            Self::Yesterday => "yesterday",
            Self::ThisWeek => "thisWeek",
            Self::LastWeek => "lastWeek",
            Self::ThisMonth => "thisMonth",
            Self::LastMonth => "lastMonth",
        }
    }

    /// The beginning of the period, and its end, which does not belong to it, as seen at an instant in a zone.
    pub fn at(self, now: Timestamp, zone: &Zone) -> (Timestamp, Timestamp) {
        let today = day_of(now, zone).date;
        let dates = match self {
            Self::Today => Some(today).zip(today.tomorrow()),
            Self::Yesterday => today.yesterday().zip(Some(today)),
            Self::ThisWeek => first_of_week(today).and_then(|first| Some(first).zip(shifted(first, 7))),
            Self::LastWeek => first_of_week(today).and_then(|first| shifted(first, -7).zip(Some(first))),
            Self::ThisMonth => first_of_month(today).zip(next_month(today)),
            Self::LastMonth => {
                let first = first_of_month(today);
                first.and_then(Date::yesterday).and_then(first_of_month).zip(first)
            }
        };
        // Only at the ends of the calendar there are no such dates.
        let (first, after) = dates.unwrap_or((today, Date::MAX));
        (day_on(first, zone).starts, day_on(after, zone).starts)
    }
}

fn shifted(date: Date, days: i32) -> Option<Date> {
    let step = if days < 0 { Date::yesterday } else { Date::tomorrow };
    (0..days.abs()).try_fold(date, |date, _| step(date))
}

fn first_of_week(date: Date) -> Option<Date> {
    let mut first = date;
    while Weekday::of(first.to_jiff()) != Weekday::Monday {
        first = first.yesterday()?;
    }
    Some(first)
}

fn first_of_month(date: Date) -> Option<Date> {
    let date = date.to_jiff();
    Date::new(date.year(), date.month(), 1)
}

fn next_month(date: Date) -> Option<Date> {
    let date = date.to_jiff();
    if date.month() == 12 {
        Date::new(date.year() + 1, 1, 1)
    } else {
        Date::new(date.year(), date.month() + 1, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn limits(interval: Interval, from: &str, to: &str, zone: &str) -> Vec<String> {
        let zone = zone.parse().unwrap();
        let limits = interval.limits((at(from), at(to)), &zone, 100).unwrap();
        limits.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn days_of_a_changing_clock_have_23_and_25_hours() {
        let spring = limits(Interval::Day, "2026-03-28T00:00:00Z", "2026-03-30T12:00:00Z", "Europe/Madrid");
        assert_eq!(
            spring,
            ["2026-03-28T00:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z", "2026-03-30T12:00:00Z"]
        );
        let autumn = limits(Interval::Day, "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z", "Europe/Madrid");
        assert_eq!(autumn, ["2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z"]);
    }

    #[test]
    fn a_skipped_date_is_no_interval() {
        // Samoa had no 30 December 2011.
        let days = limits(Interval::Day, "2011-12-29T10:00:00Z", "2012-01-01T10:00:00Z", "Pacific/Apia");
        assert_eq!(days.len(), 4, "{days:?}");
        assert!(days.windows(2).all(|pair| pair[0] < pair[1]), "{days:?}");
    }

    #[test]
    fn weeks_begin_on_monday_and_months_on_the_first() {
        let weeks = limits(Interval::Week, "2026-05-01T00:00:00Z", "2026-05-18T00:00:00Z", "UTC");
        assert_eq!(
            weeks,
            ["2026-05-01T00:00:00Z", "2026-05-04T00:00:00Z", "2026-05-11T00:00:00Z", "2026-05-18T00:00:00Z"]
        );
        let months = limits(Interval::Month, "2025-12-15T00:00:00Z", "2026-02-02T00:00:00Z", "UTC");
        assert_eq!(
            months,
            ["2025-12-15T00:00:00Z", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-02-02T00:00:00Z"]
        );
        let whole = limits(Interval::Period, "2025-12-15T00:00:00Z", "2026-02-02T00:00:00Z", "UTC");
        assert_eq!(whole.len(), 2);
    }

    #[test]
    fn too_many_intervals_and_empty_periods_are_refused() {
        let year = (at("2026-01-01T00:00:00Z"), at("2027-01-01T00:00:00Z"));
        assert_eq!(Interval::Day.limits(year, &Zone::utc(), 364), None);
        assert_eq!(Interval::Day.limits(year, &Zone::utc(), 365).map(|limits| limits.len()), Some(366));
        assert_eq!(Interval::Day.limits((year.0, year.0), &Zone::utc(), 10), None);
        assert_eq!(Interval::Day.limits((Timestamp::MIN, Timestamp::MAX), &Zone::utc(), 400), None);
        assert!(Interval::Period.limits((Timestamp::MIN, Timestamp::MAX), &Zone::utc(), 1).is_some());
    }

    #[test]
    fn named_periods() {
        let zone: Zone = "Europe/Madrid".parse().unwrap();
        // 1 January 2026 is a Thursday.
        let check = |period: NamedPeriod, from: &str, to: &str| {
            let (begins, ends) = period.at(at("2026-01-01T11:00:00Z"), &zone);
            assert_eq!((begins, ends), (at(from), at(to)), "{}", period.name());
        };
        check(NamedPeriod::Today, "2025-12-31T23:00:00Z", "2026-01-01T23:00:00Z");
        check(NamedPeriod::Yesterday, "2025-12-30T23:00:00Z", "2025-12-31T23:00:00Z");
        check(NamedPeriod::ThisWeek, "2025-12-28T23:00:00Z", "2026-01-04T23:00:00Z");
        check(NamedPeriod::LastWeek, "2025-12-21T23:00:00Z", "2025-12-28T23:00:00Z");
        check(NamedPeriod::ThisMonth, "2025-12-31T23:00:00Z", "2026-01-31T23:00:00Z");
        check(NamedPeriod::LastMonth, "2025-11-30T23:00:00Z", "2025-12-31T23:00:00Z");
    }
}
