//! Share links: creating, listing and revoking.

pub mod shares_public;

use perigee_core::access::privilege::Privileges;
use perigee_core::id::{DeviceId, GroupId, ShareId};
use perigee_core::idempotency::IdempotencyKey;
use perigee_core::page::PageRequest;
use perigee_core::revision::Revision;
use perigee_core::shares::share::{NewShare, Share, ShareTarget};
use perigee_core::text::OptionalName;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use crate::auth::Secret;
use crate::config::BaseUrl;
use crate::http::input::{ByName, Instant, Whole, read_fields};
use crate::http::json::{Fields, InstantOrNever};
use crate::http::prelude::*;

/// The latest end of a link, in seconds from now: 366 days.
const AHEAD_MAX_S: i64 = 366 * 24 * 3600;
/// The settings of a link never change, so every link is at its first revision.
const REVISION: Revision = Revision::FIRST;

/// Share link: a public, read-only view of a device or a group.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Share)]
pub struct ShareView {
    /// Unique identifier of the share link, assigned by the server. It never changes and is not secret.
    #[schema(example = "shr_01jc2m8k4n5p6")]
    id: String,
    /// Name of the share link, shown on its page. Null if not set.
    #[schema(example = "Delivery to Vigo")]
    name: Option<String>,
    /// ID of the device that the link shows. Null if it shows a group.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// ID of the group that the link shows. Null if it shows a device.
    #[schema(example = json!(null))]
    group_id: Option<String>,
    /// Time from which the link can be opened. Earlier locations are not shown.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    from: String,
    /// Time at which the link expires.
    #[schema(example = "2026-05-08T12:00:00Z", format = DateTime)]
    until: String,
    /// Whether the page of the link shows the name of the account.
    #[schema(example = true)]
    show_account: bool,
    /// Whether the page of the link shows the trips of the devices.
    #[schema(example = false)]
    show_trips: bool,
    /// Whether the page of the link shows the conversations with the devices.
    #[schema(example = false)]
    show_conversation: bool,
    /// Number of minutes after which the page shows a message of a conversation. 0 if it shows none.
    #[schema(example = 0, minimum = 0, maximum = 44640)]
    conversation_delay_minutes: u32,
    /// URL of the page to hand out. Anyone who has the URL can open the link. Null for callers without the privilege
    /// `devices.write`.
    #[schema(example = "https://track.example.com/shared/q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    page: Option<String>,
    /// URL of the same data as JSON, for programs. Null for callers without the privilege `devices.write`.
    #[schema(example = "https://track.example.com/api/shared/q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    url: Option<String>,
    /// Number of times that the link was opened.
    #[schema(example = 12, minimum = 0)]
    views: u64,
    /// Time at which the link was last opened. Null if it was not opened yet.
    #[schema(example = "2026-05-02T08:30:00Z", format = DateTime)]
    last_viewed: Option<String>,
    /// ID of the user who created the link. Null if no user did.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// Time at which the link was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

list! {
    /// A list of share links.
    pub struct ShareList;
    /// Share links that the caller may see, sorted by ID.
    shares: ShareView,
}

input! {
    /// Settings of a new share link. Exactly one of `deviceId` and `groupId` must be given.
    struct ShareInput {
        /// Name of the share link, shown on its page. Null for none.
        name: OptionalName, nullable, example "Delivery to Vigo";
        /// Device to show, given by its ID, identifier or a name that only one device has.
        device as "deviceId": ByName<DeviceId>, nullable, example "dev_01jc2m8k4n5p7";
        /// Group to show, given by its ID or a name that only one group has.
        group as "groupId": ByName<GroupId>, nullable, example null;
        /// Time from which the link can be opened. Earlier locations are not shown. Default: now.
        from: Instant, nullable, example "2026-05-01T12:00:00Z";
        /// Time at which the link expires: in the future, after `from`, and at most 366 days from now.
        until: InstantOrNever, required, example "2026-05-08T12:00:00Z";
        /// Whether the page of the link shows the name of the account. Nothing else of the account is shown. Default:
        /// `true`.
        show_account as "showAccount": bool, or(true), example true;
        /// Whether the page of the link shows the trips of the devices since `from`: their times and distances. Default:
        /// `false`.
        show_trips as "showTrips": bool, or(false), example false;
        /// Whether the page of the link shows the texts of the conversations with the devices since `from`, without
        /// positions and names of users. Default: `false`.
        show_conversation as "showConversation": bool, or(false), example false;
        /// Number of minutes after which the page shows a message, at most 31 days. Not permitted without
        /// `showConversation`. Default: 0.
        conversation_delay as "conversationDelayMinutes":
            Whole<0, { Share::CONVERSATION_DELAY_MAX_MIN }>, or(0), example 0;
    }
}

impl ShareView {
    /// The link as a caller with these privileges sees it: only those who may create links get its URLs.
    fn of(share: Share, base_url: &BaseUrl, privileges: Privileges) -> Self {
        let shows_urls = privileges.allows(Privilege::DevicesWrite);
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
            show_trips: share.link.show_trips,
            show_conversation: share.link.conversation_delay_min.is_some(),
            conversation_delay_minutes: share.link.conversation_delay_min.unwrap_or(0),
            page: shows_urls.then(|| base_url.join(&format!("/shared/{}", share.link.secret))),
            url: shows_urls.then(|| base_url.join(&format!("/api/shared/{}", share.link.secret))),
            views: share.views,
            last_viewed: share.last_viewed.map(|at| at.to_string()),
            created_by: share.created_by.map(|user| user.to_string()),
            creation: share.creation.to_string(),
        }
    }
}

/// Members of answers that clients do not set.
const READ_ONLY: &[&str] = &["id", "page", "url", "views", "lastViewed", "createdBy", "creation"];
/// The members that refer to other resources by name or ID.
const NAMES: &[(&str, Named)] = &[("deviceId", Named::Device), ("groupId", Named::Group)];

fn read_share(body: &Value, zone: &Zone, now: Timestamp) -> ApiResult<NewShare> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: ShareInput, fields| {
        let until = input.until.map(InstantOrNever::or_max);
        let given = |name: &str| body.get(name).is_some_and(|value| !value.is_null());
        match (given("deviceId"), given("groupId")) {
            (true, true) => fields.refuse("groupId", "must not be given together with \"deviceId\""),
            (false, false) => fields.refuse("deviceId", "is required unless \"groupId\" is given"),
            _ => {}
        }
        if let (Some(from), Some(until)) = (input.from, until)
            && until <= from
        {
            fields.refuse("until", "must be in the future and later than \"from\"");
        }
        if input.conversation_delay > 0 && !input.show_conversation {
            fields
                .refuse("conversationDelayMinutes", "must not be given unless \"showConversation\" is true");
        }
        let target = input.device.map(ShareTarget::Device).or(input.group.map(ShareTarget::Group))?;
        let secret = Secret::generate().expose().to_owned();
        Some(NewShare {
            target,
            name: input.name,
            from: input.from.unwrap_or(now),
            until: until?,
            show_account: input.show_account,
            show_trips: input.show_trips,
            conversation_delay_min: input.show_conversation.then_some(input.conversation_delay),
            secret,
        })
    })
}

/// Refuses a link that would already be expired, or would be valid for too long.
fn check_end(link: &NewShare, now: Timestamp) -> ApiResult<()> {
    let latest = now.plus_seconds(AHEAD_MAX_S);
    let detail = if link.until <= now {
        "\"until\" must be in the future and later than \"from\".".to_owned()
    } else if link.until > latest {
        format!("\"until\" must be at most 366 days from now: {latest} or earlier.")
    } else {
        return Ok(());
    };
    Err(invalid_body(vec![Problem { pointer: Pointer::root().member("until"), detail }]))
}

/// Creates the link. A repeated request gets the link of the first one, even if that is expired by now.
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
    Ok(attribute_reference(made, member)??.into_inner())
}

async fn find(app: &App, caller: &Caller, id: Option<ShareId>) -> ApiResult<Share> {
    let missing = || not_found(Kind::Share);
    let id = id.ok_or_else(missing)?;
    // Reads the first link from this id on. If it is another link, this one is not visible.
    let page = PageRequest { after: Some(id.as_i64() - 1), limit: 1 };
    let found = app.store.list_shares(caller.scope(), page).await?.items.into_iter().next();
    found.filter(|share| share.id == id).ok_or_else(missing)
}

/// List share links
///
/// Returns the share links to devices and groups that the caller may see, sorted by ID. Expired links are listed until
/// they are deleted. The list is complete unless `limit` or `cursor` is given; with either, it is returned in pages.
/// Any user may call this operation; the URLs of the links require the privilege `devices.write`.
#[utoipa::path(get, path = "/api/shares", tag = "shares", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of share links in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
), responses((status = 200, description = "Share links that the caller may see, sorted by ID.", body = ShareList)))]
pub async fn list_shares(Call(app, caller): Call, params: Params) -> ApiResult<Response> {
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

/// Create a share link
///
/// Creates a public link to one device or one group. Anyone who has the URL in `page` or `url` can see names, positions
/// and status of the devices until the link expires or is revoked, without signing in. Requires the privilege
/// `devices.write`.
#[utoipa::path(post, path = "/api/shares", tag = "shares", request_body = ShareInput,
    responses((status = 201, description = "The share link was created.", body = ShareView)))]
pub async fn create_share(Call(app, caller): Call, once: Once, mut body: JsonBody) -> ApiReply<ShareView> {
    caller.require(Privilege::DevicesWrite)?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let new = read_share(&body.value, caller.zone(), caller.now())?;
    let held = once.hold(&app, &caller, &body)?;
    let share = make(&app, &caller, new, held.key.clone()).await?;
    let address = app.base_url.join(&format!("/api/shares/{}", share.id));
    let view = ShareView::of(share, &app.base_url, caller.privileges());
    Ok(caller.reply(view).created(address).revision(REVISION))
}

/// Retrieve a share link
///
/// Returns a share link. Any user who may see its device or group may call this operation; the URLs of the link require
/// the privilege `devices.write`.
#[utoipa::path(get, path = "/api/shares/{shareId}", tag = "shares",
    responses((status = 200, description = "The share link.", body = ShareView)))]
pub async fn get_share(
    Call(app, caller): Call,
    IdPath(id): IdPath<ShareId>,
    params: Params,
) -> ApiReply<ShareView> {
    params.finish()?;
    let share = find(&app, &caller, id).await?;
    let view = ShareView::of(share, &app.base_url, caller.privileges());
    Ok(caller.reply(view).revision(REVISION))
}

/// Revoke a share link
///
/// Deletes a share link. Its URLs return 404 from then on. Requires the privilege `devices.write`.
#[utoipa::path(delete, path = "/api/shares/{shareId}", tag = "shares",
    responses((status = 200, description = "The share link was revoked.", body = Done)))]
pub async fn delete_share(
    Call(app, caller): Call,
    IdPath(id): IdPath<ShareId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    let share = find(&app, &caller, id).await?;
    caller.require(Privilege::DevicesWrite)?;
    preconditions.check(Kind::Share, REVISION)?;
    app.store.delete_share(&caller.actor(), share.id).await?;
    Ok(caller.reply(Done {}))
}
