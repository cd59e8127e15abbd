//! Travellers' links to plans.

use perigee_core::access::privilege::Privileges;
use perigee_core::id::{PlanId, PlanLinkId};
use perigee_core::plans::{NewPlanLink, PlanLink};

use super::handlers::find;
use super::input::PlanLinkInput;
use crate::auth::Secret;
use crate::config::BaseUrl;
use crate::http::extract::IdsPath;
use crate::http::input::read_fields;
use crate::http::json::Fields;
use crate::http::prelude::*;

/// Traveller's link: its page needs no account and has buttons for a check-in and for extending, pausing and ending the plan.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PlanLink)]
pub struct PlanLinkView {
    /// Unique identifier of the link, assigned by the server.
    #[schema(example = "plk_01jc2m8k4n5p6")]
    id: String,
    /// Name of the link. Null if not set.
    #[schema(example = "Ana")]
    name: Option<String>,
    /// Time at which the link expires. Null for as long as the plan exists.
    #[schema(example = json!(null), format = DateTime)]
    until: Option<String>,
    /// URL of the page. Null without the privilege `devices.write`.
    #[schema(example = "https://track.example.com/travel/q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    url: Option<String>,
    /// Time at which a button of the page was last used. Null if none was.
    #[schema(example = "2026-05-02T08:30:00Z", format = DateTime)]
    last_used: Option<String>,
    /// Time at which the link was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// A list of travellers' links.
#[derive(Serialize, ToSchema)]
pub struct PlanLinkList {
    /// Links of the plan, sorted by ID.
    links: Vec<PlanLinkView>,
}

impl PlanLinkView {
    fn of(link: PlanLink, base_url: &BaseUrl, privileges: Privileges) -> Self {
        let shows_url = privileges.allows(Privilege::DevicesWrite);
        Self {
            id: link.id.to_string(),
            name: link.link.name,
            until: link.link.until.map(|at| at.to_string()),
            url: shows_url.then(|| base_url.join(&format!("/travel/{}", link.link.secret))),
            last_used: link.last_used.map(|at| at.to_string()),
            creation: link.creation.to_string(),
        }
    }
}

/// List travellers' links
///
/// Returns the links of a plan, sorted by ID. Any user who may see all devices of the plan may call this operation; the URLs require
/// the privilege `devices.write`.
#[utoipa::path(get, path = "/api/plans/{planId}/links", tag = "plans",
    responses((status = 200, description = "Links of the plan, sorted by ID.", body = PlanLinkList)))]
pub async fn list_plan_links(
    Call(app, caller): Call,
    IdPath(id): IdPath<PlanId>,
    params: Params,
) -> ApiReply<PlanLinkList> {
    params.finish()?;
    let id = find(&app, &caller, id).await?.id;
    let links = app.store.list_plan_links(caller.scope(), id).await?;
    let privileges = caller.privileges();
    let links = links.into_iter().map(|link| PlanLinkView::of(link, &app.base_url, privileges)).collect();
    Ok(caller.reply(PlanLinkList { links }))
}

/// Create a traveller's link
///
/// Creates a secret link to a plan. Whoever has its `url` sees the name, the state and the next check-in of the plan, and can check
/// in and start, extend, pause, resume and end the plan, without an account. A plan may have up to 20 links. Requires the privilege
/// `devices.write`.
#[utoipa::path(post, path = "/api/plans/{planId}/links", tag = "plans", request_body = PlanLinkInput,
    responses((status = 201, description = "The link was created.", body = PlanLinkView)))]
pub async fn create_plan_link(
    Call(app, caller): Call,
    once: Once,
    IdPath(id): IdPath<PlanId>,
    body: JsonBody,
) -> ApiReply<PlanLinkView> {
    let id = find(&app, &caller, id).await?.id;
    caller.require(Privilege::DevicesWrite)?;
    let now = caller.now();
    let fields = Fields::of(&body.value).map_err(invalid_body)?.in_zone(caller.zone());
    let new = read_fields(fields, &[ENVELOPE], |input: PlanLinkInput, fields| {
        if input.until.is_some_and(|until| until <= now) {
            fields.refuse("until", "must be in the future");
        }
        let name = input.name.filter(|name| !name.trim().is_empty());
        Some(NewPlanLink { name, until: input.until, secret: Secret::generate().expose().to_owned() })
    })?;
    let held = once.hold(&app, &caller, &body)?;
    let link = app.store.create_plan_link(&caller.actor(), id, new, held.key.clone()).await?.into_inner();
    let address = app.base_url.join(&format!("/api/plans/{id}/links"));
    let view = PlanLinkView::of(link, &app.base_url, caller.privileges());
    Ok(caller.reply(view).created(address))
}

/// Revoke a traveller's link
///
/// Deletes a link of a plan. Its page returns 404 from then on. Requires the privilege `devices.write`.
#[utoipa::path(delete, path = "/api/plans/{planId}/links/{linkId}", tag = "plans",
    responses((status = 200, description = "The link was revoked.", body = Done)))]
pub async fn delete_plan_link(
    Call(app, caller): Call,
    IdsPath(id, link): IdsPath<PlanId, PlanLinkId>,
) -> ApiReply<Done> {
    let id = find(&app, &caller, id).await?.id;
    caller.require(Privilege::DevicesWrite)?;
    let link = link.ok_or_else(|| not_found(Kind::PlanLink))?;
    app.store.delete_plan_link(&caller.actor(), id, link).await?;
    Ok(caller.reply(Done {}))
}
