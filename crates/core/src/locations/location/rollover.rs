//! Dates that are wrong by a GPS week roll-over.
//!
//! Satellites send the week number in ten bits, so it restarts at zero every 1,024 weeks. Some receivers then report
//! fixes one or two roll-overs in the past. Gateways of trackers known for this correct the date.

use super::{Attribute, Location};
use crate::time::Timestamp;

/// One roll-over: 1,024 weeks.
const ROLL_OVER_MS: i64 = 1_024 * 7 * 24 * 60 * 60 * 1000;
/// Roll-overs to add: a receiver may be behind, or ahead when its firmware corrects a date that was right.
const TIMES: [i64; 4] = [1, 2, -1, -2];
/// The greatest age of a fix by its corrected date. If it would be older, the original date is kept.
const OLDEST_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// How far ahead of the server's clock the corrected date may be.
const AHEAD_MS: i64 = 10 * 60 * 1000;
/// The attribute with the date as it was sent; its presence shows that the date was corrected.
const ORIGINAL: &str = "originalDateTime";

/// Corrects a date that is wrong by one or two roll-overs, if the corrected date is near the present. Returns whether
/// it was corrected. The date as it was sent is stored in the attribute `originalDateTime`.
pub fn undo_rollover(location: &mut Location, received_at: Timestamp) -> bool {
    let Some(corrected) = corrected(location.time, received_at) else { return false };
    let original = Attribute::Text(location.time.to_string());
    location.readings.attributes.insert(ORIGINAL.to_owned(), original);
    location.time = corrected;
    true
}

fn corrected(time: Timestamp, received_at: Timestamp) -> Option<Timestamp> {
    TIMES.into_iter().map(|times| time.plus_millis(times * ROLL_OVER_MS)).find(|time| {
        let age_ms = received_at.as_millis() - time.as_millis();
        (-AHEAD_MS..=OLDEST_MS).contains(&age_ms)
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Latitude, Longitude, Readings};
    use super::*;

    fn check(sent: &str, expect: Option<&str>) {
        let received_at: Timestamp = "2026-05-01T12:00:00Z".parse().unwrap();
        let before = Location {
            time: sent.parse().unwrap(),
            latitude: Latitude::from_e7(1),
            longitude: Longitude::from_e7(1),
            readings: Readings::default(),
        };
        let mut after = before.clone();
        let was_corrected = undo_rollover(&mut after, received_at);
        assert_eq!(was_corrected.then(|| after.time.to_string()).as_deref(), expect, "{sent}");
        if was_corrected {
            let original = after.readings.attributes.get("originalDateTime");
            assert_eq!(original, Some(&Attribute::Text(sent.to_owned())));
        } else {
            assert_eq!(after, before);
        }
    }

    #[test]
    fn a_date_that_is_a_roll_over_off_is_corrected() {
        check("2006-09-15T12:00:00Z", Some("2026-05-01T12:00:00Z"));
        check("2006-09-15T11:59:58.500Z", Some("2026-05-01T11:59:58.500Z"));
        check("2006-09-08T12:00:00Z", Some("2026-04-24T12:00:00Z"));
        check("2006-09-15T12:10:00Z", Some("2026-05-01T12:10:00Z"));
        check("1987-01-30T12:00:00Z", Some("2026-05-01T12:00:00Z"));
        check("2045-12-15T12:00:00Z", Some("2026-05-01T12:00:00Z"));
    }

    #[test]
    fn any_other_date_stays() {
        check("2026-05-01T12:00:00Z", None);
        check("2026-04-30T12:00:00Z", None);
        check("2006-09-15T12:10:01Z", None);
        check("2006-09-08T11:59:59Z", None);
        check("2016-05-01T12:00:00Z", None);
        check("1967-06-16T12:00:00Z", None);
        check("0001-01-01T00:00:00Z", None);
        check("9999-12-30T22:00:00Z", None);
    }
}
