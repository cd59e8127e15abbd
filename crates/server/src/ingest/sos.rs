//! Emergencies: all steps from any network are one critical alert with a beginning and an end.

use std::collections::BTreeMap;

use perigee_core::actor::Actor;
use perigee_core::alert::Alert;
use perigee_core::emergency::StepKind;
use perigee_core::error::StoreError;
use perigee_core::gateway::Reporter;
use perigee_core::location::Attribute;
use perigee_core::store::Store;
use perigee_core::time::Timestamp;
use perigee_gateways::{Feed, FeedMessage, SosStep, to_location};

/// The alert of an emergency.
const NAME: &str = "SOSButton";

/// Counts the step of a message to the emergency of its device, if it has one and is no test.
pub(super) async fn follow(
    store: &dyn Store,
    reporter: &Reporter,
    feed: &Feed,
    message: &FeedMessage,
    at: Timestamp,
) -> Result<(), StoreError> {
    let Some(step) = message.sos.filter(|_| !message.test) else { return Ok(()) };
    let kind = match step {
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
    match store.follow_emergency(&Actor::for_gateway(reporter), reporter.device, kind, alert).await {
        // The message is stored; the device was deleted or expired meanwhile.
        Err(StoreError::DeviceExpired(_) | StoreError::NotFound(_)) => Ok(()),
        done => done,
    }
}
