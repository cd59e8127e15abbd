//! Reading gateways from requests. Options are checked against their feed before they are stored.

use perigee_core::gateways::account_gateway::{Gateway, GatewaySettings, NewGateway};
use perigee_core::id::DeviceId;
use perigee_core::text::{Line, OptionalName, SHORT_MAX};
use perigee_gateways::setting::SettingError;
use perigee_gateways::{Delivery, FEEDS, Feed, Options, SENDERS, check_options, find_feed, host_and_port};
use serde_json::Map;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::auth::{Secret, gateway_secret};
use crate::http::input::{ByName, Member};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;
use crate::poll::Provider;
use crate::webhook::Guard;

input! {
    /// Settings of a new gateway.
    pub(super) struct GatewayInput {
        /// Feed of the gateway: the provider or app whose messages it receives. It cannot be changed later.
        feed: FeedName, required, example "osmand";
        /// Name of the gateway, shown in lists. Null for none.
        name: OptionalName, nullable, example "Ana's phone";
        /// Device of all messages of the gateway, whatever identifiers they have, for example the device of a phone.
        /// Given by its ID, identifier or a name that only one device has. Null to assign messages by their
        /// identifiers.
        device as "deviceId": ByName<DeviceId>, nullable, example "dev_01jc2m8k4n5p7";
        /// Options of the feed, at most 16384 bytes as JSON. An option that the feed does not have is refused. Default:
        /// none.
        ///
        /// - `sendUrl`, `sendKey`, `sender`: URL and key of Garmin's IPC Inbound, and the e-mail address or telephone number
        ///   from which texts are sent to devices of `garmin`.
        /// - `sendUser`, `sendPassword`: credentials with which texts are sent to devices of `rockblock`; `sendUrl`: URL of
        ///   the interface for messages, if not the usual one.
        /// - `sendToken`: token of the API by which texts are sent to devices of `cloudloop`; `sendUrl`: URL of the API, if
        ///   not the usual one.
        /// - `sendAddress`: host and port to which `directip` sends texts, such as `sbd.example.com:10800`.
        /// - `user`, `password`: credentials of HTTP Basic that requests must have; for `garmin-history`, those that the server
        ///   sends to the provider.
        /// - `token`: token that Garmin sends with each request.
        /// - `key`: RSA public key by which requests of `rockblock` are verified.
        /// - `speedUnit`: unit of speeds in requests of `rockblock`, `knots` or `km/h`.
        /// - `mapping`: how requests of `json` are read.
        /// - `model`: model of the devices.
        /// - `payload`, `format`, `template`: how payloads are decoded, as in `decoding` of a device.
        /// - `devices`: object with `model`, `payload`, `format`, `template` and `speedUnit` for single devices, by identifier.
        /// - `url`, `apiKey`, `imeis`: URL, key and devices of `garmin-history`.
        /// - `mapShare`, `password`: name and password of the page of `garmin-mapshare`; `url`: URL of Garmin's feeds, if not the
        ///   usual one.
        /// - `feedId`, `password`: ID and password of the page of `spot-feed`; `url`: URL of SPOT's feeds, if not the usual one.
        options: OptionsObject, nullable, example {};
    }
}

input! {
    /// Settings of a gateway that can be changed.
    pub(super) struct GatewayChangeInput {
        /// Feed of the gateway. It cannot be changed; if given, it must be the current feed.
        feed: FeedName, nullable, example "osmand";
        /// Name of the gateway, shown in lists. Null for none.
        name: OptionalName, nullable, example "Ana's phone";
        /// Device of all messages of the gateway, whatever identifiers they have. Given by its ID, identifier or a name
        /// that only one device has. Null to assign messages by their identifiers. Messages that are stored already keep
        /// their device.
        device as "deviceId": ByName<DeviceId>, nullable, example "dev_01jc2m8k4n5p7";
        /// Options of the feed, at most 16384 bytes as JSON. They replace all options of the gateway, except that a
        /// `password`, `apiKey`, `token`, `sendKey`, `sendPassword` or `sendToken` that is null keeps its
        /// value. `POST /api/gateways` lists the options.
        options: OptionsObject, nullable, example {};
    }
}

/// The name of a feed that sends requests, or that the server fetches.
pub(super) enum FeedName {}

/// The feeds that gateways can have.
fn feeds() -> impl Iterator<Item = &'static str> {
    let is_usable = |feed: &&Feed| feed.delivery == Delivery::Push || Provider::find(feed.name).is_some();
    FEEDS.iter().filter(is_usable).chain(SENDERS).map(|feed| feed.name)
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

/// Options of a feed: a JSON object of at most 16 KiB, which is checked against the feed later.
pub(in crate::http::routes) enum OptionsObject {}

impl Member for OptionsObject {
    type Value = Map<String, Value>;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Map<String, Value>> {
        fields.raw(name).convert(|value| {
            let members = value.as_object().ok_or("must be an object")?;
            let text = value.to_string();
            if text.len() > Gateway::OPTIONS_MAX || text.contains("\\u0000") {
                return Err("must have at most 16384 bytes and no NUL characters".into());
            }
            Ok(members.clone())
        })
    }

    fn schema() -> RefOr<Schema> {
        let anything = AdditionalProperties::FreeForm(true);
        ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(anything)).into()
    }
}

/// Members of answers that clients do not set.
const READ_ONLY: &[&str] =
    &["id", "url", "previousUrlUntil", "createdBy", "creation", "lastModified", "health"];
/// The members that refer to other resources by name or ID.
pub(super) const NAMES: &[(&str, Named)] = &[("deviceId", Named::Device)];

/// The problems of options, each with its path. `guard` decides which hosts the server may fetch from.
pub(in crate::http::routes) fn problems_of(
    feed: &Feed,
    options: &Map<String, Value>,
    guard: &Guard,
) -> Vec<Problem> {
    let mut errors = check_options(feed, options);
    if let Some(provider) = Provider::find(feed.name).filter(|_| errors.is_empty())
        && let Err(error) = provider.check(&Options::new(options.clone()), guard)
    {
        errors.push(error);
    }
    if let Some(url) = options.get("sendUrl").and_then(Value::as_str)
        && let Err(refused) = guard.parse(url.trim())
    {
        errors.push(SettingError::new("/sendUrl", refused.to_string()));
    }
    if let Some((host, _)) = options.get("sendAddress").and_then(Value::as_str).and_then(host_and_port)
        && let Ok(address) = host.parse()
        && let Err(refused) = guard.check(address)
    {
        errors.push(SettingError::new("/sendAddress", refused.to_string()));
    }
    errors.iter().map(Problem::of_setting).collect()
}

fn text_of(options: Map<String, Value>) -> String {
    // Null is the same as missing.
    Value::Object(options.into_iter().filter(|(_, value)| !value.is_null()).collect()).to_string()
}

/// Reads a new gateway with this secret.
pub(super) fn read_gateway(body: &Value, secret: &Secret, guard: &Guard) -> ApiResult<NewGateway> {
    read_body(body, &[ENVELOPE, READ_ONLY], |input: GatewayInput, fields| {
        let feed = find_feed(&input.feed?)?;
        let options = input.options.unwrap_or_default();
        fields.refuse_within("options", problems_of(feed, &options, guard));
        Some(NewGateway {
            feed: feed.name.to_owned(),
            name: input.name,
            device: input.device,
            options: text_of(options),
            secret_hash: *gateway_secret::hash(secret).as_bytes(),
            polled: Provider::find(feed.name).is_some(),
        })
    })
}

/// Reads the new settings of a gateway. Options that do not change are not checked again: an older version may have
/// accepted them.
pub(super) fn read_change(body: &Value, present: &Gateway, guard: &Guard) -> ApiResult<GatewaySettings> {
    let settings = &present.settings;
    read_body(body, &[ENVELOPE, READ_ONLY], |input: GatewayChangeInput, fields| {
        if input.feed.is_some_and(|feed| feed != settings.feed) {
            fields.refuse("feed", "cannot be changed; create a gateway for the other feed instead");
        }
        let stored: Map<String, Value> = serde_json::from_str(&settings.options).unwrap_or_default();
        let mut options = input.options.unwrap_or_default();
        keep_secrets(&mut options, &stored);
        if let Some(feed) = find_feed(&settings.feed).filter(|_| options != stored) {
            fields.refuse_within("options", problems_of(feed, &options, guard));
        }
        let text = if options == stored { settings.options.clone() } else { text_of(options) };
        Some(GatewaySettings { name: input.name, device: input.device, options: text })
    })
}

/// Keeps the stored secrets where the client sends null: answers have null instead of secrets.
pub(in crate::http::routes) fn keep_secrets(options: &mut Map<String, Value>, stored: &Map<String, Value>) {
    for name in Gateway::SECRET_OPTIONS {
        if let Some(shown @ Value::Null) = options.get_mut(name)
            && let Some(secret) = stored.get(name)
        {
            *shown = secret.clone();
        }
    }
}
