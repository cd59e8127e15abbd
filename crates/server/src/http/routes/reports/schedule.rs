//! The schedule of a saved report, and its runs, as JSON.

use perigee_core::notifications::notification::Channel;
use perigee_core::notifications::routing::AlertRouting;
use perigee_core::reports::{
    AttachmentFormat, MonthDay, Recurrence, ReportRun, ReportSchedule, RunState, SavedReportSettings,
};
use perigee_core::rules::schedule::{TimeOfDay, Weekday};
use perigee_core::zone::Zone;

use crate::http::input::{Objects, Part, Set, Word, parsed_kinds, text, words};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::notifications::alert_routing::input::{
    RecipientInput, RoutedContactsInput, RoutedUserInput,
};
use crate::http::routes::notifications::alert_routing::view::{
    RecipientView, RoutedContactsView, RoutedUserView,
};
use crate::http::schedule::{ClockTime, WeekdayName};

/// How often a report is mailed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frequency {
    Daily,
    Weekly,
    Monthly,
}

impl Frequency {
    const ALL: [Self; 3] = [Self::Daily, Self::Weekly, Self::Monthly];

    const fn name(self) -> &'static str {
        match self {
            Self::Daily => Recurrence::NAMES[0],
            Self::Weekly => Recurrence::NAMES[1],
            Self::Monthly => Recurrence::NAMES[2],
        }
    }
}

words! {
    "ReportFrequency", "How often a report is mailed. `daily`: on each date. `weekly`: on the days in `weekdays`. `monthly`: on the day \
     in `monthDay`." => Frequency;
    "AttachmentFormat", "Format of an attached report. `xlsx`: a workbook. `pdf`: pages. `csv`: a table." => AttachmentFormat;
    "ReportRunState", "State of a run. `running`: the report is being made. `waiting`: it failed and is tried again. `sent`: it was made, \
     and its e-mails are in the outbox; `GET /api/notifications` lists whether each was delivered. `failed`: it is not tried again. `skipped`: \
     nothing was made, because the owner of the report may not sign in." => RunState;
}

/// The schema of a frequency in the OpenAPI document.
type FrequencyName = Word<Frequency>;
/// The schema of a format in the OpenAPI document.
type AttachmentFormatName = Word<AttachmentFormat>;
/// The schema of the state of a run in the OpenAPI document.
pub type RunStateName = Word<RunState>;

parsed_kinds! {
    /// A day of a month.
    pub(super) MonthDayText => MonthDay, "a day of a month from \"1\" to \"31\", or \"last\"",
        text(1, 4, |text| text.pattern(Some("^([1-9]|[12][0-9]|3[01]|last)$")));
}

input! {
    /// When a saved report is made and mailed.
    pub(super) struct ReportScheduleInput {
        /// Whether reports are made and mailed.
        enabled: bool, or(true);
        /// How often the report is mailed.
        frequency: Word<Frequency>, required, example "weekly";
        /// Days of the week on which a weekly report is mailed. Required with `weekly`, not allowed otherwise.
        weekdays: Set<Weekday, 0, 7>, nullable, example ["monday"];
        /// Day of the month on which a monthly report is mailed, `1` to `31`, or `last`. A month that is shorter has it on
        /// its last day. Required with `monthly`, not allowed otherwise.
        month_day as "monthDay": MonthDayText, nullable, example null;
        /// Local time at which the report is due, as `HH:MM`. Where the clock skips the time, the report is due as long after
        /// the skip began; where the time comes twice, it is due the first time.
        time: ClockTime, required, example "07:00";
        /// Time zone of the time and of dates, as an IANA name. Default: the time zone of the account.
        time_zone as "timeZone": Zone, nullable, example "Europe/Madrid";
        /// Format of the attached file. Default: `xlsx`.
        format: Word<AttachmentFormat>, nullable, example "xlsx";
        /// Recipients by e-mail address. `minimumSeverity` and `schedule` have no effect here. Default: none.
        recipients: Objects<RecipientInput, 0, { SavedReportSettings::RECIPIENTS_MAX }>, nullable;
        /// Users of the account who receive it by e-mail. `minimumSeverity` and `schedule` have no effect here. Default: none.
        users: Objects<RoutedUserInput, 0, { SavedReportSettings::RECIPIENTS_MAX }>, nullable;
        /// Contact groups whose contacts with an e-mail address receive it. `minimumSeverity` and `schedule` have no effect
        /// here. Default: none.
        contact_groups as "contactGroups": Objects<RoutedContactsInput, 0, { SavedReportSettings::RECIPIENTS_MAX }>, nullable;
    }
}

/// A schedule as it was read: without a zone it is in that of the account.
pub(super) struct ScheduleWithZone(ReportSchedule, bool);

impl ScheduleWithZone {
    /// The schedule, in this zone unless it names its own.
    pub(super) fn in_zone(self, zone: &Zone) -> ReportSchedule {
        let Self(schedule, has_zone) = self;
        if has_zone { schedule } else { ReportSchedule { time_zone: zone.clone(), ..schedule } }
    }
}

impl Part for ReportScheduleInput {
    type Value = ScheduleWithZone;

    fn make(self, fields: &mut Fields<'_>) -> Option<ScheduleWithZone> {
        let recipients = AlertRouting {
            recipients: self.recipients.unwrap_or_default(),
            users: self.users.unwrap_or_default(),
            contact_groups: self.contact_groups.unwrap_or_default(),
            ..AlertRouting::default()
        };
        if recipients.recipients.iter().any(|one| one.destination.channel() != Channel::EMAIL) {
            fields.refuse("recipients", "must have the channel \"email\": a report is sent by e-mail only");
        }
        let is_nobody = recipients.recipients.is_empty()
            && recipients.users.is_empty()
            && recipients.contact_groups.is_empty();
        if is_nobody {
            fields.refuse(
                "recipients",
                "must not be empty unless \"users\" or \"contactGroups\" names a recipient",
            );
        }
        let mut weekdays = self.weekdays.unwrap_or_default();
        weekdays.sort_unstable();
        let frequency = self.frequency?;
        match frequency {
            Frequency::Weekly if weekdays.is_empty() => {
                fields.refuse("weekdays", "must name a day of the week for a weekly report");
            }
            Frequency::Daily | Frequency::Monthly if !weekdays.is_empty() => {
                fields.refuse("weekdays", "is supported only by the frequency \"weekly\"");
            }
            _ => {}
        }
        // A day that is not valid was refused already.
        let is_absent = fields.raw("monthDay").nullable().is_none();
        match (frequency, self.month_day) {
            (Frequency::Monthly, None) if is_absent => {
                fields.refuse("monthDay", "is required for a monthly report");
            }
            (Frequency::Daily | Frequency::Weekly, Some(_)) => {
                fields.refuse("monthDay", "is supported only by the frequency \"monthly\"");
            }
            _ => {}
        }
        let recurrence = match frequency {
            Frequency::Daily => Recurrence::Daily,
            Frequency::Weekly => Recurrence::Weekly(weekdays),
            Frequency::Monthly => Recurrence::Monthly(self.month_day?),
        };
        let at = self.time?;
        if at == TimeOfDay::END {
            fields.refuse("time", "must be before 24:00");
        }
        let has_zone = self.time_zone.is_some();
        let time_zone = self.time_zone.unwrap_or_else(Zone::utc);
        let format = self.format.unwrap_or(AttachmentFormat::Xlsx);
        let schedule =
            ReportSchedule { enabled: self.enabled, recurrence, at, time_zone, format, recipients };
        Some(ScheduleWithZone(schedule, has_zone))
    }
}

/// When a saved report is made and mailed.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportSchedule)]
pub struct ReportScheduleView {
    /// Whether reports are made and mailed.
    #[schema(example = true)]
    enabled: bool,
    /// How often the report is mailed.
    #[schema(value_type = FrequencyName, example = "weekly")]
    frequency: &'static str,
    /// Days of the week on which a weekly report is mailed. Empty for others.
    #[schema(value_type = Vec<WeekdayName>, example = json!(["monday"]))]
    weekdays: Vec<&'static str>,
    /// Day of the month on which a monthly report is mailed, `1` to `31`, or `last`. Null for others.
    #[schema(example = json!(null))]
    month_day: Option<String>,
    /// Local time at which the report is due, as `HH:MM`.
    #[schema(example = "07:00")]
    time: String,
    /// Time zone of the time and of dates, as an IANA name.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Format of the attached file.
    #[schema(value_type = AttachmentFormatName, example = "xlsx")]
    format: &'static str,
    /// Recipients by e-mail address.
    recipients: Vec<RecipientView>,
    /// Users of the account who receive it by e-mail.
    users: Vec<RoutedUserView>,
    /// Contact groups whose contacts with an e-mail address receive it.
    contact_groups: Vec<RoutedContactsView>,
}

impl From<ReportSchedule> for ReportScheduleView {
    fn from(schedule: ReportSchedule) -> Self {
        let AlertRouting { recipients, users, contact_groups, .. } = schedule.recipients;
        let frequency = schedule.recurrence.name();
        let (weekdays, month_day) = match schedule.recurrence {
            Recurrence::Daily => (Vec::new(), None),
            Recurrence::Weekly(days) => (days.into_iter().map(Weekday::name).collect(), None),
            Recurrence::Monthly(day) => (Vec::new(), Some(day.to_string())),
        };
        Self {
            enabled: schedule.enabled,
            frequency,
            weekdays,
            month_day,
            time: schedule.at.to_string(),
            time_zone: schedule.time_zone.to_string(),
            format: schedule.format.name(),
            recipients: recipients.into_iter().map(RecipientView::from).collect(),
            users: users.into_iter().map(RoutedUserView::from).collect(),
            contact_groups: contact_groups.into_iter().map(RoutedContactsView::from).collect(),
        }
    }
}

/// A run of a scheduled report. There is at most one for each local date.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ReportRun)]
pub struct ReportRunView {
    /// Local date of the schedule.
    #[schema(example = "2026-05-04")]
    date: String,
    /// Time at which the report was due. Named periods of the report are those of this time.
    #[schema(example = "2026-05-04T05:00:00Z", format = DateTime)]
    scheduled_at: String,
    /// State of the run.
    #[schema(value_type = RunStateName, example = "sent")]
    state: &'static str,
    /// Number of attempts so far; a failed one is repeated up to 5 times, with growing pauses.
    #[schema(example = 1)]
    attempts: u32,
    /// Time at which the latest attempt began.
    #[schema(example = "2026-05-04T05:00:03Z", format = DateTime)]
    started: String,
    /// Time at which the latest attempt ended. Null while it runs.
    #[schema(example = "2026-05-04T05:00:04Z", format = DateTime)]
    ended: Option<String>,
    /// Number of rows. Null unless the report was made.
    #[schema(example = 120)]
    rows: Option<u64>,
    /// Size of the file in bytes. Null unless the report was made.
    #[schema(example = 18_432)]
    bytes: Option<u64>,
    /// Whether the file was attached. If it is too large, e-mails have only the link.
    #[schema(example = true)]
    attached: bool,
    /// Number of e-mails that were written.
    #[schema(example = 2)]
    recipients: u32,
    /// Why the latest attempt failed, or why nothing was made. Null if the report was made.
    #[schema(example = json!(null))]
    error: Option<String>,
}

impl From<ReportRun> for ReportRunView {
    fn from(run: ReportRun) -> Self {
        Self {
            date: run.date.to_string(),
            scheduled_at: run.scheduled_at.to_string(),
            state: run.state.name(),
            attempts: run.attempts,
            started: run.started.to_string(),
            ended: run.ended.map(|at| at.to_string()),
            rows: run.rows,
            bytes: run.bytes,
            attached: run.attached,
            recipients: run.recipients,
            error: run.error,
        }
    }
}
