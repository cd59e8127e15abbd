//! The JSON of rules.

use perigee_core::alerts::alert::Alert;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::rules::rule::{Rule, RuleSettings, RuleTarget, TripCondition};
use perigee_core::text::{Description, Line, Lines, Name};
use perigee_core::zone::Zone;

use super::condition::{ConditionView, Conditions};
use crate::http::edit::Mode;
use crate::http::input::{Object, Set, Whole};
use crate::http::json::Fields;
use crate::http::prelude::*;
use crate::http::routes::notifications::alert_routing::input::RuleThenInput;
use crate::http::routes::notifications::alert_routing::view::RuleThenView;
use crate::http::schedule::{ScheduleInput, ScheduleView};

/// A rule: conditions that raise an alert when they are true of a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Rule)]
pub struct RuleView {
    /// Unique identifier of the rule, assigned by the server. It never changes.
    #[schema(example = "rul_01jc2m8k4n5p6")]
    id: String,
    /// Name of the rule. It is also the text of the alerts unless `text` is given.
    #[schema(example = "Over 90 km/h")]
    name: String,
    /// Note about the rule for people. Null for none.
    #[schema(example = "Trucks only")]
    description: Option<String>,
    /// Whether the rule is evaluated.
    #[schema(example = true)]
    enabled: bool,
    /// Whether the rule applies to every device of the account.
    #[schema(example = false)]
    all_devices: bool,
    /// IDs of the devices that the rule applies to. Sorted by ID.
    #[schema(example = json!(["dev_01jc2m8k4n5p7"]))]
    devices: Vec<String>,
    /// IDs of the groups whose devices the rule applies to. Sorted by ID.
    #[schema(example = json!([]))]
    groups: Vec<String>,
    /// Conditions that must all be true at the same time. `offline` and `late` must be the only condition.
    conditions: Vec<ConditionView>,
    /// Time that the conditions must be true before an alert is raised, in seconds.
    #[schema(example = 60)]
    for_seconds: u32,
    /// Time after an alert in which no other alert is raised for the device, in seconds.
    #[schema(example = 600)]
    cool_down_seconds: u32,
    /// Maximum `accuracy` of the locations that the rule evaluates, in metres. It applies to rules with a condition
    /// about positions (`geofence`, `route`, `noMovement`): such a rule ignores locations whose `accuracy` is greater,
    /// and locations without an `accuracy` whose `source` is `network` or `doppler`.
    #[schema(example = 500)]
    max_accuracy_metres: u32,
    /// Hours in which the rule applies. Null for always. For `tripOutsideHours`, they are the working hours, and the rule applies
    /// outside of them.
    schedule: Option<ScheduleView>,
    /// Name of the alerts. Null if it follows from the first condition; see `raises`.
    #[schema(example = json!(null))]
    alert_name: Option<String>,
    /// Name that the alerts have: `alertName`, or the name that follows from the first condition.
    #[schema(example = "SpeedLimit")]
    raises: String,
    /// Text of the alerts. Null if it is the name of the rule.
    #[schema(example = json!(null))]
    text: Option<String>,
    /// Whether the alerts are critical.
    #[schema(example = false)]
    critical: bool,
    /// Who is notified of the alerts, in addition to the routing of the device, its groups or the account. Empty if
    /// the caller does not see every device of the rule.
    then: RuleThenView,
    /// Time at which the rule was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the rule.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

list! {
    /// A list of rules.
    pub struct RuleList;
    /// The rules, sorted by ID.
    rules: RuleView,
}

input! {
    /// Settings of a rule. Give `allDevices`, `devices` or `groups`.
    pub(super) struct RuleInput {
        /// Name of the rule. It is also the text of the alerts unless `text` is given.
        name: Name, required, example "Over 90 km/h";
        /// Note about the rule for people. Default: none.
        description: Description, nullable, example "Trucks only";
        /// Whether the rule is evaluated. Default: true.
        enabled: bool, or(true), example true;
        /// Whether the rule applies to every device of the account. If true, `devices` and `groups` must be empty.
        /// Default: false.
        all as "allDevices": bool, or(false), example true;
        /// IDs of the devices that the rule applies to. Names and identifiers are accepted too. Default: none.
        devices: Set<DeviceId, 0, { RuleTarget::NAMED_MAX }>, nullable, example [];
        /// IDs of the groups whose devices the rule applies to. Names are accepted too. Default: none.
        groups: Set<GroupId, 0, { RuleTarget::NAMED_MAX }>, nullable, example [];
        /// Conditions that must all be true at the same time. `offline` and `late` must be the only condition,
        /// and all conditions must be about trips if one is.
        conditions: Conditions, required;
        /// Time that the conditions must be true before an alert is raised, in seconds. Default: 0. It must be 0 for
        /// `offline` and `late`.
        for_s as "forSeconds": Whole<0, { RuleSettings::SECONDS_MAX }>, or(0), example 60;
        /// Time after an alert in which no other alert is raised for the device, in seconds. Default: 0. It must be 0
        /// for `offline` and `late`.
        cool_down_s as "coolDownSeconds": Whole<0, { RuleSettings::SECONDS_MAX }>, or(0), example 600;
        /// Maximum `accuracy` of the locations that the rule evaluates, in metres. It applies to rules with a condition
        /// about positions (`geofence`, `route`, `noMovement`): such a rule ignores locations whose `accuracy` is
        /// greater, and locations without an `accuracy` whose `source` is `network` or `doppler`. Default: 500.
        max_accuracy_m as "maxAccuracyMetres": Whole<1, { RuleSettings::ACCURACY_MOST_M }>, or(RuleSettings::MAX_ACCURACY_M), example 500;
        /// Hours in which the rule applies. Default: always. For `tripOutsideHours`, they are the working hours, and the rule applies
        /// outside of them; it requires them.
        schedule: Object<ScheduleInput>, nullable;
        /// Name of the alerts. Default: the name that follows from the first condition.
        alert_name as "alertName": Line<1, { Alert::NAME_MAX }>, nullable, example null;
        /// Text of the alerts. Default: the name of the rule.
        text: Lines<1, { Alert::TEXT_MAX }>, nullable, example null;
        /// Whether the alerts are critical. Default: false.
        critical: bool, or(false), example false;
        /// Who is notified of the alerts, in addition to the routing of the device, its groups or the account.
        /// Default: nobody.
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

/// The members that name devices and groups.
pub(super) const NAMES: &[(&str, Named)] = &[("devices", Named::Device), ("groups", Named::Group)];

/// Reads the settings of a rule; `zone` is the account's.
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
            fields.refuse("allDevices", "must be false if \"devices\" or \"groups\" is not empty");
        } else if !all && devices.is_empty() && groups.is_empty() && mode == Mode::Create {
            fields.refuse(
                "devices",
                "must name a device, or \"groups\" must name a group, unless \"allDevices\" is true",
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
        } else if settings.watches_trips() {
            refuse_mixed_trips(&settings, fields);
        }
        Some(settings)
    })
}

/// Conditions about silence must be alone and without delays, because they are not evaluated on locations.
fn refuse_mixed_silence(settings: &RuleSettings, fields: &mut Fields<'_>) {
    if settings.conditions.len() > 1 {
        fields.refuse("conditions", "must have no other condition if one is \"offline\" or \"late\"");
    }
    if settings.for_s > 0 || settings.cool_down_s > 0 {
        fields.refuse("forSeconds", "must be 0 for \"offline\" and \"late\", like \"coolDownSeconds\"");
    }
}

/// Conditions about trips are evaluated on trips, not on locations.
fn refuse_mixed_trips(settings: &RuleSettings, fields: &mut Fields<'_>) {
    let trips = settings.trip_conditions();
    if trips.len() < settings.conditions.len() {
        fields.refuse("conditions", "must all be about trips if one is");
    }
    if trips.len() > 1 && settings.watches_driving() {
        fields.refuse("conditions", "must have no other condition if one is \"drivingTime\"");
    }
    if trips.len() > 1 && settings.no_trip_ms().is_some() {
        fields.refuse("conditions", "must have no other condition if one is \"noTrip\"");
    }
    if trips.contains(&&TripCondition::OutsideHours) && settings.schedule.is_none() {
        fields.refuse("schedule", "is required for \"tripOutsideHours\": it has the working hours");
    }
    if settings.for_s > 0 || settings.cool_down_s > 0 {
        fields.refuse("forSeconds", "must be 0 for conditions about trips, like \"coolDownSeconds\"");
    }
}
