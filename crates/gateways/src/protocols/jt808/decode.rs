//! Reads JT/T 808 messages.

use std::fmt::Write as _;

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::calendar::Civil;
use crate::notation::reader::Reader;
use crate::report::Report;
use crate::value::Value;

use super::frame::unescape;
use super::header::{LOCK, LOCK_BLIND, Message};
use super::location::{BEIJING, read_batch, read_location, read_time};
use super::lock::read_lock;
use super::media::{MEDIA, read_media, request_missing};
use super::packets::{Added, Packets};
use super::transparent::read_transparent;

/// Decodes JT/T 808 frames, each of which has the identifier of its device. Keeps packets until their message is
/// complete.
#[derive(Debug, Default)]
pub(super) struct Jt808Decoder {
    packets: Packets,
}

impl Decoder for Jt808Decoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        if frame.first() == Some(&b'(') {
            return read_text(frame, context).into();
        }
        let decoded = Decoded::from(read(frame, context, &mut self.packets));
        if decoded.is_damaged() && frame.contains(&0x7d) {
            // A frame from the wire still has its escapes.
            let plain = Decoded::from(read(&unescape(frame), context, &mut self.packets));
            if plain.error.is_none() {
                return plain;
            }
        }
        decoded
    }

    fn held_bytes(&self) -> usize {
        self.packets.held_bytes()
    }

    fn drop_held(&mut self) {
        self.packets = Packets::default();
    }
}

/// Answers of locks: `(name,1,001,ELOCK,3,529439)`; a request for the time is answered with it.
fn read_text(frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let text = String::from_utf8_lossy(frame);
    if text.contains("BASE,2") {
        return Ok(Decoded::nothing().with_reply(text.replace("TIME", &Civil::of(context.now).digits())));
    }
    if !context.known {
        return Err(DecodeError::Unidentified);
    }
    Ok(Decoded::one(result(&text)))
}

fn result(text: &str) -> Report {
    let mut report = Report::default();
    report.set("result", Value::text(text));
    report
}

/// The model in a registration: province, city, maker and model, whose lengths depend on the standard's edition.
fn read_model(mut body: Reader<'_>, is_of_2019: bool) -> Option<String> {
    /// Bytes that a registration of 2013 has before the plate.
    const FIXED_2013: usize = 2 + 2 + 5 + 20 + 7 + 1;
    let (before, length) = match body.remaining() {
        _ if is_of_2019 => (2 + 2 + 11, 30),
        FIXED_2013.. => (2 + 2 + 5, 20),
        _ => (2 + 2 + 5, 8),
    };
    body.skip(before).ok()?;
    let bytes = body.take(length).ok()?;
    let text: String = bytes.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect();
    Some(text.trim().to_owned())
        .filter(|text| !text.is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~')))
}

fn read(frame: &[u8], context: &Context<'_>, packets: &mut Packets) -> Result<Decoded, DecodeError> {
    let message = Message::read(frame)?;
    let mut decoded = Decoded {
        identifiers: message.identifiers(),
        zone_minutes: Some(context.zone_minutes().unwrap_or(BEIJING)),
        ..Decoded::default()
    };
    let mismatch = message
        .mismatch
        .map(|(sent, computed)| DecodeError::Checksum { sent: sent.into(), computed: computed.into() });
    let whole;
    let body = match message.packet {
        None => message.body,
        // A damaged packet is dropped.
        Some(_) if mismatch.is_some() => return Ok(Decoded { error: mismatch, ..decoded }),
        Some(packet) => match packets.add(&message, packet)? {
            Added::Whole(bytes) => {
                whole = bytes;
                Reader::new(&whole)
            }
            Added::Incomplete(missing) => return Ok(decoded.with_reply(request_missing(&message, &missing))),
            // A complete file has an answer of its own; some terminals wait for an answer to each packet too.
            Added::Part if message.kind == MEDIA => return Ok(decoded.with_reply(message.acknowledge())),
            Added::Part => return Ok(decoded),
        },
    };
    read_body(&message, body, context, &mut decoded)?;
    decoded.error = mismatch;
    Ok(decoded)
}

/// Decodes the body of a message, and replies to it.
fn read_body(
    message: &Message<'_>,
    mut body: Reader<'_>,
    context: &Context<'_>,
    decoded: &mut Decoded,
) -> Result<(), DecodeError> {
    let answered = matches!(
        message.kind,
        0x0002
            | 0x0003
            | 0x0102
            | 0x0107
            | 0x0200
            | 0x0210
            | 0x0506
            | 0x0704
            | 0x0800
            | 0x0900
            | 0x1007
            | 0x6006
            | 0x8888
    );
    if answered {
        decoded.reply(message.acknowledge());
    }
    match message.kind {
        0x0001 => decoded.answer = Some(read_answer(body)?),
        0x0100 => {
            decoded.model = read_model(body, message.version.is_some());
            let mut answer = message.serial.to_be_bytes().to_vec();
            answer.push(0);
            answer.extend_from_slice(message.code().as_bytes());
            decoded.reply(message.answer(0x8100, &answer));
        }
        0x0002 if body.remaining() >= 3 => {
            let mut report = Report::default();
            report.set("batteryLevel", body.u8()?);
            report.set("rssi", body.u8()?);
            report.set("status", body.u8()?);
            decoded.reports.push(report);
        }
        0x0107 => {
            body.skip(2 + 5 + 20 + 7)?;
            let mut report = Report::default();
            report.set("iccid", body.hex(10)?);
            decoded.reports.push(report);
        }
        0x0104 => decoded.reports.push(read_parameters(body)?),
        0x0109 => {
            let now = Civil::of(context.now);
            let [high, low] = now.year.to_be_bytes();
            let clock = [high, low, now.month, now.day, now.hour, now.minute, now.second, 0];
            decoded.reply(message.answer(0x8109, &clock));
        }
        0x0200 => decoded.reports.push(read_location(body, context)?),
        0x0201 => {
            body.skip(2)?;
            decoded.reports.push(read_location(body, context)?);
        }
        0x0210 if body.remaining() == 7 => {
            let mut report = Report::default();
            report.set("batteryLevel", body.u8()?);
            report.time = read_time(&mut body, context)?;
            decoded.reports.push(report);
        }
        0x0210 | 0x0704 => decoded.reports = read_batch(body, message.kind == 0x0704, context)?,
        LOCK | LOCK_BLIND => {
            if message.wants_answer {
                let [high, low] = message.kind.to_be_bytes();
                decoded.reply(message.answer(0x4401, &[high, low, 0]));
            }
            decoded.reports.push(read_lock(body, message.kind == LOCK_BLIND)?);
        }
        0x0701 => {
            let length = usize::try_from(body.u32()?).unwrap_or(usize::MAX);
            decoded.reports.push(result(&body.text(length)?));
        }
        0x0702 => decoded.reports.push(read_driver(body, context)?),
        0x1300 => {
            body.skip(2)?;
            let units = body.take_rest().chunks_exact(2);
            let units = units.filter_map(|pair| Some(u16::from_be_bytes(pair.try_into().ok()?)));
            let text: String = char::decode_utf16(units).map(|letter| letter.unwrap_or('\u{fffd}')).collect();
            decoded.reports.push(result(text.trim()));
        }
        0x2070 => decoded.reports.push(read_acceleration(body)?),
        0x6006 => {
            body.skip(1)?;
            decoded.reports.push(result(&String::from_utf8_lossy(body.take_rest())));
        }
        MEDIA => read_media(message, body, context, decoded)?,
        0x0900 => decoded.reports.extend(read_transparent(body, context)?),
        _ => {}
    }
    Ok(())
}

/// The reply of the terminal to a message of the server: serial number and type of the message, and the outcome.
fn read_answer(mut body: Reader<'_>) -> Result<String, DecodeError> {
    body.skip(2)?;
    let (asked, outcome) = (body.u16()?, body.u8()?);
    let word = match outcome {
        0 => "done",
        1 => "failed",
        2 => "wrong message",
        3 => "not supported",
        _ => "unknown outcome",
    };
    Ok(format!("{asked:04X}: {word}"))
}

/// A driver's card was inserted or removed.
fn read_driver(mut body: Reader<'_>, context: &Context<'_>) -> Result<Report, DecodeError> {
    let mut report = Report::default();
    report.set("cardStatus", body.u8()?);
    report.time = read_time(&mut body, context)?;
    report.set("cardResult", body.u8()?);
    let length = body.u8()?;
    report.set_text("driver", &body.text(length.into())?);
    report.set_text("cardCode", body.text(20)?.trim_matches(|c: char| c <= ' '));
    let length = body.u8()?;
    report.set_text("cardAgency", &body.text(length.into())?);
    report.set("cardValidity", body.hex(4)?);
    Ok(report)
}

/// Accelerations along three axes, one triple for each sample.
fn read_acceleration(mut body: Reader<'_>) -> Result<Report, DecodeError> {
    let mut text = String::from("[");
    while body.remaining() >= 12 {
        body.skip(6)?;
        let mut axis = || {
            body.u16().map(|raw| if raw & 0x8000 == 0 { i32::from(raw) } else { -i32::from(raw & 0x7fff) })
        };
        let separator = if text.len() > 1 { "," } else { "" };
        // Writing to a `String` never fails.
        let _ = write!(text, "{separator}[{},{},{}]", axis()?, axis()?, axis()?);
    }
    text.push(']');
    let mut report = Report::default();
    report.set("gSensor", text);
    Ok(report)
}

/// The settings of the device that were requested.
fn read_parameters(mut body: Reader<'_>) -> Result<Report, DecodeError> {
    let mut report = Report::default();
    body.skip(3)?;
    while body.remaining() >= 5 {
        let (parameter, length) = (body.u32()?, body.u8()?);
        let Ok(mut content) = body.sub(length.into()) else { break };
        let name = match parameter {
            0x0001 => "heartbeatInterval",
            0x0010 => "apn",
            0x0013 => "server",
            0x0018 => "port",
            0x0027 => "sleepReportInterval",
            0x0028 => "emergencyReportInterval",
            0x0029 => "defaultReportInterval",
            0x0055 => "overspeedThreshold",
            0x0056 => "speedLimitDuration",
            0x0080 => "odometer",
            0x0083 => "plateNumber",
            _ => continue,
        };
        match parameter {
            0x0010 | 0x0013 | 0x0083 => report.set_text(name, content.text(length.into())?.trim()),
            0x0080 => report.set(name, i64::from(content.u32()?) * 100),
            _ => report.set(name, content.u32()?),
        }
    }
    Ok(report)
}
