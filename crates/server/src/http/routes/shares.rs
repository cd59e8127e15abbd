//! Share links: creating, listing and revoking.

use axum::extract::State;
use axum::response::Response;
use perigee_core::error::Kind;
use perigee_core::id::{DeviceId, GroupId, ShareId};
use perigee_core::idempotency::IdempotencyKey;
use perigee_core::page::PageRequest;
use perigee_core::privilege::{Privilege, Privileges};
use perigee_core::revision::Revision;
use perigee_core::share::{NewShare, Share, ShareTarget};
use perigee_core::text::OptionalName;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::auth::Secret;
use crate::config::BaseUrl;
use crate::http::edit::{ENVELOPE, place_reference};
use crate::http::error::{ApiResult, invalid_body, not_found};
use crate::http::extract::{Caller, IdPath, JsonBody, Once, Params, Preconditions};
use crate::http::input::{ByName, Instant, input, read_fields};
use crate::http::json::{Fields, InstantOrNever, Pointer, Problem};
use crate::http::list::answer_list;
use crate::http::names::{Named, resolve_names};
use crate::http::reply::{Done, Reply};

/// How far ahead a link may end: a year, and the day it may have more.
const AHEAD_MAX_S: i64 = 366 * 24 * 3600;
/// What a client set of a link never changes, so that every link is at its first revision.
const REVISION: Revision = Revision::FIRST;

/// A read-only live view for whoever has the link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Share)]
pub struct ShareView {
    /// The link's id; never changes, and is no secret.
    #[schema(example = "shr_01jc2m8k4n5p6")]
    id: String,
    /// What it is for.
    #[schema(example = "Delivery to Vigo")]
    name: Option<String>,
    /// The device it shows, unless it shows a group.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// The group it shows, unless it shows a device.
    #[schema(example = json!(null))]
    group_id: Option<String>,
    /// From when it shows anything.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    from: String,
    /// From when it shows nothing any more.
    #[schema(example = "2026-05-08T12:00:00Z", format = DateTime)]
    until: String,
    /// Whether its page names the account.
    #[schema(example = true)]
    show_account: bool,
    /// The page to hand out. Whoever has its address sees what the link shows. Null for users who may not make links.
    #[schema(example = "https://track.example.com/shared/q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    page: Option<String>,
    /// The same for programs: what the page reads.
    #[schema(example = "https://track.example.com/api/shared/q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    url: Option<String>,
    /// How often it was opened.
    #[schema(example = 12, minimum = 0)]
    views: u64,
    /// When it was last opened.
    #[schema(example = "2026-05-02T08:30:00Z", format = DateTime)]
    last_viewed: Option<String>,
    /// The id of the user who made it.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// A list of share links.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShareList {
    /// The links, by id.
    shares: Vec<ShareView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

input! {
    /// A share link to be made. Give exactly one of `deviceId` and `groupId`.
    struct ShareInput {
        /// What it is for.
        name: OptionalName, nullable, example "Delivery to Vigo";
        /// The device to show, by id, identifier or a name that only one has.
        device as "deviceId": ByName<DeviceId>, nullable, example "dev_01jc2m8k4n5p7";
        /// The group to show, by id or a name that only one has.
        group as "groupId": ByName<GroupId>, nullable, example null;
        /// From when it shows anything; now unless given. Positions of before are not shown.
        from: Instant, nullable, example "2026-05-01T12:00:00Z";
        /// From when it shows nothing any more; within 366 days from now.
        until: InstantOrNever, required, example "2026-05-08T12:00:00Z";
        /// Whether its page names the account; nothing else of the account is shown.
        show_account as "showAccount": bool, or(true), example true;
    }
}

impl ShareView {
    /// The link for somebody with these privileges: who may not make one is not given its address either.
    fn of(share: Share, base_url: &BaseUrl, privileges: Privileges) -> Self {
        let is_told = privileges.allows(Privilege::DevicesWrite);
        let (device, group) = match share.link.target {
            ShareTarget::Device(device) => (Some(device.to_string()), None),
            ShareTarget::Group(group) => (None, Some(group.to_string())),
        };
        Self {
            id: share.id.to_string(),
            name: share.link.name,
            device_id: device,
            group_id: group,
            from: share.link.from.to_string(),
            until: share.link.until.to_string(),
            show_account: share.link.show_account,
            page: is_told.then(|| base_url.join(&format!("/shared/{}", share.link.secret))),
            url: is_told.then(|| base_url.join(&format!("/api/shared/{}", share.link.secret))),
            views: share.views,
            last_viewed: share.last_viewed.map(|at| at.to_string()),
            created_by: share.created_by.map(|user| user.to_string()),
            creation: share.creation.to_string(),
        }
    }
}

/// What answers have and clients do not set.
const READ_ONLY: &[&str] = &["id", "page", "url", "views", "lastViewed", "createdBy", "creation"];
/// The members that name other things.
const NAMES: &[(&str, Named)] = &[("deviceId", Named::Device), ("groupId", Named::Group)];

fn read_share(body: &Value, zone: &Zone, now: Timestamp) -> ApiResult<NewShare> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: ShareInput, fields| {
        let until = input.until.map(InstantOrNever::or_max);
        let given = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
        match (given("deviceId"), given("groupId")) {
            (true, true) => fields.refuse("groupId", "must be left out when \"deviceId\" is given"),
            (false, false) => fields.refuse("deviceId", "is required unless \"groupId\" is given"),
            _ => {}
        }
        if let (Some(from), Some(until)) = (input.from, until)
            && until <= from
        {
            fields.refuse("until", "must be in the future and after \"from\"");
        }
        let target = input.device.map(ShareTarget::Device).or(input.group.map(ShareTarget::Group))?;
        let secret = Secret::generate().expose().to_owned();
        Some(NewShare {
            target,
            name: input.name,
            from: input.from.unwrap_or(now),
            until: until?,
            show_account: input.show_account,
            secret,
        })
    })
}

/// Refuses a link that would be over at once, or last too long.
fn check_end(link: &NewShare, now: Timestamp) -> ApiResult<()> {
    let latest = now.plus_seconds(AHEAD_MAX_S);
    let detail = if link.until <= now {
        "\"until\" must be in the future and after \"from\".".to_owned()
    } else if link.until > latest {
        format!("\"until\" must be {latest} or earlier.")
    } else {
        return Ok(());
    };
    Err(invalid_body(vec![Problem { pointer: Pointer::root().member("until"), detail }]))
}

/// Makes the link. What a request made before is answered again also when its time is over by now.
async fn make(app: &App, caller: &Caller, new: NewShare, key: Option<IdempotencyKey>) -> ApiResult<Share> {
    if let Err(refusal) = check_end(&new, caller.now()) {
        let Some(key) = &key else { return Err(refusal) };
        return app.store.find_created_share(caller.scope(), key).await?.ok_or(refusal);
    }
    let member = match new.target {
        ShareTarget::Device(_) => "deviceId",
        ShareTarget::Group(_) => "groupId",
    };
    let made = app.store.create_share(&caller.actor(), new, key).await;
    Ok(place_reference(made, member)??.into_inner())
}

async fn find(app: &App, caller: &Caller, id: Option<ShareId>) -> ApiResult<Share> {
    let missing = || not_found(Kind::Share);
    let id = id.ok_or_else(missing)?;
    // Lists one link after the preceding id: it is this link, or this link is not visible.
    let page = PageRequest { after: Some(id.as_i64() - 1), limit: 1 };
    let found = app.store.list_shares(caller.scope(), page).await?.items.into_iter().next();
    found.filter(|share| share.id == id).ok_or_else(missing)
}

/// List share links.
///
/// Complete unless `limit` or `cursor` is given. Links that are over are listed until they are deleted.
#[utoipa::path(get, path = "/api/shares", tag = "shares", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items; the list is then paged.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
), responses((status = 200, description = "The links to things in sight.", body = ShareList)))]
pub async fn list_shares(State(app): State<App>, caller: Caller, params: Params) -> ApiResult<Response> {
    let part = params.finish_list("shares")?;
    let (store, scope, base_url) = (app.store.clone(), caller.scope(), app.base_url.clone());
    let privileges = caller.privileges();
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_shares(scope, page).await }
    };
    let view = move |share| ShareView::of(share, &base_url, privileges);
    answer_list(&app, &caller, "shares", part, fetch, view).await
}

/// Create a share link.
#[utoipa::path(post, path = "/api/shares", tag = "shares", request_body = ShareInput,
    responses((status = 201, description = "The link that was made.", body = ShareView)))]
pub async fn create_share(
    State(app): State<App>,
    caller: Caller,
    once: Once,
    mut body: JsonBody,
) -> ApiResult<Reply<ShareView>> {
    caller.require(Privilege::DevicesWrite)?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let new = read_share(&body.value, caller.zone(), caller.now())?;
    let held = once.hold(&app, &caller, &body)?;
    let share = make(&app, &caller, new, held.key.clone()).await?;
    let address = app.base_url.join(&format!("/api/shares/{}", share.id));
    let view = ShareView::of(share, &app.base_url, caller.privileges());
    Ok(caller.reply(view).created(address).revision(REVISION))
}

/// Read a share link.
#[utoipa::path(get, path = "/api/shares/{shareId}", tag = "shares",
    params(("shareId" = String, Path, description = "The link's id.", example = "shr_01jc2m8k4n5p6")),
    responses((status = 200, description = "The link.", body = ShareView)))]
pub async fn get_share(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<ShareId>,
    params: Params,
) -> ApiResult<Reply<ShareView>> {
    params.finish()?;
    let share = find(&app, &caller, id).await?;
    let view = ShareView::of(share, &app.base_url, caller.privileges());
    Ok(caller.reply(view).revision(REVISION))
}

/// Take a share link back.
///
/// Its address shows nothing from then on.
#[utoipa::path(delete, path = "/api/shares/{shareId}", tag = "shares",
    params(("shareId" = String, Path, description = "The link's id.", example = "shr_01jc2m8k4n5p6")),
    responses((status = 200, description = "The link is gone.", body = Done)))]
pub async fn delete_share(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<ShareId>,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    let share = find(&app, &caller, id).await?;
    caller.require(Privilege::DevicesWrite)?;
    preconditions.check(Kind::Share, REVISION)?;
    app.store.delete_share(&caller.actor(), share.id).await?;
    Ok(caller.reply(Done {}))
}
