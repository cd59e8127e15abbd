//! Groups: named sets of devices.

use perigee_core::groups::group::{Group, GroupFilter, GroupSettings};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::text::{Description, Name};

use crate::budget::Payer;
use crate::http::input::Set;
use crate::http::prelude::*;

/// Named set of devices.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Group)]
pub struct GroupView {
    /// Unique identifier of the group, assigned by the server. It never changes.
    #[schema(example = "grp_01jc2m8k4n5p6")]
    id: String,
    /// Name of the group, shown in lists. Need not be unique.
    #[schema(example = "Trawlers")]
    name: String,
    /// Free text about the group. Null if not set.
    #[schema(example = "Out of Vigo")]
    description: Option<String>,
    /// IDs of the devices in the group, in ascending order.
    #[schema(example = json!(["dev_01jc2m8k4n5p7"]))]
    devices: Vec<String>,
    /// Time at which the group was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the group.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

list! {
    /// A list of groups.
    pub struct GroupList;
    /// Groups that the caller may see, sorted by ID.
    groups: GroupView,
}

input! {
    /// Settings of a group.
    struct GroupInput {
        /// Name of the group, shown in lists. Need not be unique.
        name: Name, required, example "Trawlers";
        /// Free text about the group. Null for none.
        description: Description, nullable, example "Out of Vigo";
        /// Devices in the group, each given by its ID, identifier or a name that only one device has. At most 10000.
        /// Default: none.
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

/// The members that refer to other resources by name or ID.
const NAMES: &[(&str, Named)] = &[("devices", Named::Device)];

fn read_group(body: &Value) -> ApiResult<GroupSettings> {
    read_body(body, &[ENVELOPE, &["id", "creation", "lastModified"]], |input: GroupInput, _| {
        let mut devices = input.devices.unwrap_or_default();
        devices.sort_unstable();
        Some(GroupSettings { name: input.name?, description: input.description, devices })
    })
}

/// Runs a change that adds or removes `devices` devices. A large change waits for the account's turn, and runs to its
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
    app.tasks.background.spawn_on(task, &app.tasks.runtime).await.map_err(internal)
}

async fn find(app: &App, caller: &Caller, id: Option<GroupId>) -> ApiResult<Group> {
    let missing = || not_found(Kind::Group);
    app.store.find_group(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List groups
///
/// Returns the groups that the caller may see, sorted by ID. The list is complete unless `limit` or `cursor` is given;
/// with either, it is returned in pages. Any user may call this operation.
#[utoipa::path(get, path = "/api/groups", tag = "groups", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of groups in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Only groups whose name or description contains this text. Upper and lower case are not distinguished.", example = "trawl"),
), responses((status = 200, description = "Groups that the caller may see, sorted by ID.", body = GroupList)))]
pub async fn list_groups(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let filter = GroupFilter { text: params.text("q") };
    let part = params.finish_list("groups")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let (store, filter) = (store.clone(), filter.clone());
        async move { store.list_groups(scope, &filter, page).await }
    };
    answer_list(&app, &caller, "groups", part, fetch, GroupView::from).await
}

/// Create a group
///
/// Creates a group. Requires the privilege `groups.write` and a caller who sees the whole account. Sends the event
/// `group.created`.
#[utoipa::path(post, path = "/api/groups", tag = "groups", request_body = GroupInput,
    responses((status = 201, description = "The group was created.", body = GroupView)))]
pub async fn create_group(Call(app, caller): Call, once: Once, mut body: JsonBody) -> ApiReply<GroupView> {
    caller.require(Privilege::GroupsWrite)?;
    caller.require_whole_account()?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let settings = read_group(&body.value)?;
    let held = once.hold(&app, &caller, &body)?;
    let (store, actor, key) = (app.store.clone(), caller.actor(), held.key.clone());
    let devices = settings.devices.len();
    let create = async move { store.create_group(&actor, settings, key).await };
    let created = in_turn(&app, &caller, devices, create).await?;
    let group = attribute_reference(created, "devices")??.into_inner();
    let address = app.base_url.join(&format!("/api/groups/{}", group.id));
    Ok(caller.reply_at(group.revision, GroupView::from(group)).created(address))
}

/// Retrieve a group
///
/// Returns a group with the IDs of its devices. Any user who may see the group may call this operation.
#[utoipa::path(get, path = "/api/groups/{groupId}", tag = "groups",
    responses((status = 200, description = "The group with this ID.", body = GroupView)))]
pub async fn get_group(
    Call(app, caller): Call,
    IdPath(id): IdPath<GroupId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let group = find(&app, &caller, id).await?;
    Ok(caller.reply_unless_known(&preconditions, group.revision, GroupView::from(group)))
}

change_handlers! {
    path: "/api/groups/{groupId}", tag: "groups", body: GroupInput, answer: GroupView, "The updated group.";
    /// Replace a group
    ///
    /// Replaces name, description and devices of a group. A member that is omitted is set to its default: without `devices`
    /// the group is empty. Requires the privilege `groups.write`. Sends the event `group.updated`.
    replace_group,
    /// Update a group
    ///
    /// Changes the given settings of a group and leaves the others. Requires the privilege `groups.write`. Sends the event
    /// `group.updated`.
    update_group => change_group(id: IdPath<GroupId>)
}

async fn change_group(
    Call(app, caller): Call,
    IdPath(id): IdPath<GroupId>,
    change: Change,
) -> ApiReply<GroupView> {
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
        attribute_reference(in_turn(&app, &caller, devices, replace).await?, "devices")
    })
    .await?;
    Ok(caller.reply_at(group.revision, GroupView::from(group)))
}

/// Delete a group
///
/// Deletes a group. Its devices are not deleted. The request fails with `in-use` while a user may see only this group.
/// Requires the privilege `groups.write`. Sends the event `group.deleted`.
#[utoipa::path(delete, path = "/api/groups/{groupId}", tag = "groups",
    responses((status = 200, description = "The group was deleted.", body = Done)))]
pub async fn delete_group(
    Call(app, caller): Call,
    IdPath(id): IdPath<GroupId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
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
