//! Rows, made of segments and totals.

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::drivers::SegmentDriver;
use perigee_core::id::{DeviceId, DriverId, GroupId};
use perigee_core::locations::place::{Form, Reader, describe};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{Position, Segment, SegmentKind, StoredSegment, Totals};
use perigee_core::zone::Zone;

use crate::cell::{Cell, local};
use crate::column::Column;
use crate::words::{distance_source, driver_source, segment_kind};

/// What the rows of a report are added up for.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Subject {
    /// The id of a device or group; empty for the account.
    pub id: String,
    /// The name of the device or group; empty for the account.
    pub name: String,
}

/// A row: a value for each column of the report.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the row is about.
    pub subject: Subject,
    /// The values, in the order of the columns.
    pub cells: Vec<Cell>,
    /// From where to where, for a map; only of trips.
    pub leg: Option<(Position, Position)>,
}

/// A row about a segment, or a part of it.
#[derive(Debug)]
pub struct SegmentRow<'a> {
    /// The name of the device.
    pub device: &'a str,
    /// The whole segment.
    pub stored: &'a StoredSegment,
    /// Its part within the period.
    pub part: &'a Segment,
}

/// A row about totals.
#[derive(Debug)]
pub struct TotalsRow<'a> {
    /// The device, if the totals are those of one.
    pub device: Option<(DeviceId, &'a str)>,
    /// The group, if the totals are those of one.
    pub group: Option<(GroupId, &'a str)>,
    /// The driver, without an id if only a name is known, and with an empty name for trips without a driver; if the totals
    /// are those of one.
    pub driver: Option<(Option<DriverId>, &'a str)>,
    /// The beginning of the interval.
    pub from: Timestamp,
    /// Its end.
    pub to: Timestamp,
    /// The sums.
    pub totals: &'a Totals,
}

pub(crate) fn text(text: Option<&str>) -> Cell {
    Cell::maybe(text, |text| Cell::Text(text.to_owned()))
}

pub(crate) fn place(position: Position, reader: Reader) -> Cell {
    Cell::maybe(describe(position, reader, Form::Full), Cell::Text)
}

impl SegmentRow<'_> {
    /// The row with these columns.
    pub fn row(&self, columns: &[Column], reader: Reader) -> Row {
        let subject = Subject { id: self.stored.device.to_string(), name: self.device.to_owned() };
        let leg = (self.part.kind == SegmentKind::Trip).then_some((self.part.start, self.part.end));
        Row { subject, cells: columns.iter().map(|column| self.cell(*column, reader)).collect(), leg }
    }

    fn cell(&self, column: Column, reader: Reader) -> Cell {
        let (part, labels) = (self.part, &self.stored.labels);
        let driver: Option<&SegmentDriver> = self.stored.driver.as_ref();
        let language: ConsoleLanguage = reader.language;
        match column {
            Column::Device => Cell::Text(self.device.to_owned()),
            Column::DeviceId => Cell::Text(self.stored.device.to_string()),
            Column::SegmentId => Cell::Text(self.stored.id.to_string()),
            Column::Kind => Cell::Text(segment_kind(part.kind, language).to_owned()),
            Column::Date | Column::From => Cell::Instant(part.from),
            Column::To => Cell::Instant(part.to),
            Column::Duration => Cell::Duration(part.length_ms().unsigned_abs() / 1_000),
            Column::StartPlace | Column::Place => place(part.start, reader),
            Column::EndPlace => place(part.end, reader),
            Column::StartLatitude => Cell::Number(part.start.0.as_degrees()),
            Column::StartLongitude => Cell::Number(part.start.1.as_degrees()),
            Column::EndLatitude => Cell::Number(part.end.0.as_degrees()),
            Column::EndLongitude => Cell::Number(part.end.1.as_degrees()),
            Column::Distance => Cell::Distance(part.distance_m),
            Column::DistanceSource => Cell::Text(distance_source(part.distance_source, language).to_owned()),
            Column::Moving => Cell::Duration(part.moving_s),
            Column::Standing => Cell::Duration(part.standing_s),
            Column::Idling => Cell::Duration(part.idling_s),
            Column::Engine => Cell::maybe(part.engine_s, Cell::Duration),
            Column::MaxSpeed => Cell::maybe(part.max_speed, Cell::Speed),
            Column::AverageSpeed => Cell::maybe(part.average_speed(), Cell::Speed),
            Column::FuelUsed => Cell::maybe(part.fuel_used, |used| Cell::Number(used.as_f64())),
            Column::Name => text(labels.name.as_deref()),
            Column::Purpose => text(labels.purpose.as_deref()),
            Column::Note => text(labels.note.as_deref()),
            Column::Driver => text(driver.map(|driver| driver.name.as_str())),
            Column::DriverId => {
                Cell::maybe(driver.and_then(|driver| driver.id), |id| Cell::Text(id.to_string()))
            }
            Column::DriverSource => {
                Cell::maybe(driver, |driver| Cell::Text(driver_source(driver.source, language).to_owned()))
            }
            Column::DriverTag => text(part.driver_tag.as_deref()),
            _ => Cell::Empty,
        }
    }
}

impl TotalsRow<'_> {
    /// The row with these columns.
    pub fn row(&self, columns: &[Column], zone: &Zone) -> Row {
        let device = self.device.map(|(id, name)| (id.to_string(), name));
        let group = self.group.map(|(id, name)| (id.to_string(), name));
        let driver = self.driver.map(|(id, name)| (id.map_or_else(String::new, |id| id.to_string()), name));
        let (id, name) = device.or(group).or(driver).unwrap_or_default();
        let cells = columns.iter().map(|column| self.cell(*column, zone)).collect();
        Row { subject: Subject { id, name: name.to_owned() }, cells, leg: None }
    }

    fn cell(&self, column: Column, zone: &Zone) -> Cell {
        let totals = self.totals;
        match column {
            Column::Device => text(self.device.map(|(_, name)| name)),
            Column::DeviceId => Cell::maybe(self.device, |(id, _)| Cell::Text(id.to_string())),
            Column::Group => text(self.group.map(|(_, name)| name)),
            Column::GroupId => Cell::maybe(self.group, |(id, _)| Cell::Text(id.to_string())),
            Column::Driver => text(self.driver.map(|(_, name)| name).filter(|name| !name.is_empty())),
            Column::DriverId => {
                Cell::maybe(self.driver.and_then(|(id, _)| id), |id| Cell::Text(id.to_string()))
            }
            Column::Date | Column::From => Cell::Instant(self.from),
            Column::To => Cell::Instant(self.to),
            Column::Month => Cell::Text(local(self.from, zone).strftime("%Y-%m").to_string()),
            Column::Trips => Cell::Count(totals.trips),
            Column::Stops => Cell::Count(totals.stops),
            Column::Distance => Cell::Distance(totals.distance_m),
            Column::Moving => Cell::Duration(totals.moving_s),
            Column::Standing => Cell::Duration(totals.standing_s),
            Column::Idling => Cell::Duration(totals.idling_s),
            Column::Engine => Cell::maybe(totals.engine_s, Cell::Duration),
            Column::FirstDeparture => Cell::maybe(totals.first_departure, Cell::Instant),
            Column::LastArrival => Cell::maybe(totals.last_arrival, Cell::Instant),
            Column::MaxSpeed => Cell::maybe(totals.max_speed, Cell::Speed),
            Column::GapTime => Cell::Duration(totals.gap_s),
            Column::GapDistance => Cell::Distance(totals.gap_distance_m),
            _ => Cell::Empty,
        }
    }
}
