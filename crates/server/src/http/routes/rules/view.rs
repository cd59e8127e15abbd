//! The JSON of rules.

use perigee_core::alert::Alert;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::rule::{Rule, RuleSettings, RuleTarget};
use perigee_core::text::{DESCRIPTION_MAX, NAME_MAX};
use perigee_core::zone::Zone;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::condition::{ConditionView, read_condition};
use crate::http::edit::{ENVELOPE, Mode};
use crate::http::error::{ApiResult, invalid_body};
use crate::http::json::Fields;
use crate::http::names::Named;
use crate::http::schedule::{ScheduleView, read_schedule};

/// What raises alerts, and of whom.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Rule)]
pub struct RuleView {
    /// The rule's id; never changes.
    #[schema(example = "rul_01jc2m8k4n5p6")]
    id: String,
    /// Its name, and what its alerts say unless `text` is given.
    #[schema(example = "Over 90 km/h", min_length = 1, max_length = 200)]
    name: String,
    /// A note about it.
    #[schema(example = "Trucks only", max_length = 2000)]
    description: Option<String>,
    /// Whether it judges at all.
    #[schema(example = true)]
    enabled: bool,
    /// Whether it judges every device of the account.
    #[schema(example = false)]
    all_devices: bool,
    /// The ids of the devices it judges, ascending.
    #[schema(example = json!(["dev_01jc2m8k4n5p7"]), max_items = 1000)]
    devices: Vec<String>,
    /// The ids of the groups whose devices it judges, ascending.
    #[schema(example = json!([]), max_items = 1000)]
    groups: Vec<String>,
    /// What must be true at once.
    conditions: Vec<ConditionView>,
    /// How long it must be true before an alert is raised, in seconds.
    #[schema(example = 60, maximum = 2_678_400)]
    for_seconds: u32,
    /// How long after an alert no other is raised, in seconds.
    #[schema(example = 600, maximum = 2_678_400)]
    cool_down_seconds: u32,
    /// When it holds; always when null.
    schedule: Option<ScheduleView>,
    /// The name of its alerts, if it is not that of the first condition.
    #[schema(example = json!(null), max_length = 100)]
    alert_name: Option<String>,
    /// The name its alerts have.
    #[schema(example = "SpeedLimit")]
    raises: String,
    /// What its alerts say, if it is not the name of the rule.
    #[schema(example = json!(null), max_length = 1000)]
    text: Option<String>,
    /// Whether its alerts cannot wait.
    #[schema(example = false)]
    critical: bool,
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
    /// Where to go on, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// What a client sets of a rule. Give `allDevices`, `devices` or `groups`.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct RuleInput {
    /// Its name, and what its alerts say unless `text` is given.
    #[schema(example = "Over 90 km/h", min_length = 1, max_length = 200)]
    name: String,
    /// A note about it.
    #[schema(example = "Trucks only", max_length = 2000)]
    description: Option<String>,
    /// Whether it judges at all; it does unless given.
    #[schema(required = false, example = true)]
    enabled: bool,
    /// Whether it judges every device of the account.
    #[schema(required = false, example = true)]
    all_devices: bool,
    /// The ids of devices it judges.
    #[schema(example = json!([]), max_items = 1000)]
    devices: Option<Vec<String>>,
    /// The ids of groups whose devices it judges.
    #[schema(example = json!([]), max_items = 1000)]
    groups: Option<Vec<String>>,
    /// What must be true at once.
    #[schema(min_items = 1, max_items = 8)]
    conditions: Vec<ConditionView>,
    /// How long it must be true before an alert is raised, in seconds.
    #[schema(required = false, example = 60, maximum = 2_678_400)]
    for_seconds: u32,
    /// How long after an alert no other is raised, in seconds.
    #[schema(required = false, example = 600, maximum = 2_678_400)]
    cool_down_seconds: u32,
    /// When it holds; always when null.
    schedule: Option<ScheduleView>,
    /// The name of its alerts, if it is not that of the first condition.
    #[schema(example = json!(null), max_length = 100)]
    alert_name: Option<String>,
    /// What its alerts say, if it is not the name of the rule.
    #[schema(example = json!(null), max_length = 1000)]
    text: Option<String>,
    /// Whether its alerts cannot wait.
    #[schema(required = false, example = false)]
    critical: bool,
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
            schedule: settings.schedule.map(ScheduleView::from),
            alert_name: settings.alert_name,
            text: settings.text,
            critical: settings.critical,
            creation: rule.creation.to_string(),
            last_modified: rule.last_modified.to_string(),
        }
    }
}

/// The members that name other things.
pub(super) const NAMES: &[(&str, Named)] = &[("devices", Named::Device), ("groups", Named::Group)];

/// Reads what a client sets of a rule; `zone` is the account's.
pub(super) fn read_rule(body: &Value, mode: Mode, zone: &Zone) -> ApiResult<RuleSettings> {
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    fields.ignore(ENVELOPE);
    fields.ignore(&["id", "raises", "creation", "lastModified"]);
    let name = fields.text("name").chars(1..=NAME_MAX).required();
    let description = fields.multiline_text("description").chars(0..=DESCRIPTION_MAX).nullable();
    let enabled = fields.boolean("enabled").or(true);
    let all = fields.boolean("allDevices").or(false);
    let devices = fields.array::<DeviceId>("devices", 0..=RuleTarget::NAMED_MAX).unique().nullable();
    let groups = fields.array::<GroupId>("groups", 0..=RuleTarget::NAMED_MAX).unique().nullable();
    let conditions =
        fields.objects("conditions", 1..=RuleSettings::CONDITIONS_MAX, read_condition).required();
    let for_s = fields.integer("forSeconds", 0..=RuleSettings::SECONDS_MAX).or(0);
    let cool_down_s = fields.integer("coolDownSeconds", 0..=RuleSettings::SECONDS_MAX).or(0);
    let mut schedule = fields.object("schedule", read_schedule).nullable();
    if let Some(schedule) = &mut schedule {
        schedule.time_zone.get_or_insert_with(|| zone.clone());
    }
    let alert_name = fields.text("alertName").chars(1..=Alert::NAME_MAX).nullable();
    let text = fields.multiline_text("text").chars(1..=Alert::TEXT_MAX).nullable();
    let critical = fields.boolean("critical").or(false);
    let (mut devices, mut groups) = (devices.unwrap_or_default(), groups.unwrap_or_default());
    devices.sort_unstable();
    groups.sort_unstable();
    if all && !(devices.is_empty() && groups.is_empty()) {
        fields.refuse("allDevices", "must be false when \"devices\" or \"groups\" name some");
    } else if !all && devices.is_empty() && groups.is_empty() && mode == Mode::Create {
        fields.refuse("devices", "must name a device, or \"groups\" a group, unless \"allDevices\" is true");
    }
    let settings = conditions.zip(name).map(|(conditions, name)| RuleSettings {
        name,
        description,
        enabled,
        target: RuleTarget { all, devices, groups },
        conditions,
        for_s,
        cool_down_s,
        schedule,
        alert_name,
        text,
        critical,
    });
    if let Some(settings) = settings.as_ref().filter(|settings| settings.watches_silence()) {
        if settings.conditions.len() > 1 {
            fields.refuse(
                "conditions",
                "must have \"offline\" or \"late\" alone: no location tells of silence",
            );
        }
        if settings.for_s > 0 || settings.cool_down_s > 0 {
            fields.refuse("forSeconds", "and \"coolDownSeconds\" must be 0 for \"offline\" and \"late\"");
        }
    }
    fields.finish(|| settings).map_err(invalid_body)
}
