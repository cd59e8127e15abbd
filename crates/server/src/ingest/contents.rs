//! Converts reports into locations, and into alerts of reports without a position.

use perigee_core::alerts::alert::Alert;
use perigee_core::devices::device_file::NewDeviceFile;
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::locations::location::undo_rollover;
use perigee_core::time::Timestamp;
use perigee_gateways::{
    DecodeError, Decoded, FeedMessage, Report, UploadedFile, alert_name, position_error, to_location,
    to_readings,
};

/// The reports of a frame; none if its checksum is wrong.
pub fn valid_reports(decoded: &Decoded) -> &[Report] {
    if decoded.is_damaged() { &[] } else { &decoded.reports }
}

/// The files that a frame completed; none if its checksum is wrong.
pub fn valid_files(decoded: &Decoded) -> &[UploadedFile] {
    if decoded.is_damaged() { &[] } else { &decoded.files }
}

/// Why a frame could not be decoded completely.
pub fn frame_error(decoded: &Decoded) -> Option<String> {
    decoded.error.or_else(|| position_error(&decoded.reports)).map(|error| error.to_string())
}

/// The same for a message of a request.
pub(super) fn message_error(message: &FeedMessage) -> Option<DecodeError> {
    message.error.or_else(|| position_error(&message.reports))
}

/// Converts reports that arrived at this instant, which is the time of reports without one.
pub(super) fn contents_of(reports: &[Report], arrival: Timestamp) -> MessageContents {
    let mut contents = MessageContents::default();
    for report in reports {
        match to_location(report, arrival) {
            Some(mut location) => {
                undo_rollover(&mut location, arrival);
                contents.locations.push(location);
            }
            None => contents.alerts.extend(alerts(report, arrival)),
        }
    }
    contents
}

/// The files of a message of this protocol, as they are stored.
pub(super) fn new_files(files: &[UploadedFile], source: &'static str) -> Vec<NewDeviceFile> {
    let new = |file: &UploadedFile| {
        let UploadedFile { name, captured_at, bytes } = file.clone();
        NewDeviceFile { captured_at, name, source, bytes }
    };
    files.iter().filter(|file| !file.bytes.is_empty()).map(new).collect()
}

fn alerts(report: &Report, arrival: Timestamp) -> impl Iterator<Item = Alert> {
    report.alarms.iter().map(move |word| {
        let name: String = alert_name(word).chars().take(Alert::NAME_MAX).collect();
        Alert {
            time: report.time.unwrap_or(arrival),
            critical: Alert::is_critical_by_name(&name),
            name,
            text: report.alarm_text.as_ref().map(|text| text.chars().take(Alert::TEXT_MAX).collect()),
            position: None,
            attributes: to_readings(report).attributes,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_without_a_position_become_alerts() {
        let now: Timestamp = "2026-05-01T12:00:00Z".parse().unwrap();
        let mut nowhere = Report::default();
        nowhere.alarm("sos");
        nowhere.set("rssi", 4_u8);
        let mut somewhere = Report { time: Some(now.plus_seconds(-5)), ..Report::default() };
        somewhere.locate(1.0, 2.0);
        somewhere.alarm("sos");
        let contents = contents_of(&[nowhere, somewhere], now);
        assert_eq!(contents.locations.len(), 1);
        assert_eq!(contents.locations[0].readings.alerts.as_deref(), Some(&["SOSButton".to_owned()][..]));
        let [alert] = contents.alerts.as_slice() else { panic!("{:?}", contents.alerts) };
        assert_eq!((alert.name.as_str(), alert.time, alert.critical), ("SOSButton", now, true));
        assert_eq!(alert.attributes.keys().collect::<Vec<_>>(), ["rssi"]);
    }

    #[test]
    fn dates_behind_a_roll_over_are_corrected() {
        let now: Timestamp = "2026-05-01T12:00:00Z".parse().unwrap();
        let mut report = Report { time: "2006-09-15T12:00:00Z".parse().ok(), ..Report::default() };
        report.locate(1.0, 2.0);
        assert_eq!(contents_of(&[report], now).locations[0].time, now);
    }
}
