//! Push subscriptions: the browsers in which users are notified of alerts (Web Push, RFC 8030).

use serde::{Deserialize, Serialize};

use crate::access::credential::SigningKey;
use crate::alerts::severity::Severity;
use crate::id::{AccountId, PushSubscriptionId, SessionId, UserId};
use crate::notifications::contact::Contact;
use crate::revision::Revision;
use crate::rules::schedule::Schedule;
use crate::time::Timestamp;

/// Where a push service accepts messages for a browser, and the keys with which they are encrypted. Whoever knows the
/// URL can send to it, so it is never shown again and never logged.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushEndpoint {
    /// The URL of the push service for this browser.
    pub url: String,
    /// The browser's public key: an uncompressed point of P-256, 65 bytes.
    pub p256dh: Vec<u8>,
    /// The secret that the browser shares with the sender: 16 bytes.
    pub auth: Vec<u8>,
    /// Names the key of the server that the browser accepts messages of.
    pub key_id: String,
}

impl std::fmt::Debug for PushEndpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PushEndpoint").field("key_id", &self.key_id).finish_non_exhaustive()
    }
}

/// The settings of a push subscription that its user can change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushSettings {
    /// Shown in the list of browsers, for example "Firefox on Android".
    pub name: String,
    /// Only alerts of this severity or higher are sent.
    pub minimum_severity: Severity,
    /// Hours in which the browser is not notified; `None` for no such hours.
    pub quiet_hours: Option<Schedule>,
    /// Whether critical alerts are sent in quiet hours too.
    pub critical_in_quiet_hours: bool,
}

impl PushSettings {
    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 4] {
        [
            ("name", self.name != before.name),
            ("minimumSeverity", self.minimum_severity != before.minimum_severity),
            ("quietHours", self.quiet_hours != before.quiet_hours),
            ("criticalInQuietHours", self.critical_in_quiet_hours != before.critical_in_quiet_hours),
        ]
    }
}

/// A browser that a user subscribed, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushSubscription {
    /// Assigned by the service; never changes.
    pub id: PushSubscriptionId,
    /// The account of the user.
    pub account: AccountId,
    /// The user who is notified.
    pub user: UserId,
    /// The session in which the browser was subscribed last. Signing out of it ends the subscription.
    pub session: SessionId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// SHA-256 of the URL, by which a browser recognises its subscription.
    pub endpoint_hash: String,
    /// Names the key of the server that the browser accepts messages of.
    pub key_id: String,
    /// Settings that the user can change.
    pub settings: PushSettings,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
    /// When the push service last accepted a message; `None` if never.
    pub last_used: Option<Timestamp>,
}

impl PushSubscription {
    /// Maximum number of subscriptions of a user. A new one beyond it is refused.
    pub const COUNT_MAX: u32 = 20;
    /// Maximum number of bytes of the URL of a push service.
    pub const URL_MAX: usize = 2_000;
}

/// A subscription to be created, or to be renewed if the user has one with the same URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewPushSubscription {
    /// The session of the request.
    pub session: SessionId,
    /// URL and keys of the browser.
    pub endpoint: PushEndpoint,
    /// SHA-256 of the URL in hexadecimal.
    pub endpoint_hash: String,
    /// Settings that the user can change.
    pub settings: PushSettings,
}

/// What a message to a browser needs.
#[derive(Clone, Debug)]
pub struct PushTarget {
    /// URL and keys of the browser.
    pub endpoint: PushEndpoint,
    /// The key of the server that the browser accepts; `None` if it was rotated and has expired.
    pub key: Option<SigningKey>,
}

/// The result of a message to a browser that concerns its subscription.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushResult {
    /// The push service accepted the message.
    Accepted,
    /// The browser is no longer subscribed, so that the subscription is deleted.
    Gone,
}

/// A browser as a recipient of alerts, with the limits that its user set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Browser {
    /// The user by the channel `push`.
    pub contact: Contact,
    /// Only alerts of this severity or higher.
    pub minimum_severity: Severity,
    /// When alerts are suppressed.
    pub quiet: QuietHours,
}

/// Hours in which a browser is not notified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QuietHours {
    /// The hours; `None` for none.
    pub hours: Option<Schedule>,
    /// Whether critical alerts are sent nevertheless.
    pub critical_passes: bool,
}
