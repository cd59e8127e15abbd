//! A user's own watch list: which alerts they are told of by e-mail.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::severity::Severity;
use perigee_core::watch_list::{StoredWatchList, WatchList};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::alerts::view::SeverityName;
use crate::app::App;
use crate::http::edit::{ENVELOPE, place_reference, retry_changed};
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, Change, Params};
use crate::http::input::{Object, Set, Word, input, read_body};
use crate::http::names::{Named, resolve_names};
use crate::http::reply::Reply;
use crate::http::schedule::{ScheduleInput, ScheduleView};

/// Which alerts somebody is told of by e-mail, beside the routings that others set.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WatchList)]
pub struct WatchListView {
    /// Whether they are told at all.
    #[schema(example = true)]
    enabled: bool,
    /// Whether they are told of every device they can see.
    #[schema(example = false)]
    all_devices: bool,
    /// The ids of devices they are told of, ascending.
    #[schema(example = json!(["dev_01jc2m8k4n5p7"]))]
    devices: Vec<String>,
    /// The ids of groups of whose devices they are told, ascending.
    #[schema(example = json!([]))]
    groups: Vec<String>,
    /// They are told of alerts that matter at least so much.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// When they are told; null for always.
    schedule: Option<ScheduleView>,
    /// When it was last changed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

input! {
    /// Which alerts somebody wants to be told of by e-mail.
    struct WatchListInput {
        /// Whether they are told at all; they are unless given.
        enabled: bool, or(true), example true;
        /// Whether they are told of every device they can see.
        all_devices as "allDevices": bool, or(false), example false;
        /// Devices they are told of, by id, identifier or a name that only one has.
        devices: Set<DeviceId, 0, { WatchList::NAMED_MAX }>, nullable, example [];
        /// Groups of whose devices they are told, by id or a name that only one has.
        groups: Set<GroupId, 0, { WatchList::NAMED_MAX }>, nullable, example [];
        /// They are told of alerts that matter at least so much; `warning` unless given.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// When they are told, by the clock of their console unless the schedule has its own; always unless given.
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

/// Names the member of the body that has an unknown device or group.
fn place_unknown<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    let is_group = matches!(&outcome, Err(StoreError::UnknownReference { kind: Kind::Group, .. }));
    place_reference(outcome, if is_group { "groups" } else { "devices" })
}

/// Read your watch list.
///
/// Which alerts you are told of by e-mail, in the language and time zone of your console.
#[utoipa::path(get, path = "/api/session/watchList", tag = "notifications",
    responses((status = 200, description = "The watch list.", body = WatchListView)))]
pub async fn get_watch_list(State(app): State<App>, caller: Caller, params: Params) -> ApiResult<Response> {
    params.finish()?;
    let stored = app.store.find_watch_list(caller.scope(), caller.user_id()).await?;
    let revision = stored.revision;
    Ok(caller.reply(WatchListView::from(stored)).revision(revision).into_response())
}

/// Set your watch list.
#[utoipa::path(put, path = "/api/session/watchList", tag = "notifications", request_body = WatchListInput,
    responses((status = 200, description = "The watch list as it is now.", body = WatchListView)))]
pub async fn replace_watch_list(
    state: State<App>,
    caller: Caller,
    change: Change,
) -> ApiResult<Reply<WatchListView>> {
    change_list(state, caller, change).await
}

/// Change part of your watch list.
#[utoipa::path(patch, path = "/api/session/watchList", tag = "notifications", request_body = WatchListInput,
    responses((status = 200, description = "The watch list as it is now.", body = WatchListView)))]
pub async fn update_watch_list(
    state: State<App>,
    caller: Caller,
    change: Change,
) -> ApiResult<Reply<WatchListView>> {
    change_list(state, caller, change).await
}

async fn change_list(
    State(app): State<App>,
    caller: Caller,
    change: Change,
) -> ApiResult<Reply<WatchListView>> {
    let stored = retry_changed(&change.preconditions, || async {
        let present = app.store.find_watch_list(caller.scope(), caller.user_id()).await?;
        change.preconditions.check(Kind::WatchList, present.revision)?;
        let seen = present.revision;
        let mut wanted = change.apply(&WatchListView::from(present)).await?;
        resolve_names(&app, &caller, &mut wanted, NAMES).await?;
        let list = read_list(&wanted)?;
        place_unknown(app.store.replace_watch_list(&caller.actor(), caller.user_id(), seen, list).await)
    })
    .await?;
    let revision = stored.revision;
    Ok(caller.reply(WatchListView::from(stored)).revision(revision))
}
