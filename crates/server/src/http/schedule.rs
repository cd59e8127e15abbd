//! Weekly schedules as JSON: when a recipient is notified, and when a rule applies.

use perigee_core::schedule::{Schedule, Weekday};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::json::Fields;

const A_TIME_OF_DAY: &str = "a time of day such as \"08:30\", up to \"24:00\"";

/// Hours on days of the week. Hours that end before or when they begin run into the next day.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Schedule)]
pub struct ScheduleView {
    /// The days on which the hours begin.
    #[schema(value_type = Vec<WeekdayName>, example = json!(["monday", "friday"]), min_items = 1, max_items = 7)]
    weekdays: Vec<&'static str>,
    /// The first minute, as HH:MM.
    #[schema(example = "08:00")]
    from: String,
    /// The first minute after the hours, up to 24:00.
    #[schema(example = "18:00")]
    to: String,
    /// The IANA id of the time zone; null for the recipient's and, in a rule, for the account's.
    #[schema(example = json!(null))]
    time_zone: Option<String>,
}

/// A day of the week.
#[derive(ToSchema)]
#[schema(as = Weekday, rename_all = "lowercase")]
pub enum WeekdayName {
    /// Monday.
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday.
    Sunday,
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

/// Reads a schedule; without `weekdays` it applies every day.
pub fn read_schedule(fields: &mut Fields<'_>) -> Option<Schedule> {
    let weekdays = fields.array::<Weekday>("weekdays", 1..=7).unique().nullable();
    let from = fields.parsed("from", A_TIME_OF_DAY).required();
    let to = fields.parsed("to", A_TIME_OF_DAY).required();
    let time_zone = fields.get("timeZone").nullable();
    let mut weekdays = weekdays.unwrap_or_else(|| Weekday::ALL.to_vec());
    weekdays.sort_unstable();
    Some(Schedule { weekdays, from: from?, to: to?, time_zone })
}
