//! A report as somebody asks for it, before it is known who reads it.

use perigee_core::access::actor::Scope;
use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::accounts::account::Account;
use perigee_core::id::GeofenceId;
use perigee_core::locations::place::Reader;
use perigee_core::notifications::routing::Units;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use perigee_reports::{Column, Grouping, Heading, MessagePrices, ReportKind, written_language};
use serde_json::Value;

use super::plan::{Plan, Selection};

/// A report as somebody asks for it.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// What the report is about.
    pub kind: ReportKind,
    /// The devices.
    pub selection: Selection,
    /// Only these geofences; all if empty.
    pub geofences: Vec<GeofenceId>,
    /// The beginning of the period, the limits between its intervals, and its end.
    pub limits: Vec<Timestamp>,
    /// The columns of rows.
    pub columns: Vec<Column>,
    /// What the totals are about.
    pub grouping: Grouping,
    /// The zone of dates.
    pub zone: Zone,
    /// The language, unless it is the reader's.
    pub language: Option<ConsoleLanguage>,
    /// The units, unless they are the reader's.
    pub units: Option<Units>,
    /// The title, unless it is the name of the kind.
    pub title: Option<String>,
}

/// Reads a report from JSON, for a zone and a present by which named periods are resolved; or says what is wrong with it.
/// The JSON is that of the API, which scheduled reports store.
pub type ReadReport = fn(&Value, &Zone, Timestamp) -> Result<Wanted, String>;

impl Wanted {
    /// What to read for a reader with this scope, and the heading of the document.
    pub fn planned(
        self,
        scope: Scope,
        reader: Reader,
        account: &Account,
        now: Timestamp,
        prices: MessagePrices,
    ) -> (Plan, Heading) {
        let Self { kind, selection, geofences, limits, columns, grouping, zone, title, .. } = self;
        let (day, day_zone) = account.day_at(now);
        let heading_columns = columns.clone();
        // Places as the titles: a document has one language.
        let reader = Reader { language: written_language(reader.language), ..reader };
        let plan = Plan {
            scope,
            kind,
            selection,
            geofences,
            limits,
            grouping,
            now,
            today: (day, day_zone.clone()),
            columns,
            zone: zone.clone(),
            reader,
            prices,
        };
        let heading = Heading {
            kind,
            title: title.unwrap_or_else(|| kind.title(reader.language).to_owned()),
            account: account.settings.name.clone(),
            from: plan.from(),
            to: plan.to(),
            created: now,
            zone,
            language: reader.language,
            units: reader.units,
            columns: heading_columns,
            envelope: Vec::new(),
        };
        (plan, heading)
    }
}
