//! Rows made of visits to geofences and of maintenance plans.

use perigee_core::day::{Date, day_on};
use perigee_core::id::DeviceId;
use perigee_core::locations::place::Reader;
use perigee_core::maintenance::{Due, MaintenanceStatus};
use perigee_core::timeline::Visit;
use perigee_core::zone::Zone;

use crate::cell::Cell;
use crate::column::Column;
use crate::rows::{Row, Subject, text};
use crate::words::due_state;

/// A row about a visit. The totals of the report are those of geofences.
#[derive(Debug)]
pub struct VisitRow<'a> {
    /// The device and its name.
    pub device: (DeviceId, &'a str),
    /// The name of the geofence.
    pub geofence: &'a str,
    /// The visit, or its part in the period.
    pub visit: Visit,
    /// Metres of trips in this time.
    pub distance_m: u64,
}

/// A row about a maintenance plan.
#[derive(Debug)]
pub struct MaintenanceRow<'a> {
    /// The name of the device.
    pub device: &'a str,
    /// The plan and the usage of the device.
    pub status: &'a MaintenanceStatus,
    /// What is left.
    pub due: Due,
    /// The zone of the report, in which dates are shown.
    pub zone: &'a Zone,
}

impl VisitRow<'_> {
    /// The row with these columns.
    pub fn row(&self, columns: &[Column]) -> Row {
        let subject = Subject { id: self.visit.geofence.to_string(), name: self.geofence.to_owned() };
        Row { subject, cells: columns.iter().map(|column| self.cell(*column)).collect(), leg: None }
    }

    fn cell(&self, column: Column) -> Cell {
        let visit = &self.visit;
        match column {
            Column::Device => Cell::Text(self.device.1.to_owned()),
            Column::DeviceId => Cell::Text(self.device.0.to_string()),
            Column::Geofence => Cell::Text(self.geofence.to_owned()),
            Column::GeofenceId => Cell::Text(visit.geofence.to_string()),
            Column::Date | Column::From => Cell::Instant(visit.from),
            Column::To => Cell::Instant(visit.to),
            Column::Entry => Cell::maybe(visit.entry, Cell::Instant),
            Column::Exit => Cell::maybe(visit.exit, Cell::Instant),
            Column::Duration => {
                let milliseconds = visit.to.as_millis().saturating_sub(visit.from.as_millis()).max(0);
                Cell::Duration(milliseconds.unsigned_abs() / 1_000)
            }
            Column::Distance => Cell::Distance(self.distance_m),
            _ => Cell::Empty,
        }
    }
}

impl MaintenanceRow<'_> {
    /// The row with these columns.
    pub fn row(&self, columns: &[Column], reader: Reader) -> Row {
        let subject = Subject { id: self.status.plan.device.to_string(), name: self.device.to_owned() };
        Row { subject, cells: columns.iter().map(|column| self.cell(*column, reader)).collect(), leg: None }
    }

    fn cell(&self, column: Column, reader: Reader) -> Cell {
        let (plan, usage, due) = (&self.status.plan, self.status.usage, &self.due);
        let (settings, start) = (&plan.settings, plan.settings.start);
        let left = |left: i64| u64::try_from(left).unwrap_or(0);
        let date = |date: Date| Cell::Instant(day_on(date, self.zone).starts);
        match column {
            Column::Device => Cell::Text(self.device.to_owned()),
            Column::DeviceId => Cell::Text(plan.device.to_string()),
            Column::Maintenance => Cell::Text(settings.name.clone()),
            Column::MaintenanceId => Cell::Text(plan.id.to_string()),
            Column::Status => Cell::Text(due_state(due.state, reader.language).to_owned()),
            Column::UsedShare => Cell::Number(f64::from(due.share) / 10.0),
            Column::DueDate => Cell::maybe(due.date, date),
            Column::EstimatedDate => Cell::maybe(due.estimated, date),
            #[expect(clippy::cast_precision_loss, reason = "days of the calendar are few")]
            Column::DaysLeft => Cell::maybe(due.days_left, |days| Cell::Number(days as f64)),
            Column::DistanceLeft => Cell::maybe(due.distance_left_m, |metres| Cell::Distance(left(metres))),
            Column::EngineLeft => Cell::maybe(due.engine_left_s, |seconds| Cell::Duration(left(seconds))),
            Column::LastDone => Cell::Instant(start.at),
            Column::DistanceSince => Cell::Distance(usage.distance_m),
            Column::EngineSince => Cell::Duration(usage.engine_s),
            Column::Odometer => Cell::maybe(start.odometer_m, |metres| {
                Cell::Distance(metres.saturating_add(usage.distance_m))
            }),
            Column::HourMeter => Cell::maybe(start.hour_meter_s, |seconds| {
                Cell::Duration(seconds.saturating_add(usage.engine_s))
            }),
            Column::Note => text(settings.notes.as_deref()),
            _ => Cell::Empty,
        }
    }
}
