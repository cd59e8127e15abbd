//! The JSON of rules.

use perigee_core::alert::Alert;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::rule::{Rule, RuleSettings, RuleTarget};
use perigee_core::text::{Description, Line, Lines, Name};
use perigee_core::zone::Zone;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::condition::{ConditionView, Conditions};
use crate::http::edit::{ENVELOPE, Mode};
use crate::http::error::ApiResult;
use crate::http::input::{Object, Set, Whole, input, read_body};
use crate::http::json::Fields;
use crate::http::names::Named;
use crate::http::routes::alert_routing::input::RuleThenInput;
use crate::http::routes::alert_routing::view::RuleThenView;
use crate::http::schedule::{ScheduleInput, ScheduleView};

/// What raises alerts, and of whom.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Rule)]
pub struct RuleView {
    /// The rule's id; never changes.
    #[schema(example = "rul_01jc2m8k4n5p6")]
    id: String,
    /// Its name, and what its alerts say unless `text` is given.
    #[schema(example = "Over 90 km/h")]
    name: String,
    /// A note about it.
    #[schema(example = "Trucks only")]
    description: Option<String>,
    /// Whether it judges at all.
    #[schema(example = true)]
    enabled: bool,
    /// Whether it judges every device of the account.
    #[schema(example = false)]
    all_devices: bool,
    /// The ids of the devices it judges, ascending.
    #[schema(example = json!(["dev_01jc2m8k4n5p7"]))]
    devices: Vec<String>,
    /// The ids of the groups whose devices it judges, ascending.
    #[schema(example = json!([]))]
    groups: Vec<String>,
    /// What must be true at once.
    conditions: Vec<ConditionView>,
    /// How long it must be true before an alert is raised, in seconds.
    #[schema(example = 60)]
    for_seconds: u32,
    /// How long after an alert no other is raised, in seconds.
    #[schema(example = 600)]
    cool_down_seconds: u32,
    /// A rule about places ignores locations whose `accuracy` is worse than this many metres.
    #[schema(example = 500)]
    max_accuracy_metres: u32,
    /// When it holds; always when null.
    schedule: Option<ScheduleView>,
    /// The name of its alerts, if it is not that of the first condition.
    #[schema(example = json!(null))]
    alert_name: Option<String>,
    /// The name its alerts have.
    #[schema(example = "SpeedLimit")]
    raises: String,
    /// What its alerts say, if it is not the name of the rule.
    #[schema(example = json!(null))]
    text: Option<String>,
    /// Whether its alerts cannot wait.
    #[schema(example = false)]
    critical: bool,
    /// Who is told of its alerts, beside those of the device, its groups or the account. Empty for users who do not see
    /// every device of the rule.
    then: RuleThenView,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When a client last changed it.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// A list of rules.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RuleList {
    /// The rules, by id.
    rules: Vec<RuleView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

input! {
    /// What a client sets of a rule. Give `allDevices`, `devices` or `groups`.
    pub(super) struct RuleInput {
        /// Its name, and what its alerts say unless `text` is given.
        name: Name, required, example "Over 90 km/h";
        /// A note about it.
        description: Description, nullable, example "Trucks only";
        /// Whether it judges at all; it does unless given.
        enabled: bool, or(true), example true;
        /// Whether it judges every device of the account.
        all as "allDevices": bool, or(false), example true;
        /// The ids of devices it judges.
        devices: Set<DeviceId, 0, { RuleTarget::NAMED_MAX }>, nullable, example [];
        /// The ids of groups whose devices it judges.
        groups: Set<GroupId, 0, { RuleTarget::NAMED_MAX }>, nullable, example [];
        /// What must be true at once.
        conditions: Conditions, required;
        /// How long it must be true before an alert is raised, in seconds.
        for_s as "forSeconds": Whole<0, { RuleSettings::SECONDS_MAX }>, or(0), example 60;
        /// How long after an alert no other is raised, in seconds.
        cool_down_s as "coolDownSeconds": Whole<0, { RuleSettings::SECONDS_MAX }>, or(0), example 600;
        /// A rule about places (geofences, routes, no movement) ignores locations whose `accuracy` is worse than this many
        /// metres, and estimates of networks without one; 500 unless given.
        max_accuracy_m as "maxAccuracyMetres": Whole<1, { RuleSettings::ACCURACY_MOST_M }>, or(RuleSettings::MAX_ACCURACY_M), example 500;
        /// When it holds; always when null.
        schedule: Object<ScheduleInput>, nullable;
        /// The name of its alerts, if it is not that of the first condition.
        alert_name as "alertName": Line<1, { Alert::NAME_MAX }>, nullable, example null;
        /// What its alerts say, if it is not the name of the rule.
        text: Lines<1, { Alert::TEXT_MAX }>, nullable, example null;
        /// Whether its alerts cannot wait.
        critical: bool, or(false), example false;
        /// Who is told of its alerts, beside those of the device, its groups or the account; nobody unless given.
        then: Object<RuleThenInput>, nullable;
    }
}

impl From<Rule> for RuleView {
    fn from(rule: Rule) -> Self {
        let settings = rule.settings;
        Self {
            id: rule.id.to_string(),
            raises: settings.alert_name(),
            name: settings.name,
            description: settings.description,
            enabled: settings.enabled,
            all_devices: settings.target.all,
            devices: settings.target.devices.iter().map(DeviceId::to_string).collect(),
            groups: settings.target.groups.iter().map(GroupId::to_string).collect(),
            conditions: settings.conditions.iter().map(ConditionView::from).collect(),
            for_seconds: settings.for_s,
            cool_down_seconds: settings.cool_down_s,
            max_accuracy_metres: settings.max_accuracy_m,
            schedule: settings.schedule.map(ScheduleView::from),
            alert_name: settings.alert_name,
            text: settings.text,
            critical: settings.critical,
            then: RuleThenView::from(settings.routing),
            creation: rule.creation.to_string(),
            last_modified: rule.last_modified.to_string(),
        }
    }
}

/// The members that name other things.
pub(super) const NAMES: &[(&str, Named)] = &[("devices", Named::Device), ("groups", Named::Group)];

/// Reads what a client sets of a rule; `zone` is the account's.
pub(super) fn read_rule(body: &Value, mode: Mode, zone: &Zone) -> ApiResult<RuleSettings> {
    let ignored: [&[_]; 2] = [ENVELOPE, &["id", "raises", "creation", "lastModified"]];
    read_body(body, &ignored, |input: RuleInput, fields| {
        let mut schedule = input.schedule;
        if let Some(schedule) = &mut schedule {
            schedule.time_zone.get_or_insert_with(|| zone.clone());
        }
        let all = input.all;
        let (mut devices, mut groups) = (input.devices.unwrap_or_default(), input.groups.unwrap_or_default());
        devices.sort_unstable();
        groups.sort_unstable();
        if all && !(devices.is_empty() && groups.is_empty()) {
            fields.refuse("allDevices", "must be false when \"devices\" or \"groups\" name some");
        } else if !all && devices.is_empty() && groups.is_empty() && mode == Mode::Create {
            fields.refuse(
                "devices",
                "must name a device, or \"groups\" a group, unless \"allDevices\" is true",
            );
        }
        let settings = RuleSettings {
            name: input.name?,
            description: input.description,
            enabled: input.enabled,
            target: RuleTarget { all, devices, groups },
            conditions: input.conditions?,
            for_s: input.for_s,
            cool_down_s: input.cool_down_s,
            max_accuracy_m: input.max_accuracy_m,
            schedule,
            alert_name: input.alert_name,
            text: input.text,
            critical: input.critical,
            routing: input.then.unwrap_or_default(),
        };
        if settings.watches_silence() {
            refuse_mixed_silence(&settings, fields);
        }
        Some(settings)
    })
}

/// Silence is judged alone and at once.
fn refuse_mixed_silence(settings: &RuleSettings, fields: &mut Fields<'_>) {
    if settings.conditions.len() > 1 {
        fields.refuse("conditions", "must have only one condition if that is \"offline\" or \"late\": these are not evaluated on locations");
    }
    if settings.for_s > 0 || settings.cool_down_s > 0 {
        fields.refuse("forSeconds", "and \"coolDownSeconds\" must be 0 for \"offline\" and \"late\"");
    }
}
