//! The OpenAPI document: written beside the handlers, finished here with what all of them share.

mod answer_limits;
mod envelope;
mod example;
mod finish;
mod json_patch;
mod parameters;
mod shared;
mod webhooks;

use serde_json::Value;
use utoipa::OpenApi;

use super::middleware::ProblemBody;
use super::reply::Envelope;

/// What the document says of the whole.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Perigee",
        version = "1",
        description = "Satellite tracking anyone can host: devices, groups and users; locations and alerts.\n\n\
            Get a token from `POST /api/Auth/Token` with a user name and an API key, and send it as \
            `Authorization: Bearer <token>` with every other request.\n\n\
            A positive answer means the data is committed and synced. After no answer or a 5xx, sending again is \
            always safe and never duplicates.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "authentication", description = "Tokens, sessions and what proves who somebody is."),
        (name = "devices", description = "Trackers, their licences and limits."),
        (name = "locations", description = "Where devices were."),
        (name = "gateways", description = "Addresses for satellite networks and phones, messages as they came, devices that nobody knows."),
        (name = "commands", description = "What devices are told to do, and what became of it."),
        (name = "alerts", description = "What happened to devices."),
        (name = "notifications", description = "Whom alerts go to, and what became of each message."),
        (name = "groups", description = "Named sets of devices."),
        (name = "rules", description = "What raises alerts, and of whom."),
        (name = "geofences", description = "Areas, circles and corridors that rules look at."),
        (name = "users", description = "Who signs in, what they may do and see."),
        (name = "account", description = "The account, its licences and settings."),
        (name = "shares", description = "Read-only live views for whoever has the link."),
        (name = "templates", description = "What messages to people say."),
        (name = "operator", description = "What operators of the server do: accounts, licences, health."),
        (name = "console", description = "What the web console needs to know."),
        (name = "events", description = "What happened in the account, polled or streamed."),
        (name = "webhooks", description = "Addresses that events are sent to, and what was delivered."),
        (name = "audit", description = "Who changed what, and when."),
    ),
    components(schemas(
        Envelope,
        crate::http::format::Format,
        crate::http::history::OrderName,
        crate::http::routes::alerts::all::StageName,
        crate::http::routes::raw_messages::MessageResultName,
        crate::http::routes::commands::view::CommandStateName,
        ProblemBody<'static>
    )),
)]
struct Whole;

/// The document of these operations, as served under this address.
pub fn document(operations: utoipa::openapi::OpenApi, base_url: &str) -> Value {
    let mut whole = Whole::openapi();
    whole.merge(operations);
    let mut document = serde_json::to_value(&whole).unwrap_or_default();
    finish::finish(&mut document, base_url);
    document
}
