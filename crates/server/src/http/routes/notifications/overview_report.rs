//! Settings of the overview report, an e-mail about each day or week.

use perigee_core::id::GroupId;
use perigee_core::notifications::notification::EmailConsent;
use perigee_core::notifications::overview::{Frequency, OverviewRecipient, OverviewSettings, StoredOverview};
use perigee_core::notifications::routing::{Destination, Preferences, Units};
use perigee_core::rules::schedule::Weekday;
use perigee_core::text::OptionalName;
use perigee_core::zone::Zone;

use crate::http::input::{EmailAddress, List, Objects, Part, WholeU8, Word, words};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::notifications::alert_routing::ask_to_confirm;
use crate::http::routes::notifications::alert_routing::input::LanguageTag;
use crate::http::routes::notifications::alert_routing::view::{UnitsName, recipient_status};
use crate::http::schedule::WeekdayName;

/// Settings of the overview report: content, time and recipients.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OverviewReport)]
pub struct OverviewReportView {
    /// How often the report is sent: `off`, `daily` or `weekly`.
    #[schema(value_type = FrequencyName, example = "weekly")]
    frequency: &'static str,
    /// Day on which a weekly report is sent. The report covers the seven days before.
    #[schema(value_type = WeekdayName, example = "monday")]
    weekday: &'static str,
    /// Hour at which the report is sent, 0 to 23, in the time zone of the account.
    #[schema(example = 7)]
    hour: u8,
    /// Recipients of the report. If empty, the owners of the account receive it.
    recipients: Vec<OverviewRecipientView>,
    /// IDs of the groups that the report covers. If empty, it covers all groups.
    #[schema(example = json!([]))]
    groups: Vec<String>,
    /// Whether the report covers devices that are in no group.
    #[schema(example = true)]
    ungrouped: bool,
    /// Last day that a report has covered, or the last day before reports were turned on or changed. Null if reports
    /// were never turned on.
    #[schema(example = "2026-05-03", format = Date)]
    reported_through: Option<String>,
    /// Time at which the settings were last changed. Null if they were never changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

words! {
    "OverviewFrequency", "How often the overview report is sent. `off`: never. `daily`: once a day. `weekly`: once a week." => Frequency;
}

/// A frequency, as the API describes it.
pub type FrequencyName = Word<Frequency>;

/// A recipient of the overview report.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OverviewRecipient)]
pub struct OverviewRecipientView {
    /// E-mail address of the recipient.
    #[schema(example = "ana@example.com")]
    address: String,
    /// Name of the recipient, used in the report. Null if it has none.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// Time zone of the times in the report, as an IANA name. Null for the time zone of the account.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
    /// Units of speeds and distances in the report.
    #[schema(value_type = UnitsName, example = "metric")]
    units: &'static str,
    /// Language of the report, as a tag such as `en` or `pt-BR`.
    #[schema(example = "en")]
    language: String,
    /// Whether e-mail reaches the recipient. `active`: it does. `unsubscribed`: the recipient unsubscribed with the
    /// link in an e-mail. `unconfirmed`: the recipient must confirm first and has not done so. Only the recipient can
    /// change it.
    #[schema(example = "active", pattern = "^(active|unsubscribed|unconfirmed)$")]
    status: &'static str,
}

input! {
    /// Settings of the overview report.
    struct OverviewReportInput {
        /// How often the report is sent: `off`, `daily` or `weekly`. Default: `off`.
        frequency: Word<Frequency>, nullable, example "weekly";
        /// Day on which a weekly report is sent. The report covers the seven days before. Default: `monday`.
        weekday: Word<Weekday>, nullable, example "monday";
        /// Hour at which the report is sent, 0 to 23, in the time zone of the account. Default: 7.
        hour: WholeU8<0, { OverviewSettings::HOUR_MAX }>, nullable, example 7;
        /// Recipients of the report. Default: the owners of the account.
        recipients: Objects<OverviewRecipientInput, 0, { OverviewSettings::RECIPIENTS_MAX }>, nullable;
        /// IDs of the groups that the report covers. Default: all groups.
        groups: List<GroupId, 0, { OverviewSettings::GROUPS_MAX }>, nullable, example [];
        /// Whether the report covers devices that are in no group. Default: true.
        ungrouped: bool, nullable, example true;
    }
}

input! {
    /// A recipient of the overview report.
    struct OverviewRecipientInput {
        /// E-mail address of the recipient.
        address: EmailAddress, required, example "ana@example.com";
        /// Name of the recipient, used in the report. Default: none.
        name: OptionalName, nullable, example "Ana";
        /// Time zone of the times in the report, as an IANA name. Default: the time zone of the account.
        time_zone as "timeZone": Zone, nullable, example "Europe/Madrid";
        /// Units of speeds and distances in the report. Default: `metric`.
        units: Word<Units>, nullable, example "metric";
        /// Language of the report, as a tag such as `en` or `pt-BR`. Default: `en`.
        language: LanguageTag, nullable, example "en";
    }
}

impl Part for OverviewRecipientInput {
    type Value = OverviewRecipient;

    fn make(self, fields: &mut Fields<'_>) -> Option<OverviewRecipient> {
        fields.ignore(&["status"]);
        let preferences = Preferences {
            name: self.name,
            time_zone: self.time_zone,
            units: self.units.unwrap_or_default(),
            language: self.language.unwrap_or_default(),
        };
        Some(OverviewRecipient { address: self.address?, preferences })
    }
}

impl From<StoredOverview> for OverviewReportView {
    fn from(stored: StoredOverview) -> Self {
        let OverviewSettings { frequency, weekday, hour, recipients, groups, ungrouped } = stored.settings;
        Self {
            frequency: frequency.name(),
            weekday: weekday.name(),
            hour,
            recipients: recipients.into_iter().map(OverviewRecipientView::from).collect(),
            groups: groups.iter().map(ToString::to_string).collect(),
            ungrouped,
            reported_through: stored.mark.map(|mark| mark.last.to_string()),
            last_modified: stored.last_modified.map(|at| at.to_string()),
        }
    }
}

impl From<OverviewRecipient> for OverviewRecipientView {
    fn from(recipient: OverviewRecipient) -> Self {
        Self {
            address: recipient.address.as_str().to_owned(),
            name: recipient.preferences.name,
            time_zone: recipient.preferences.time_zone.map(|zone| zone.to_string()),
            units: recipient.preferences.units.name(),
            language: recipient.preferences.language.as_str().to_owned(),
            status: recipient_status(EmailConsent::default(), false),
        }
    }
}

fn read_settings(body: &Value) -> ApiResult<OverviewSettings> {
    let ignored: [&[_]; 2] = [ENVELOPE, &["reportedThrough", "lastModified"]];
    read_body(body, &ignored, |input: OverviewReportInput, _| {
        let defaults = OverviewSettings::default();
        Some(OverviewSettings {
            frequency: input.frequency.unwrap_or(defaults.frequency),
            weekday: input.weekday.unwrap_or(defaults.weekday),
            hour: input.hour.unwrap_or(defaults.hour),
            recipients: input.recipients.unwrap_or_default(),
            groups: input.groups.unwrap_or_default().into_iter().collect(),
            ungrouped: input.ungrouped.unwrap_or(defaults.ungrouped),
        })
    })
}

async fn answer(app: &App, caller: &Caller, stored: StoredOverview) -> ApiReply<OverviewReportView> {
    let revision = stored.revision;
    let mut view = OverviewReportView::from(stored);
    let addresses = view.recipients.iter().map(|recipient| recipient.address.clone()).collect();
    let (consents, admitted) = app.store.list_email_consents(caller.scope(), addresses).await?;
    let to_confirm = app.config.notifications.confirmation().to_ask(&consents, admitted);
    for (index, (recipient, consent)) in view.recipients.iter_mut().zip(consents).enumerate() {
        recipient.status = recipient_status(consent, to_confirm.contains(&index));
    }
    Ok(caller.reply(view).revision(revision))
}

/// Retrieve the overview report settings
///
/// Returns when the overview report of the account is sent, to whom, and what it covers. Requires a caller who sees the
/// whole account. An example of the report can be rendered with `POST /api/templates/preview` and the kinds that begin
/// with `overview-`.
#[utoipa::path(get, path = "/api/account/overviewReport", tag = "notifications",
    responses((status = 200, description = "The overview report settings.", body = OverviewReportView)))]
pub async fn get_overview_report(Call(app, caller): Call, params: Params) -> ApiReply<OverviewReportView> {
    params.finish()?;
    caller.require_whole_account()?;
    answer(&app, &caller, app.store.get_overview(caller.scope()).await?).await
}

change_handlers! {
    path: "/api/account/overviewReport", tag: "notifications", body: OverviewReportInput, answer: OverviewReportView, "The updated overview report settings.";
    /// Replace the overview report settings
    ///
    /// Sets all settings of the overview report; members that are left out get their defaults. Requires the privilege
    /// `admin` and a caller who sees the whole account. The first report is sent at the next time that the settings
    /// name. Days that have passed when the settings are changed are not reported. Recipients who are not users of the
    /// account may be asked by e-mail to confirm that they want messages.
    replace_overview_report,
    /// Update the overview report settings
    ///
    /// Changes the members that the body contains and keeps the others. Requires the privilege `admin` and a caller who
    /// sees the whole account. Days that have passed when the settings are changed are not reported.
    update_overview_report => change()
}

async fn change(Call(app, caller): Call, change: Change) -> ApiReply<OverviewReportView> {
    caller.require_whole_account()?;
    let stored = retry_changed(&change.preconditions, || async {
        let present = app.store.get_overview(caller.scope()).await?;
        caller.require(Privilege::Admin)?;
        change.preconditions.check(Kind::Overview, present.revision)?;
        let seen = present.revision;
        let wanted = read_settings(&change.apply(&OverviewReportView::from(present)).await?)?;
        attribute_reference(app.store.replace_overview(&caller.actor(), seen, wanted).await, "groups")
    })
    .await?;
    let named: Vec<_> = stored
        .settings
        .recipients
        .iter()
        .map(|one| (Destination::Email(one.address.clone()), &one.preferences))
        .collect();
    ask_to_confirm(&app, &caller, named.iter().map(|(to, preferences)| (to, *preferences))).await?;
    answer(&app, &caller, stored).await
}
