//! The OpenAPI document: collected from the handlers, completed here with the parts that all operations share.

mod answer_limits;
mod envelope;
mod example;
mod finish;
mod json_patch;
mod merge_patch;
mod parameters;
mod shared;
mod webhooks;

use serde_json::Value;
use utoipa::OpenApi;

use super::middleware::ProblemBody;
use super::reply::Envelope;

/// The introduction of the document, its tags, and schemas that no operation names.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Perigee",
        version = "1",
        description = "The API of Perigee, a self-hosted satellite tracking service: devices, groups and users; \
            locations, alerts and notifications.\n\n\
            Get a token from `POST /api/Auth/Token` with a user name and an API key, and send it as \
            `Authorization: Bearer <token>` with every other request.\n\n\
            A successful response means that the data is committed and synced to disk. After a 5xx response or none, \
            locations and alerts can be sent again without creating duplicates; send other requests that create a \
            resource with an `Idempotency-Key`.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "authentication", description = "Tokens, console sessions, passwords and the second factor."),
        (name = "devices", description = "Trackers and other devices that report locations, with their licences and limits."),
        (name = "locations", description = "Locations that devices reported: submit, read and delete them."),
        (name = "drivers", description = "People who drive devices: their key tags and their assignments to devices."),
        (name = "trips", description = "Timelines of devices: trips, stops and gaps, derived from their locations."),
        (name = "reports", description = "Totals of timelines, and reports as tables and documents."),
        (name = "maintenance", description = "Maintenance plans of devices: what is due by distance, engine hours or date, and what was done."),
        (name = "plans", description = "Plans of voyages, shifts and hikes: check-ins, and what happens if one is missed."),
        (name = "gateways", description = "Addresses that receive feeds of satellite networks and phones, raw messages, and devices that no account has registered."),
        (name = "commands", description = "Commands to devices and their state."),
        (name = "conversations", description = "Texts between devices and users, over all links of a device."),
        (name = "alerts", description = "Alerts that devices sent or that rules raised."),
        (name = "notifications", description = "Recipients of alerts, and the delivery state of each notification."),
        (name = "groups", description = "Named sets of devices, for filters, rules and access."),
        (name = "rules", description = "Conditions that raise alerts, and the devices that they apply to."),
        (name = "geofences", description = "Named areas, circles and corridors that rules test positions against."),
        (name = "users", description = "Users of the account, their privileges and their access."),
        (name = "account", description = "The account of the caller: settings, licences and API key."),
        (name = "shares", description = "Share links: read-only live views without signing in."),
        (name = "templates", description = "Texts of notifications that the account can replace."),
        (name = "operator", description = "Operations for operators of the server: accounts, licences, health."),
        (name = "console", description = "Data that the web console needs."),
        (name = "events", description = "Events of the account, polled or streamed."),
        (name = "webhooks", description = "URLs that receive events, and the deliveries to them."),
        (name = "audit", description = "The audit log: who changed what, and when."),
    ),
    components(schemas(
        Envelope,
        crate::http::format::Format,
        crate::http::history::OrderName,
        crate::http::routes::alerts::all::StageName,
        crate::http::routes::gateways::raw_messages::MessageResultName,
        crate::http::routes::devices::commands::view::CommandStateName,
        crate::http::routes::devices::conversation::view::MessageStateName,
        crate::http::routes::reports::run::FormatName,
        crate::http::routes::reports::schedule::RunStateName,
        ProblemBody<'static>
    )),
)]
struct Whole;

/// The document of these operations, without the address of a server.
pub fn document(operations: utoipa::openapi::OpenApi) -> Value {
    let mut whole = Whole::openapi();
    whole.merge(operations);
    let mut document = serde_json::to_value(&whole).unwrap_or_default();
    finish::finish(&mut document);
    document
}
