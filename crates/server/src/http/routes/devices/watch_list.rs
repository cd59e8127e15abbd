//! A user's own watch list: the alerts that the user is notified of by e-mail.

use perigee_core::alerts::severity::Severity;
use perigee_core::devices::watch_list::{StoredWatchList, WatchList};
use perigee_core::id::{DeviceId, GroupId};

use crate::http::input::{Object, Set, Word};
use crate::http::prelude::*;
use crate::http::routes::alerts::view::SeverityName;
use crate::http::schedule::{ScheduleInput, ScheduleView};

/// Watch list of a user: the alerts that the user is notified of by e-mail, in addition to alert routings.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WatchList)]
pub struct WatchListView {
    /// Whether the watch list is in use. If false, it notifies the user of nothing.
    #[schema(example = true)]
    enabled: bool,
    /// Whether the watch list covers every device that is visible to the user.
    #[schema(example = false)]
    all_devices: bool,
    /// IDs of the devices that the watch list covers, sorted.
    #[schema(example = json!(["dev_01jc2m8k4n5p7"]))]
    devices: Vec<String>,
    /// IDs of the groups whose devices the watch list covers, sorted.
    #[schema(example = json!([]))]
    groups: Vec<String>,
    /// Only alerts of this severity or higher are sent.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// Hours in which the user is notified. Null for always.
    schedule: Option<ScheduleView>,
    /// Time at which the watch list was last changed. Null if it was never set.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

input! {
    /// Settings of a watch list.
    struct WatchListInput {
        /// Whether the watch list is in use. Default: true.
        enabled: bool, or(true), example true;
        /// Whether the watch list covers every device that is visible to the user. Default: false.
        all_devices as "allDevices": bool, or(false), example false;
        /// Devices that the watch list covers, by ID, identifier or a name that only one device has. Default: none.
        devices: Set<DeviceId, 0, { WatchList::NAMED_MAX }>, nullable, example [];
        /// Groups whose devices the watch list covers, by ID or a name that only one group has. Default: none.
        groups: Set<GroupId, 0, { WatchList::NAMED_MAX }>, nullable, example [];
        /// Only alerts of this severity or higher are sent. Default: `warning`.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// Hours in which the user is notified. A schedule without a time zone uses that of the user's console. Default:
        /// always.
        schedule: Object<ScheduleInput>, nullable;
    }
}

const NAMES: &[(&str, Named)] = &[("devices", Named::Device), ("groups", Named::Group)];

impl From<StoredWatchList> for WatchListView {
    fn from(stored: StoredWatchList) -> Self {
        let list = stored.list;
        Self {
            enabled: list.enabled,
            all_devices: list.all_devices,
            devices: list.devices.iter().map(DeviceId::to_string).collect(),
            groups: list.groups.iter().map(GroupId::to_string).collect(),
            minimum_severity: list.minimum_severity.name(),
            schedule: list.schedule.map(ScheduleView::from),
            last_modified: stored.last_modified.map(|at| at.to_string()),
        }
    }
}

fn read_list(body: &Value) -> ApiResult<WatchList> {
    read_body(body, &[ENVELOPE, &["lastModified"]], |input: WatchListInput, _| {
        let (mut devices, mut groups) = (input.devices.unwrap_or_default(), input.groups.unwrap_or_default());
        devices.sort_unstable();
        groups.sort_unstable();
        Some(WatchList {
            enabled: input.enabled,
            all_devices: input.all_devices,
            devices,
            groups,
            minimum_severity: input.minimum_severity.unwrap_or(Severity::Warning),
            schedule: input.schedule,
        })
    })
}

/// Attributes an unknown device or group to the member that named it.
fn attribute_unknown<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    let is_group = matches!(&outcome, Err(StoreError::UnknownReference { kind: Kind::Group, .. }));
    attribute_reference(outcome, if is_group { "groups" } else { "devices" })
}

/// Retrieve your watch list
///
/// Returns the watch list of the caller: the alerts that the caller is notified of by e-mail, in the language, units
/// and time zone of the caller's console.
#[utoipa::path(get, path = "/api/session/watchList", tag = "notifications",
    responses((status = 200, description = "The watch list.", body = WatchListView)))]
pub async fn get_watch_list(Call(app, caller): Call, params: Params) -> ApiResult<Response> {
    params.finish()?;
    let stored = app.store.get_watch_list(caller.scope(), caller.user_id()).await?;
    Ok(caller.reply_at(stored.revision, WatchListView::from(stored)).into_response())
}

change_handlers! {
    path: "/api/session/watchList", tag: "notifications", body: WatchListInput, answer: WatchListView, "The updated watch list.";
    /// Replace your watch list
    ///
    /// Sets all settings of the caller's watch list; members that are left out get their defaults. No privilege is
    /// needed. Only devices that are visible to the caller count. The change applies to later alerts.
    replace_watch_list,
    /// Update your watch list
    ///
    /// Changes the members that the body contains and keeps the others. No privilege is needed. The change applies to
    /// later alerts.
    update_watch_list => change_list()
}

async fn change_list(Call(app, caller): Call, change: Change) -> ApiReply<WatchListView> {
    let stored = retry_changed(&change.preconditions, || async {
        let present = app.store.get_watch_list(caller.scope(), caller.user_id()).await?;
        change.preconditions.check(Kind::WatchList, present.revision)?;
        let seen = present.revision;
        let mut wanted = change.apply(&WatchListView::from(present)).await?;
        resolve_names(&app, &caller, &mut wanted, NAMES).await?;
        let list = read_list(&wanted)?;
        attribute_unknown(app.store.replace_watch_list(&caller.actor(), caller.user_id(), seen, list).await)
    })
    .await?;
    Ok(caller.reply_at(stored.revision, WatchListView::from(stored)))
}
