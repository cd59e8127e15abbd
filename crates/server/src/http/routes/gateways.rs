//! Gateways of the account: addresses to which satellite networks and phones send messages.

use axum::extract::State;
use axum::response::Response;
use perigee_core::account_gateway::{Gateway, NewGateway};
use perigee_core::error::Kind;
use perigee_core::feed_health::GatewayState;
use perigee_core::id::{DeviceId, GatewayId};
use perigee_core::page::PageRequest;
use perigee_core::privilege::Privilege;
use perigee_core::revision::Revision;
use perigee_core::text::{Line, OptionalName, SHORT_MAX};
use perigee_core::time::Timestamp;
use perigee_gateways::{Delivery, FEEDS, Feed, Options};
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
use crate::http::input::{ByName, Member, input, read_fields};
use crate::http::json::{Field, Fields};
use crate::http::list::answer_list;
use crate::http::names::{Named, resolve_names};
use crate::http::reply::{Done, Reply};
use crate::poll::{Provider, SECRET_OPTIONS};
use crate::webhook::Guard;

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
    /// Settings of the feed. Passwords, keys and tokens in it are not shown: they are null.
    #[schema(value_type = Object, example = json!({}))]
    options: Map<String, Value>,
    /// The address to enter at the provider or in the app. It holds the secret, is answered only when the gateway is made,
    /// and is null from then on. Null too for feeds that the service fetches.
    #[schema(example = "https://track.example.com/gateways/osmand/q8Jm0wXb1fTzKc5sYh3nVd7pRg2uLa9e")]
    url: Option<String>,
    /// The id of the user who made it.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// When it was made.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// How its messages come.
    health: GatewayHealthView,
}

/// How the messages of a gateway come. It is up to date to some seconds.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = GatewayHealth)]
pub struct GatewayHealthView {
    /// When the last message came, readable or not.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_message: Option<String>,
    /// Messages of about the last 24 hours.
    #[schema(example = 144, minimum = 0)]
    messages_last_day: u64,
    /// How often messages come, in seconds; null until enough is known.
    #[schema(example = 600, minimum = 0)]
    interval_seconds: Option<u32>,
    /// Since when no message came for about two of its intervals; null while they come as usual.
    #[schema(example = json!(null), format = DateTime)]
    late_since: Option<String>,
    /// Messages that could not be read, and requests to the provider that failed, since the gateway was made.
    #[schema(example = 0, minimum = 0)]
    errors: u64,
    /// Requests that were refused because their signature or token was wrong, or by which the provider refused ours.
    #[schema(example = 0, minimum = 0)]
    refused: u64,
    /// The last error or refusal.
    #[schema(example = json!(null))]
    last_error: Option<String>,
    /// When that was.
    #[schema(example = json!(null), format = DateTime)]
    last_error_at: Option<String>,
    /// Of a feed that the service fetches: seconds since the instant up to which everything is stored; null before the first
    /// complete answer.
    #[schema(example = json!(null), minimum = 0)]
    backlog_seconds: Option<i64>,
    /// Of a feed that the service fetches: when it is fetched next.
    #[schema(example = json!(null), format = DateTime)]
    next_poll: Option<String>,
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
        device as "deviceId": ByName<DeviceId>, nullable, example "dev_01jc2m8k4n5p7";
        /// Settings of the feed.
        options: OptionsObject, nullable, example {};
    }
}

/// The name of a feed that sends requests, or is fetched.
enum FeedName {}

/// The feeds that gateways can have.
fn feeds() -> impl Iterator<Item = &'static str> {
    let is_usable = |feed: &&Feed| feed.delivery == Delivery::Push || Provider::find(feed.name).is_some();
    FEEDS.iter().filter(is_usable).map(|feed| feed.name)
}

impl Member for FeedName {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        Line::<1, SHORT_MAX>::read(fields, name).check(|text| {
            if feeds().any(|feed| feed == text) {
                return Ok(());
            }
            Err(format!("must be one of {}", feeds().collect::<Vec<_>>().join(", ")).into())
        })
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(feeds())).into()
    }
}

/// Settings of a feed: any JSON object of a few kilobytes.
pub(super) enum OptionsObject {}

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
    fn of(gateway: Gateway, url: Option<String>, now: Timestamp) -> Self {
        let NewGateway { feed, name, device, options, .. } = gateway.settings;
        let mut options: Map<String, Value> = serde_json::from_str(&options).unwrap_or_default();
        for secret in SECRET_OPTIONS {
            options.entry(secret).and_modify(|value| *value = Value::Null);
        }
        Self {
            id: gateway.id.to_string(),
            name,
            feed,
            device_id: device.map(|device| device.to_string()),
            options,
            url,
            created_by: gateway.created_by.map(|user| user.to_string()),
            creation: gateway.creation.to_string(),
            health: GatewayHealthView::of(gateway.state, now),
        }
    }
}

impl GatewayHealthView {
    fn of(state: GatewayState, now: Timestamp) -> Self {
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        let complete_to = state.poll.as_ref().and_then(|poll| poll.complete_to);
        let (last_error_at, last_error) = state.last_error.unzip();
        Self {
            last_message: text(state.last_message),
            messages_last_day: state.hours.last_day(now),
            interval_seconds: state.interval_s,
            late_since: text(state.late_since),
            errors: state.errors,
            refused: state.refused,
            last_error,
            last_error_at: text(last_error_at),
            backlog_seconds: complete_to.map(|at| (now.as_seconds() - at.as_seconds()).max(0)),
            next_poll: text(state.poll.map(|poll| poll.next)),
        }
    }
}

/// What answers have and clients do not set.
const READ_ONLY: &[&str] = &["id", "url", "createdBy", "creation", "health"];
/// The members that name other things.
const NAMES: &[(&str, Named)] = &[("deviceId", Named::Device)];

fn read_gateway(body: &Value, secret: &Secret, guard: &Guard) -> ApiResult<NewGateway> {
    let fields = Fields::of(body).map_err(invalid_body)?;
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: GatewayInput, fields| {
        let feed = input.feed?;
        let options = input.options.unwrap_or_else(|| "{}".to_owned());
        let provider = Provider::find(&feed);
        if let Some(provider) = provider {
            let options = Options::new(serde_json::from_str(&options).unwrap_or_default());
            if let Err(error) = provider.check(&options, guard) {
                fields.refuse("options", &error);
            }
        }
        Some(NewGateway {
            feed,
            name: input.name,
            device: input.device,
            options,
            secret_hash: *gateway_secret::hash(secret).as_bytes(),
            polled: provider.is_some(),
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
    let now = app.clock.now();
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let store = store.clone();
        async move { store.list_gateways(scope, page).await }
    };
    answer_list(&app, &caller, "gateways", part, fetch, move |gateway| GatewayView::of(gateway, None, now))
        .await
}

/// Create a gateway.
///
/// Feeds that the service fetches (`garmin-history`, `garmin-mapshare`, `spot-feed`) have their addresses and passwords in
/// `options`. Of the others the answer has the `url` to enter at the provider or in the app; it cannot be read again. Needs `devices.write` and a
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
    let new = read_gateway(&body.value, &secret, app.webhooks.guard())?;
    let (hash, held) = (new.secret_hash, once.hold(&app, &caller, &body)?);
    let made = app.store.create_gateway(&caller.actor(), new, held.key.clone()).await;
    let gateway = place_reference(made, "deviceId")??.into_inner();
    let address = app.base_url.join(&format!("/api/gateways/{}", gateway.id));
    // A repeated request gets the gateway that the first one made, whose secret is no longer known.
    let is_new = gateway.settings.secret_hash == hash;
    let path = format!("/gateways/{}/{}", gateway.settings.feed, secret.expose());
    let url = (is_new && !gateway.settings.polled).then(|| app.base_url.join(&path));
    Ok(caller.reply(GatewayView::of(gateway, url, app.clock.now())).created(address).revision(REVISION))
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
    Ok(caller.reply(GatewayView::of(gateway, None, app.clock.now())).revision(REVISION))
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
