//! Texts of devices, for the conversations with them.

use perigee_core::devices::conversation::NewText;
use perigee_core::time::Timestamp;
use perigee_gateways::{Decoded, FeedMessage, Report, to_location};

/// The text of a message of a feed that arrived at this instant.
pub(super) fn text_of(source: &'static str, message: &FeedMessage, at: Timestamp) -> Option<NewText> {
    let new = new_text(source, message.words()?, &message.reports, at);
    Some(NewText { key: message.key.clone(), ..new })
}

/// The text of a frame of a tracker that arrived at this instant.
pub fn text_of_frame(source: &'static str, decoded: &Decoded, at: Timestamp) -> Option<NewText> {
    let text = decoded.text.as_deref().filter(|text| !text.trim().is_empty() && !decoded.is_damaged())?;
    let new = new_text(source, text, &decoded.reports, at);
    Some(NewText { key: decoded.key.clone(), ..new })
}

/// A text with the time and the position of the reports that it came with.
fn new_text(source: &'static str, text: &str, reports: &[Report], at: Timestamp) -> NewText {
    let time = reports.iter().find_map(|report| report.time);
    let position = reports.iter().find_map(|report| to_location(report, at));
    NewText {
        time: time.unwrap_or(at),
        is_dated: time.is_some(),
        key: None,
        text: text.to_owned(),
        position: position.map(|location| (location.latitude, location.longitude)),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_the_time_and_position_of_its_message() {
        let at = Timestamp::from_millis(1_000_000);
        let mut fixed = Report { time: Some(Timestamp::from_millis(5_000)), ..Report::default() };
        fixed.fix(1.0, 2.0);
        let message = FeedMessage {
            key: Some("7".to_owned()),
            text: Some("Flat tyre".to_owned()),
            reports: vec![Report::default(), fixed],
            ..FeedMessage::default()
        };
        let text = text_of("garmin", &message, at).unwrap();
        assert_eq!((text.time.as_millis(), text.is_dated, text.text.as_str()), (5_000, true, "Flat tyre"));
        assert_eq!(text.position.unwrap().0.as_e7(), 10_000_000);
        let bare = FeedMessage { reports: Vec::new(), ..message.clone() };
        let text = text_of("garmin", &bare, at).unwrap();
        assert_eq!((text.time, text.is_dated, text.position), (at, false, None));
        assert_eq!(text.key.as_deref(), Some("7"));
        assert_eq!(text_of("garmin", &FeedMessage { test: true, ..message.clone() }, at), None);
        let preset = FeedMessage { text: Some(" ".to_owned()), preset: Some("OK"), ..message };
        assert_eq!(text_of("spot", &preset, at).unwrap().text, "OK");
    }
}
