//! The time of a GPS103 sentence: a local date and time, and the time of day in UTC.

use perigee_core::time::Timestamp;

use crate::notation::calendar::Civil;
use crate::notation::fields::is_digits;

/// The instant with this time of day in UTC that is nearest to the local time: no zone is more than twelve hours away.
/// Without a time of day in UTC, the local time is used.
pub(super) fn read_time(local: &str, utc: &str) -> Option<Timestamp> {
    let digits: String = local.chars().filter(char::is_ascii_digit).collect();
    let local = Civil::parse(digits.get(..10).filter(|_| digits.len() <= 12)?)?.instant()?;
    let clock = utc.split('.').next().unwrap_or_default();
    if clock.len() != 6 || !is_digits(clock) {
        return Some(local);
    }
    let part = |from: usize| clock.get(from..from + 2)?.parse::<i64>().ok();
    let (hour, minute, second) = (part(0)?, part(2)?, part(4)?);
    let local_minutes = local.as_seconds().rem_euclid(86_400) / 60;
    let mut ahead = local_minutes - (hour * 60 + minute);
    if ahead <= -12 * 60 {
        ahead += 24 * 60;
    } else if ahead > 12 * 60 {
        ahead -= 24 * 60;
    }
    Some(local.plus_seconds(second - ahead * 60))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_day_is_the_nearest() {
        let check = |local: &str, utc: &str, expect: &str| {
            assert_eq!(
                read_time(local, utc).map(|time| time.to_string()).as_deref(),
                Some(expect),
                "{local} {utc}"
            );
        };
        check("0809231929", "055403.000", "2008-09-24T05:54:03Z");
        check("190205084503", "064459.000", "2019-02-05T06:44:59Z");
        check("151027025958", "235957.000", "2015-10-26T23:59:57Z");
        check("13/02/27 23:40", "125952.000", "2013-02-27T12:59:52Z");
        check("150401165832", "31.0", "2015-04-01T16:58:00Z");
        assert_eq!(read_time("000000000", ""), None);
    }
}
