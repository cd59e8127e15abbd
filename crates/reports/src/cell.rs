//! The values of a report, and their texts.

use jiff::civil;
use perigee_core::locations::location::Milli;
use perigee_core::notifications::routing::Units;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

/// Metres of a statute mile and of a nautical mile.
const MILE_M: f64 = 1_609.344;
const NAUTICAL_MILE_M: f64 = 1_852.0;

/// A value in a column. Amounts are in the units of the service; writers convert them to those of the reader.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// No value.
    Empty,
    /// Any text, also one that a user wrote.
    Text(String),
    /// A time, or a date in a column of dates.
    Instant(Timestamp),
    /// Seconds.
    Duration(u64),
    /// Metres.
    Distance(u64),
    /// Kilometres per hour.
    Speed(Milli),
    /// A number without a unit that is converted.
    Number(f64),
    /// How many.
    Count(u64),
}

impl Cell {
    /// A value that may be missing.
    pub fn maybe<T>(value: Option<T>, cell: impl FnOnce(T) -> Self) -> Self {
        value.map_or(Self::Empty, cell)
    }

    /// The number of an amount in the reader's units, rounded to three decimals; `None` for texts and times.
    pub fn number(&self, units: Units) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "amounts are far below 2^53")]
        let number = match self {
            Self::Empty | Self::Text(_) | Self::Instant(_) => return None,
            Self::Duration(count) | Self::Count(count) => return Some(*count as f64),
            Self::Distance(metres) => *metres as f64 / kilometre_or_mile_m(units),
            Self::Speed(speed) => speed.as_f64() * 1_000.0 / kilometre_or_mile_m(units),
            Self::Number(number) => *number,
        };
        // Degrees have seven decimals.
        let scale = if matches!(self, Self::Number(_)) { 1e7 } else { 1e3 };
        Some((number * scale).round() / scale)
    }

    /// The sum, or for speeds the greater of two; an empty cell changes nothing.
    pub(crate) fn join(&mut self, other: &Self) {
        *self = match (&*self, other) {
            (mine, Self::Empty) => mine.clone(),
            (Self::Duration(mine), Self::Duration(other)) => Self::Duration(mine.saturating_add(*other)),
            (Self::Distance(mine), Self::Distance(other)) => Self::Distance(mine.saturating_add(*other)),
            (Self::Count(mine), Self::Count(other)) => Self::Count(mine.saturating_add(*other)),
            (Self::Number(mine), Self::Number(other)) => Self::Number(mine + other),
            (Self::Speed(mine), Self::Speed(other)) => Self::Speed(*mine.max(other)),
            (_, other) => other.clone(),
        };
    }
}

/// Metres of the unit of distances.
fn kilometre_or_mile_m(units: Units) -> f64 {
    match units {
        Units::Metric => 1_000.0,
        Units::Imperial => MILE_M,
        Units::Nautical => NAUTICAL_MILE_M,
    }
}

/// What the clocks of a zone show.
pub(crate) fn local(instant: Timestamp, zone: &Zone) -> civil::DateTime {
    zone.as_jiff().to_datetime(instant.to_jiff())
}

/// A time with the offset of the zone, in whole seconds: `2026-05-01T10:12:00+02:00`.
pub(crate) fn with_offset(instant: Timestamp, zone: &Zone) -> String {
    let (offset, shown) = (zone.as_jiff().to_offset(instant.to_jiff()).seconds(), local(instant, zone));
    let sign = if offset < 0 { '-' } else { '+' };
    let minutes = offset.abs() / 60;
    format!("{}{sign}{:02}:{:02}", shown.strftime("%Y-%m-%dT%H:%M:%S"), minutes / 60, minutes % 60)
}

/// Hours, minutes and seconds: `26:03:00`.
pub(crate) fn clock(seconds: u64) -> String {
    format!("{}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}
