//! Emergencies: all steps from any network are one critical alert with a beginning and an end.

use std::collections::BTreeMap;

use perigee_core::alert::Alert;
use perigee_core::emergency::{EmergencyStep, StepKind};
use perigee_core::location::Attribute;
use perigee_core::time::Timestamp;
use perigee_gateways::{Feed, FeedMessage, SosStep, to_location};

/// The alert of an emergency.
const NAME: &str = "SOSButton";

/// The step of a message, if it has one and is no test.
pub(super) fn step_of(feed: &Feed, message: &FeedMessage, at: Timestamp) -> Option<EmergencyStep> {
    let kind = match message.sos.filter(|_| !message.test)? {
        SosStep::Declare => StepKind::Declare,
        SosStep::Confirm | SosStep::Repeat => StepKind::Continue,
        SosStep::Cancel => StepKind::Cancel,
    };
    let report = message.reports.first();
    let location = report.and_then(|report| to_location(report, at));
    let alert = Alert {
        time: report.and_then(|report| report.time).unwrap_or(at),
        name: NAME.to_owned(),
        text: message.text.as_ref().map(|text| text.chars().take(Alert::TEXT_MAX).collect()),
        position: location.map(|location| (location.latitude, location.longitude)),
        critical: true,
        attributes: BTreeMap::from([("feed".to_owned(), Attribute::Text(feed.name.to_owned()))]),
    };
    Some(EmergencyStep { kind, alert })
}
