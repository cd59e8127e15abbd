//! Emergencies: all steps from any network are one critical alert with a beginning and an end.

use std::collections::BTreeMap;

use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::emergency::{EmergencyStep, StepKind};
use perigee_core::alerts::sos_notice::{SosNotice, SosReason};
use perigee_core::gateways::gateway::Reporter;
use perigee_core::locations::location::{Attribute, Latitude, Longitude};
use perigee_core::time::Timestamp;
use perigee_gateways::{Feed, FeedMessage, Report, SosStep, alert_name, to_location};

/// The alert of an emergency.
const NAME: &str = "SOSButton";

/// Time and position of an SOS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SosSign {
    /// Time by the clock of the sender, or else the time of receipt.
    pub time: Timestamp,
    /// The position, if the sender reported one.
    pub position: Option<(Latitude, Longitude)>,
}

impl SosSign {
    /// The newest SOS among these reports, which arrived at this instant.
    pub fn of(reports: &[Report], at: Timestamp) -> Option<Self> {
        let is_sos = |report: &&Report| report.alarms.iter().any(|word| alert_name(word) == NAME);
        let sign = |report: &Report| {
            let location = to_location(report, at);
            let position = location.map(|location| (location.latitude, location.longitude));
            Self { time: report.time.unwrap_or(at), position }
        };
        reports.iter().filter(is_sos).map(sign).max_by_key(|sign| sign.time)
    }

    /// The SOS of a message of a feed, if it is one and not a test.
    pub(super) fn of_message(message: &FeedMessage, at: Timestamp) -> Option<Self> {
        if message.test {
            return None;
        }
        let of_step = || {
            message.sos.filter(|step| !matches!(step, SosStep::Cancel))?;
            let report = message.reports.first();
            let location = report.and_then(|report| to_location(report, at));
            let position = location.map(|location| (location.latitude, location.longitude));
            Some(Self { time: report.and_then(|report| report.time).unwrap_or(at), position })
        };
        of_step().or_else(|| Self::of(&message.reports, at))
    }

    /// The notice to people if no device has this identifier.
    pub(super) fn of_unknown(self, identifier: &str, source: &str, peer: &str) -> SosNotice {
        SosNotice {
            reason: SosReason::UnknownDevice,
            identifier: identifier.to_owned(),
            source: source.to_owned(),
            peer: peer.to_owned(),
            time: self.time,
            position: self.position,
        }
    }

    /// The notice to people if the device of this SOS is expired.
    pub(super) fn of_expired(self, reporter: &Reporter, source: &str, peer: &str) -> SosNotice {
        SosNotice {
            reason: SosReason::ExpiredDevice,
            identifier: reporter.identifier.clone(),
            source: source.to_owned(),
            peer: peer.to_owned(),
            time: self.time,
            position: self.position,
        }
    }
}

/// The step of a message, if it has one and is not a test.
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
