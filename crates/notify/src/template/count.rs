//! The segments of a message.

use perigee_core::notifications::notification::{Channel, CountedUnit};

use crate::sms::segments;

/// Segments of a text by this channel; 0 for channels that count messages.
pub(super) fn segment_count(channel: Channel, text: &str) -> u32 {
    match channel.kind().unit {
        CountedUnit::Messages => 0,
        CountedUnit::Segments => u32::try_from(segments(text).count).unwrap_or(u32::MAX),
    }
}

/// The subject of a message, which an SMS does not have.
pub(super) fn subject_of(channel: Channel, subject: String) -> String {
    if channel == Channel::SMS { String::new() } else { subject }
}
