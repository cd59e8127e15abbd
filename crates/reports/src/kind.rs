//! The kinds of reports, and which columns each may have.

use perigee_core::access::preference::ConsoleLanguage;

use crate::column::Column;
use crate::words::kind_title;

/// What a report is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReportKind {
    /// Trips, cut to the period.
    Trips,
    /// Stops, cut to the period.
    Stops,
    /// Trips, stops and gaps, cut at midnight.
    Timeline,
    /// Totals of intervals.
    Totals,
    /// Distance and engine hours by month.
    Mileage,
    /// Trips and stops with idling.
    Idling,
    /// Engine hours by day.
    EngineHours,
    /// Alerts, and who acknowledged them.
    Alerts,
    /// Devices, and whether they report as expected.
    DeviceHealth,
    /// Messages to people, by device and channel.
    Messages,
    /// Visits to geofences, cut to the period.
    Visits,
    /// Maintenance plans, as they are now.
    Maintenance,
}

/// What the rows of a report are made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowsOf {
    /// Segments of timelines.
    Segments,
    /// Totals of segments.
    Totals,
    /// Alerts.
    Alerts,
    /// Devices, as they are now.
    Devices,
    /// Counts of messages.
    Messages,
    /// Visits of devices to geofences.
    Visits,
    /// Maintenance plans of devices.
    Maintenance,
}

/// What the totals of a report are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Grouping {
    /// Each device.
    Device,
    /// Each group. A device counts in each of its groups.
    Group,
    /// Each driver. Only trips count.
    Driver,
    /// The account.
    Account,
}

impl Grouping {
    /// Every grouping, in the order of the API document.
    pub const ALL: [Self; 4] = [Self::Device, Self::Group, Self::Driver, Self::Account];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Device => "device",
            Self::Group => "group",
            Self::Driver => "driver",
            Self::Account => "account",
        }
    }
}

/// Columns of segments.
const SEGMENT: &[Column] = &[
    Column::Device,
    Column::DeviceId,
    Column::SegmentId,
    Column::Kind,
    Column::Date,
    Column::From,
    Column::To,
    Column::Duration,
    Column::StartPlace,
    Column::EndPlace,
    Column::Place,
    Column::StartLatitude,
    Column::StartLongitude,
    Column::EndLatitude,
    Column::EndLongitude,
    Column::Distance,
    Column::DistanceSource,
    Column::Moving,
    Column::Standing,
    Column::Idling,
    Column::Engine,
    Column::MaxSpeed,
    Column::AverageSpeed,
    Column::FuelUsed,
    Column::Name,
    Column::Purpose,
    Column::Note,
    Column::Driver,
    Column::DriverId,
    Column::DriverSource,
    Column::DriverTag,
];

/// Columns of totals.
const TOTALS: &[Column] = &[
    Column::Device,
    Column::DeviceId,
    Column::Group,
    Column::GroupId,
    Column::Driver,
    Column::DriverId,
    Column::Date,
    Column::Month,
    Column::From,
    Column::To,
    Column::Trips,
    Column::Stops,
    Column::Distance,
    Column::Moving,
    Column::Standing,
    Column::Idling,
    Column::Engine,
    Column::FirstDeparture,
    Column::LastArrival,
    Column::MaxSpeed,
    Column::GapTime,
    Column::GapDistance,
];

/// Columns of alerts.
const ALERTS: &[Column] = &[
    Column::Device,
    Column::DeviceId,
    Column::AlertId,
    Column::Date,
    Column::Time,
    Column::Alert,
    Column::Severity,
    Column::Text,
    Column::Place,
    Column::Latitude,
    Column::Longitude,
    Column::AcknowledgedAt,
    Column::AcknowledgedBy,
    Column::ResponseTime,
    Column::EndedAt,
];

/// Columns of devices.
const DEVICES: &[Column] = &[
    Column::Device,
    Column::DeviceId,
    Column::Identifier,
    Column::Model,
    Column::Protocol,
    Column::Status,
    Column::LastSeen,
    Column::Silence,
    Column::ExpectedInterval,
    Column::Battery,
    Column::LastPosition,
    Column::Place,
    Column::Latitude,
    Column::Longitude,
];

/// Columns of messages.
const MESSAGES: &[Column] = &[
    Column::Device,
    Column::DeviceId,
    Column::Channel,
    Column::Sent,
    Column::Failed,
    Column::Suppressed,
    Column::CostUnits,
    Column::Cost,
    Column::Currency,
];

/// Columns of visits.
const VISITS: &[Column] = &[
    Column::Device,
    Column::DeviceId,
    Column::Geofence,
    Column::GeofenceId,
    Column::Date,
    Column::Entry,
    Column::Exit,
    Column::From,
    Column::To,
    Column::Duration,
    Column::Distance,
];

/// Columns of maintenance plans.
const MAINTENANCE: &[Column] = &[
    Column::Device,
    Column::DeviceId,
    Column::Maintenance,
    Column::MaintenanceId,
    Column::Status,
    Column::UsedShare,
    Column::DueDate,
    Column::EstimatedDate,
    Column::DaysLeft,
    Column::DistanceLeft,
    Column::EngineLeft,
    Column::LastDone,
    Column::DistanceSince,
    Column::EngineSince,
    Column::Odometer,
    Column::HourMeter,
    Column::Note,
];

impl ReportKind {
    /// Every kind, in the order of the API document.
    pub const ALL: [Self; 12] = [
        Self::Trips,
        Self::Stops,
        Self::Timeline,
        Self::Totals,
        Self::Mileage,
        Self::Idling,
        Self::EngineHours,
        Self::Alerts,
        Self::DeviceHealth,
        Self::Messages,
        Self::Visits,
        Self::Maintenance,
    ];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Trips => "trips",
            Self::Stops => "stops",
            Self::Timeline => "timeline",
            Self::Totals => "totals",
            Self::Mileage => "mileage",
            Self::Idling => "idling",
            Self::EngineHours => "engineHours",
            Self::Alerts => "alerts",
            Self::DeviceHealth => "deviceHealth",
            Self::Messages => "messages",
            Self::Visits => "visits",
            Self::Maintenance => "maintenance",
        }
    }

    /// Its name for people.
    pub const fn title(self, language: ConsoleLanguage) -> &'static str {
        kind_title(self, language)
    }

    /// What its rows are made of.
    pub const fn rows_of(self) -> RowsOf {
        match self {
            Self::Trips | Self::Stops | Self::Timeline | Self::Idling => RowsOf::Segments,
            Self::Totals | Self::Mileage | Self::EngineHours => RowsOf::Totals,
            Self::Alerts => RowsOf::Alerts,
            Self::DeviceHealth => RowsOf::Devices,
            Self::Messages => RowsOf::Messages,
            Self::Visits => RowsOf::Visits,
            Self::Maintenance => RowsOf::Maintenance,
        }
    }

    /// Whether its rows are totals, which can be those of groups.
    pub const fn is_totals(self) -> bool {
        matches!(self.rows_of(), RowsOf::Totals)
    }

    /// The columns that it may have.
    pub const fn columns(self) -> &'static [Column] {
        match self.rows_of() {
            RowsOf::Segments => SEGMENT,
            RowsOf::Totals => TOTALS,
            RowsOf::Alerts => ALERTS,
            RowsOf::Devices => DEVICES,
            RowsOf::Messages => MESSAGES,
            RowsOf::Visits => VISITS,
            RowsOf::Maintenance => MAINTENANCE,
        }
    }

    /// The columns that it has unless others are chosen.
    pub fn usual_columns(self, grouping: Grouping) -> Vec<Column> {
        use Column::{
            AcknowledgedAt, AcknowledgedBy, Alert, AverageSpeed, Battery, Channel, CostUnits, Date, DaysLeft,
            Device, Distance, DistanceLeft, Driver, DueDate, Duration, EndPlace, EndedAt, Engine, EngineLeft,
            Entry, EstimatedDate, Exit, ExpectedInterval, Failed, FirstDeparture, From, Geofence, Group,
            Idling, Kind, LastArrival, LastDone, LastPosition, LastSeen, Maintenance, MaxSpeed, Month,
            Moving, Name, Place, Purpose, ResponseTime, Sent, Severity, Silence, Standing, StartPlace,
            Status, Suppressed, Text, Time, To, Trips,
        };
        let rest: &[Column] = match self {
            Self::Trips => &[
                From,
                StartPlace,
                To,
                EndPlace,
                Duration,
                Distance,
                Moving,
                Standing,
                Idling,
                MaxSpeed,
                AverageSpeed,
                Purpose,
                Driver,
            ],
            Self::Stops => &[From, To, Duration, Place, Idling, Engine, Name],
            Self::Timeline => &[Date, Kind, From, To, Duration, StartPlace, EndPlace, Distance, Idling],
            Self::Totals => &[
                Date,
                Trips,
                Distance,
                Moving,
                Standing,
                Idling,
                Engine,
                FirstDeparture,
                LastArrival,
                MaxSpeed,
            ],
            Self::Mileage => &[Month, Distance, Moving, Engine, Trips],
            Self::Idling => &[Kind, From, To, Place, Idling, Duration],
            Self::EngineHours => &[Date, Engine, Moving, Idling, Distance],
            Self::Alerts => {
                &[Time, Alert, Severity, Text, Place, AcknowledgedAt, AcknowledgedBy, ResponseTime, EndedAt]
            }
            Self::DeviceHealth => {
                &[Status, LastSeen, Silence, ExpectedInterval, Battery, LastPosition, Place]
            }
            Self::Messages => &[Channel, Sent, Failed, Suppressed, CostUnits],
            Self::Visits => &[Geofence, Entry, Exit, Duration, Distance],
            Self::Maintenance => {
                &[Maintenance, Status, DueDate, DaysLeft, DistanceLeft, EngineLeft, EstimatedDate, LastDone]
            }
        };
        let subject: &[Column] = match grouping {
            Grouping::Device => &[Device],
            Grouping::Group => &[Group],
            Grouping::Driver => &[Driver],
            Grouping::Account => &[],
        };
        [subject, rest].concat()
    }
}
