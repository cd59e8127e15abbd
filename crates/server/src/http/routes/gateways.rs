//! Gateways of the account: addresses to which satellite networks and phones send messages.

use axum::extract::State;
use axum::response::Response;
use perigee_core::account_gateway::{Gateway, NewGateway};
use perigee_core::error::Kind;
use perigee_core::id::{DeviceId, GatewayId};
use perigee_core::page::PageRequest;
use perigee_core::privilege::Privilege;
use perigee_core::revision::Revision;
use perigee_core::text::{Line, OptionalName, SHORT_MAX};
use perigee_gateways::{Delivery, FEEDS, find_feed};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::app::App;
use crate::auth::{Secret, gateway_secret};
use crate::http::edit::{ENVELOPE, place_reference};
use crate::http::error::{ApiResult, invalid_body, not_found};
use crate::http::extract::{Caller, IdPath, JsonBody, Once, Params, Preconditions};
use crate::http::input::{Member, input, parsed_kinds, read_fields};
use crate::http::json::{Field, Fields};
use crate::http::list::answer_list;
use crate::http::names::{Named, resolve_names};
use crate::http::reply::{Done, Reply};

/// What a client set of a gateway never changes, so that every gateway is at its first revision.
const REVISION: Revision = Revision::FIRST;

/// An address to which a satellite network or a phone sends messages.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Gateway)]
pub struct GatewayView {
    /// The gateway's id; never changes, and is no secret.
    #[schema(example = "gtw_01jc2m8k4n5p6")]
    id: String,
    /// What it is for.
    #[schema(example = "Ana's phone")]
    name: Option<String>,
    /// The provider or the app whose messages it takes.
    #[schema(example = "osmand")]
    feed: String,
    /// The device of messages that name none.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: Option<String>,
    /// Settings of the feed.
    #[schema(value_type = Object, example = json!({}))]
    options: Map<String, Value>,
    /// The address to enter at the provider or in the app. It holds the secret, is answered only when the gateway is made,
    /// and is null from then on.
    #[schema(example = "https://track.example.com/gateways/osmand/q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    url: Option<String>,
    /// The id of the user who made it.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// A list of gateways.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayList {
    /// The gateways, by id.
    gateways: Vec<GatewayView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

input! {
    /// A gateway to be made.
    struct GatewayInput {
        /// The provider or the app whose messages it takes.
        feed: FeedName, required, example "osmand";
        /// What it is for.
        name: OptionalName, nullable, example "Ana's phone";
        /// The device of messages that name none, such as those of a phone. Without it, messages are matched with devices by
        /// their identifiers.
        device as "deviceId": GatewayDevice, nullable, example "dev_01jc2m8k4n5p7";
        /// Settings of the feed.
        options: OptionsObject, nullable, example {};
    }
}

parsed_kinds! {
    /// The device of messages that name none.
    GatewayDevice => DeviceId, "the id of a device", DeviceId::schema();
}

/// The name of a feed that sends requests.
enum FeedName {}

impl Member for FeedName {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        Line::<1, SHORT_MAX>::read(fields, name).check(|text| {
            if find_feed(text).is_some_and(|feed| feed.delivery == Delivery::Push) {
                return Ok(());
            }
            let known: Vec<&str> =
                FEEDS.iter().filter(|feed| feed.delivery == Delivery::Push).map(|feed| feed.name).collect();
            Err(format!("must be one of {}", known.join(", ")).into())
        })
    }

    fn schema() -> RefOr<Schema> {
        let names = FEEDS.iter().filter(|feed| feed.delivery == Delivery::Push).map(|feed| feed.name);
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names)).into()
    }
}

/// Settings of a feed: any JSON object of a few kilobytes.
enum OptionsObject {}

impl Member for OptionsObject {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        fields.raw(name).convert(|value| {
            let text = value.to_string();
            if !value.is_object() {
                Err("must be an object".into())
            } else if text.len() > Gateway::OPTIONS_MAX || text.contains("\\u0000") {
                Err("must have at most 16384 bytes and no NUL characters".into())
            } else {
                Ok(text)
            }
        })
    }

    fn schema() -> RefOr<Schema> {
        let anything = AdditionalProperties::FreeForm(true);
        ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(anything)).into()
    }
}

impl GatewayView {
    fn of(gateway: Gateway, url: Option<String>) -> Self {
        let NewGateway { feed, name, device, options, .. } = gateway.settings;
        Self {
            id: gateway.id.to_string(),
            name,
            feed,
            device_id: device.map(|device| device.to_string()),
            options: serde_json::from_str(&options).unwrap_or_default(),
            url,
            created_by: gateway.created_by.map(|user| user.to_string()),
            creation: gateway.creation.to_string(),
        }
    }
}

/// What answers have and clients do not set.
const READ_ONLY: &[&str] = &["id", "url", "createdBy", "creation"];
/// The members that name other things.
const NAMES: &[(&str, Named)] = &[("deviceId", Named::Device)];

fn read_gateway(body: &Value, secret: &Secret) -> ApiResult<NewGateway> {
    let fields = Fields::of(body).map_err(invalid_body)?;
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: GatewayInput, _| {
        Some(NewGateway {
            feed: input.feed?,
            name: input.name,
            device: input.device,
            options: input.options.unwrap_or_else(|| "{}".to_owned()),
            secret_hash: *gateway_secret::hash(secret).as_bytes(),
        })
    })
}

async fn find(app: &App, caller: &Caller, id: Option<GatewayId>) -> ApiResult<Gateway> {
    let missing = || not_found(Kind::Gateway);
    let id = id.ok_or_else(missing)?;
    // Lists one gateway after the preceding id: it is this one, or it is not visible.
    let page = PageRequest { after: Some(id.as_i64() - 1), limit: 1 };
    let found = app.store.list_gateways(caller.scope(), page).await?.items.into_iter().next();
    found.filter(|gateway| gateway.id == id).ok_or_else(missing)
}

/// List gateways.
///
/// Complete unless `limit` or `cursor` is given. Needs a user who sees the whole account.
#[utoipa::path(get, path = "/api/gateways", tag = "gateways", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items; the list is then paged.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
), responses((status = 200, description = "The gateways of the account.", body = GatewayList)))]
pub async fn list_gateways(State(app): State<App>, caller: Caller, params: Params) -> ApiResult<Response> {
    caller.require_whole_account()?;
    let part = params.finish_list("gateways")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_gateways(scope, page).await }
    };
    answer_list(&app, &caller, "gateways", part, fetch, |gateway| GatewayView::of(gateway, None)).await
}

/// Create a gateway.
///
/// The answer has the `url` to enter at the provider or in the app; it cannot be read again. Needs `devices.write` and a
/// user who sees the whole account.
#[utoipa::path(post, path = "/api/gateways", tag = "gateways", request_body = GatewayInput,
    responses((status = 201, description = "The gateway that was made.", body = GatewayView)))]
pub async fn create_gateway(
    State(app): State<App>,
    caller: Caller,
    once: Once,
    mut body: JsonBody,
) -> ApiResult<Reply<GatewayView>> {
    caller.require(Privilege::DevicesWrite)?;
    caller.require_whole_account()?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let secret = Secret::generate();
    let new = read_gateway(&body.value, &secret)?;
    let (hash, held) = (new.secret_hash, once.hold(&app, &caller, &body)?);
    let made = app.store.create_gateway(&caller.actor(), new, held.key.clone()).await;
    let gateway = place_reference(made, "deviceId")??.into_inner();
    let address = app.base_url.join(&format!("/api/gateways/{}", gateway.id));
    // A repeated request gets the gateway that the first one made, whose secret is no longer known.
    let is_new = gateway.settings.secret_hash == hash;
    let path = format!("/gateways/{}/{}", gateway.settings.feed, secret.expose());
    let url = is_new.then(|| app.base_url.join(&path));
    Ok(caller.reply(GatewayView::of(gateway, url)).created(address).revision(REVISION))
}

/// Read a gateway.
#[utoipa::path(get, path = "/api/gateways/{gatewayId}", tag = "gateways",
    params(("gatewayId" = String, Path, description = "The gateway's id.", example = "gtw_01jc2m8k4n5p6")),
    responses((status = 200, description = "The gateway.", body = GatewayView)))]
pub async fn get_gateway(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GatewayId>,
    params: Params,
) -> ApiResult<Reply<GatewayView>> {
    params.finish()?;
    let gateway = find(&app, &caller, id).await?;
    Ok(caller.reply(GatewayView::of(gateway, None)).revision(REVISION))
}

/// Delete a gateway.
///
/// Its address is not answered from then on. What came by it stays.
#[utoipa::path(delete, path = "/api/gateways/{gatewayId}", tag = "gateways",
    params(("gatewayId" = String, Path, description = "The gateway's id.", example = "gtw_01jc2m8k4n5p6")),
    responses((status = 200, description = "The gateway is gone.", body = Done)))]
pub async fn delete_gateway(
    State(app): State<App>,
    caller: Caller,
    IdPath(id): IdPath<GatewayId>,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    let gateway = find(&app, &caller, id).await?;
    caller.require(Privilege::DevicesWrite)?;
    preconditions.check(Kind::Gateway, REVISION)?;
    app.store.delete_gateway(&caller.actor(), gateway.id).await?;
    Ok(caller.reply(Done {}))
}
