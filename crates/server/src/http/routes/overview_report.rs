//! The overview report that is mailed for each day or week.

use axum::extract::State;
use perigee_core::error::Kind;
use perigee_core::id::GroupId;
use perigee_core::notification::EmailConsent;
use perigee_core::overview::{Frequency, OverviewRecipient, OverviewSettings, StoredOverview};
use perigee_core::privilege::Privilege;
use perigee_core::routing::{Destination, Preferences, Units};
use perigee_core::schedule::Weekday;
use perigee_core::text::OptionalName;
use perigee_core::zone::Zone;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::alert_routing::ask_to_confirm;
use super::alert_routing::input::LanguageTag;
use super::alert_routing::view::{UnitsName, recipient_status};
use crate::app::App;
use crate::http::edit::{ENVELOPE, place_reference, retry_changed};
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, Change, Params};
use crate::http::input::{EmailAddress, List, Objects, Part, WholeU8, Word, input, read_body, words};
use crate::http::json::Fields;
use crate::http::reply::Reply;
use crate::http::schedule::WeekdayName;

/// What an account's report tells, when, and to whom.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OverviewReport)]
pub struct OverviewReportView {
    /// How often it is sent.
    #[schema(value_type = FrequencyName, example = "weekly")]
    frequency: &'static str,
    /// The day a weekly report is sent on; it tells of the seven days before.
    #[schema(value_type = WeekdayName, example = "monday")]
    weekday: &'static str,
    /// The hour of the account's day from which on it is sent.
    #[schema(example = 7)]
    hour: u8,
    /// Who reads it; the owners when empty.
    recipients: Vec<OverviewRecipientView>,
    /// The groups it tells of; all when empty.
    #[schema(example = json!([]))]
    groups: Vec<String>,
    /// Whether it tells of devices in no group.
    #[schema(example = true)]
    ungrouped: bool,
    /// The last day that was told of, or was over when reports were switched on.
    #[schema(example = "2026-05-03", format = Date)]
    reported_through: Option<String>,
    /// When it was last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

words! {
    "OverviewFrequency", "How often a report is sent." => Frequency;
}

/// How often a report is sent, as the document names it.
pub type FrequencyName = Word<Frequency>;

/// Somebody who reads a report.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OverviewRecipient)]
pub struct OverviewRecipientView {
    /// An e-mail address.
    #[schema(example = "ana@example.com")]
    address: String,
    /// What to call them.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// The zone of the times they read, by IANA id; null for the account's.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
    /// The units of speeds and distances in their report.
    #[schema(value_type = UnitsName, example = "metric")]
    units: &'static str,
    /// The language of their report.
    #[schema(example = "en")]
    language: String,
    /// Whether e-mail reaches them: `active`, `unsubscribed` (they ended it by the link in a mail) or `unconfirmed`
    /// (they were asked and did not confirm yet). Only they can change it.
    #[schema(example = "active", pattern = "^(active|unsubscribed|unconfirmed)$")]
    status: &'static str,
}

input! {
    /// What a client sets of an account's report.
    struct OverviewReportInput {
        /// How often it is sent; never unless given.
        frequency: Word<Frequency>, nullable, example "weekly";
        /// The day a weekly report is sent on; Monday unless given.
        weekday: Word<Weekday>, nullable, example "monday";
        /// The hour of the account's day from which on it is sent; 7 unless given.
        hour: WholeU8<0, { OverviewSettings::HOUR_MAX }>, nullable, example 7;
        /// Who reads it; the owners unless given.
        recipients: Objects<OverviewRecipientInput, 0, { OverviewSettings::RECIPIENTS_MAX }>, nullable;
        /// The groups it tells of; all unless given.
        groups: List<GroupId, 0, { OverviewSettings::GROUPS_MAX }>, nullable, example [];
        /// Whether it tells of devices in no group; it does unless given.
        ungrouped: bool, nullable, example true;
    }
}

input! {
    /// Somebody who reads a report.
    struct OverviewRecipientInput {
        /// The e-mail address that the report is sent to.
        address: EmailAddress, required, example "ana@example.com";
        /// What to call them.
        name: OptionalName, nullable, example "Ana";
        /// The zone of the times they read, by IANA id; the account's unless given.
        time_zone as "timeZone": Zone, nullable, example "Europe/Madrid";
        /// Their units; metric unless given.
        units: Word<Units>, nullable, example "metric";
        /// Their language, as a tag such as `en` or `pt-BR`; English unless given.
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
        let usual = OverviewSettings::default();
        Some(OverviewSettings {
            frequency: input.frequency.unwrap_or(usual.frequency),
            weekday: input.weekday.unwrap_or(usual.weekday),
            hour: input.hour.unwrap_or(usual.hour),
            recipients: input.recipients.unwrap_or_default(),
            groups: input.groups.unwrap_or_default().into_iter().collect(),
            ungrouped: input.ungrouped.unwrap_or(usual.ungrouped),
        })
    })
}

async fn answer(app: &App, caller: &Caller, stored: StoredOverview) -> ApiResult<Reply<OverviewReportView>> {
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

/// Read what the account's overview report tells.
///
/// What it looks like can be seen with `POST /api/templates/preview` and the kinds that begin with `overview-`.
#[utoipa::path(get, path = "/api/account/overviewReport", tag = "notifications",
    responses((status = 200, description = "What is set.", body = OverviewReportView)))]
pub async fn get_overview_report(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Reply<OverviewReportView>> {
    params.finish()?;
    caller.require_whole_account()?;
    answer(&app, &caller, app.store.find_overview(caller.scope()).await?).await
}

/// Set what the account's overview report tells.
///
/// The first report comes when its hour has come next: days that are over when it is switched on are not told.
#[utoipa::path(put, path = "/api/account/overviewReport", tag = "notifications", request_body = OverviewReportInput,
    responses((status = 200, description = "What is set now.", body = OverviewReportView)))]
pub async fn replace_overview_report(
    State(app): State<App>,
    caller: Caller,
    wanted: Change,
) -> ApiResult<Reply<OverviewReportView>> {
    change(&app, &caller, wanted).await
}

/// Change part of what the account's overview report tells.
#[utoipa::path(patch, path = "/api/account/overviewReport", tag = "notifications", request_body = OverviewReportInput,
    responses((status = 200, description = "What is set now.", body = OverviewReportView)))]
pub async fn update_overview_report(
    State(app): State<App>,
    caller: Caller,
    wanted: Change,
) -> ApiResult<Reply<OverviewReportView>> {
    change(&app, &caller, wanted).await
}

async fn change(app: &App, caller: &Caller, change: Change) -> ApiResult<Reply<OverviewReportView>> {
    caller.require_whole_account()?;
    let stored = retry_changed(&change.preconditions, || async {
        let present = app.store.find_overview(caller.scope()).await?;
        caller.require(Privilege::Admin)?;
        change.preconditions.check(Kind::Overview, present.revision)?;
        let seen = present.revision;
        let wanted = read_settings(&change.apply(&OverviewReportView::from(present)).await?)?;
        place_reference(app.store.replace_overview(&caller.actor(), seen, wanted).await, "groups")
    })
    .await?;
    let named: Vec<_> = stored
        .settings
        .recipients
        .iter()
        .map(|one| (Destination::Email(one.address.clone()), &one.preferences))
        .collect();
    ask_to_confirm(app, caller, named.iter().map(|(to, preferences)| (to, *preferences))).await?;
    answer(app, caller, stored).await
}
