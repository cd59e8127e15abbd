//! Users of an account: who may sign in, with which privileges and which devices they see.

use perigee_core::access::actor::Scope;
use perigee_core::access::credential::NewPassword;
use perigee_core::access::user::{NewUser, User, UserFilter, UserProfile};
use perigee_core::id::UserId;
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::Result as StoreResult;
use secrecy::SecretString;

use crate::http::names::group_param;
use crate::http::prelude::*;
use crate::http::routes::access::user_bounds::{
    inherit_bounds, own_bounds, require_change_within_bounds, require_creatable, require_within_bounds,
};
use crate::http::routes::access::user_password::{HashOnce, check_before_hash};
use crate::http::routes::access::users_view::{UserInput, UserView, Wanted, read_user};

/// The members that refer to other resources, by ID or by name.
const NAMES: &[(&str, Named)] = &[("group", Named::Group), ("deviceId", Named::Device)];

/// The value of `group` that stands for the whole account in older clients. A group of the account with this name
/// takes precedence.
const EVERYTHING: &str = "Administrators";

/// Replaces names of the group and the device that a user sees by their ids.
async fn resolve_scope(app: &App, caller: &Caller, body: &mut Value) -> ApiResult<()> {
    resolve_names(app, caller, body, NAMES).await?;
    if let Some(group) = body.get_mut("group")
        && group.as_str().is_some_and(|name| name.eq_ignore_ascii_case(EVERYTHING))
    {
        *group = Value::Null;
    }
    Ok(())
}

list! {
    /// A list of users, complete or one page.
    pub struct UserList;
    /// Users that the caller may see, sorted by ID.
    users: UserView,
}

/// Whether the caller may see this user: callers who see the whole account see every user, others only themselves.
fn sees(caller: &Caller, id: UserId) -> bool {
    caller.scope().is_whole() || caller.user_id() == id
}

pub(in crate::http::routes) async fn find(app: &App, caller: &Caller, id: Option<UserId>) -> ApiResult<User> {
    let missing = || not_found(Kind::User);
    let id = id.filter(|id| sees(caller, *id)).ok_or_else(missing)?;
    app.store.find_user(caller.scope(), id).await?.ok_or_else(missing)
}

/// Refuses to change a user who holds a privilege that the caller does not hold.
pub(in crate::http::routes) fn require_power_over(caller: &Caller, user: &User) -> ApiResult<()> {
    caller.require(Privilege::UsersWrite)?;
    if !caller.privileges().covers(user.profile.privileges) {
        return Err(forbidden(
            "This user holds privileges that you do not hold. Ask a user who holds them to make the change.",
        ));
    }
    if user.operator && !caller.user().operator {
        return Err(forbidden(
            "This user is an operator of the server. Ask an operator of the server to make the change.",
        ));
    }
    Ok(())
}

/// Refuses to grant a privilege that the caller does not hold.
fn require_held(caller: &Caller, wanted: &UserProfile) -> ApiResult<()> {
    match wanted.privileges.iter().find(|privilege| !caller.privileges().allows(*privilege)) {
        None => Ok(()),
        Some(privilege) => Err(forbidden(format!(
            "You cannot grant \"{privilege}\" because you do not hold it. Ask a user who holds it."
        ))),
    }
}

/// Refuses a change of the caller's own limits, unless the caller is an admin of the whole account.
fn require_same_bounds(caller: &Caller, present: &User, wanted: &UserProfile) -> ApiResult<()> {
    let bounds = |profile: &UserProfile| {
        let validity = (profile.from, profile.expires);
        (profile.group, profile.device, profile.privileges, profile.admin_devices, validity)
    };
    let is_unbound = caller.scope().is_whole() && caller.privileges().is_admin();
    if present.id != caller.user_id() || is_unbound || bounds(&present.profile) == bounds(wanted) {
        return Ok(());
    }
    Err(own_bounds())
}

/// Refuses to set the caller's own password here, where the current one is not required: a token or an open session
/// does not prove that the user makes the request.
fn refuse_own_password(caller: &Caller, id: UserId, password: Option<&SecretString>) -> ApiResult<()> {
    if id != caller.user_id() || password.is_none() {
        return Ok(());
    }
    let detail = "\"password\" cannot be set here for yourself. Use PUT /api/session/password, which also requires \
                  the current password.";
    let pointer = Pointer::root().member("password");
    Err(invalid_body(vec![Problem { pointer, detail: detail.to_owned() }]))
}

/// Adds to an unknown reference the member that holds it.
fn at_its_member(error: StoreError) -> ApiError {
    let member = match &error {
        StoreError::UnknownReference { kind: Kind::Group, .. } => "group",
        StoreError::UnknownReference { kind: Kind::Device, .. } => "deviceId",
        _ => return error.into(),
    };
    let detail = ApiError::from(error).message;
    invalid_body(vec![Problem { pointer: Pointer::root().member(member), detail }])
}

/// The list for a caller who does not see the whole account: the caller alone.
async fn list_self(
    app: &App,
    scope: Scope,
    id: UserId,
    filter: &UserFilter,
    after: Option<i64>,
) -> StoreResult<Page<User>> {
    if after.is_some_and(|after| after >= id.as_i64()) {
        return Ok(Page { items: Vec::new(), next: None });
    }
    // Reads the first user from this id on that matches the filter. If it is another user, this one does not match.
    let from_self = PageRequest { after: Some(id.as_i64() - 1), limit: 1 };
    let first = app.store.list_users(scope, filter, from_self).await?;
    Ok(Page { items: first.items.into_iter().filter(|user| user.id == id).collect(), next: None })
}

/// List users
///
/// Returns the users of the account, sorted by ID. Callers who see the whole account get every user; a caller limited
/// to a group or a device gets only their own user. The list is complete unless `limit` or `cursor` is given; with
/// either, it is returned in pages.
#[utoipa::path(get, path = "/api/users", tag = "users", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of users in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Only users whose name, e-mail address or description contains this text, in any letter case."),
    ("group" = Option<String>, Query, description = "Only users limited to this group, by ID or name.", example = "grp_01jc2m8k4n5p6"),
    ("tag" = Option<String>, Query, description = "Only users with this tag, as `key:value`.", example = "team:north"),
), responses((status = 200, description = "Users that the caller may see, sorted by ID.", body = UserList)))]
pub async fn list_users(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let group = group_param(&app, &caller, &mut params, "group").await?;
    let filter = UserFilter { text: params.text("q"), group, tag: params.tag() };
    let part = params.finish_list("users")?;
    let (inner, scope, id) = (app.clone(), caller.scope(), caller.user_id());
    let fetch = move |page: perigee_core::page::PageRequest| {
        let (app, filter) = (inner.clone(), filter.clone());
        async move {
            if scope.is_whole() {
                app.store.list_users(scope, &filter, page).await
            } else {
                list_self(&app, scope, id, &filter, page.after).await
            }
        }
    };
    answer_list(&app, &caller, "users", part, fetch, UserView::from).await
}

/// Creates a user, or returns the one that the first request with this idempotency key created.
async fn make(app: &App, caller: &Caller, wanted: Wanted, key: Option<IdempotencyKey>) -> ApiResult<User> {
    let Wanted { profile, password } = wanted;
    let has_key = key.is_some();
    let create = |profile, password_hash| {
        let new = NewUser { profile, password_hash };
        async move { app.store.create_user(&caller.actor(), new, key).await.map_err(at_its_member) }
    };
    let Some(password) = password else { return Ok(create(profile, None).await?.into_inner()) };
    match check_before_hash(app, caller, &profile, None).await? {
        Ok(()) => {
            let hash = app.access.passwords.hash_for(caller.payer(), password).await?;
            Ok(create(profile, Some(hash)).await?.into_inner())
        }
        Err(refused) if !has_key => Err(at_its_member(refused)),
        // The address may belong to the user that the first request with this idempotency key created. Neither that
        // answer nor a refusal needs the password hash.
        Err(_) => match create(profile, None).await? {
            Created::Before(user) => Ok(user),
            // The conflicting user was removed in the meantime.
            Created::Now(user) => {
                let hash = app.access.passwords.hash_for(caller.payer(), password).await?;
                let password = NewPassword { hash, end_api_key: false };
                app.store.set_password(&caller.origin(), user.id, password, None).await?;
                Ok(user)
            }
        },
    }
}

/// Create a user
///
/// Creates a user of the account. Requires the privilege `users.write` and a caller who sees the whole account. Sends
/// the event `user.created`. A user without a password cannot sign in until they have set one through a link: see `POST
/// /api/users/{userId}/passwordLink`.
///
/// Callers cannot grant privileges that they do not hold. If the caller has `from` or `expires`, the new user gets the
/// same values where none are given, and cannot be valid outside them. If the caller has `adminDevices`, a new user
/// with `devices.write` needs `adminDevices` 0. Owners who see the whole account and do not expire have no such limits.
#[utoipa::path(post, path = "/api/users", tag = "users", request_body = UserInput,
    responses((status = 201, description = "The user was created.", body = UserView)))]
pub async fn create_user(Call(app, caller): Call, once: Once, mut body: JsonBody) -> ApiReply<UserView> {
    caller.require(Privilege::UsersWrite)?;
    caller.require_whole_account()?;
    resolve_scope(&app, &caller, &mut body.value).await?;
    let mut wanted = read_user(&body.value, None, caller.zone())?;
    require_held(&caller, &wanted.profile)?;
    inherit_bounds(&caller, &mut wanted.profile);
    require_creatable(&caller, &wanted.profile)?;
    let held = once.hold(&app, &caller, &body)?;
    let user = make(&app, &caller, wanted, held.key.clone()).await?;
    let address = app.base_url.join(&format!("/api/users/{}", user.id));
    Ok(caller.reply_at(user.revision, UserView::from(user)).created(address))
}

/// Retrieve a user
///
/// Returns one user. Callers who see the whole account may retrieve every user; others only their own.
#[utoipa::path(get, path = "/api/users/{userId}", tag = "users",
    responses((status = 200, description = "The user with this ID.", body = UserView)))]
pub async fn get_user(
    Call(app, caller): Call,
    IdPath(id): IdPath<UserId>,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let user = find(&app, &caller, id).await?;
    Ok(caller.reply_at(user.revision, UserView::from(user)).into_response())
}

change_handlers! {
    path: "/api/users/{userId}", tag: "users", body: UserInput, answer: UserView, "The updated user.";
    /// Replace a user
    ///
    /// Replaces all settings of a user. Requires the privilege `users.write` and every privilege that the user holds.
    /// Members that are left out are set to their defaults; the password and the language stay unless given. The limits
    /// of `POST /api/users` apply. Callers who are not admins of the whole account cannot change their own `group`,
    /// `deviceId`, `privileges`, `adminDevices`, `from` or `expires`. Sends the event `user.updated`. Fails with
    /// `last-owner` if the account would have no active owner.
    replace_user,
    /// Update a user
    ///
    /// Changes the members that are given and leaves the others as they are. The requirements and limits of
    /// `PUT /api/users/{userId}` apply. Sends the event `user.updated`.
    update_user => change_user(id: IdPath<UserId>)
}

async fn change_user(
    Call(app, caller): Call,
    IdPath(id): IdPath<UserId>,
    change: Change,
) -> ApiReply<UserView> {
    let hash = HashOnce::default();
    let user = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        require_power_over(&caller, &present)?;
        change.preconditions.check(Kind::User, present.revision)?;
        let mut wanted = change.apply(&UserView::from(present.clone())).await?;
        resolve_scope(&app, &caller, &mut wanted).await?;
        let wanted = read_user(&wanted, Some(&present), caller.zone())?;
        require_held(&caller, &wanted.profile)?;
        require_same_bounds(&caller, &present, &wanted.profile)?;
        require_change_within_bounds(&caller, &present, &wanted.profile)?;
        refuse_own_password(&caller, present.id, wanted.password.as_ref())?;
        let password = match wanted.password {
            Some(password) => {
                require_within_bounds(&caller, &present)?;
                let own = Some(present.id);
                check_before_hash(&app, &caller, &wanted.profile, own).await?.map_err(at_its_member)?;
                Some(hash.get(&app, &caller, password).await?)
            }
            None => None,
        };
        let (actor, seen) = (caller.actor(), present.revision);
        match app.store.replace_user(&actor, present.id, seen, wanted.profile, password).await {
            Err(error @ StoreError::UnknownReference { .. }) => Err(at_its_member(error)),
            outcome => Ok(outcome),
        }
    })
    .await?;
    app.access.identities.invalidate_user(user.id);
    Ok(caller.reply_at(user.revision, UserView::from(user)))
}

/// Delete a user
///
/// Deletes a user. Requires the privilege `users.write` and every privilege that the user holds. The user's API key,
/// tokens and sessions end immediately. Sends the event `user.deleted`. Fails with `last-owner` if the account would
/// have no active owner.
#[utoipa::path(delete, path = "/api/users/{userId}", tag = "users",
    responses((status = 200, description = "The user was deleted.", body = Done)))]
pub async fn delete_user(
    Call(app, caller): Call,
    IdPath(id): IdPath<UserId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    let deleted_id = retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        require_power_over(&caller, &present)?;
        preconditions.check(Kind::User, present.revision)?;
        let deleted = app.store.delete_user(&caller.actor(), present.id, Some(present.revision)).await;
        Ok(deleted.map(|()| present.id))
    })
    .await?;
    app.access.identities.invalidate_user(deleted_id);
    Ok(caller.reply(Done {}))
}
