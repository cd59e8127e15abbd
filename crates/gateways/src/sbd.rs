//! Short burst data (SBD) of Iridium: one message of a modem, however the provider delivered it.

use perigee_core::time::Timestamp;

use crate::feed::FeedMessage;
use crate::payload::{PayloadSettings, decode_payload};
use crate::report::Report;
use crate::value::Value;

/// Metres per kilometre, the unit of an estimate's radius.
const KILOMETRE_M: f64 = 1000.0;

/// The estimate of the network for the position of a modem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// Degrees north, to a thousandth of a minute.
    pub latitude: f64,
    /// Degrees east, to a thousandth of a minute.
    pub longitude: f64,
    /// Radius within which 80 % of modems are, in kilometres. 0 means less than one.
    pub radius_km: Option<f64>,
}

/// A session of a modem with the network.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Session {
    /// The provider's deduplication key.
    pub key: Option<String>,
    /// The IMEI, then other identifiers of the device.
    pub identifiers: Vec<String>,
    /// Time at which the network received the message.
    pub time: Option<Timestamp>,
    /// The position of the modem as estimated by the network.
    pub estimate: Option<Estimate>,
    /// Counters and states of the session, such as `momsn`.
    pub values: Vec<(&'static str, Value)>,
}

impl Session {
    /// The message of this session: the reports of the payload, then the estimate of the network. The values of the
    /// session are part of the estimate or, without an estimate, of the first report. A session that has neither
    /// becomes readings at its time.
    pub(crate) fn message(self, payload: &[u8], settings: &PayloadSettings<'_>) -> FeedMessage {
        let read = decode_payload(payload, settings);
        let mut reports = read.reports;
        for report in &mut reports {
            report.time = report.time.or(self.time);
        }
        let mut session = Report { time: self.time, ..Report::default() };
        for (name, value) in self.values {
            session.set(name, value);
        }
        session.set_text("text", read.text.as_deref().unwrap_or_default());
        if let Some(Estimate { latitude, longitude, radius_km }) = self.estimate {
            session.estimate(latitude, longitude, radius_km.map(|radius| radius.max(1.0) * KILOMETRE_M));
            reports.push(session);
        } else if let Some(first) = reports.first_mut() {
            first.values.append(&mut session.values);
        } else {
            reports.push(session);
        }
        FeedMessage {
            key: self.key,
            identifiers: self.identifiers,
            sos: sos_of(&reports),
            reports,
            text: read.text,
            error: read.error,
            ..FeedMessage::default()
        }
    }
}

/// A payload's alarm `sos` begins an emergency, `sosCancel` ends it.
pub(crate) fn sos_of(reports: &[Report]) -> Option<crate::feed::SosStep> {
    let has = |word| reports.iter().any(|report| report.alarms.contains(&word));
    if has("sosCancel") {
        return Some(crate::feed::SosStep::Cancel);
    }
    has("sos").then_some(crate::feed::SosStep::Declare)
}
