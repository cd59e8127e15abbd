//! The body of a report.

use std::collections::HashSet;

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::id::{DeviceId, GeofenceId, GroupId};
use perigee_core::notifications::routing::Units;
use perigee_core::text::OptionalName;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{Interval, NamedPeriod};
use perigee_core::zone::Zone;
use perigee_reports::{Column, Grouping, ReportKind};

use super::period::{Asked, limits};
use crate::http::input::{Instant, List, Part, Set, Word, read_fields, words};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::reports::{Selection, Wanted};

/// Devices and groups that a body may name.
const DEVICES_MAX: usize = 1_000;
const GROUPS_MAX: usize = 100;
/// Geofences that a body may name.
const GEOFENCES_MAX: usize = 100;
/// Columns of a report.
const COLUMNS_MAX: usize = 40;

words! {
    "ReportKind", "What a report is about. `trips`, `stops`: a row for each. `timeline`: a row for each trip, stop or gap, cut at midnight. \
     `totals`: a row for each interval of a device, a group or the account. `mileage`: totals by month. `idling`: trips and stops in which \
     the engine ran at rest. `engineHours`: totals by day of devices that report their engine. `alerts`: alerts, and who acknowledged them. `deviceHealth`: \
     devices as they are now, whatever the period: when they were last heard, and their battery. `messages`: notifications that were sent, failed \
     or were suppressed, by device and channel. `visits`: visits to geofences, cut to the period. `maintenance`: maintenance plans as they are now, \
     whatever the period." => ReportKind;
    "ReportGrouping", "What totals are about. `device`: each device. `group`: each group; a device counts in each of its groups. `driver`: \
     each driver; only trips count. `account`: all devices together." => Grouping;
}

/// A kind of report, as the API describes it.
pub(super) type KindName = Word<ReportKind>;
/// A grouping, as the API describes it.
pub(super) type GroupingName = Word<Grouping>;

input! {
    /// A report to run.
    pub(super) struct ReportInput {
        /// What the report is about.
        kind: Word<ReportKind>, required, example "totals";
        /// Devices, each given by its ID, identifier or a name that only one device has. Default: all devices that the caller
        /// may see, unless `groups` is given.
        devices: Set<DeviceId, 0, DEVICES_MAX>, nullable, example [];
        /// Groups whose devices are included, each given by its ID or a name that only one group has.
        groups: Set<GroupId, 0, GROUPS_MAX>, nullable, example [];
        /// The period. Must not be given together with `from` or `to`. Default without them: `lastWeek`.
        period: Word<NamedPeriod>, nullable, example "lastWeek";
        /// Start of the period, inclusive. Without an offset, it is in the time zone of the caller.
        from: Instant, nullable, example null;
        /// End of the period, exclusive. Must be later than `from`. Default: now.
        to: Instant, nullable, example null;
        /// Names of the columns, in order, as `GET /api/reports/kinds` lists them. Default: the usual ones of the kind.
        columns: List<String, 1, COLUMNS_MAX>, nullable, example ["device", "from", "to", "distance"];
        /// Intervals of the kind `totals`. Default: `day`.
        interval: Word<Interval>, nullable, example "day";
        /// What rows of the kinds `totals`, `mileage` and `engineHours` are about. Default: `device`.
        group_by as "groupBy": Word<Grouping>, nullable, example "device";
        /// Time zone of dates and times, as an IANA name. Default: that of the caller.
        time_zone as "timeZone": Zone, nullable, example "Europe/Madrid";
        /// Language of titles and places: `en` or `es`. A report in any other language is in English. Default: that of
        /// the caller.
        language: Word<ConsoleLanguage>, nullable, example "en";
        /// Units of distances and speeds. Default: those of the caller.
        units: Word<Units>, nullable, example "metric";
        /// Geofences of the kind `visits`, by ID. Default: all geofences that the caller may see.
        geofences: Set<GeofenceId, 0, GEOFENCES_MAX>, nullable, example [];
        /// Title of the document. Default: the name of the kind.
        title: OptionalName, nullable, example "Week of the vans";
    }
}

/// The members that refer to other resources by name or ID.
pub(super) const NAMES: &[(&str, Named)] = &[("devices", Named::Device), ("groups", Named::Group)];

/// Reads a report for a caller with this zone.
pub(super) fn read_report(body: &Value, zone: &Zone, now: Timestamp) -> ApiResult<Wanted> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE], |input: ReportInput, fields| wanted(input, fields, zone, now))
}

/// The same for a report that is stored or was stored, with a sentence that says what is wrong.
pub(super) fn read_stored(body: &Value, zone: &Zone, now: Timestamp) -> Result<Wanted, String> {
    read_report(body, zone, now).map_err(|refused| {
        let problem = refused.problems.first();
        problem.map_or(refused.message.clone(), |problem| problem.detail.clone())
    })
}

/// The report of a saved report, with a period that has a name.
impl Part for ReportInput {
    type Value = ();

    fn make(self, fields: &mut Fields<'_>) -> Option<()> {
        for (member, is_given) in [("from", self.from.is_some()), ("to", self.to.is_some())] {
            if is_given {
                fields.refuse(member, "must not be given in a saved report. Choose a \"period\" instead");
            }
        }
        // Whether the rest is valid depends neither on the zone nor on the present.
        wanted(Self { from: None, to: None, ..self }, fields, &Zone::utc(), Timestamp::from_millis(0))
            .map(drop)
    }
}

fn wanted(input: ReportInput, fields: &mut Fields<'_>, zone: &Zone, now: Timestamp) -> Option<Wanted> {
    let kind = input.kind?;
    let grouping = input.group_by.unwrap_or(Grouping::Device);
    if !kind.is_totals() && grouping != Grouping::Device {
        fields.refuse("groupBy", "must be \"device\" for this kind of report");
    }
    if kind != ReportKind::Totals && input.interval.is_some() {
        fields.refuse("interval", "is supported only by the kind \"totals\"");
    }
    let geofences = input.geofences.unwrap_or_default();
    if kind != ReportKind::Visits && !geofences.is_empty() {
        fields.refuse("geofences", "is supported only by the kind \"visits\"");
    }
    let columns = match &input.columns {
        Some(names) => chosen(kind, names, fields),
        None => kind.usual_columns(grouping),
    };
    let zone = input.time_zone.unwrap_or_else(|| zone.clone());
    let asked = Asked { named: input.period, from: input.from, to: input.to };
    let interval = match kind {
        ReportKind::Totals => input.interval.unwrap_or(Interval::Day),
        ReportKind::Timeline | ReportKind::EngineHours => Interval::Day,
        ReportKind::Mileage => Interval::Month,
        ReportKind::Trips
        | ReportKind::Stops
        | ReportKind::Idling
        | ReportKind::Alerts
        | ReportKind::Messages
        | ReportKind::DeviceHealth
        | ReportKind::Visits
        | ReportKind::Maintenance => Interval::Period,
    };
    let limits =
        asked.resolve(NamedPeriod::LastWeek, now, &zone).and_then(|period| limits(interval, period, &zone));
    let limits = match limits {
        Ok(limits) => limits,
        // Only totals have an interval; for other kinds the period is too long.
        Err(("interval", _)) if kind != ReportKind::Totals => {
            fields
                .refuse("to", "must be at most 400 days (or months) after \"from\" for this kind of report");
            Vec::new()
        }
        Err((name, problem)) => {
            fields.refuse(name, problem);
            Vec::new()
        }
    };
    let (devices, groups) = (input.devices.unwrap_or_default(), input.groups.unwrap_or_default());
    let is_all = devices.is_empty() && groups.is_empty();
    let selection = if is_all { Selection::All } else { Selection::Some(devices, groups) };
    let title = input.title.filter(|title| !title.trim().is_empty());
    let (language, units) = (input.language, input.units);
    Some(Wanted { kind, selection, geofences, limits, columns, grouping, zone, language, units, title })
}

fn chosen(kind: ReportKind, names: &[String], fields: &mut Fields<'_>) -> Vec<Column> {
    let (mut columns, mut seen) = (Vec::new(), HashSet::new());
    for name in names {
        match kind.columns().iter().find(|column| column.name() == name) {
            Some(column) if seen.insert(*column) => columns.push(*column),
            Some(_) => fields.refuse("columns", "must name each column once"),
            None => {
                let accepted: Vec<&str> = kind.columns().iter().map(|column| column.name()).collect();
                fields.refuse(
                    "columns",
                    &format!("must be names of columns of this kind: {}", accepted.join(", ")),
                );
                break;
            }
        }
    }
    columns
}
