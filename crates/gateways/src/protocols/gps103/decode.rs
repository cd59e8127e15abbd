//! Reads GPS103 sentences.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::calendar::Civil;
use crate::notation::fields::{Fields, degrees_minutes, hemisphere, hex, integer, is_digits, real};
use crate::report::{KNOT_KMH, Report};
use crate::value::Value;

use super::alarm::{KIND, PREFIX};
use super::time::read_time;

/// Characters of the longest login.
const LOGIN_MAX: usize = 30;

/// Decodes GPS103 sentences, each of which has the identifier of its device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gps103Decoder;

impl Decoder for Gps103Decoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        Decoded::from(read(&String::from_utf8_lossy(frame))).in_zone(context)
    }
}

fn read(text: &str) -> Result<Decoded, DecodeError> {
    let text = text.trim().trim_end_matches(';').trim();
    if let Some(name) = text.strip_prefix("##,imei:") {
        let name = name.split(',').next().unwrap_or_default();
        return Ok(Decoded::identified(name).with_reply("LOAD"));
    }
    // A heartbeat may directly precede a sentence.
    let heartbeat = text.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, sentence) = text.split_at_checked(heartbeat).unwrap_or(("", text));
    let mut decoded =
        if digits.is_empty() { Decoded::nothing() } else { Decoded::identified(digits).with_reply("ON") };
    if sentence.is_empty() && !digits.is_empty() {
        return Ok(decoded);
    }
    let body = sentence
        .strip_prefix("imei:")
        .ok_or(DecodeError::Malformed("a sentence must begin with \"imei:\""))?;
    let fields = Fields::split(body, ',');
    let name = fields.get(0);
    if !is_digits(name) {
        return Err(DecodeError::Malformed("the identifier of a device must consist of decimal digits"));
    }
    decoded.identifiers = vec![name.to_owned()];
    let kind = fields.get(1);
    if text.len() <= LOGIN_MAX {
        // A login of units that leave out the number signs: shorter than any report.
        decoded.reply("LOAD");
        return Ok(decoded);
    }
    if let Some(list) = body.strip_suffix('*') {
        decoded.reports.extend(read_listed(&Fields::split(list, ',')));
        return Ok(decoded);
    }
    if kind == "help me" {
        decoded.reply(format!("**,imei:{name},E;"));
    }
    // The letter of a command and `t`: the unit executed the command.
    if matches!(kind.as_bytes(), [b'a'..=b'z', b't']) {
        decoded.answer = Some(kind.to_owned());
    }
    if kind == "OBD" {
        decoded.reports.extend(read_obd(&fields));
    } else {
        decoded.reports.push(read_report(&fields));
    }
    Ok(decoded)
}

/// `name,kind,event,sensor,volts,HHmmss,ddMMyy,signal,fix,latitude,longitude,speed,course,altitude,hdop,satellites,
/// ignition,charging,error*`, in degrees and km/h; dashes stand for missing values.
fn read_listed(fields: &Fields<'_>) -> Option<Report> {
    let at = |index: usize| Some(fields.get(index).trim()).filter(|text| !text.trim_matches('-').is_empty());
    let mut report = Report::default();
    report.set_text("event", at(2).unwrap_or_default());
    report.set_text("sensorId", at(3).unwrap_or_default());
    report.set_some("sensorVoltage", at(4).and_then(real));
    let (time, date) = (fields.get(5).trim(), fields.get(6).trim());
    let year_first = [date.get(4..6)?, date.get(2..4)?, date.get(..2)?].concat();
    report.time = Civil::parse(&format!("{year_first}{time}")).and_then(Civil::instant);
    report.set_some("rssi", at(7).and_then(integer));
    report.valid = at(8).and_then(integer).map(|fix| fix > 0);
    report.locate(at(9).and_then(real)?, at(10).and_then(real)?);
    report.speed_kmh = at(11).and_then(real);
    report.course = at(12).and_then(real);
    report.altitude_m = at(13).and_then(real);
    report.set_some("hdop", at(14).and_then(real));
    report.set_some("sat", at(15).and_then(integer));
    report.set_some("ignition", at(16).and_then(integer).map(|state| state > 0));
    report.set_some("charge", at(17).and_then(integer).map(|state| state > 0));
    report.set_text("error", at(18).unwrap_or_default());
    Some(report)
}

/// A position (`F`) or a cell (`L`), with the meaning of the sentence's type.
fn read_report(fields: &Fields<'_>) -> Report {
    let at = |index: usize| fields.get(index).trim();
    let mut report = Report::default();
    set_kind(&mut report, at(1), at(3));
    if at(4) == "L" {
        let lac = hex(at(7)).and_then(|lac| u32::try_from(lac).ok()).filter(|_| !at(7).is_empty());
        if let Some((lac, cell)) = lac.zip(hex(at(9)).filter(|_| !at(9).is_empty())) {
            report.cell(0, 0, lac, cell);
        }
        set_pins(&mut report, at(14), at(15));
        return report;
    }
    // The letters of hemispheres follow the coordinates; on some units they precede them.
    let before = matches!(at(7), "N" | "S");
    let (latitude, north, longitude, east) =
        if before { (at(8), at(7), at(10), at(9)) } else { (at(7), at(8), at(9), at(10)) };
    let position = degrees_minutes(latitude).zip(degrees_minutes(longitude));
    let Some((latitude, longitude)) = position.filter(|_| at(4) == "F") else { return report };
    report.locate(hemisphere(latitude, north), hemisphere(longitude, east));
    report.valid = Some(at(6) == "A");
    report.time = read_time(at(2), at(5));
    report.speed_kmh = real(at(11)).map(|knots| knots * KNOT_KMH);
    report.course = real(at(12));
    report.altitude_m = real(at(13));
    set_pins(&mut report, at(14), at(15));
    for (name, field) in [("fuel1", at(16)), ("fuel2", at(17))] {
        report.set_some(name, field.strip_suffix('%').and_then(real));
    }
    report.set_some("temp1", integer(at(18)));
    report
}

fn set_pins(report: &mut Report, ignition: &str, door: &str) {
    let flag = |text: &str| match text {
        "1" => Some(true),
        "0" => Some(false),
        _ => None,
    };
    report.set_some("ignition", flag(ignition));
    report.set_some("door", flag(door));
}

/// The meaning of the type of a sentence; types without a meaning of their own are stored as the event.
fn set_kind(report: &mut Report, kind: &str, detail: &str) {
    if let Some(word) = KIND.word_of(kind) {
        return report.alarm(word);
    }
    match kind {
        "tracker" | "" => {}
        "acc on" => report.set("ignition", true),
        "acc off" => report.set("ignition", false),
        _ => {
            if let Some(degrees) = kind.strip_prefix("T:") {
                report.alarm_some(PREFIX.word_of("T:"));
                report.set_some("temp1", real(degrees));
            } else if let Some(level) = kind.strip_prefix("oil") {
                report.alarm_some(PREFIX.word_of("oil"));
                report.set_some("fuel", level.strip_prefix(' ').and_then(real));
            } else if !kind.starts_with("vt") {
                report.set("event", Value::text(kind));
            }
            if kind == "rfid" {
                report.set_text("driverUniqueId", detail);
            }
        }
    }
}

/// Engine readings; none while the adapter has no power.
fn read_obd(fields: &Fields<'_>) -> Option<Report> {
    let at = |index: usize| fields.get(index).trim();
    let voltage = real(at(12))?;
    let mut report = Report { time: Civil::parse(at(2)).and_then(Civil::instant), ..Report::default() };
    report.set("odometer", integer(at(3)).unwrap_or(0));
    report.set("fuelConsumption", real(at(5)).unwrap_or(0.0));
    report.set_some("hours", integer(at(6)).map(|hours| hours.saturating_mul(3_600_000)));
    report.set_some("obdSpeed", integer(at(7)));
    report.set_text("engineLoad", at(8));
    report.set_some("coolantTemp", integer(at(9)));
    report.set_text("throttle", at(10));
    report.set_some("rpm", integer(at(11)));
    report.set("battery", voltage);
    let codes: Vec<&str> = (13..fields.count()).map(at).filter(|code| !code.is_empty()).collect();
    report.set_text("dtcs", &codes.join(" "));
    Some(report)
}
