//! The period of totals and reports.

use perigee_core::time::Timestamp;
use perigee_core::timeline::{Interval, NamedPeriod};
use perigee_core::zone::Zone;

use crate::http::input::{Word, words};

/// Intervals that a period may have at most.
pub(super) const INTERVALS_MAX: usize = 400;

words! {
    "ReportInterval", "The intervals that a period is divided into, in the time zone of the report. `day`: from midnight to midnight. \
     `week`: from Monday to Sunday. `month`: months of the calendar. `period`: the period is not divided." => Interval;
    "NamedPeriod", "A period in the time zone of the report. `today` and `yesterday`: a date. `thisWeek` and `lastWeek`: from Monday to \
     Sunday. `thisMonth` and `lastMonth`: a month of the calendar." => NamedPeriod;
}

/// An interval, as the API describes it.
pub(super) type IntervalName = Word<Interval>;
/// A named period, as the API describes it.
pub(super) type PeriodName = Word<NamedPeriod>;

/// What a client says about a period.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    pub(super) named: Option<NamedPeriod>,
    pub(super) from: Option<Timestamp>,
    pub(super) to: Option<Timestamp>,
}

/// What is wrong with a period: the member or parameter, and the end of a sentence that begins with its name.
pub(super) type Refused = (&'static str, &'static str);

impl Asked {
    /// The period, or `usual` if none was asked for. It ends now unless its end is given.
    pub(super) fn resolve(
        self,
        usual: NamedPeriod,
        now: Timestamp,
        zone: &Zone,
    ) -> Result<(Timestamp, Timestamp), Refused> {
        match (self.named, self.from, self.to) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                Err(("period", "must not be given together with \"from\" or \"to\""))
            }
            (named, None, None) => Ok(named.unwrap_or(usual).at(now, zone)),
            (None, None, Some(_)) => Err(("from", "is required with \"to\"")),
            (None, Some(from), to) => {
                let to = to.unwrap_or(now);
                if from < to { Ok((from, to)) } else { Err(("to", "must be later than \"from\"")) }
            }
        }
    }
}

/// The limits of the intervals of a period.
pub(super) fn limits(
    interval: Interval,
    period: (Timestamp, Timestamp),
    zone: &Zone,
) -> Result<Vec<Timestamp>, Refused> {
    let too_many =
        "must divide the period into at most 400 intervals. Choose a longer interval or a shorter period";
    interval.limits(period, zone, INTERVALS_MAX).ok_or(("interval", too_many))
}
