//! The status word, whose alarms are bits that are 0.

use crate::alarm::{AlarmTable, Notation, number};
use crate::notation::bits::bit;
use crate::notation::calendar::Civil;
use crate::report::Report;

use perigee_core::time::Timestamp;

/// The alarms of the status word.
pub(super) const STATES: AlarmTable = AlarmTable {
    field: "bits of the states that are 0",
    notation: Notation::Bit,
    codes: &[
        number(0, "vibration"),
        number(1, "sos"),
        number(2, "overspeed"),
        number(18, "sos"),
        number(19, "powerCut"),
    ],
};

/// Adds the status and all of its alarms, so that none hides another.
pub(super) fn set_status(report: &mut Report, status: u32) {
    for word in STATES.words_of_bits((!status).into()) {
        report.alarm(word);
    }
    report.set("ignition", bit(status, 10));
    report.set("status", status);
}

/// The instant of `hhmmss` and `ddmmyy`. Some units send 60 seconds or more, which run into the next minute.
pub(super) fn read_time(time: &str, date: &str) -> Option<Timestamp> {
    let part = |text: &str, from: usize| text.get(from..from + 2)?.parse::<u8>().ok();
    let midnight = Civil {
        year: part(date, 4)?.into(),
        month: part(date, 2)?,
        day: part(date, 0)?,
        hour: 0,
        minute: 0,
        second: 0,
    };
    let seconds = match time.len() {
        0 => 0,
        _ => i64::from(part(time, 0)?) * 3600 + i64::from(part(time, 2)?) * 60 + i64::from(part(time, 4)?),
    };
    Some(midnight.instant()?.plus_seconds(seconds))
}

/// `*HQ,name,V4,kind,yyyyMMddHHmmss#`: the type of the received message, and the clock of the server.
pub(super) fn answer(name: &str, kind: &str, now: Timestamp) -> String {
    format!("*HQ,{name},V4,{kind},{}#", Civil::of(now).digits())
}

/// `*HQ,name,R12,HHmmss#`.
pub(super) fn answer_r12(name: &str, now: Timestamp) -> String {
    let digits = Civil::of(now).digits();
    format!("*HQ,{name},R12,{}#", digits.get(8..).unwrap_or_default())
}
