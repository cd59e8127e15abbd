//! Records of 14 bytes that vehicle trackers send by satellite when there is no mobile network.

use perigee_core::time::Timestamp;

use crate::decoded::DecodeError;
use crate::notation::bits::bit;
use crate::notation::instant::seconds;
use crate::notation::reader::Reader;
use crate::report::Report;

/// Bytes of a record.
pub(super) const LENGTH: usize = 14;
/// Maximum difference between the time of a record and that of the session, for a payload to be recognised as records.
const NEAR_MS: u64 = 90 * 86_400_000;

/// Decodes records until the end. The time is big-endian in older firmware and little-endian in newer: the one nearer
/// to the session is used.
pub(super) fn read_records(payload: &[u8], session: Timestamp) -> (Vec<Report>, Option<DecodeError>) {
    let records = payload.chunks_exact(LENGTH);
    let error = (!records.remainder().is_empty()).then_some(DecodeError::Short);
    (records.filter_map(|record| read_record(record, session).ok()).collect(), error)
}

fn read_record(record: &[u8], session: Timestamp) -> Result<Report, DecodeError> {
    let mut reader = Reader::new(record);
    let time = time_of(reader.array()?, session);
    let longitude = f64::from(reader.u24()?) / 46_603.375 - 180.0;
    let latitude = f64::from(reader.u24()?) / 93_206.75 - 90.0;
    let (event, pins, _reserved, speed) = (reader.u8()?, reader.u8()?, reader.u8()?, reader.u8()?);
    let mut report = Report { time: Some(time), ..Report::default() };
    report.fix(latitude, longitude);
    report.speed_kmh = (speed != u8::MAX).then(|| f64::from(speed));
    report.set("event", event);
    report.input(1, bit(pins, 7));
    report.input(2, bit(pins, 6));
    report.output(1, bit(pins, 3));
    Ok(report)
}

fn time_of(bytes: [u8; 4], session: Timestamp) -> Timestamp {
    let (big, little) = (seconds(u32::from_be_bytes(bytes)), seconds(u32::from_le_bytes(bytes)));
    if distance_ms(little, session) < distance_ms(big, session) { little } else { big }
}

const fn distance_ms(one: Timestamp, other: Timestamp) -> u64 {
    one.as_millis().abs_diff(other.as_millis())
}

/// Whether a payload consists of such records: by their length, and times near the session.
pub(super) fn is_records(payload: &[u8], session: Timestamp) -> bool {
    let records = payload.chunks_exact(LENGTH);
    !payload.is_empty()
        && records.remainder().is_empty()
        && records.into_iter().all(|record| {
            record.first_chunk().is_some_and(|time| distance_ms(time_of(*time, session), session) < NEAR_MS)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(hex: &str, session: &str, expect: &[(&str, f64, f64)]) {
        let payload = crate::notation::hex::parse_hex(hex).unwrap();
        let session = session.parse().unwrap();
        assert!(is_records(&payload, session), "{hex}");
        let (reports, error) = read_records(&payload, session);
        assert_eq!((reports.len(), error), (expect.len(), None), "{hex}");
        for (report, (time, latitude, longitude)) in reports.iter().zip(expect) {
            let position = report.position.unwrap();
            assert_eq!(report.time.unwrap().to_string(), *time);
            assert!((position.latitude - latitude).abs() < 1e-5, "{position:?}");
            assert!((position.longitude - longitude).abs() < 1e-5, "{position:?}");
        }
    }

    #[test]
    fn both_byte_orders_of_the_time_are_read() {
        check(
            "59282BA391F5ABCDBFDD0180000059282BA891F5ABCDBFDD01800000",
            "2017-05-26T13:29:32Z",
            &[("2017-05-26T13:20:35Z", 54.66760, 25.25576), ("2017-05-26T13:20:40Z", 54.66760, 25.25576)],
        );
        check(
            "AD69576391F6A0CDCC640000FF00",
            "2022-10-25T04:49:39Z",
            &[("2022-10-25T04:44:29Z", 54.70201, 25.26101)],
        );
    }

    #[test]
    fn other_payloads_are_no_records() {
        let session = "2022-10-25T04:49:39Z".parse().unwrap();
        assert!(!is_records(b"fourteen bytes", session));
        assert!(!is_records(b"", session));
        assert_eq!(read_records(&[0; 15], session).1, Some(DecodeError::Short));
    }
}
