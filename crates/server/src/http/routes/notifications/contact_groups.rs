//! Contact groups: people who are notified of alerts together, and need not be users.

use perigee_core::id::ContactGroupId;
use perigee_core::notifications::contact::{Contact, ContactGroup, ContactGroupSettings};
use perigee_core::text::Name;

use crate::http::input::Objects;
use crate::http::prelude::*;
use crate::http::routes::alerts::view::ChannelName;
use crate::http::routes::notifications::alert_routing::ask_to_confirm;
use crate::http::routes::notifications::alert_routing::input::ContactInput;
use crate::http::routes::notifications::alert_routing::view::UnitsName;

/// A contact group: people who are notified of alerts together. They need not be users.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ContactGroup)]
pub struct ContactGroupView {
    /// Unique identifier of the contact group, assigned by the server. It never changes.
    #[schema(example = "ctg_01jc2m8k4n5p6")]
    id: String,
    /// Name of the contact group, shown in lists and routings.
    #[schema(example = "Night watch")]
    name: String,
    /// Contacts that are notified, in the order in which they were given. A person with an e-mail address and a
    /// telephone number has two entries.
    contacts: Vec<ContactView>,
    /// Time at which the contact group was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which a client last changed the contact group.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
}

/// A contact of a contact group.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Contact)]
pub struct ContactView {
    /// Channel by which the contact is notified.
    #[schema(value_type = ChannelName, example = "email")]
    channel: &'static str,
    /// E-mail address, or telephone number in international form such as `+34600123456`.
    #[schema(example = "ana@example.com")]
    address: String,
    /// Name of the contact, used in messages. Null if it has none.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// Time zone of the times in messages, as an IANA name. Null for the time zone of the account.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
    /// Units of speeds, distances and temperatures in messages.
    #[schema(value_type = UnitsName, example = "metric")]
    units: &'static str,
    /// Language of messages, as a tag such as `en` or `pt-BR`.
    #[schema(example = "en")]
    language: String,
}

list! {
    /// A list of contact groups.
    pub struct ContactGroupList;
    /// The contact groups, sorted by ID.
    contact_groups: ContactGroupView,
}

input! {
    /// Settings of a contact group.
    struct ContactGroupInput {
        /// Name of the contact group, shown in lists and routings.
        name: Name, required, example "Night watch";
        /// Contacts to notify, in this order. Give a person with an e-mail address and a telephone number as two
        /// contacts.
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

/// List contact groups
///
/// Returns the contact groups of the account, sorted by ID. Requires a caller who sees the whole account. The list is
/// complete unless `limit` or `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/contactGroups", tag = "notifications", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "The contact groups of the account, sorted by ID.", body = ContactGroupList)))]
pub async fn list_contact_groups(Call(app, caller): Call, params: Params) -> ApiResult<Response> {
    caller.require_whole_account()?;
    let part = params.finish_list("contactGroups")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_contact_groups(scope, page).await }
    };
    answer_list(&app, &caller, "contactGroups", part, fetch, ContactGroupView::from).await
}

/// Create a contact group
///
/// Creates a contact group that routings and rules can name. Requires the privilege `admin` and a caller who sees the
/// whole account. An account may have up to 200 contact groups. Contacts may be asked by e-mail to confirm that they
/// want messages.
#[utoipa::path(post, path = "/api/contactGroups", tag = "notifications", request_body = ContactGroupInput,
    responses((status = 201, description = "The contact group was created.", body = ContactGroupView)))]
pub async fn create_contact_group(
    Call(app, caller): Call,
    once: Once,
    body: JsonBody,
) -> ApiReply<ContactGroupView> {
    caller.require(Privilege::Admin)?;
    caller.require_whole_account()?;
    let settings = read_group(&body.value)?;
    let held = once.hold(&app, &caller, &body)?;
    let created = app.store.create_contact_group(&caller.actor(), settings, held.key.clone()).await?;
    let group = created.into_inner();
    ask_contacts(&app, &caller, &group).await?;
    let address = app.base_url.join(&format!("/api/contactGroups/{}", group.id));
    Ok(caller.reply_at(group.revision, ContactGroupView::from(group)).created(address))
}

/// Retrieve a contact group
///
/// Returns one contact group. Requires a caller who sees the whole account.
#[utoipa::path(get, path = "/api/contactGroups/{contactGroupId}", tag = "notifications",
    responses((status = 200, description = "The contact group.", body = ContactGroupView)))]
pub async fn get_contact_group(
    Call(app, caller): Call,
    IdPath(id): IdPath<ContactGroupId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let group = find(&app, &caller, id).await?;
    Ok(caller.reply_unless_known(&preconditions, group.revision, ContactGroupView::from(group)))
}

change_handlers! {
    path: "/api/contactGroups/{contactGroupId}", tag: "notifications", body: ContactGroupInput, answer: ContactGroupView, "The updated contact group.";
    /// Replace a contact group
    ///
    /// Sets the name and all contacts of a contact group. Requires the privilege `admin` and a caller who sees the
    /// whole account. The change applies to later alerts, and to steps of escalations that have not been taken yet. New
    /// contacts may be asked by e-mail to confirm that they want messages.
    replace_contact_group,
    /// Update a contact group
    ///
    /// Changes the members that the body contains and keeps the others. Requires the privilege `admin` and a caller who
    /// sees the whole account. The change applies to later alerts, and to steps of escalations that have not been taken
    /// yet.
    update_contact_group => change_group(id: IdPath<ContactGroupId>)
}

async fn change_group(
    Call(app, caller): Call,
    IdPath(id): IdPath<ContactGroupId>,
    change: Change,
) -> ApiReply<ContactGroupView> {
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
    Ok(caller.reply_at(group.revision, ContactGroupView::from(group)))
}

/// Delete a contact group
///
/// Deletes the contact group. Requires the privilege `admin` and a caller who sees the whole account. The request fails
/// with 409 `in-use` while a routing or a rule names the contact group.
#[utoipa::path(delete, path = "/api/contactGroups/{contactGroupId}", tag = "notifications",
    responses((status = 200, description = "The contact group was deleted.", body = Done)))]
pub async fn delete_contact_group(
    Call(app, caller): Call,
    IdPath(id): IdPath<ContactGroupId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
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
