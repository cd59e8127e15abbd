//! Rows made of alerts, of devices, and of counts of messages.

use std::collections::BTreeMap;

use perigee_core::alerts::alert::StoredAlert;
use perigee_core::devices::device::Device;
use perigee_core::locations::location::StoredLocation;
use perigee_core::locations::place::Reader;
use perigee_core::notifications::notification::{Channel, MessageCounts};
use perigee_core::time::Timestamp;
use perigee_core::timeline::Position;

use crate::cell::Cell;
use crate::column::Column;
use crate::rows::{Row, Subject, place, text};
use crate::words::{severity, status};

/// A row about an alert.
#[derive(Debug)]
pub struct AlertRow<'a> {
    /// The name of the device.
    pub device: &'a str,
    /// The alert.
    pub stored: &'a StoredAlert,
    /// The name of the person who acknowledged it.
    pub acknowledged_by: Option<&'a str>,
}

/// A row about a device as it is now.
#[derive(Debug)]
pub struct DeviceRow<'a> {
    /// The device.
    pub device: &'a Device,
    /// Its last location.
    pub last: Option<&'a StoredLocation>,
    /// The present.
    pub now: Timestamp,
}

/// What the operator charges, or pays, for messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessagePrices {
    /// ISO 4217 code of the currency; empty if there are no prices.
    pub currency: String,
    /// The price of a unit of each channel.
    pub by_channel: BTreeMap<Channel, f64>,
}

/// A row about the messages of a device by one channel, or of none.
#[derive(Debug)]
pub struct MessagesRow<'a> {
    /// The name of the device; `None` for messages about no device.
    pub device: Option<&'a str>,
    /// How many.
    pub counts: &'a MessageCounts,
    /// What they cost.
    pub prices: &'a MessagePrices,
}

/// Seconds from one instant to a later one.
fn seconds(from: Timestamp, to: Timestamp) -> Cell {
    let milliseconds = to.as_millis().saturating_sub(from.as_millis()).max(0);
    Cell::Duration(milliseconds.unsigned_abs() / 1_000)
}

fn of_position(column: Column, position: Option<Position>, reader: Reader) -> Cell {
    Cell::maybe(position, |position| match column {
        Column::Latitude => Cell::Number(position.0.as_degrees()),
        Column::Longitude => Cell::Number(position.1.as_degrees()),
        _ => place(position, reader),
    })
}

impl AlertRow<'_> {
    /// The row with these columns.
    pub fn row(&self, columns: &[Column], reader: Reader) -> Row {
        let subject = Subject { id: self.stored.device.to_string(), name: self.device.to_owned() };
        Row { subject, cells: columns.iter().map(|column| self.cell(*column, reader)).collect(), leg: None }
    }

    fn cell(&self, column: Column, reader: Reader) -> Cell {
        let (stored, alert) = (self.stored, &self.stored.alert);
        let acknowledged = stored.acknowledged.map(|(at, _)| at);
        match column {
            Column::Device => Cell::Text(self.device.to_owned()),
            Column::DeviceId => Cell::Text(stored.device.to_string()),
            Column::AlertId => Cell::Text(stored.id.to_string()),
            Column::Date | Column::Time => Cell::Instant(alert.time),
            Column::Alert => Cell::Text(alert.name.clone()),
            Column::Severity => Cell::Text(severity(stored.severity, reader.language).to_owned()),
            Column::Text => text(alert.text.as_deref()),
            Column::Place | Column::Latitude | Column::Longitude => {
                of_position(column, stored.best_position(), reader)
            }
            Column::AcknowledgedAt => Cell::maybe(acknowledged, Cell::Instant),
            Column::AcknowledgedBy => text(self.acknowledged_by),
            Column::ResponseTime => Cell::maybe(acknowledged, |at| seconds(stored.received_at, at)),
            Column::EndedAt => Cell::maybe(stored.ended_at, Cell::Instant),
            _ => Cell::Empty,
        }
    }
}

impl DeviceRow<'_> {
    /// The row with these columns.
    pub fn row(&self, columns: &[Column], reader: Reader) -> Row {
        let subject = Subject { id: self.device.id.to_string(), name: self.device.settings.name.clone() };
        Row { subject, cells: columns.iter().map(|column| self.cell(*column, reader)).collect(), leg: None }
    }

    fn cell(&self, column: Column, reader: Reader) -> Cell {
        let (device, settings) = (self.device, &self.device.settings);
        let interval_s = settings.expected_interval_s.or(device.learned_interval_s);
        let last = self.last.map(|last| &last.location);
        match column {
            Column::Device => Cell::Text(settings.name.clone()),
            Column::DeviceId => Cell::Text(device.id.to_string()),
            Column::Identifier => text(settings.identifier.as_deref()),
            Column::Model => text(settings.model.as_deref().or(device.reported_model.as_deref())),
            Column::Protocol => text(device.protocol.as_deref()),
            Column::Status => Cell::Text(status(device.status(self.now), reader.language).to_owned()),
            Column::LastSeen => Cell::maybe(device.last_seen, Cell::Instant),
            Column::Silence => Cell::maybe(device.last_seen, |at| seconds(at, self.now)),
            Column::ExpectedInterval => Cell::maybe(interval_s, |seconds| Cell::Duration(seconds.into())),
            Column::Battery => {
                let battery = last.and_then(|last| last.readings.battery);
                Cell::maybe(battery, |battery| Cell::Number(battery.as_f64()))
            }
            Column::LastPosition => Cell::maybe(last, |last| Cell::Instant(last.time)),
            Column::Place | Column::Latitude | Column::Longitude => {
                of_position(column, last.map(|last| (last.latitude, last.longitude)), reader)
            }
            _ => Cell::Empty,
        }
    }
}

impl MessagesRow<'_> {
    /// The row with these columns.
    pub fn row(&self, columns: &[Column]) -> Row {
        let id = self.counts.device.map(|device| device.to_string()).unwrap_or_default();
        let subject = Subject { id, name: self.device.unwrap_or_default().to_owned() };
        Row { subject, cells: columns.iter().map(|column| self.cell(*column)).collect(), leg: None }
    }

    fn cell(&self, column: Column) -> Cell {
        let counts = self.counts;
        match column {
            Column::Device => text(self.device),
            Column::DeviceId => Cell::maybe(counts.device, |device| Cell::Text(device.to_string())),
            Column::Channel => Cell::Text(counts.channel.name().to_owned()),
            Column::Sent => Cell::Count(counts.sent),
            Column::Failed => Cell::Count(counts.failed),
            Column::Suppressed => Cell::Count(counts.suppressed),
            Column::CostUnits => Cell::Count(counts.units),
            Column::Cost => Cell::maybe(self.prices.by_channel.get(&counts.channel), |price| {
                #[expect(clippy::cast_precision_loss, reason = "far fewer than 2^53 messages are counted")]
                let units = counts.units as f64;
                Cell::Number(units * price)
            }),
            Column::Currency => {
                let has_price = self.prices.by_channel.contains_key(&counts.channel);
                text(Some(self.prices.currency.as_str()).filter(|_| has_price))
            }
            _ => Cell::Empty,
        }
    }
}
