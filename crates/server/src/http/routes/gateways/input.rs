//! Gateways as clients set them. Options are checked against their feed at once, so that no message fails later.

use perigee_core::account_gateway::{Gateway, GatewaySettings, NewGateway};
use perigee_core::id::DeviceId;
use perigee_core::text::{Line, OptionalName, SHORT_MAX};
use perigee_gateways::setting::SettingError;
use perigee_gateways::{Delivery, FEEDS, Feed, Options, check_options, find_feed};
use serde_json::{Map, Value};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::auth::{Secret, gateway_secret};
use crate::http::edit::ENVELOPE;
use crate::http::error::ApiResult;
use crate::http::input::{ByName, Member, input, read_body};
use crate::http::json::{Field, Fields, Problem};
use crate::http::names::Named;
use crate::poll::Provider;
use crate::webhook::Guard;

input! {
    /// A gateway to be made.
    pub(super) struct GatewayInput {
        /// The provider or the app whose messages it takes.
        feed: FeedName, required, example "osmand";
        /// What it is for.
        name: OptionalName, nullable, example "Ana's phone";
        /// The device of messages that name none, such as those of a phone. Without it, messages are matched with devices by
        /// their identifiers.
        device as "deviceId": ByName<DeviceId>, nullable, example "dev_01jc2m8k4n5p7";
        /// Settings of the feed. An option that the feed does not have is refused.
        options: OptionsObject, nullable, example {};
    }
}

input! {
    /// What can be changed of a gateway.
    pub(super) struct GatewayChangeInput {
        /// The feed, which cannot be changed. It may be sent back as it was read.
        feed: FeedName, nullable, example "osmand";
        /// What it is for.
        name: OptionalName, nullable, example "Ana's phone";
        /// The device of messages that name none. Messages that are stored already keep their device.
        device as "deviceId": ByName<DeviceId>, nullable, example "dev_01jc2m8k4n5p7";
        /// Settings of the feed, all of them. A password, key or token that is null stays as it is.
        options: OptionsObject, nullable, example {};
    }
}

/// The name of a feed that sends requests, or is fetched.
pub(super) enum FeedName {}

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

/// Settings of a feed: a JSON object of a few kilobytes, which is checked against the feed once that is known.
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

/// What answers have and clients do not set.
const READ_ONLY: &[&str] =
    &["id", "url", "previousUrlUntil", "createdBy", "creation", "lastModified", "health"];
/// The members that name other things.
pub(super) const NAMES: &[(&str, Named)] = &[("deviceId", Named::Device)];

/// What is wrong with settings, each at its place. `guard` says which addresses may be fetched.
pub(in crate::http::routes) fn problems_of(
    feed: &Feed,
    options: &Map<String, Value>,
    guard: &Guard,
) -> Vec<Problem> {
    let mut errors = check_options(feed, options);
    if let Some(provider) = Provider::find(feed.name).filter(|_| errors.is_empty())
        && let Err(error) = provider.check(&Options::new(options.clone()), guard)
    {
        // Everything but the address is checked above.
        errors.push(SettingError::new("/url", error));
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

/// Reads the new settings of a gateway. Options that stay as they are were checked before, by this version or an older one.
pub(super) fn read_change(body: &Value, present: &Gateway, guard: &Guard) -> ApiResult<GatewaySettings> {
    let settings = &present.settings;
    read_body(body, &[ENVELOPE, READ_ONLY], |input: GatewayChangeInput, fields| {
        if input.feed.is_some_and(|feed| feed != settings.feed) {
            fields.refuse("feed", "cannot be changed; create another gateway for another feed");
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

/// Puts the stored secrets where the client sends null, which is what answers show of them.
pub(in crate::http::routes) fn keep_secrets(options: &mut Map<String, Value>, stored: &Map<String, Value>) {
    for name in Gateway::SECRET_OPTIONS {
        if let Some(shown @ Value::Null) = options.get_mut(name)
            && let Some(secret) = stored.get(name)
        {
            *shown = secret.clone();
        }
    }
}
