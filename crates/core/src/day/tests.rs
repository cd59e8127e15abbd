//! Days of every time zone, and unusual ones by name.

use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

const HOUR_MS: i64 = 3_600_000;

fn zone(id: &str) -> Zone {
    id.parse().unwrap()
}

fn date(text: &str) -> Date {
    text.parse().unwrap()
}

fn instant(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// The local date in a zone.
fn shown(instant: Timestamp, zone: &Zone) -> Date {
    Date(zone.as_jiff().to_datetime(instant.to_jiff()).date())
}

fn check(id: &str, on: &str, starts: &str, ends: &str) {
    let day = day_on(date(on), &zone(id));
    assert_eq!((day.starts.to_string(), day.ends.to_string()), (starts.into(), ends.into()), "{on} in {id}");
    assert_eq!(end_of_date(date(on), &zone(id)), day.ends);
}

#[test]
fn ordinary_short_and_long_days() {
    check("UTC", "2026-05-01", "2026-05-01T00:00:00Z", "2026-05-02T00:00:00Z");
    check("Asia/Tokyo", "2026-05-01", "2026-04-30T15:00:00Z", "2026-05-01T15:00:00Z");
    check("Europe/Madrid", "2026-03-29", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z");
    check("Europe/Madrid", "2026-10-25", "2026-10-24T22:00:00Z", "2026-10-25T23:00:00Z");
    check("Australia/Lord_Howe", "2026-04-05", "2026-04-04T13:00:00Z", "2026-04-05T13:30:00Z");
}

#[test]
fn days_without_a_midnight() {
    check("America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z", "2018-11-05T02:00:00Z");
    check("Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00Z", "2026-04-24T21:00:00Z");
    check("Asia/Beirut", "2026-03-29", "2026-03-28T22:00:00Z", "2026-03-29T21:00:00Z");
    // Set from 23:30 to 00:30, so that midnight lies inside the jump.
    check("America/Toronto", "1919-03-31", "1919-03-31T04:30:00Z", "1919-04-01T04:00:00Z");
}

#[test]
fn days_with_two_midnights() {
    // Havana is set back from 01:00 to 00:00: the date stays, the day is 25 hours long.
    check("America/Havana", "2026-11-01", "2026-11-01T04:00:00Z", "2026-11-02T05:00:00Z");
    // Set back from 00:00 to 23:00: the hour before midnight occurs twice.
    check("America/Sao_Paulo", "2018-02-17", "2018-02-17T02:00:00Z", "2018-02-18T03:00:00Z");
    check("Africa/Cairo", "2026-10-29", "2026-10-28T21:00:00Z", "2026-10-29T22:00:00Z");
    // Set back from 00:01 to 23:01: a minute of tomorrow, then the rest of today.
    check("America/St_Johns", "2010-11-06", "2010-11-06T02:30:00Z", "2010-11-07T03:30:00Z");
    let minute_of_tomorrow = instant("2010-11-07T02:30:30Z");
    assert_eq!(shown(minute_of_tomorrow, &zone("America/St_Johns")), date("2010-11-07"));
    assert_eq!(day_of(minute_of_tomorrow, &zone("America/St_Johns")).date, date("2010-11-06"));
}

#[test]
fn a_skipped_date_is_an_empty_day() {
    for (id, skipped, jump) in [
        ("Pacific/Apia", "2011-12-30", "2011-12-30T10:00:00Z"),
        ("Pacific/Fakaofo", "2011-12-30", "2011-12-30T11:00:00Z"),
        ("Pacific/Kwajalein", "1993-08-21", "1993-08-21T12:00:00Z"),
    ] {
        check(id, skipped, jump, jump);
        assert!(day_on(date(skipped), &zone(id)).is_empty());
        let day = day_of(instant(jump), &zone(id));
        assert_eq!(Some(day.date), date(skipped).tomorrow(), "{id}");
        assert_eq!(day_of(instant(jump).plus_millis(-1), &zone(id)).ends, day.starts, "{id}");
    }
}

#[test]
fn the_ends_of_time_are_cut_off() {
    for id in ["UTC", "Pacific/Kiritimati", "Etc/GMT+12", "America/New_York"] {
        let zone = zone(id);
        assert!(day_of(Timestamp::MIN, &zone).contains(Timestamp::MIN), "{id}");
        assert_eq!(day_on(Date::MIN, &zone).starts, Timestamp::MIN);
        assert_eq!(day_on(Date::MAX, &zone).ends, Timestamp::MAX);
        assert!(
            day_of(Timestamp::MAX.plus_millis(-1), &zone).contains(Timestamp::MAX.plus_millis(-1)),
            "{id}"
        );
    }
    assert_eq!(Date::MIN.yesterday(), None);
    assert_eq!(Date::MAX.tomorrow(), None);
}

#[test]
fn reads_and_writes_dates() {
    for text in ["0001-01-01", "2024-02-29", "2026-05-01", "9999-12-31"] {
        assert_eq!(date(text).to_string(), text);
    }
    for text in [
        "",
        "2026-5-1",
        "2026-05-1",
        "2026-02-29",
        "2026-00-10",
        "2026-13-01",
        "2026-04-31",
        "0000-01-01",
        "-001-01-01",
        "+999-01-01",
        "20260501",
        "2026/05/01",
        "2026-05-01T00:00:00Z",
        " 2026-05-01",
        "2026-05-01 ",
        "２０26-05-01",
    ] {
        assert_eq!(text.parse::<Date>(), Err(ParseDateError), "{text}");
    }
    assert_eq!(serde_json::to_string(&date("2026-05-01")).unwrap(), "\"2026-05-01\"");
    assert!(serde_json::from_str::<Date>("\"2026-05-32\"").is_err());
}

/// Every change of a zone's offset in the years under test.
fn jumps(zone: &Zone) -> Vec<(Timestamp, i32)> {
    zone.as_jiff()
        .following(instant("1969-12-01T00:00:00Z").to_jiff())
        .take_while(|jump| jump.timestamp() < instant("2041-02-01T00:00:00Z").to_jiff())
        .map(|jump| (Timestamp::from_jiff(jump.timestamp()), jump.offset().seconds()))
        .collect()
}

/// Checks that a day starts at the first instant from which its date, or a later one, stays on the clock.
fn check_start(day: &Day, earliest_later: Option<Date>, zone: &Zone) {
    let starts = day.starts;
    assert!(shown(starts.plus_millis(-1), zone) < day.date, "{day:?} could start earlier in {zone}");
    assert!(shown(starts, zone) >= day.date, "{day:?} starts too early in {zone}");
    assert!(earliest_later.is_none_or(|later| later >= day.date), "{day:?} comes back in {zone}");
}

/// Walks the days of a zone and the surroundings of its jumps.
fn check_zone(zone: &Zone, jumps: &[(Timestamp, i32)]) {
    let (first, last) = (date("1970-01-01"), date("2040-12-31"));
    // The earliest date shown at this jump or any later one.
    let mut earliest = vec![None; jumps.len() + 1];
    for (index, (jump, _)) in jumps.iter().enumerate().rev() {
        let here = shown(*jump, zone);
        earliest[index] = Some(earliest[index + 1].map_or(here, |later: Date| later.min(here)));
    }
    let mut day = day_on(first, zone);
    let mut index = 0;
    loop {
        while jumps.get(index).is_some_and(|(jump, _)| *jump < day.starts) {
            index += 1;
        }
        check_start(&day, earliest[index], zone);
        let length = day.ends.as_millis() - day.starts.as_millis();
        assert!((0..=48 * HOUR_MS).contains(&length), "{day:?} in {zone}");
        if day.date == last {
            break;
        }
        let next = day.date.tomorrow().unwrap();
        day = Day { date: next, starts: day.ends, ends: end_of_date(next, zone) };
    }
    for (jump, _) in jumps {
        for near in [-HOUR_MS, -1, 0, 1, HOUR_MS / 120, HOUR_MS] {
            let near = jump.plus_millis(near);
            let day = day_of(near, zone);
            assert!(day.contains(near) && day.date <= shown(near, zone), "{near} in {day:?} in {zone}");
            let before = day_on(day.date.yesterday().unwrap(), zone);
            assert!(
                before.ends == day.starts && before.starts <= before.ends,
                "{before:?} and {day:?} in {zone}"
            );
        }
    }
}

#[test]
fn every_day_of_every_zone_from_1970_to_2040() {
    let mut seen = HashSet::new();
    // Links to one zone have the same days.
    let zones: Vec<_> = Zone::all()
        .map(|id| (zone(id), jumps(&zone(id))))
        .filter(|(zone, jumps)| seen.insert((day_on(date("1970-01-01"), zone).starts, jumps.clone())))
        .collect();
    assert!(zones.len() > 200, "only {} different zones", zones.len());
    std::thread::scope(|scope| {
        for some in zones.chunks(zones.len().div_ceil(4)) {
            scope.spawn(move || some.iter().for_each(|(zone, jumps)| check_zone(zone, jumps)));
        }
    });
}

proptest! {
    #[test]
    fn an_instant_lies_in_its_day_alone(
        id in prop::sample::select(Zone::all().collect::<Vec<_>>()),
        millis in Timestamp::MIN.as_millis()..Timestamp::MAX.as_millis(),
    ) {
        let (zone, instant) = (zone(id), Timestamp::from_millis(millis));
        let day = day_of(instant, &zone);
        prop_assert!(day.contains(instant));
        if let Some(tomorrow) = day.date.tomorrow() {
            prop_assert_eq!(day_on(tomorrow, &zone).starts, day.ends);
        }
        if let Some(yesterday) = day.date.yesterday() {
            prop_assert_eq!(day_on(yesterday, &zone).ends, day.starts);
        }
    }

    #[test]
    fn any_text_is_a_date_only_as_it_is_written(text in "\\PC{0,12}|[0-9]{4}-[0-9]{2}-[0-9]{2}") {
        if let Ok(date) = text.parse::<Date>() {
            prop_assert_eq!(date.to_string(), text);
        }
    }
}
