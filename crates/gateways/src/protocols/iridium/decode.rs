//! Decodes messages of modems: a header, a payload and a location, in any order.

use perigee_core::time::Timestamp;

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::bits::bit;
use crate::notation::fields::is_digits;
use crate::notation::instant::seconds;
use crate::notation::reader::Reader;
use crate::payload::PayloadSettings;
use crate::sbd::{Estimate, Session};

use super::encode::confirmation;
use super::frame::REVISION;

/// Bytes of the revision and the length that precede the elements.
const LENGTH_END: usize = 3;
const HEADER: u8 = 0x01;
const PAYLOAD: u8 = 0x02;
const LOCATION: u8 = 0x03;

/// Decodes `DirectIP` messages; it has no state, because each connection carries one message.
#[derive(Clone, Copy, Debug)]
pub(super) struct IridiumDecoder;

impl Decoder for IridiumDecoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        read(frame, context).into()
    }

    fn identifiers_of_beginning(&self, beginning: &[u8]) -> Vec<String> {
        let mut elements = Reader::new(beginning.get(LENGTH_END..).unwrap_or_default());
        std::iter::from_fn(|| read_element(&mut elements).ok())
            .find_map(|(kind, value)| (kind == HEADER).then(|| read_header(value).ok())?)
            .map_or_else(Vec::new, |header| vec![header.imei])
    }
}

/// The header of a message from a modem.
struct Header {
    reference: u32,
    imei: String,
    status: u8,
    momsn: u16,
    mtmsn: u16,
    time: Timestamp,
}

fn read(frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
    let mut reader = Reader::new(frame);
    if reader.u8()? != REVISION {
        return Err(DecodeError::Malformed("the protocol revision is not 1"));
    }
    let length = usize::from(reader.u16()?);
    let mut elements = reader.sub(length)?;
    let (mut header, mut payload, mut estimate, mut error) = (None, None, None, None);
    while !elements.is_empty() && error.is_none() {
        match read_element(&mut elements) {
            Ok((HEADER, value)) if header.is_none() => header = Some(read_header(value)?),
            Ok((PAYLOAD, value)) if payload.is_none() => payload = Some(value),
            Ok((LOCATION, value)) if estimate.is_none() => match read_location(value) {
                Ok(location) => estimate = Some(location),
                Err(wrong) => error = Some(wrong),
            },
            // Elements of other types and repeated elements are ignored.
            Ok(_) => {}
            Err(short) => error = Some(short),
        }
    }
    let header = header.ok_or(DecodeError::Malformed("the message has no MO header"))?;
    let settings = PayloadSettings {
        session: header.time,
        model: context.model,
        kind: context.options.text("payload"),
        format: context.options.text("format"),
        template: context.options.get("template"),
    };
    let message = session_of(header, estimate).message(payload.unwrap_or_default(), &settings);
    let mut decoded = Decoded {
        identifiers: message.identifiers,
        key: message.key,
        reports: message.reports,
        text: message.text,
        error: error.or(message.error),
        ..Decoded::default()
    };
    if context.options.flag("confirm") {
        decoded.reply(confirmation(true));
    }
    Ok(decoded)
}

fn read_element<'a>(reader: &mut Reader<'a>) -> Result<(u8, &'a [u8]), DecodeError> {
    let kind = reader.u8()?;
    let length = usize::from(reader.u16()?);
    Ok((kind, reader.take(length)?))
}

fn read_header(value: &[u8]) -> Result<Header, DecodeError> {
    let mut reader = Reader::new(value);
    let reference = reader.u32()?;
    let imei = reader.text(15)?;
    if !is_digits(&imei) {
        return Err(DecodeError::Malformed("the IMEI is not 15 digits"));
    }
    Ok(Header {
        reference,
        imei,
        status: reader.u8()?,
        momsn: reader.u16()?,
        mtmsn: reader.u16()?,
        time: seconds(reader.u32()?),
    })
}

/// Degrees and thousandths of minutes, with a flag for the hemisphere.
fn read_location(value: &[u8]) -> Result<Estimate, DecodeError> {
    let mut reader = Reader::new(value);
    let flags = reader.u8()?;
    let mut degrees = |negative: bool, most: f64| {
        let (whole, minutes) = (f64::from(reader.u8()?), f64::from(reader.u16()?) / 1000.0);
        let degrees = whole + minutes / 60.0;
        if minutes >= 60.0 || degrees > most {
            return Err(DecodeError::Malformed(
                "the latitude or longitude in the location element is out of range",
            ));
        }
        Ok(if negative { -degrees } else { degrees })
    };
    let latitude = degrees(bit(flags, 1), 90.0)?;
    let longitude = degrees(bit(flags, 0), 180.0)?;
    Ok(Estimate { latitude, longitude, radius_km: Some(f64::from(reader.u32()?)) })
}

fn session_of(header: Header, estimate: Option<Estimate>) -> Session {
    let Header { reference, imei, status, momsn, mtmsn, time } = header;
    // A reference of 0 means none; the counter of the modem then distinguishes messages, together with the time because
    // it wraps.
    let key = match reference {
        0 => format!("{imei}/{momsn}/{}", time.as_seconds()),
        _ => reference.to_string(),
    };
    Session {
        key: Some(key),
        identifiers: vec![imei],
        time: Some(time),
        estimate,
        values: vec![
            ("cdrReference", reference.into()),
            ("sessionStatus", status.into()),
            ("momsn", momsn.into()),
            ("mtmsn", mtmsn.into()),
        ],
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::locations::location::FixSource;
    use serde_json::json;

    use super::*;
    use crate::decoded::Options;
    use crate::notation::hex::parse_hex;
    use crate::value::Value;

    fn decode(hex: &str, options: &Options) -> Decoded {
        let context = Context {
            known: false,
            identifier: None,
            model: None,
            options,
            datagram: false,
            now: Timestamp::from_millis(0),
        };
        IridiumDecoder.decode(&parse_hex(hex).unwrap(), &context)
    }

    const TEXT: &str = "01003801001c70ec076933303032333430363339303431393000004b0000559eba2c02001674657374206d6573736167652066726f6d2070657465";
    const LOCATED: &str = "01005e01001c7bf6dc11333031343334303631373939343830000007000068c7502003000b022b7a26ac8dc40000000202002e5468616e6b7320666f7220796f757220616d617a696e67207362642d7273207265706f20406761646f6d736b6921";
    const RECORDS: &str = "01004C01001CF99DD263333030323334303634303730383330000018000059282DBC03000B0036A2B8193D120000000302001C59282BA391F5ABCDBFDD0180000059282BA891F5ABCDBFDD01800000";

    #[test]
    fn text_is_read() {
        let decoded = decode(TEXT, &Options::default());
        assert_eq!(decoded.identifiers, ["300234063904190"]);
        assert_eq!(decoded.key.as_deref(), Some("1894516585"));
        assert_eq!(decoded.text.as_deref(), Some("test message from pete"));
        let [report] = &decoded.reports[..] else { panic!("{decoded:?}") };
        assert_eq!(report.time.unwrap().to_string(), "2015-07-09T18:15:08Z");
        assert_eq!(report.get("text"), Some(&Value::text("test message from pete")));
        assert_eq!(report.get("momsn"), Some(&Value::Integer(75)));
        assert_eq!(report.get("mtmsn"), Some(&Value::Integer(0)));
        assert_eq!(report.get("sessionStatus"), Some(&Value::Integer(0)));
        assert_eq!((report.position, decoded.error, decoded.replies.len()), (None, None, 0));
    }

    #[test]
    fn elements_may_be_in_any_order() {
        let decoded = decode(LOCATED, &Options::default());
        assert_eq!(decoded.identifiers, ["301434061799480"]);
        let [report] = &decoded.reports[..] else { panic!("{decoded:?}") };
        let position = report.position.unwrap();
        assert!(
            (position.latitude + 43.52117).abs() < 1e-5 && (position.longitude - 172.60487).abs() < 1e-5,
            "{position:?}"
        );
        assert_eq!((report.source, report.accuracy_m), (Some(FixSource::Network), Some(2000.0)));
        assert_eq!(report.time.unwrap().to_string(), "2025-09-14T23:30:40Z");
        assert_eq!(report.get("text").unwrap().as_str().unwrap().len(), 46);
        assert_eq!(report.get("momsn"), Some(&Value::Integer(7)));
    }

    #[test]
    fn fixes_come_before_the_estimate() {
        let decoded = decode(RECORDS, &Options::default());
        assert_eq!(decoded.identifiers, ["300234064070830"]);
        let sources: Vec<_> = decoded.reports.iter().map(|report| report.source.unwrap()).collect();
        assert_eq!(sources, [FixSource::Gnss, FixSource::Gnss, FixSource::Network]);
        let estimate = &decoded.reports[2];
        let position = estimate.position.unwrap();
        assert!(
            (position.latitude - 54.69427).abs() < 1e-5 && (position.longitude - 25.26057).abs() < 1e-5,
            "{position:?}"
        );
        assert_eq!(estimate.accuracy_m, Some(3000.0));
        assert_eq!(estimate.time.unwrap().to_string(), "2017-05-26T13:29:32Z");
        assert_eq!(estimate.get("momsn"), Some(&Value::Integer(24)));
    }

    #[test]
    fn confirmation_is_sent_when_provisioned() {
        let options = Options::new(json!({"confirm": true}).as_object().unwrap().clone());
        assert_eq!(decode(TEXT, &options).replies, [[1, 0, 4, 5, 0, 1, 1]]);
    }

    #[test]
    fn malformed_messages_are_refused() {
        let hex = crate::notation::reader::hex_digits(b"not an sbd file\n");
        assert!(decode(&hex, &Options::default()).error.is_some());
        // A message to a modem, an IMEI that is not digits, an element that is longer than its message.
        for hex in [
            "0100274100154d736737333030323334303130373533333730000042000c48656c6c6f20576f726c6421",
            "01001f01001c0000000100010203040506070809 0a0b0c0d0e00000100000000000000",
            "0100030200ff",
        ] {
            let decoded = decode(hex, &Options::default());
            assert!(decoded.error.is_some() && decoded.reports.is_empty(), "{hex}");
        }
    }

    #[test]
    fn a_damaged_location_leaves_the_payload() {
        let damaged = LOCATED.replace("022b7a26", "022bffff");
        let decoded = decode(&damaged, &Options::default());
        assert_eq!(
            decoded.error,
            Some(DecodeError::Malformed("the latitude or longitude in the location element is out of range"))
        );
        assert_eq!(decoded.identifiers, ["301434061799480"]);
    }

    #[test]
    fn templates_read_payloads() {
        let template = json!({"template": {"fields": [
            {"field": "word", "offset": 0, "width": 4, "type": "text"},
            {"field": "last", "offset": -1, "width": 1},
        ]}});
        let options = Options::new(template.as_object().unwrap().clone());
        let decoded = decode(TEXT, &options);
        assert_eq!(decoded.reports[0].get("word"), Some(&Value::text("test")));
        assert_eq!(decoded.reports[0].get("last"), Some(&Value::Integer(101)));
    }
}
