//! Settings of timelines for the account, a group or a device.

use perigee_core::access::actor::Reach;
use perigee_core::id::GroupId;
use perigee_core::timeline::{
    Recomputing, SettingsHolder, SettingsInForce, SettingsState, StoredOverrides, TimelineOverrides,
};

use crate::http::input::Whole;
use crate::http::prelude::*;
use crate::http::routes::devices::find_device_id;

/// Settings of timelines, as set for a device, a group or the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TimelineSettings)]
pub struct TimelineSettingsView {
    /// Shortest stop, in seconds. Null if it is not set here.
    #[schema(example = 600, minimum = 60, maximum = 86_400)]
    least_stop_seconds: Option<u32>,
    /// Greatest distance from the centre of a stop, in metres. Null if it is not set here.
    #[schema(example = 200, minimum = 20, maximum = 5_000)]
    stop_radius: Option<u32>,
    /// Greatest distance at which a vessel at anchor may swing, in metres. Null if it is not set here.
    #[schema(example = 400, minimum = 20, maximum = 10_000)]
    anchored_radius: Option<u32>,
    /// Shortest trip, in metres. A shorter move belongs to the stop. Null if it is not set here.
    #[schema(example = 300, minimum = 0, maximum = 100_000)]
    least_trip: Option<u32>,
    /// Shortest silence that can be a gap, in seconds. Null if it is not set here.
    #[schema(example = 1_800, minimum = 300, maximum = 604_800)]
    least_gap_seconds: Option<u32>,
    /// Shortest gap, as a number of usual reporting intervals. Null if it is not set here.
    #[schema(example = 20, minimum = 2, maximum = 1_000)]
    gap_intervals: Option<u32>,
    /// Speed in km/h up to which the device stands, and a running engine is idling. Null if it is not set here.
    #[schema(example = 3, minimum = 0, maximum = 50)]
    idling_speed: Option<u32>,
    /// The settings that apply, with the level from which each comes.
    in_force: TimelineSettingsInForceView,
    /// Progress of deriving the timelines again after a change. Null if all are done.
    recomputing: Option<RecomputingView>,
    /// Time at which the settings were last changed. Null if they were never set.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

/// The settings of timelines that apply to a device, a group or the account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TimelineSettingsInForce)]
pub struct TimelineSettingsInForceView {
    /// Shortest stop, in seconds.
    least_stop_seconds: SettingInForceView,
    /// Greatest distance from the centre of a stop, in metres.
    stop_radius: SettingInForceView,
    /// Greatest distance at which a vessel at anchor may swing, in metres.
    anchored_radius: SettingInForceView,
    /// Shortest trip, in metres.
    least_trip: SettingInForceView,
    /// Shortest silence that can be a gap, in seconds.
    least_gap_seconds: SettingInForceView,
    /// Shortest gap, as a number of usual reporting intervals.
    gap_intervals: SettingInForceView,
    /// Speed in km/h up to which the device stands.
    idling_speed: SettingInForceView,
}

/// A setting that applies.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = TimelineSettingInForce)]
pub struct SettingInForceView {
    /// Value of the setting.
    #[schema(example = 600)]
    value: u32,
    /// Level from which the value comes: `device`, `group`, `account`, or `default` if it is set nowhere.
    #[schema(example = "group", pattern = "^(device|group|account|default)$")]
    level: &'static str,
    /// ID of the group from which the value comes. Absent for other levels, and if the caller may not see the group.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = "grp_01jc2m8k4n5p6")]
    group_id: Option<String>,
}

/// Progress of deriving timelines again.
#[derive(Serialize, ToSchema)]
#[schema(as = TimelineRecomputing)]
pub struct RecomputingView {
    /// Number of devices that the settings apply to.
    #[schema(example = 12, minimum = 0)]
    devices: u64,
    /// Number of these devices whose timelines are derived.
    #[schema(example = 9, minimum = 0)]
    done: u64,
    /// Part of the devices that are done, from 0 to 1.
    #[schema(example = 0.75, minimum = 0, maximum = 1)]
    share: f64,
}

input! {
    /// Settings of timelines.
    struct TimelineSettingsInput {
        /// Shortest stop, in seconds. Null to inherit it.
        least_stop as "leastStopSeconds": Whole<60, 86_400>, nullable, example 600;
        /// Greatest distance from the centre of a stop, in metres. Null to inherit it.
        stop_radius as "stopRadius": Whole<20, 5_000>, nullable, example 200;
        /// Greatest distance at which a vessel at anchor may swing, in metres. A value smaller than `stopRadius` has no
        /// effect. Null to inherit it.
        anchored_radius as "anchoredRadius": Whole<20, 10_000>, nullable, example null;
        /// Shortest trip, in metres. A shorter move belongs to the stop. Null to inherit it.
        least_trip as "leastTrip": Whole<0, 100_000>, nullable, example null;
        /// Shortest silence that can be a gap, in seconds. Null to inherit it.
        least_gap as "leastGapSeconds": Whole<300, 604_800>, nullable, example null;
        /// Shortest gap, as a number of usual reporting intervals of the device. Null to inherit it.
        gap_intervals as "gapIntervals": Whole<2, 1_000>, nullable, example null;
        /// Speed in km/h up to which the device stands, and a running engine is idling. Null to inherit it.
        idling_speed as "idlingSpeed": Whole<0, 50>, nullable, example null;
    }
}

/// Members that only the server sets.
const READ_ONLY: &[&str] = &["inForce", "recomputing", "lastModified"];

fn read_overrides(body: &Value) -> ApiResult<TimelineOverrides> {
    read_body(body, &[ENVELOPE, READ_ONLY], |input: TimelineSettingsInput, fields| {
        let overrides = TimelineOverrides {
            least_stop_s: input.least_stop,
            stop_radius_m: input.stop_radius,
            anchored_radius_m: input.anchored_radius,
            least_trip_m: input.least_trip,
            least_gap_s: input.least_gap,
            gap_intervals: input.gap_intervals,
            idling_speed_kmh: input.idling_speed,
        };
        if let Err(error) = overrides.validate() {
            fields.refuse(error.setting, &error.to_string());
        }
        Some(overrides)
    })
}

impl RecomputingView {
    fn of(progress: Recomputing) -> Option<Self> {
        let Recomputing { devices, pending } = progress;
        let done = devices.saturating_sub(pending);
        #[expect(clippy::cast_precision_loss, reason = "devices are far below 2^53")]
        let share = done as f64 / devices.max(1) as f64;
        (pending > 0).then_some(Self { devices, done, share })
    }
}

impl TimelineSettingsInForceView {
    fn of(in_force: &SettingsInForce, reach: Reach) -> Self {
        let values = in_force.settings.values();
        let mut all = values.into_iter().zip(in_force.levels);
        let mut next = || {
            let (value, level) = all.next().unwrap_or_default();
            let group_id = match (level, reach) {
                (Some(SettingsHolder::Group(group)), Reach::Account) => Some(group.to_string()),
                (Some(SettingsHolder::Group(group)), Reach::Group(own)) if own == group => {
                    Some(group.to_string())
                }
                _ => None,
            };
            let level = match level {
                Some(SettingsHolder::Device(_)) => "device",
                Some(SettingsHolder::Group(_)) => "group",
                Some(SettingsHolder::Account) => "account",
                None => "default",
            };
            SettingInForceView { value, level, group_id }
        };
        Self {
            least_stop_seconds: next(),
            stop_radius: next(),
            anchored_radius: next(),
            least_trip: next(),
            least_gap_seconds: next(),
            gap_intervals: next(),
            idling_speed: next(),
        }
    }
}

impl TimelineSettingsView {
    fn of(state: &SettingsState, reach: Reach) -> Self {
        let StoredOverrides { overrides, last_modified, .. } = state.stored;
        Self {
            least_stop_seconds: overrides.least_stop_s,
            stop_radius: overrides.stop_radius_m,
            anchored_radius: overrides.anchored_radius_m,
            least_trip: overrides.least_trip_m,
            least_gap_seconds: overrides.least_gap_s,
            gap_intervals: overrides.gap_intervals,
            idling_speed: overrides.idling_speed_kmh,
            in_force: TimelineSettingsInForceView::of(&state.in_force, reach),
            recomputing: RecomputingView::of(state.recomputing),
            last_modified: last_modified.map(|time| time.to_string()),
        }
    }
}

/// The privilege that a change of these settings needs.
const fn needs(holder: SettingsHolder) -> Privilege {
    match holder {
        SettingsHolder::Device(_) => Privilege::DevicesWrite,
        SettingsHolder::Group(_) => Privilege::GroupsWrite,
        SettingsHolder::Account => Privilege::Admin,
    }
}

async fn of_device(Call(app, caller): &Call, DevicePath(device): DevicePath) -> ApiResult<SettingsHolder> {
    Ok(SettingsHolder::Device(find_device_id(app, caller, device.as_ref()).await?))
}

fn of_group(IdPath(group): IdPath<GroupId>) -> ApiResult<SettingsHolder> {
    group.map(SettingsHolder::Group).ok_or_else(|| not_found(Kind::Group))
}

fn of_account(Call(_, caller): &Call) -> ApiResult<SettingsHolder> {
    caller.require_whole_account().map(|()| SettingsHolder::Account)
}

async fn read(
    Call(app, caller): Call,
    holder: SettingsHolder,
    params: Params,
) -> ApiReply<TimelineSettingsView> {
    params.finish()?;
    let state = app.store.get_timeline_settings(caller.scope(), holder).await?;
    Ok(caller.reply_at(state.stored.revision, TimelineSettingsView::of(&state, caller.scope().reach)))
}

async fn change(
    Call(app, caller): Call,
    holder: SettingsHolder,
    change: Change,
) -> ApiReply<TimelineSettingsView> {
    let reach = caller.scope().reach;
    retry_changed(&change.preconditions, || async {
        let present = app.store.get_timeline_settings(caller.scope(), holder).await?;
        caller.require(needs(holder))?;
        let seen = present.stored.revision;
        change.preconditions.check(Kind::TimelineSettings, seen)?;
        let view = TimelineSettingsView::of(&present, reach);
        let wanted = read_overrides(&change.apply(&view).await?)?;
        Ok(app.store.replace_timeline_settings(&caller.actor(), holder, seen, wanted).await)
    })
    .await?;
    let state = app.store.get_timeline_settings(caller.scope(), holder).await?;
    Ok(caller.reply_at(state.stored.revision, TimelineSettingsView::of(&state, reach)))
}

async fn change_of_device(call: Call, device: DevicePath, wanted: Change) -> ApiReply<TimelineSettingsView> {
    let holder = of_device(&call, device).await?;
    change(call, holder, wanted).await
}

async fn change_of_group(
    call: Call,
    group: IdPath<GroupId>,
    wanted: Change,
) -> ApiReply<TimelineSettingsView> {
    let holder = of_group(group)?;
    change(call, holder, wanted).await
}

async fn change_of_account(call: Call, wanted: Change) -> ApiReply<TimelineSettingsView> {
    let holder = of_account(&call)?;
    change(call, holder, wanted).await
}

/// Retrieve the timeline settings of a device
///
/// Returns what counts as a stop, a trip and a gap of the device: the values that are set on it, and under `inForce` those
/// that apply. The value of the device comes first, then that of its groups (of several, the group that was created
/// first), then that of the account, then the default. The device must be visible to the caller.
#[utoipa::path(get, path = "/api/devices/{deviceId}/timelineSettings", tag = "trips",
    responses((status = 200, description = "The timeline settings.", body = TimelineSettingsView)))]
pub async fn get_device_timeline_settings(
    call: Call,
    device: DevicePath,
    params: Params,
) -> ApiReply<TimelineSettingsView> {
    let holder = of_device(&call, device).await?;
    read(call, holder, params).await
}

change_handlers! {
    path: "/api/devices/{deviceId}/timelineSettings", tag: "trips", body: TimelineSettingsInput, answer: TimelineSettingsView, "The updated timeline settings.";
    /// Replace the timeline settings of a device
    ///
    /// Sets what counts as a stop, a trip and a gap of the device. The whole history of the device is derived again in the
    /// background, without events; `recomputing` shows the progress. The caller needs `devices.write`.
    replace_device_timeline_settings,
    /// Update the timeline settings of a device
    ///
    /// Changes the members that the body contains and keeps the others. The whole history of the device is derived again
    /// in the background, without events. The caller needs `devices.write`.
    update_device_timeline_settings => change_of_device(device: DevicePath)
}

/// Retrieve the timeline settings of a group
///
/// Returns what counts as a stop, a trip and a gap of the devices in the group. A value that is set on a device takes
/// precedence. The group must be visible to the caller.
#[utoipa::path(get, path = "/api/groups/{groupId}/timelineSettings", tag = "trips",
    responses((status = 200, description = "The timeline settings.", body = TimelineSettingsView)))]
pub async fn get_group_timeline_settings(
    call: Call,
    group: IdPath<GroupId>,
    params: Params,
) -> ApiReply<TimelineSettingsView> {
    let holder = of_group(group)?;
    read(call, holder, params).await
}

change_handlers! {
    path: "/api/groups/{groupId}/timelineSettings", tag: "trips", body: TimelineSettingsInput, answer: TimelineSettingsView, "The updated timeline settings.";
    /// Replace the timeline settings of a group
    ///
    /// Sets what counts as a stop, a trip and a gap of the devices in the group. Their whole histories are derived again in
    /// the background, without events; `recomputing` shows the progress. The caller needs `groups.write`.
    replace_group_timeline_settings,
    /// Update the timeline settings of a group
    ///
    /// Changes the members that the body contains and keeps the others. The whole histories of the devices are derived
    /// again in the background, without events. The caller needs `groups.write`.
    update_group_timeline_settings => change_of_group(group: IdPath<GroupId>)
}

/// Retrieve the timeline settings of the account
///
/// Returns what counts as a stop, a trip and a gap of the devices of the account. Values that are set on groups and
/// devices take precedence. The caller must see the whole account.
#[utoipa::path(get, path = "/api/account/timelineSettings", tag = "trips",
    responses((status = 200, description = "The timeline settings.", body = TimelineSettingsView)))]
pub async fn get_account_timeline_settings(call: Call, params: Params) -> ApiReply<TimelineSettingsView> {
    let holder = of_account(&call)?;
    read(call, holder, params).await
}

change_handlers! {
    path: "/api/account/timelineSettings", tag: "trips", body: TimelineSettingsInput, answer: TimelineSettingsView, "The updated timeline settings.";
    /// Replace the timeline settings of the account
    ///
    /// Sets what counts as a stop, a trip and a gap of the devices of the account. Their whole histories are derived again
    /// in the background, without events; `recomputing` shows the progress. The caller needs `admin` and must see the
    /// whole account.
    replace_account_timeline_settings,
    /// Update the timeline settings of the account
    ///
    /// Changes the members that the body contains and keeps the others. The whole histories of the devices are derived
    /// again in the background, without events. The caller needs `admin` and must see the whole account.
    update_account_timeline_settings => change_of_account()
}
