//! Sentences with a position. Older units write fields of fixed width without separators.

use perigee_core::time::Timestamp;

use crate::notation::bits::bit;
use crate::notation::calendar::Civil;
use crate::notation::fields::{degrees_minutes, hemisphere, hex, is_digits, real};
use crate::report::Report;

use super::decode::{Sentence, padded};
use super::kind::set_kind;

/// The instant of six digits of date and six of time.
pub(super) fn date_and_time(date: &str, time: &str, day_first: bool) -> Option<Timestamp> {
    let part = |text: &str, from: usize| text.get(from..from + 2)?.parse::<u8>().ok();
    let (first, month, last) = (part(date, 0)?, part(date, 2)?, part(date, 4)?);
    let (year, day) = if day_first { (last, first) } else { (first, last) };
    let civil = Civil {
        year: year.into(),
        month,
        day,
        hour: part(time, 0)?,
        minute: part(time, 2)?,
        second: part(time, 4)?,
    };
    civil.instant()
}

/// Text that is read from its start.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn take(&mut self, length: usize) -> Option<&'a str> {
        let (head, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(head)
    }

    /// Reads up to one of these letters; returns the text before it and the letter.
    fn until(&mut self, letters: &[char]) -> Option<(&'a str, &'a str)> {
        let at = self.0.find(|c: char| c.is_ascii_alphabetic())?;
        let before = self.take(at)?;
        let letter = self.take(1).filter(|letter| letter.chars().all(|c| letters.contains(&c)))?;
        self.comma();
        Some((before, letter))
    }

    fn comma(&mut self) {
        self.0 = self.0.strip_prefix(',').unwrap_or(self.0);
    }
}

/// `[detail]date,A,latitude,N,longitude,E,speed,time,course` and, on units that have them, inputs and a mileage.
pub(super) fn read_position(sentence: &Sentence<'_>) -> Option<Report> {
    let mut report = Report::default();
    let mut rest = Rest(sentence.content);
    let alarm = rest.0.strip_prefix("ALARM,").or_else(|| rest.0.strip_prefix(",ALARM,"));
    let mut alarm_detail = None;
    if let Some(after) = alarm {
        let mut parts = after.splitn(3, ',');
        alarm_detail = parts.next();
        rest = Rest(parts.nth(1)?);
    }
    // Newer units have a letter and a digit before the date: `G,2,`.
    if let [b'A'..=b'Z', b',', b'0'..=b'9', b',', ..] = rest.0.as_bytes() {
        rest.take(4)?;
    }
    let (digits, fix) = rest.until(&['A', 'V'])?;
    let digits = digits.trim_end_matches(',');
    let (detail, date) = digits.split_at_checked(digits.len().checked_sub(6)?)?;
    set_kind(&mut report, sentence.kind, alarm_detail.unwrap_or(detail));
    report.valid = Some(fix == "A");
    let (latitude, north) = rest.until(&['N', 'S'])?;
    let (longitude, east) = rest.until(&['E', 'W'])?;
    report
        .locate(hemisphere(degrees_minutes(latitude)?, north), hemisphere(degrees_minutes(longitude)?, east));
    let (speed, time, rest) = speed_and_time(rest.0)?;
    report.speed_kmh = padded(speed);
    report.time = date_and_time(date, time, sentence.commas);
    if set_state(&mut report, rest).is_none() {
        let number = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        report.course = rest.get(..number).and_then(real);
    }
    Some(report)
}

/// A speed of at most five characters and the six digits of the time; further digits of the speed are skipped if a
/// comma follows them.
fn speed_and_time(text: &str) -> Option<(&str, &str, &str)> {
    (1..=5).rev().find_map(|width| {
        let (speed, rest) = text.split_at_checked(width)?;
        if !speed.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'.')) {
            return None;
        }
        let more = rest.bytes().take_while(u8::is_ascii_digit).count();
        let after_comma = rest.get(more..).and_then(|rest| rest.strip_prefix(','));
        // A comma may also follow the time: the digits before it belong to the speed only if six digits follow it.
        [after_comma, Some(rest)].into_iter().flatten().find_map(|rest| {
            let (time, rest) = rest.split_at_checked(6).filter(|(time, _)| is_digits(time))?;
            Some((speed, time, rest.strip_prefix(',').unwrap_or(rest)))
        })
    })
}

/// Course, eight digits of inputs and `L` with the mileage: `356.51` `00000000` `L000946BB`.
fn set_state(report: &mut Report, text: &str) -> Option<()> {
    let (state, mileage) = text.split_once('L')?;
    let (course, state) = state.split_at_checked(state.len().checked_sub(8)?)?;
    let course = course.strip_suffix(',').unwrap_or(course);
    if !matches!(course.len(), 2 | 6) || !state.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    report.course = padded(course);
    let digit =
        |index: usize| state.get(index..=index).and_then(hex).and_then(|digit| u8::try_from(digit).ok());
    report.set("charge", digit(0)? == 0);
    report.set("ignition", digit(1)? == 1);
    let (first, second, third) = (digit(2)?, digit(3)?, digit(4)?);
    report.set("in2", u8::from(bit(first, 0)));
    report.input(2, bit(first, 0));
    report.set("panic", u8::from(bit(first, 1)));
    report.set("out2", u8::from(bit(first, 2)));
    report.output(2, bit(first, 2));
    if bit(first, 3) {
        report.set("blocked", 1_u8);
    }
    for index in 0..3 {
        if bit(second, index) {
            report.set(("hs", 3 - index), 1_u8);
        }
        if bit(third, index + 1) {
            report.set(("ls", 3 - index), 1_u8);
        }
    }
    if bit(second, 3) {
        report.set("door", 1_u8);
    }
    report.set_some("fuel", state.get(5..).and_then(hex));
    let digits = mileage.bytes().take(8).take_while(u8::is_ascii_hexdigit).count();
    let (metres, after) = mileage.split_at_checked(digits)?;
    report.set_some("odometer", hex(metres));
    if after.starts_with(['+', '-']) {
        report.set_some("temp1", real(after.get(..6).unwrap_or(after)));
    }
    Some(())
}
