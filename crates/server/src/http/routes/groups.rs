//! Groups: named sets of devices.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use perigee_core::error::{Kind, StoreError};
use perigee_core::group::{Group, GroupFilter, GroupSettings};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::privilege::Privilege;
use perigee_core::text::{Description, Name};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::budget::Payer;
use crate::http::edit::{ENVELOPE, place_reference, retry_changed};
use crate::http::error::{ApiResult, internal, not_found};
use crate::http::extract::{Caller, Change, IdPath, JsonBody, Once, Params, Preconditions, entity_tag};
use crate::http::input::{Set, input, read_body};
use crate::http::list::answer_list;
use crate::http::names::{Named, resolve_names};
use crate::http::reply::{Done, Reply, not_modified};

/// A named set of devices.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Group)]
pub struct GroupView {
    /// The group's id; never changes.
    #[schema(example = "grp_01jc2m8k4n5p6")]
    id: String,
    /// The group's name, shown in lists.
    #[schema(example = "Trawlers")]
    name: String,
    /// A note about it.
    #[schema(example = "Out of Vigo")]
    description: Option<String>,
    /// The ids of the devices in it, ascending.
    #[schema(example = json!(["dev_01jc2m8k4n5p7"]))]
    devices: Vec<String>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When a client last changed it.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// A list of groups.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GroupList {
    /// The groups, by id.
    #[schema(value_type = Vec<GroupView>)]
    groups: Vec<GroupView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

input! {
    /// What a client sets of a group.
    struct GroupInput {
        /// The group's name, shown in lists.
        name: Name, required, example "Trawlers";
        /// A note about it.
        description: Description, nullable, example "Out of Vigo";
        /// The devices in it, by id, identifier or a name that only one has.
        devices: Set<DeviceId, 0, { GroupSettings::DEVICES_MAX }>, nullable, example [];
    }
}

impl From<Group> for GroupView {
    fn from(group: Group) -> Self {
        Self {
            id: group.id.to_string(),
            name: group.settings.name,
            description: group.settings.description,
            devices: group.settings.devices.iter().map(DeviceId::to_string).collect(),
            creation: group.creation.to_string(),
            last_modified: group.last_modified.to_string(),
        }
    }
}

/// The members that name other things.
const NAMES: &[(&str, Named)] = &[("devices", Named::Device)];

fn read_group(body: &Value) -> ApiResult<GroupSettings> {
    read_body(body, &[ENVELOPE, &["id", "creation", "lastModified"]], |input: GroupInput, _| {
        let mut devices = input.devices.unwrap_or_default();
        devices.sort_unstable();
        Some(GroupSettings { name: input.name?, description: input.description, devices })
    })
}

/// Makes a change of a group by so many devices. A large one waits for the account's turn, and once begun goes on to its
/// end even if the client disconnects.
async fn in_turn<T: Send + 'static>(
    app: &App,
    caller: &Caller,
    devices: usize,
    change: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> ApiResult<Result<T, StoreError>> {
    if devices <= GroupSettings::SMALL_CHANGE_MAX {
        return Ok(change.await);
    }
    let slot = app.budget.large_groups.acquire(Payer::account(caller.account().id), 0).await?;
    let task = async move {
        let changed = change.await;
        drop(slot);
        changed
    };
    app.background.spawn_on(task, &app.runtime).await.map_err(internal)
}

async fn find(app: &App, caller: &Caller, id: Option<GroupId>) -> ApiResult<Group> {
    let missing = || not_found(Kind::Group);
    app.store.find_group(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List groups.
///
/// Complete unless `limit` or `cursor` is given.
#[utoipa::path(get, path = "/api/groups", tag = "groups", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items; the list is then paged.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Part of the name or description, in any case."),
), responses((status = 200, description = "The groups in sight.", body = GroupList)))]
pub async fn list_groups(State(app): State<App>, caller: Caller, mut params: Params) -> ApiResult<Response> {
    let filter = GroupFilter { text: params.text("q") };
    let part = params.finish_list("groups")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let (store, filter) = (store.clone(), filter.clone());
        async move { store.list_groups(scope, &filter, page).await }
    };
    answer_list(&app, &caller, "groups", part, fetch, GroupView::from).await
}

/// Create a group.
#[utoipa::path(post, path = "/api/groups", tag = "groups", request_body = GroupInput,
    responses((status = 201, description = "The group that was made.", body = GroupView)))]
pub async fn create_group(
    State(app): State<App>,
    caller: Caller,
    once: Once,
    mut body: JsonBody,
) -> ApiResult<Reply<GroupView>> {
    caller.require(Privilege::GroupsWrite)?;
    caller.require_whole_account()?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let settings = read_group(&body.value)?;
    let held = once.hold(&app, &caller, &body)?;
    let (store, actor, key) = (app.store.clone(), caller.actor(), held.key.clone());
    let devices = settings.devices.len();
    let create = async move { store.create_group(&actor, settings, key).await };
    let created = in_turn(&app, &caller, devices, create).await?;
    let group = place_reference(created, "devices")??.into_inner();
    let address = app.base_url.join(&format!("/api/groups/{}", group.id));
    let revision = group.revision;
    Ok(caller.reply(GroupView::from(group)).created(address).revision(revision))
}

/// Read a group.
#[utoipa::path(get, path = "/api/groups/{groupId}", tag = "groups",
    params(("groupId" = String, Path, description = "The group's id.", example = "grp_01jc2m8k4n5p6")),
    responses((status = 200, description = "The group.", body = GroupView)))]
pub async fn get_group(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GroupId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let group = find(&app, &caller, id).await?;
    let tag = entity_tag(group.revision);
    if let Some(tag) = preconditions.known(&tag) {
        return Ok(not_modified(&tag));
    }
    let revision = group.revision;
    Ok(caller.reply(GroupView::from(group)).revision(revision).into_response())
}

/// Replace a group.
#[utoipa::path(put, path = "/api/groups/{groupId}", tag = "groups", request_body = GroupInput,
    params(("groupId" = String, Path, description = "The group's id.", example = "grp_01jc2m8k4n5p6")),
    responses((status = 200, description = "The group as it is now.", body = GroupView)))]
pub async fn replace_group(
    state: State<App>,
    caller: Caller,
    id: IdPath<GroupId>,
    change: Change,
) -> ApiResult<Reply<GroupView>> {
    change_group(state, caller, id, change).await
}

/// Change part of a group.
#[utoipa::path(patch, path = "/api/groups/{groupId}", tag = "groups", request_body = GroupInput,
    params(("groupId" = String, Path, description = "The group's id.", example = "grp_01jc2m8k4n5p6")),
    responses((status = 200, description = "The group as it is now.", body = GroupView)))]
pub async fn update_group(
    state: State<App>,
    caller: Caller,
    id: IdPath<GroupId>,
    change: Change,
) -> ApiResult<Reply<GroupView>> {
    change_group(state, caller, id, change).await
}

async fn change_group(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GroupId>,
    change: Change,
) -> ApiResult<Reply<GroupView>> {
    let group = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::GroupsWrite)?;
        change.preconditions.check(Kind::Group, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let before = present.settings.clone();
        let mut wanted = change.apply(&GroupView::from(present)).await?;
        resolve_names(&app, &caller, &mut wanted, NAMES).await?;
        let settings = read_group(&wanted)?;
        let (store, actor, devices) = (app.store.clone(), caller.actor(), settings.devices_changed(&before));
        let replace = async move { store.replace_group(&actor, id, seen, settings).await };
        place_reference(in_turn(&app, &caller, devices, replace).await?, "devices")
    })
    .await?;
    let revision = group.revision;
    Ok(caller.reply(GroupView::from(group)).revision(revision))
}

/// Delete a group.
///
/// Its devices stay.
#[utoipa::path(delete, path = "/api/groups/{groupId}", tag = "groups",
    params(("groupId" = String, Path, description = "The group's id.", example = "grp_01jc2m8k4n5p6")),
    responses((status = 200, description = "The group is gone.", body = Done)))]
pub async fn delete_group(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GroupId>,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::GroupsWrite)?;
        preconditions.check(Kind::Group, present.revision)?;
        let (store, actor, devices) = (app.store.clone(), caller.actor(), present.settings.devices.len());
        let delete = async move { store.delete_group(&actor, present.id, Some(present.revision)).await };
        in_turn(&app, &caller, devices, delete).await
    })
    .await?;
    Ok(caller.reply(Done {}))
}
