//! Weekly schedules as JSON: when a recipient is notified, and when a rule applies.

use perigee_core::rules::schedule::{Schedule, TimeOfDay, Weekday};
use perigee_core::zone::Zone;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{Member, Part, Schemas, Set, Word, input, parsed_kinds, text, words};
use crate::http::json::{Field, Fields};

/// Hours on days of the week. If `to` is not later than `from`, the hours end on the next day.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Schedule)]
pub struct ScheduleView {
    /// Days of the week on which the hours begin.
    #[schema(value_type = Vec<WeekdayName>, example = json!(["monday", "friday"]))]
    weekdays: Vec<&'static str>,
    /// Start of the hours, inclusive, as `HH:MM`.
    #[schema(example = "08:00")]
    from: String,
    /// End of the hours, exclusive, as `HH:MM`, up to `24:00`.
    #[schema(example = "18:00")]
    to: String,
    /// Time zone of the hours, as an IANA identifier. Null for the time zone of the recipient or, in a rule, of the
    /// account.
    #[schema(example = json!(null))]
    time_zone: Option<String>,
}

words! {
    "Weekday", "A day of the week." => Weekday;
}

/// The schema of a day of the week in the OpenAPI document.
pub type WeekdayName = Word<Weekday>;

impl Member for Weekday {
    type Value = Self;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Self> {
        fields.get(name)
    }

    fn schema() -> RefOr<Schema> {
        <WeekdayName as Member>::schema()
    }

    fn add_schemas(schemas: &mut Schemas) {
        WeekdayName::add_schemas(schemas);
    }
}

parsed_kinds! {
    /// A time of day.
    pub ClockTime => TimeOfDay, "a time of day such as \"08:30\", up to \"24:00\"",
        text(5, 5, |text| text.pattern(Some("^(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)$")));
}

input! {
    /// Hours on days of the week. If `to` is not later than `from`, the hours end on the next day.
    pub struct ScheduleInput {
        /// Days of the week on which the hours begin. Default: all.
        weekdays: Set<Weekday, 1, 7>, nullable, example ["monday", "friday"];
        /// Start of the hours, inclusive, as `HH:MM`.
        from: ClockTime, required, example "08:00";
        /// End of the hours, exclusive, as `HH:MM`, up to `24:00`.
        to: ClockTime, required, example "18:00";
        /// Time zone of the hours, as an IANA identifier. Default: the time zone of the recipient or, in a rule, of the
        /// account.
        time_zone as "timeZone": Zone, nullable, example null;
    }
}

impl Part for ScheduleInput {
    type Value = Schedule;

    fn make(self, _fields: &mut Fields<'_>) -> Option<Schedule> {
        let mut weekdays = self.weekdays.unwrap_or_else(|| Weekday::ALL.to_vec());
        weekdays.sort_unstable();
        Some(Schedule { weekdays, from: self.from?, to: self.to?, time_zone: self.time_zone })
    }
}

impl From<Schedule> for ScheduleView {
    fn from(schedule: Schedule) -> Self {
        Self {
            weekdays: schedule.weekdays.into_iter().map(Weekday::name).collect(),
            from: schedule.from.to_string(),
            to: schedule.to.to_string(),
            time_zone: schedule.time_zone.map(|zone| zone.to_string()),
        }
    }
}
