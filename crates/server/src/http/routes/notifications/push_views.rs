//! The bodies of requests and answers about push subscriptions.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use http::{HeaderMap, header};
use perigee_core::alerts::severity::Severity;
use perigee_core::id::SessionId;
use perigee_core::notifications::push::{NewPushSubscription, PushEndpoint, PushSettings, PushSubscription};
use perigee_core::text::{Line, Name, OptionalName};
use perigee_notify::push::{AUTH_BYTES, PushKey, is_public_key};
use sha2::{Digest as _, Sha256};

use crate::http::input::{Object, Word};
use crate::http::prelude::*;
use crate::http::routes::alerts::view::SeverityName;
use crate::http::routes::notifications::browser_name::browser_name;
use crate::http::schedule::{ScheduleInput, ScheduleView};
use crate::webhook::Guard;

/// Public key with which browsers subscribe to notifications of this server.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PushKey)]
pub struct PushKeyView {
    /// Public key: an uncompressed point of P-256, in URL-safe base64 without padding.
    #[schema(
        example = "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM"
    )]
    pub(super) public_key: String,
    /// Whether the server sends notifications to browsers. If false, they are recorded as suppressed.
    #[schema(example = true)]
    pub(super) enabled: bool,
}

/// Browser in which a user is notified.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PushSubscription)]
pub struct PushSubscriptionView {
    /// Unique identifier of the push subscription, assigned by the server. It is the `address` of notifications to the
    /// browser.
    #[schema(example = "psb_01jc2m8k4n5p7")]
    id: String,
    /// Name of the browser, shown in lists.
    #[schema(example = "Chrome on Android")]
    name: String,
    /// Only alerts of this severity or higher are sent to the browser.
    #[schema(value_type = SeverityName, example = "warning")]
    minimum_severity: &'static str,
    /// Hours in which the browser is not notified. Null for no such hours.
    quiet_hours: Option<ScheduleView>,
    /// Whether critical alerts are sent in the quiet hours too.
    #[schema(example = true)]
    critical_in_quiet_hours: bool,
    /// SHA-256 of the endpoint in hexadecimal, by which a browser recognises its own subscription. The endpoint itself
    /// is a secret and not returned.
    #[schema(example = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08")]
    endpoint_hash: String,
    /// Whether the browser is subscribed with the current key of the server. If false, it must subscribe again before
    /// its key expires.
    #[schema(example = true)]
    current_key: bool,
    /// Whether the browser was subscribed in the session of this request.
    #[schema(example = true)]
    current_session: bool,
    /// Time at which the browser was subscribed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// Time at which the push subscription was last changed or renewed.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: String,
    /// Time at which the push service last accepted a notification for the browser. Null if never.
    #[schema(example = "2026-05-02T03:04:05Z", format = DateTime)]
    last_used: Option<String>,
}

/// Push subscriptions of a user.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PushSubscriptionList {
    /// The push subscriptions, sorted by ID.
    #[schema(max_items = 20)]
    pub(super) push_subscriptions: Vec<PushSubscriptionView>,
}

input! {
    /// Browser to notify, and when.
    pub struct PushSubscriptionInput {
        /// URL of the push service for this browser. It must begin with `https://`, and its host must be on the public
        /// Internet.
        endpoint: Line<1, { PushSubscription::URL_MAX }>, required, example "https://push.example.com/send/f3a1";
        /// Public key of the browser (`keys.p256dh`), in URL-safe base64.
        p256dh: Line<1, 200>, required, example "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";
        /// Secret of the browser (`keys.auth`), in URL-safe base64.
        auth: Line<1, 60>, required, example "BTBZMqHH6r4Tts7J_aSIgg";
        /// Public key of the server with which the browser was subscribed, as `GET /api/account/pushKey` returned it.
        application_server_key as "applicationServerKey": Line<1, 200>, required, example "BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM";
        /// Name of the browser, shown in lists. Default: its name and system, from the header `User-Agent`.
        name: OptionalName, nullable, example "Bridge tablet";
        /// Only alerts of this severity or higher are sent to the browser. Default: `warning`.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// Hours in which the browser is not notified. A schedule without a time zone uses that of the user's console.
        /// Default: no such hours.
        quiet_hours as "quietHours": Object<ScheduleInput>, nullable;
        /// Whether critical alerts are sent in the quiet hours too. Default: true.
        critical_in_quiet_hours as "criticalInQuietHours": bool, or(true), example true;
    }
}

input! {
    /// Settings of a push subscription.
    pub struct PushSettingsInput {
        /// Name of the browser, shown in lists.
        name: Name, required, example "Bridge tablet";
        /// Only alerts of this severity or higher are sent to the browser. Default: `warning`.
        minimum_severity as "minimumSeverity": Word<Severity>, nullable, example "warning";
        /// Hours in which the browser is not notified. A schedule without a time zone uses that of the user's console.
        /// Default: no such hours.
        quiet_hours as "quietHours": Object<ScheduleInput>, nullable;
        /// Whether critical alerts are sent in the quiet hours too. Default: true.
        critical_in_quiet_hours as "criticalInQuietHours": bool, or(true), example true;
    }
}

/// Members of answers that are ignored in requests.
const READ_ONLY: &[&str] =
    &["id", "endpointHash", "currentKey", "currentSession", "creation", "lastModified", "lastUsed"];

impl PushSubscriptionView {
    pub(super) fn of(subscription: PushSubscription, session: SessionId, is_key_current: bool) -> Self {
        let settings = subscription.settings;
        Self {
            id: subscription.id.to_string(),
            name: settings.name,
            minimum_severity: settings.minimum_severity.name(),
            quiet_hours: settings.quiet_hours.map(ScheduleView::from),
            critical_in_quiet_hours: settings.critical_in_quiet_hours,
            endpoint_hash: subscription.endpoint_hash,
            current_key: is_key_current,
            current_session: subscription.session == session,
            creation: subscription.creation.to_string(),
            last_modified: subscription.last_modified.to_string(),
            last_used: subscription.last_used.map(|at| at.to_string()),
        }
    }
}

/// Reads URL-safe or standard base64, with or without padding: browsers and libraries differ.
fn base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    URL_SAFE_NO_PAD.decode(text).or_else(|_other| STANDARD_NO_PAD.decode(text)).ok()
}

fn hex_sha256(text: &str) -> String {
    Sha256::digest(text).iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

pub(super) fn read_new(
    body: &Value,
    headers: &HeaderMap,
    guard: &Guard,
    keys: &[PushKey],
    session: SessionId,
) -> ApiResult<NewPushSubscription> {
    read_body(body, &[ENVELOPE], |input: PushSubscriptionInput, fields| {
        if let Some(url) = &input.endpoint
            && let Err(refused) = guard.parse(url)
        {
            fields.refuse("endpoint", &refused.to_string());
        }
        let p256dh = input.p256dh.and_then(|text| {
            let point = base64(&text).filter(|bytes| is_public_key(bytes));
            if point.is_none() {
                fields.refuse("p256dh", "must be a public key of P-256: 65 bytes in URL-safe base64");
            }
            point
        });
        let auth = input.auth.and_then(|text| {
            let secret = base64(&text).filter(|bytes| bytes.len() == AUTH_BYTES);
            if secret.is_none() {
                fields.refuse("auth", "must be 16 bytes in URL-safe base64");
            }
            secret
        });
        let key_id = input.application_server_key.and_then(|text| {
            let text = text.trim_end_matches('=');
            let key = keys.iter().find(|key| key.public() == text);
            if key.is_none() {
                fields.refuse(
                    "applicationServerKey",
                    "must be the key that GET /api/account/pushKey returns; subscribe again with that key",
                );
            }
            key.map(|key| key.id().to_owned())
        });
        let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok());
        let given = input.name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let url = input.endpoint?;
        Some(NewPushSubscription {
            session,
            endpoint_hash: hex_sha256(&url),
            endpoint: PushEndpoint { url, p256dh: p256dh?, auth: auth?, key_id: key_id? },
            settings: PushSettings {
                name: given.unwrap_or_else(|| browser_name(agent.unwrap_or_default())),
                minimum_severity: input.minimum_severity.unwrap_or(Severity::Warning),
                quiet_hours: input.quiet_hours,
                critical_in_quiet_hours: input.critical_in_quiet_hours,
            },
        })
    })
}

pub(super) fn read_settings(body: &Value) -> ApiResult<PushSettings> {
    read_body(body, &[ENVELOPE, READ_ONLY], |input: PushSettingsInput, _| {
        Some(PushSettings {
            name: input.name?,
            minimum_severity: input.minimum_severity.unwrap_or(Severity::Warning),
            quiet_hours: input.quiet_hours,
            critical_in_quiet_hours: input.critical_in_quiet_hours,
        })
    })
}
