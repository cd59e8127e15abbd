//! Alerts of a stored message that were raised before. A message that is decoded again may have more or other content,
//! and an alert without a time of its own gets a slightly different one; the recipients are not notified again.

use perigee_core::alerts::emergency::StepKind;
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::{RawMessage, Reporter};
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::locations::location::{HistoryRequest, Location, Order, Readings, TimeRange};
use perigee_core::store::Store;
use perigee_core::time::Timestamp;

/// Maximum milliseconds between the arrival of a message and the time of an alert that was sent without a time.
const ARRIVAL_MS: i64 = 10_000;
/// Maximum number of locations of one instant that are compared.
const COMPARED_MAX: u32 = 100;

/// The alerts that the device of a stored message already has.
#[derive(Clone, Copy)]
pub(in crate::ingest) struct KnownAlerts<'a> {
    store: &'a dyn Store,
    message: &'a RawMessage,
    reporter: &'a Reporter,
}

impl<'a> KnownAlerts<'a> {
    pub(in crate::ingest) const fn of(
        store: &'a dyn Store,
        message: &'a RawMessage,
        reporter: &'a Reporter,
    ) -> Self {
        Self { store, message, reporter }
    }

    /// The contents of the message without the alerts that the device already has: same name, same instant. Steps of
    /// emergencies are recognised by their time, except those that have none of their own.
    pub(in crate::ingest) async fn removed_from(
        self,
        mut contents: MessageContents,
    ) -> Result<MessageContents, StoreError> {
        for alert in std::mem::take(&mut contents.alerts) {
            if !self.has_alert(&alert.name, alert.time).await? {
                contents.alerts.push(alert);
            }
        }
        for step in std::mem::take(&mut contents.steps) {
            let is_timeless = step.alert.time == self.message.received_at && step.kind != StepKind::Cancel;
            let alert = &step.alert;
            if !(is_timeless && self.has_alert(&alert.name, alert.time).await?) {
                contents.steps.push(step);
            }
        }
        for location in &mut contents.locations {
            self.leave_out_of(location).await?;
        }
        Ok(contents)
    }

    /// Whether a device has an alert of this name at the time of a report.
    async fn has_alert(self, name: &str, time: Timestamp) -> Result<bool, StoreError> {
        let margin_ms = if time == self.message.received_at { ARRIVAL_MS } else { 0 };
        let range = TimeRange { from: time.plus_millis(-margin_ms), to: time.plus_millis(margin_ms) };
        self.store.has_alert_within(self.reporter, name, range).await
    }

    /// Removes alerts that the device already has from a location, unless the location is stored: then it must stay
    /// equal to be recognised as a duplicate.
    async fn leave_out_of(self, location: &mut Location) -> Result<(), StoreError> {
        let mut known = Vec::new();
        for name in location.readings.alerts.iter().flatten() {
            if self.has_alert(name, location.time).await? {
                known.push(name.clone());
            }
        }
        if known.is_empty() {
            return Ok(());
        }
        let range = TimeRange { from: location.time, to: location.time };
        let request = HistoryRequest { range, order: Order::Ascending, after: None, limit: COMPARED_MAX };
        let stored = self.store.list_locations(self.reporter.scope, self.reporter.device, request).await?;
        if !stored.items.iter().any(|stored| stored.location == *location) {
            leave_out(&mut location.readings, &known);
        }
        Ok(())
    }
}

/// Removes these alerts with their texts.
fn leave_out(readings: &mut Readings, known: &[String]) {
    let texts = readings.alert_texts.take().unwrap_or_default();
    let names = readings.alerts.take().unwrap_or_default();
    let texts = texts.into_iter().map(Some).chain(std::iter::repeat(None));
    let left = names.into_iter().zip(texts).filter(|(name, _)| !known.contains(name));
    let (names, texts): (Vec<String>, Vec<Option<String>>) = left.unzip();
    if names.is_empty() {
        readings.has_critical_alert = None;
        return;
    }
    if texts.iter().any(Option::is_some) {
        readings.alert_texts = Some(texts.into_iter().map(Option::unwrap_or_default).collect());
    }
    readings.alerts = Some(names);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alerts_are_left_out_with_their_texts() {
        let check = |names: &[&str], texts: &[&str], expect: (Option<&[&str]>, Option<&[&str]>)| {
            let list = |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
            let mut readings = Readings {
                alerts: Some(list(names)),
                alert_texts: Some(list(texts)).filter(|texts| !texts.is_empty()),
                ..Readings::default()
            };
            leave_out(&mut readings, &["SOSButton".to_owned()]);
            assert_eq!((readings.alerts, readings.alert_texts), (expect.0.map(list), expect.1.map(list)));
        };
        check(&["SOSButton"], &["help"], (None, None));
        check(&["Door", "SOSButton"], &[], (Some(&["Door"]), None));
        check(&["SOSButton", "Door"], &["help", "open"], (Some(&["Door"]), Some(&["open"])));
        check(&["Door", "SOSButton", "Fuel"], &["open"], (Some(&["Door", "Fuel"]), Some(&["open", ""])));
    }
}
