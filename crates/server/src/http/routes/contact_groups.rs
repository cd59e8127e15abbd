//! Contact groups: people who are told of alerts together, and need not be users.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use perigee_core::contact::{Contact, ContactGroup, ContactGroupSettings};
use perigee_core::error::Kind;
use perigee_core::id::ContactGroupId;
use perigee_core::privilege::Privilege;
use perigee_core::text::Name;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::alert_routing::ask_to_confirm;
use super::alert_routing::input::ContactInput;
use super::alert_routing::view::UnitsName;
use super::alerts::view::ChannelName;
use crate::app::App;
use crate::http::edit::{ENVELOPE, retry_changed};
use crate::http::error::{ApiResult, not_found};
use crate::http::extract::{Caller, Change, IdPath, JsonBody, Once, Params, Preconditions, entity_tag};
use crate::http::input::{Objects, input, read_body};
use crate::http::list::answer_list;
use crate::http::reply::{Done, Reply, not_modified};

/// People who are told of alerts together.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ContactGroup)]
pub struct ContactGroupView {
    /// The group's id; never changes.
    #[schema(example = "ctg_01jc2m8k4n5p6")]
    id: String,
    /// Shown where the group is named.
    #[schema(example = "Night watch")]
    name: String,
    /// Who is told, in the order given. Somebody with a mailbox and a telephone is there twice.
    contacts: Vec<ContactView>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// When a client last changed it.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// Somebody in a contact group.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Contact)]
pub struct ContactView {
    /// How they are reached: `email` or `sms`.
    #[schema(value_type = ChannelName, example = "email")]
    channel: &'static str,
    /// An e-mail address, or a telephone number in international form.
    #[schema(example = "ana@example.com")]
    address: String,
    /// What to call them.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// The zone of the times they read, by IANA id; null for the account's.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
    /// The units of speeds, distances and temperatures in their messages.
    #[schema(value_type = UnitsName, example = "metric")]
    units: &'static str,
    /// The language of their messages.
    #[schema(example = "en")]
    language: String,
}

/// A list of contact groups.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ContactGroupList {
    /// The contact groups, by id.
    contact_groups: Vec<ContactGroupView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

input! {
    /// What a client sets of a contact group.
    struct ContactGroupInput {
        /// Shown where the group is named.
        name: Name, required, example "Night watch";
        /// Who is told, in this order.
        contacts: Objects<ContactInput, 0, { ContactGroupSettings::CONTACTS_MAX }>, required;
    }
}

impl From<ContactGroup> for ContactGroupView {
    fn from(group: ContactGroup) -> Self {
        Self {
            id: group.id.to_string(),
            name: group.settings.name,
            contacts: group.settings.contacts.into_iter().map(ContactView::from).collect(),
            creation: group.creation.to_string(),
            last_modified: group.last_modified.to_string(),
        }
    }
}

impl From<Contact> for ContactView {
    fn from(contact: Contact) -> Self {
        Self {
            channel: contact.destination.channel().name(),
            address: contact.destination.as_str().to_owned(),
            name: contact.preferences.name,
            time_zone: contact.preferences.time_zone.map(|zone| zone.to_string()),
            units: contact.preferences.units.name(),
            language: contact.preferences.language.as_str().to_owned(),
        }
    }
}

fn read_group(body: &Value) -> ApiResult<ContactGroupSettings> {
    read_body(body, &[ENVELOPE, &["id", "creation", "lastModified"]], |input: ContactGroupInput, _| {
        Some(ContactGroupSettings { name: input.name?, contacts: input.contacts? })
    })
}

async fn find(app: &App, caller: &Caller, id: Option<ContactGroupId>) -> ApiResult<ContactGroup> {
    let missing = || not_found(Kind::ContactGroup);
    app.store.find_contact_group(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// Asks contacts to confirm that they want e-mail, if the server requires that.
async fn ask_contacts(app: &App, caller: &Caller, group: &ContactGroup) -> ApiResult<()> {
    let contacts = group.settings.contacts.iter();
    ask_to_confirm(app, caller, contacts.map(|contact| (&contact.destination, &contact.preferences))).await
}

/// List contact groups.
///
/// Complete unless `limit` or `cursor` is given. Needs a user who sees the whole account.
#[utoipa::path(get, path = "/api/contactGroups", tag = "notifications", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items; the list is then paged.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
), responses((status = 200, description = "The contact groups of the account.", body = ContactGroupList)))]
pub async fn list_contact_groups(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Response> {
    caller.require_whole_account()?;
    let part = params.finish_list("contactGroups")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_contact_groups(scope, page).await }
    };
    answer_list(&app, &caller, "contactGroups", part, fetch, ContactGroupView::from).await
}

/// Create a contact group.
///
/// Needs `admin` and a user who sees the whole account.
#[utoipa::path(post, path = "/api/contactGroups", tag = "notifications", request_body = ContactGroupInput,
    responses((status = 201, description = "The contact group that was made.", body = ContactGroupView)))]
pub async fn create_contact_group(
    State(app): State<App>,
    caller: Caller,
    once: Once,
    body: JsonBody,
) -> ApiResult<Reply<ContactGroupView>> {
    caller.require(Privilege::Admin)?;
    caller.require_whole_account()?;
    let settings = read_group(&body.value)?;
    let held = once.hold(&app, &caller, &body)?;
    let created = app.store.create_contact_group(&caller.actor(), settings, held.key.clone()).await?;
    let group = created.into_inner();
    ask_contacts(&app, &caller, &group).await?;
    let address = app.base_url.join(&format!("/api/contactGroups/{}", group.id));
    let revision = group.revision;
    Ok(caller.reply(ContactGroupView::from(group)).created(address).revision(revision))
}

/// Read a contact group.
#[utoipa::path(get, path = "/api/contactGroups/{contactGroupId}", tag = "notifications",
    params(("contactGroupId" = String, Path, description = "The contact group's id.", example = "ctg_01jc2m8k4n5p6")),
    responses((status = 200, description = "The contact group.", body = ContactGroupView)))]
pub async fn get_contact_group(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<ContactGroupId>,
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
    Ok(caller.reply(ContactGroupView::from(group)).revision(revision).into_response())
}

/// Replace a contact group.
#[utoipa::path(put, path = "/api/contactGroups/{contactGroupId}", tag = "notifications", request_body = ContactGroupInput,
    params(("contactGroupId" = String, Path, description = "The contact group's id.", example = "ctg_01jc2m8k4n5p6")),
    responses((status = 200, description = "The contact group as it is now.", body = ContactGroupView)))]
pub async fn replace_contact_group(
    state: State<App>,
    caller: Caller,
    id: IdPath<ContactGroupId>,
    change: Change,
) -> ApiResult<Reply<ContactGroupView>> {
    change_group(state, caller, id, change).await
}

/// Change part of a contact group.
#[utoipa::path(patch, path = "/api/contactGroups/{contactGroupId}", tag = "notifications", request_body = ContactGroupInput,
    params(("contactGroupId" = String, Path, description = "The contact group's id.", example = "ctg_01jc2m8k4n5p6")),
    responses((status = 200, description = "The contact group as it is now.", body = ContactGroupView)))]
pub async fn update_contact_group(
    state: State<App>,
    caller: Caller,
    id: IdPath<ContactGroupId>,
    change: Change,
) -> ApiResult<Reply<ContactGroupView>> {
    change_group(state, caller, id, change).await
}

async fn change_group(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<ContactGroupId>,
    change: Change,
) -> ApiResult<Reply<ContactGroupView>> {
    let group = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::Admin)?;
        change.preconditions.check(Kind::ContactGroup, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let settings = read_group(&change.apply(&ContactGroupView::from(present)).await?)?;
        Ok(app.store.replace_contact_group(&caller.actor(), id, seen, settings).await)
    })
    .await?;
    ask_contacts(&app, &caller, &group).await?;
    let revision = group.revision;
    Ok(caller.reply(ContactGroupView::from(group)).revision(revision))
}

/// Delete a contact group.
///
/// Refused while a routing or a rule names it.
#[utoipa::path(delete, path = "/api/contactGroups/{contactGroupId}", tag = "notifications",
    params(("contactGroupId" = String, Path, description = "The contact group's id.", example = "ctg_01jc2m8k4n5p6")),
    responses((status = 200, description = "The contact group is gone.", body = Done)))]
pub async fn delete_contact_group(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<ContactGroupId>,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::Admin)?;
        preconditions.check(Kind::ContactGroup, present.revision)?;
        let (actor, seen) = (caller.actor(), Some(present.revision));
        Ok(app.store.delete_contact_group(&actor, present.id, seen).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}
