//! The columns of reports.

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::notifications::routing::Units;

use crate::words::title;

/// What kind of values a column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// Text.
    Text,
    /// A time.
    DateTime,
    /// A date.
    Date,
    /// A length of time.
    Duration,
    /// A distance.
    Distance,
    /// A speed.
    Speed,
    /// A number, such as degrees or percent.
    Number,
    /// A whole number.
    Count,
}

/// The unit of the numbers of a column.
pub type Unit = Option<&'static str>;

/// Declares the columns: variant, name in the API, type, width in characters.
macro_rules! columns {
    ($($(#[doc = $doc:literal])* $variant:ident => $name:literal, $type:ident, $width:literal;)+) => {
        /// A column of a report.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Column {
            $($(#[doc = $doc])* $variant,)+
        }

        impl Column {
            /// Every column.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// Its name in the API.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The type of its values.
            pub const fn kind(self) -> ColumnType {
                match self { $(Self::$variant => ColumnType::$type,)+ }
            }

            /// The width in characters at which most of its values are readable.
            pub const fn width(self) -> u16 {
                match self { $(Self::$variant => $width,)+ }
            }
        }
    };
}

columns! {
    /// Name of the device.
    Device => "device", Text, 22;
    /// ID of the device.
    DeviceId => "deviceId", Text, 20;
    /// Name of the group.
    Group => "group", Text, 22;
    /// ID of the group.
    GroupId => "groupId", Text, 20;
    /// ID of the segment.
    SegmentId => "segmentId", Text, 20;
    /// The word for trip, stop or gap.
    Kind => "kind", Text, 9;
    /// The date on which a row begins.
    Date => "date", Date, 11;
    /// The month, as `2026-05`.
    Month => "month", Text, 9;
    /// Beginning.
    From => "from", DateTime, 17;
    /// End.
    To => "to", DateTime, 17;
    /// Length of time.
    Duration => "duration", Duration, 10;
    /// Where a trip begins, in words.
    StartPlace => "startPlace", Text, 34;
    /// Where a trip ends, in words.
    EndPlace => "endPlace", Text, 34;
    /// Where a stop is, in words.
    Place => "place", Text, 34;
    /// Degrees north of the beginning.
    StartLatitude => "startLatitude", Number, 11;
    /// Degrees east of the beginning.
    StartLongitude => "startLongitude", Number, 11;
    /// Degrees north of the end.
    EndLatitude => "endLatitude", Number, 11;
    /// Degrees east of the end.
    EndLongitude => "endLongitude", Number, 11;
    /// Distance.
    Distance => "distance", Distance, 10;
    /// How the distance was found.
    DistanceSource => "distanceSource", Text, 10;
    /// Time in motion.
    Moving => "moving", Duration, 10;
    /// Time at rest.
    Standing => "standing", Duration, 10;
    /// Time at rest with the engine on.
    Idling => "idling", Duration, 10;
    /// Time with the engine on.
    Engine => "engine", Duration, 10;
    /// Greatest speed.
    MaxSpeed => "maxSpeed", Speed, 10;
    /// Mean speed in motion.
    AverageSpeed => "averageSpeed", Speed, 10;
    /// Percent of the first tank.
    FuelUsed => "fuelUsed", Number, 9;
    /// Name of the segment.
    Name => "name", Text, 22;
    /// Purpose of the segment.
    Purpose => "purpose", Text, 12;
    /// Note on the segment.
    Note => "note", Text, 30;
    /// Driver.
    Driver => "driver", Text, 18;
    /// ID of the driver.
    DriverId => "driverId", Text, 20;
    /// How the driver is known.
    DriverSource => "driverSource", Text, 12;
    /// Key tag of the driver.
    DriverTag => "driverTag", Text, 16;
    /// Number of trips.
    Trips => "trips", Count, 7;
    /// Number of stops.
    Stops => "stops", Count, 7;
    /// First beginning of a trip.
    FirstDeparture => "firstDeparture", DateTime, 17;
    /// Last end of a trip.
    LastArrival => "lastArrival", DateTime, 17;
    /// Time of gaps.
    GapTime => "gapTime", Duration, 10;
    /// Distance of gaps.
    GapDistance => "gapDistance", Distance, 10;
    /// When something happened.
    Time => "time", DateTime, 17;
    /// Name of an alert.
    Alert => "alert", Text, 20;
    /// ID of an alert.
    AlertId => "alertId", Text, 20;
    /// Text of an alert.
    Text => "text", Text, 30;
    /// Severity of an alert.
    Severity => "severity", Text, 11;
    /// When an alert was acknowledged.
    AcknowledgedAt => "acknowledgedAt", DateTime, 17;
    /// Who acknowledged it.
    AcknowledgedBy => "acknowledgedBy", Text, 20;
    /// From the alert to its acknowledgement.
    ResponseTime => "responseTime", Duration, 10;
    /// When an alert ended.
    EndedAt => "endedAt", DateTime, 17;
    /// Degrees north.
    Latitude => "latitude", Number, 11;
    /// Degrees east.
    Longitude => "longitude", Number, 11;
    /// Identifier of the hardware.
    Identifier => "identifier", Text, 18;
    /// Model of the hardware.
    Model => "model", Text, 18;
    /// Protocol of the last report.
    Protocol => "protocol", Text, 12;
    /// Whether a device reports as expected.
    Status => "status", Text, 12;
    /// When something was last received.
    LastSeen => "lastSeen", DateTime, 17;
    /// For how long nothing was received.
    Silence => "silence", Duration, 12;
    /// How often the device is expected to report.
    ExpectedInterval => "expectedInterval", Duration, 10;
    /// When the last position was taken.
    LastPosition => "lastPosition", DateTime, 17;
    /// Percent of the battery.
    Battery => "battery", Number, 9;
    /// The channel of messages.
    Channel => "channel", Text, 12;
    /// Messages that were sent, or that may have been.
    Sent => "sent", Count, 9;
    /// Messages that were not accepted.
    Failed => "failed", Count, 9;
    /// Messages that were not sent on purpose.
    Suppressed => "suppressed", Count, 11;
    /// Segments of SMS, messages of other channels.
    CostUnits => "costUnits", Count, 11;
    /// What these units cost, by the prices of the operator.
    Cost => "cost", Number, 11;
    /// The currency of the cost.
    Currency => "currency", Text, 9;
    /// Name of a geofence.
    Geofence => "geofence", Text, 22;
    /// ID of a geofence.
    GeofenceId => "geofenceId", Text, 20;
    /// When a device entered a geofence.
    Entry => "entry", DateTime, 17;
    /// When a device left a geofence.
    Exit => "exit", DateTime, 17;
    /// Name of a maintenance plan.
    Maintenance => "maintenance", Text, 24;
    /// ID of a maintenance plan.
    MaintenanceId => "maintenanceId", Text, 20;
    /// Percent of the nearest limit that are used.
    UsedShare => "usedShare", Number, 9;
    /// Date on which maintenance is due by the calendar.
    DueDate => "dueDate", Date, 11;
    /// Date on which maintenance is probably due.
    EstimatedDate => "estimatedDate", Date, 11;
    /// Dates left until maintenance is due.
    DaysLeft => "daysLeft", Number, 9;
    /// Distance left until maintenance is due.
    DistanceLeft => "distanceLeft", Distance, 11;
    /// Time with the engine on that is left until maintenance is due.
    EngineLeft => "engineLeft", Duration, 11;
    /// When maintenance was last done.
    LastDone => "lastDone", DateTime, 17;
    /// Distance since maintenance was last done.
    DistanceSince => "distanceSince", Distance, 11;
    /// Time with the engine on since maintenance was last done.
    EngineSince => "engineSince", Duration, 11;
    /// Present reading of the odometer.
    Odometer => "odometer", Distance, 12;
    /// Present reading of the hour meter.
    HourMeter => "hourMeter", Duration, 12;
}

impl ColumnType {
    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::DateTime => "dateTime",
            Self::Date => "date",
            Self::Duration => "duration",
            Self::Distance => "distance",
            Self::Speed => "speed",
            Self::Number => "number",
            Self::Count => "count",
        }
    }
}

impl Column {
    /// Its title, without the unit.
    pub fn title(self, language: ConsoleLanguage) -> &'static str {
        title(self, language)
    }

    /// The unit of its numbers, as it is written beside the title.
    pub const fn unit(self, units: Units) -> Unit {
        match (self.kind(), units) {
            (ColumnType::Distance, Units::Metric) => Some("km"),
            (ColumnType::Distance, Units::Imperial) => Some("mi"),
            (ColumnType::Distance, Units::Nautical) => Some("nmi"),
            (ColumnType::Speed, Units::Metric) => Some("km/h"),
            (ColumnType::Speed, Units::Imperial) => Some("mph"),
            (ColumnType::Speed, Units::Nautical) => Some("kn"),
            (ColumnType::Number, _) => match self {
                Self::FuelUsed | Self::Battery | Self::UsedShare => Some("%"),
                Self::DaysLeft | Self::Cost => None,
                _ => Some("°"),
            },
            _ => None,
        }
    }

    /// The title with the unit, for a line of titles.
    pub fn title_with_unit(self, language: ConsoleLanguage, units: Units) -> String {
        let title = self.title(language);
        self.unit(units).map_or_else(|| title.to_owned(), |unit| format!("{title} ({unit})"))
    }

    /// Whether the values of a device can be joined to one: the sum, or the greatest speed.
    pub const fn is_summed(self) -> bool {
        let is_amount =
            matches!(self.kind(), ColumnType::Duration | ColumnType::Distance | ColumnType::Count);
        let is_of_one = matches!(
            self,
            Self::ResponseTime
                | Self::Silence
                | Self::ExpectedInterval
                | Self::DistanceLeft
                | Self::EngineLeft
                | Self::DistanceSince
                | Self::EngineSince
                | Self::Odometer
                | Self::HourMeter
        );
        (is_amount && !is_of_one) || matches!(self, Self::MaxSpeed | Self::Cost)
    }
}
