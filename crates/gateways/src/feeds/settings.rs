//! Settings of feeds that several of them share.

use perigee_core::time::Timestamp;
use serde_json::Value as Json;

use crate::feed::FeedContext;
use crate::payload::PayloadSettings;

/// How the payloads of a device are decoded: settings `model`, `payload`, `format` and `template` of the device or the
/// feed.
pub(crate) fn payload_settings<'a>(
    context: &FeedContext<'a>,
    identifiers: &[String],
    session: Timestamp,
) -> PayloadSettings<'a> {
    let text = |name: &str| context.setting(identifiers, name).and_then(Json::as_str);
    PayloadSettings {
        session,
        model: text("model"),
        kind: text("payload"),
        format: text("format"),
        template: context.setting(identifiers, "template"),
    }
}
