//! Intervals of realistic trackers, and reading arbitrary bytes.

use proptest::prelude::*;

use super::*;

const HOUR: u32 = 3_600;
const DAY: u32 = 24 * HOUR;
const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// A device that reported once, and then after each of these silences: seconds, and how many times.
fn heard(silences: &[(u32, u32)]) -> ReportingInterval {
    let mut interval = ReportingInterval::default();
    interval.hear(START);
    go_on(&mut interval, silences);
    interval
}

fn go_on(interval: &mut ReportingInterval, silences: &[(u32, u32)]) {
    let mut now = interval.last.unwrap();
    for (seconds, times) in silences {
        for _ in 0..*times {
            now = now.plus_seconds((*seconds).into());
            interval.hear(now);
        }
    }
}

fn check(name: &str, silences: &[(u32, u32)], expect: Option<u32>) {
    assert_eq!(heard(silences).interval_s(), expect, "{name}");
}

/// The same day repeated.
fn days(day: &[(u32, u32)], count: usize) -> Vec<(u32, u32)> {
    std::iter::repeat_n(day, count).flatten().copied().collect()
}

#[test]
fn little_teaches_nothing() {
    assert_eq!(ReportingInterval::default().interval_s(), None);
    check("heard once", &[], None);
    check("twice four hours", &[(4 * HOUR, 2)], None);
    check("an hour on the road", &[(10, 360)], None);
    check("half a day hourly", &[(HOUR, 12)], None);
    check("half a day of four hours", &[(4 * HOUR, 3)], Some(4 * HOUR));
}

#[test]
fn a_regular_device_is_expected_as_it_reports() {
    check("every ten seconds", &[(10, 8_640)], Some(10));
    check("every minute", &[(60, 1_440)], Some(60));
    check("hourly", &[(HOUR, 24)], Some(HOUR));
    check("daily", &[(DAY, 3)], Some(DAY));
    check("daily for a year", &[(DAY, 365)], Some(DAY));
    check("every other day for a year", &[(2 * DAY, 180)], Some(2 * DAY));
    check("weekly is set by hand", &[(7 * DAY, 50)], None);
    check("every second", &[(1, DAY)], Some(5));
}

#[test]
fn a_vehicle_may_be_parked() {
    let day = [(10, 8 * 360), (HOUR, 16)];
    check("a week of work", &days(&day, 7), Some(HOUR));
    check("a year of work", &days(&day, 365), Some(HOUR));
    let busy = [(10, 18 * 360), (HOUR, 6)];
    check("short nights", &days(&busy, 7), Some(HOUR));
}

#[test]
fn a_burst_is_one_hearing() {
    let pass = [(6 * HOUR, 1), (1, 200)];
    let learned = heard(&days(&pass, 20)).interval_s().unwrap();
    assert!((6 * HOUR - 5..=6 * HOUR + 5).contains(&learned), "{learned}");
    let at_once = [(6 * HOUR, 1), (0, 500)];
    check("all at once", &days(&at_once, 8), Some(6 * HOUR));
}

#[test]
fn an_outage_is_no_interval() {
    check("a week", &[(HOUR, 120), (7 * DAY, 1), (HOUR, 24)], Some(HOUR));
    check("a week, every month", &days(&[(HOUR, 500), (7 * DAY, 1)], 6), Some(HOUR));
    check("a day and a half", &[(600, 144), (DAY + 12 * HOUR, 1), (600, 10)], Some(600));
    check("two bad days", &[(600, 144), (DAY, 2), (600, 10)], Some(600));
}

#[test]
fn lost_reports_are_ordinary() {
    check("one in ten", &days(&[(600, 9), (1_200, 1)], 100), Some(600));
    check("one in twenty, now and then three", &days(&[(600, 57), (1_200, 2), (2_400, 1)], 20), Some(600));
}

#[test]
fn another_interval_is_learned_in_days() {
    let mut interval = heard(&[(600, 144 * 10)]);
    go_on(&mut interval, &[(4 * HOUR, 18)]);
    assert_eq!(interval.interval_s(), Some(4 * HOUR), "seldomer after three days");
    go_on(&mut interval, &[(600, 144 * 14)]);
    assert_eq!(interval.interval_s(), Some(600), "oftener after two weeks");
}

#[test]
fn a_clock_put_right_is_no_silence() {
    let mut interval = heard(&[(HOUR, 30)]);
    let now = interval.last.unwrap();
    interval.hear(now.plus_seconds(400 * i64::from(DAY)));
    interval.hear(now.plus_seconds(60));
    assert_eq!(interval.last, Some(now.plus_seconds(60)));
    assert_eq!(interval.silences, heard(&[(HOUR, 30)]).silences);
}

#[test]
fn the_bytes_are_few_and_stay() {
    let interval = heard(&[(10, 3), (HOUR, 2)]);
    let bytes = interval.to_bytes();
    assert_eq!(bytes.len(), HEAD + 2 * WIDTH);
    assert_eq!(bytes[HEAD..], [0, 3, 0, 0, 30, 0, 0, 6, 2, 0, 0, 0x20, 0x1c, 0]);
    assert_eq!(ReportingInterval::from_bytes(&bytes), interval);
    assert_eq!(ReportingInterval::default().to_bytes(), Vec::<u8>::new());
    assert_eq!(ReportingInterval::from_bytes(&bytes[..bytes.len() - 1]), ReportingInterval::default());
}

proptest! {
    #[test]
    fn whatever_is_heard_is_kept_and_within_bounds(
        silences in prop::collection::vec((0_u32..400_000, 1_u32..50), 0..40),
    ) {
        let interval = heard(&silences);
        prop_assert_eq!(&ReportingInterval::from_bytes(&interval.to_bytes()), &interval);
        prop_assert!(interval.interval_s().is_none_or(|seconds| (5..=LONGEST_S).contains(&seconds)));
        prop_assert!(interval.watched_s() <= MEMORY_S);
    }

    #[test]
    fn whatever_is_regular_is_learned(seconds in 5..=LONGEST_S, more in 0_u32..100) {
        let times = WATCH_S.div_ceil(seconds).max(ENOUGH) + more;
        prop_assert!(heard(&[(seconds, times)]).interval_s().unwrap().abs_diff(seconds) <= 2);
    }

    #[test]
    fn hearing_it_twice_changes_nothing(silences in prop::collection::vec((5_u32..100_000, 1_u32..9), 0..20)) {
        let twice: Vec<_> = silences
            .iter()
            .flat_map(|(seconds, times)| std::iter::repeat_n([(*seconds, 1), (0, 3)], *times as usize))
            .flatten()
            .collect();
        prop_assert_eq!(heard(&twice), heard(&silences));
    }

    #[test]
    fn any_bytes_go_on(bytes in prop::collection::vec(any::<u8>(), 0..120), seconds in 0_i64..200_000) {
        for bytes in [[&[VERSION; 1][..], &bytes].concat(), bytes] {
            let mut interval = ReportingInterval::from_bytes(&bytes);
            interval.hear(interval.last.unwrap_or(START).plus_seconds(seconds));
            let _ = (interval.interval_s(), interval.to_bytes());
        }
    }
}
