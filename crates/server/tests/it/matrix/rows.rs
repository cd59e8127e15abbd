//! Who may use which operation.

use perigee_core::access::privilege::Privilege;
use serde_json::{Value, json};

use super::bodies::NEW_PASSWORD;
use crate::support::people::PASSWORD;

/// The requirements of an operation on its caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// No credential is needed.
    Open,
    Session,
    /// A console session of an operator of the server.
    Operator,
    /// Visibility of the object.
    Read,
    /// Visibility of the whole account.
    Whole,
    /// A user with this privilege.
    With(Privilege),
    /// A privilege, and visibility of the whole account.
    Wholly(Privilege),
    /// Visibility of more than one device, and a privilege.
    Widely(Privilege),
    /// An admin or owner who sees the whole account.
    Admin,
}

/// The resource that the path of an operation names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The path names no object.
    None,
    Device,
    Group,
    User,
    /// A share link, by its id.
    Share,
    /// A share link, by its secret.
    Secret,
    /// A template, which every account has.
    Template,
    Alert,
    /// A message to one person.
    Notification,
    Webhook,
    /// A rule about a device.
    Rule,
    /// A geofence made within a group.
    Geofence,
    /// A message of a tracker.
    RawMessage,
    /// A gateway of the account.
    Gateway,
    /// A command to a device.
    Command,
    /// A message of a conversation with a device.
    ConversationMessage,
    /// A contact group of the account.
    ContactGroup,
    /// A browser that the user subscribed.
    PushSubscription,
    /// A segment of the timeline of a device.
    Segment,
    /// An edit of the timeline of a device.
    TimelineEdit,
    /// A saved report of the owner of the account.
    SavedReport,
    /// A maintenance plan of a device.
    Maintenance,
    /// A plan of a device.
    Plan,
    /// A driver of the account.
    Driver,
    /// An assignment of a driver to a device.
    Assignment,
}

impl Kind {
    /// Whether whoever has the address sees the object.
    pub(super) fn is_reached_by_secret(self) -> bool {
        self == Self::Secret
    }
}

/// An operation, who may use it, and a body it takes.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) operation: &'static str,
    pub(super) access: Access,
    pub(super) kind: Kind,
    pub(super) body: fn() -> Value,
}

impl Row {
    /// Refusals without relation to authorization that the operation may end in.
    pub(super) fn may_end_in(&self) -> &'static [&'static str] {
        match self.operation {
            "GET /api/devices/{deviceId}/lastLocation" => &["no-location"],
            // The first request cancels it, and a queue of a hundred is full.
            "DELETE /api/commands/{commandId}"
            | "DELETE /api/conversationMessages/{conversationMessageId}" => &["already-ended"],
            "POST /api/devices/{deviceId}/commands" | "POST /api/devices/{deviceId}/sendCommand" => {
                &["too-many", "invalid-body"]
            }
            // The own ones are somebody's scope.
            "DELETE /api/devices/{deviceId}" | "DELETE /api/groups/{groupId}" => &["in-use"],
            // No device here was heard, and it has no such identifier; the segment is a stop, and the only one; the
            // plan may be one of another device than the body names.
            "POST /api/devices/{deviceId}/conversation"
            | "POST /api/devices/{deviceId}/conversation/check"
            | "POST /api/devices/{deviceId}/claims"
            | "POST /api/segments/{segmentId}/split"
            | "POST /api/segments/merge"
            | "PUT /api/maintenance/{maintenanceId}"
            | "PUT /api/plans/{planId}" => &["invalid-body"],
            // The device is unknown.
            "POST /api/drivers/{driverId}/assignments" | "PUT /api/driverAssignments/{assignmentId}" => {
                &["invalid-body"]
            }
            // Each request finds the plan as the one before left it.
            "POST /api/plans/{planId}/start"
            | "POST /api/plans/{planId}/checkIn"
            | "POST /api/plans/{planId}/pause"
            | "POST /api/plans/{planId}/resume"
            | "POST /api/plans/{planId}/extend"
            | "POST /api/plans/{planId}/end"
            | "POST /api/plans/{planId}/cancel" => &["plan-state"],
            "PUT /api/session/totp" | "DELETE /api/session/totp" => &["totp-conflict"],
            "POST /api/session/forgottenPassword" => &["rate-limited"],
            _ => &[],
        }
    }
}

const fn row(operation: &'static str, access: Access, kind: Kind, body: fn() -> Value) -> Row {
    Row { operation, access, kind, body }
}

fn none() -> Value {
    Value::Null
}

fn devices() -> Value {
    json!([{ "name": "Made" }])
}

fn name() -> Value {
    json!({ "name": "Changed" })
}

fn claim() -> Value {
    json!({ "identifier": "of-another-device" })
}

fn fence() -> Value {
    json!({
        "type": "Feature",
        "geometry": { "type": "Point", "coordinates": [1, 1] },
        "properties": { "name": "Changed", "radius": 100 },
    })
}

fn fence_name() -> Value {
    json!({ "properties": { "name": "Changed" } })
}

fn location() -> Value {
    json!({ "dateTime": "2026-01-01T00:00:00Z", "latitude": 42.2, "longitude": -8.7 })
}

fn alert() -> Value {
    json!({ "dateTime": "2026-01-01T00:00:00Z", "alertName": "SOSButton" })
}

fn recipients() -> Value {
    json!({ "recipients": [{ "channel": "email", "address": "ana@example.com" }] })
}

fn report() -> Value {
    json!({ "frequency": "weekly" })
}

fn channels() -> Value {
    json!({ "smsEnabled": false })
}

fn webhook() -> Value {
    json!({ "url": "https://example.com/hook" })
}

fn password() -> Value {
    json!({ "password": PASSWORD })
}

fn new_password() -> Value {
    json!({ "currentPassword": PASSWORD, "newPassword": NEW_PASSWORD })
}

fn template() -> Value {
    json!({ "source": "{{ alert.title }}" })
}

fn preview() -> Value {
    json!({ "kind": "alert-sms", "source": "{{ alert.title }}" })
}

fn preferences() -> Value {
    json!({ "units": "nautical" })
}

fn code() -> Value {
    json!({ "code": "123456" })
}

fn empty() -> Value {
    json!({})
}

fn text() -> Value {
    json!({ "text": "hello" })
}

fn command() -> Value {
    json!({ "type": "rebootDevice" })
}

fn contacts() -> Value {
    json!({ "name": "Night watch", "contacts": [{ "channel": "sms", "address": "+34600123456" }] })
}

fn forgotten() -> Value {
    json!({ "email": "nobody@example.com" })
}

fn note() -> Value {
    json!({ "text": "on my way" })
}

fn run() -> Value {
    json!({ "kind": "totals", "period": "yesterday" })
}

fn saved_report() -> Value {
    json!({ "name": "Day", "report": run() })
}

fn labels() -> Value {
    json!({ "name": "Tour" })
}

fn nothing() -> Value {
    json!({})
}

fn assignment() -> Value {
    json!({ "deviceId": "Not a device", "from": "2026-01-01T00:00:00Z" })
}

fn instant() -> Value {
    json!({ "at": "2026-01-01T00:00:00Z" })
}

fn segments() -> Value {
    json!({ "segments": [] })
}

fn stops() -> Value {
    json!({ "stopRadius": 100 })
}

/// A plan of a device whose name [`super::world`] puts in.
fn plan() -> Value {
    json!({ "deviceId": "", "name": "Oil change", "distance": 15_000 })
}

fn minutes() -> Value {
    json!({ "minutes": 60 })
}

fn done() -> Value {
    json!({ "note": "done" })
}

fn watch_list() -> Value {
    json!({ "allDevices": true })
}

fn gateway() -> Value {
    json!({ "feed": "osmand" })
}

fn frame() -> Value {
    json!({ "text": "78780d01086471700328358100093f040d0a" })
}

use Access::{Admin, Open, Operator, Read, Session, Whole, Wholly, Widely, With};
use Kind::{
    Alert, Assignment, Command, ContactGroup, ConversationMessage, Device, Driver, Gateway, Geofence, Group,
    Maintenance, None, Notification, Plan, PushSubscription, RawMessage, Rule, SavedReport, Secret, Segment,
    Share, Template, TimelineEdit, User, Webhook,
};

/// Every operation. Bodies that are made fresh for each request, because they must be unique or name an object of
/// the caller's account, stand in [`super::world`].
pub(super) const ROWS: &[Row] = &[
    row("POST /api/Auth/Token", Open, None, none),
    row("GET /.well-known/jwks.json", Open, None, none),
    row("GET /api/console", Open, None, none),
    row("POST /api/session", Open, None, none),
    row("GET /api/session", Read, None, none),
    row("DELETE /api/session", Session, None, none),
    row("PUT /api/session/password", Session, None, new_password),
    row("POST /api/session/totp", Session, None, password),
    row("PUT /api/session/totp", Session, None, code),
    row("DELETE /api/session/totp", Session, None, password),
    row("GET /api/session/preferences", Session, None, none),
    row("PATCH /api/session/preferences", Session, None, preferences),
    row("POST /api/session/passwordReset", Open, None, none),
    row("GET /api/account", Whole, None, none),
    row("PATCH /api/account", Admin, None, name),
    row("GET /api/account/usage", Whole, None, none),
    row("GET /api/operator/accounts", Operator, None, none),
    row("POST /api/operator/accounts", Operator, None, none),
    row("GET /api/operator/accounts/{accountId}", Operator, User, none),
    row("PATCH /api/operator/accounts/{accountId}", Operator, User, name),
    row("DELETE /api/operator/accounts/{accountId}", Operator, User, none),
    row("POST /api/operator/accounts/{accountId}/restore", Operator, User, none),
    row("PUT /api/operator/accounts/{accountId}/suspension", Operator, User, none),
    row("DELETE /api/operator/accounts/{accountId}/suspension", Operator, User, none),
    row("GET /api/operator/accounts/{accountId}/usage", Operator, User, none),
    row("GET /api/operator/accounts/{accountId}/logo", Operator, User, none),
    row("PUT /api/operator/accounts/{accountId}/logo", Operator, User, none),
    row("DELETE /api/operator/accounts/{accountId}/logo", Operator, User, none),
    row("GET /api/account/logo", Read, None, none),
    row("GET /api/operator/health", Operator, None, none),
    row("GET /api/operator/notices", Operator, None, none),
    row("DELETE /api/operator/notices/{noticeId}", Operator, User, none),
    row("GET /api/operator/claims", Operator, None, none),
    row("POST /api/operator/claims", Operator, None, none),
    row("GET /api/devices/{deviceId}/claims", Read, Device, none),
    row("POST /api/devices/{deviceId}/claims", With(Privilege::DevicesWrite), Device, claim),
    row("GET /api/operator/storage", Operator, None, none),
    row("GET /api/operator/maps", Operator, None, none),
    row("POST /api/operator/maps", Operator, None, none),
    row("GET /api/operator/maps/{mapId}", Operator, User, none),
    row("DELETE /api/operator/maps/{mapId}", Operator, User, none),
    row("POST /api/operator/maps/{mapId}/fetch", Operator, User, none),
    row("POST /api/operator/maps/{mapId}/stop", Operator, User, none),
    row("GET /api/account/apiKey", Session, None, none),
    row("POST /api/account/apiKey", Session, None, none),
    row("DELETE /api/account/apiKey", Session, None, none),
    row("GET /api/account/pushKey", Session, None, none),
    row("GET /api/account/pushSubscriptions", Session, None, none),
    row("POST /api/account/pushSubscriptions", Session, None, none),
    row("GET /api/account/pushSubscriptions/{pushSubscriptionId}", Session, PushSubscription, none),
    row("PUT /api/account/pushSubscriptions/{pushSubscriptionId}", Session, PushSubscription, name),
    row("PATCH /api/account/pushSubscriptions/{pushSubscriptionId}", Session, PushSubscription, name),
    row("DELETE /api/account/pushSubscriptions/{pushSubscriptionId}", Session, PushSubscription, none),
    row("POST /api/account/pushSubscriptions/{pushSubscriptionId}/test", Session, PushSubscription, none),
    row("GET /api/devices", Read, None, none),
    row("POST /api/devices", Widely(Privilege::DevicesWrite), None, name),
    row("POST /api/bulk/devices", Widely(Privilege::DevicesWrite), None, devices),
    row("GET /api/devices/{deviceId}", Read, Device, none),
    row("PUT /api/devices/{deviceId}", With(Privilege::DevicesWrite), Device, name),
    row("PATCH /api/devices/{deviceId}", With(Privilege::DevicesWrite), Device, name),
    row("DELETE /api/devices/{deviceId}", With(Privilege::DevicesWrite), Device, none),
    row("GET /api/devices/{deviceId}/lastLocation", Read, Device, none),
    row("GET /api/devices/{deviceId}/locations", Read, Device, none),
    row("POST /api/devices/{deviceId}/locations", With(Privilege::LocationsWrite), Device, location),
    row("DELETE /api/devices/{deviceId}/locations", With(Privilege::DevicesWrite), Device, none),
    row("GET /api/locations/last", Read, None, none),
    row("GET /api/locations/feed", Read, None, none),
    row("GET /api/places", Read, None, none),
    row("GET /api/devices/{deviceId}/files", Read, Device, none),
    row("GET /api/devices/{deviceId}/files/{fileId}", Read, Device, none),
    row("PUT /api/devices/{deviceId}/photo", With(Privilege::DevicesWrite), Device, none),
    row("DELETE /api/devices/{deviceId}/photo", With(Privilege::DevicesWrite), Device, none),
    row("GET /api/devices/{deviceId}/alerts", Read, Device, none),
    row("POST /api/devices/{deviceId}/alerts", With(Privilege::AlertsWrite), Device, alert),
    row("GET /api/gateways", Whole, None, none),
    row("POST /api/gateways", Wholly(Privilege::DevicesWrite), None, gateway),
    row("POST /api/gateways/decode", With(Privilege::DevicesWrite), None, frame),
    row("GET /api/gateways/{gatewayId}", Read, Gateway, none),
    row("PUT /api/gateways/{gatewayId}", With(Privilege::DevicesWrite), Gateway, gateway),
    row("PATCH /api/gateways/{gatewayId}", With(Privilege::DevicesWrite), Gateway, gateway),
    row("DELETE /api/gateways/{gatewayId}", With(Privilege::DevicesWrite), Gateway, none),
    row("POST /api/gateways/{gatewayId}/renewAddress", With(Privilege::DevicesWrite), Gateway, none),
    row("GET /api/rawMessages", Read, None, none),
    row("GET /api/rawMessages/{messageId}", Read, RawMessage, none),
    row("POST /api/rawMessages/{messageId}/reprocess", With(Privilege::LocationsWrite), RawMessage, none),
    row("GET /api/heardDevices", Wholly(Privilege::DevicesWrite), None, none),
    row("GET /api/trackerModels", Read, None, none),
    row("GET /api/devices/{deviceId}/commands", Read, Device, none),
    row("POST /api/devices/{deviceId}/commands", With(Privilege::CommandsSend), Device, command),
    row("POST /api/devices/{deviceId}/sendCommand", With(Privilege::CommandsSend), Device, command),
    row("GET /api/devices/{deviceId}/conversation", Read, Device, none),
    row("POST /api/devices/{deviceId}/conversation", With(Privilege::CommandsSend), Device, text),
    row("GET /api/devices/{deviceId}/conversation/links", Read, Device, none),
    row("POST /api/devices/{deviceId}/conversation/check", Read, Device, text),
    row("POST /api/devices/{deviceId}/conversation/read", Read, Device, empty),
    row("GET /api/conversations", Read, None, none),
    row("GET /api/conversationMessages/{conversationMessageId}", Read, ConversationMessage, none),
    row(
        "DELETE /api/conversationMessages/{conversationMessageId}",
        With(Privilege::CommandsSend),
        ConversationMessage,
        none,
    ),
    row("GET /api/devices/{deviceId}/commandTypes", Read, Device, none),
    row("GET /api/commands", Read, None, none),
    row("GET /api/devices/{deviceId}/timeline", Read, Device, none),
    row("GET /api/trips", Read, None, none),
    row("GET /api/totals", Read, None, none),
    row("GET /api/reports/kinds", Read, None, none),
    row("POST /api/reports/run", Read, None, run),
    row("GET /api/reports", Read, None, none),
    row("POST /api/reports", With(Privilege::RulesWrite), None, saved_report),
    row("GET /api/reports/{savedReportId}", Read, SavedReport, none),
    row("PUT /api/reports/{savedReportId}", With(Privilege::RulesWrite), SavedReport, saved_report),
    row("PATCH /api/reports/{savedReportId}", With(Privilege::RulesWrite), SavedReport, saved_report),
    row("DELETE /api/reports/{savedReportId}", With(Privilege::RulesWrite), SavedReport, none),
    row("GET /api/reports/{savedReportId}/runs", Read, SavedReport, none),
    row("POST /api/reports/{savedReportId}/run", Read, SavedReport, none),
    row("GET /api/segments/{segmentId}", Read, Segment, none),
    row("PATCH /api/segments/{segmentId}", With(Privilege::DevicesWrite), Segment, labels),
    row("POST /api/segments/{segmentId}/split", With(Privilege::DevicesWrite), Segment, instant),
    row("POST /api/segments/merge", With(Privilege::DevicesWrite), None, segments),
    row("GET /api/devices/{deviceId}/timelineEdits", Read, Device, none),
    row("GET /api/timelineEdits/{editId}", Read, TimelineEdit, none),
    row("DELETE /api/timelineEdits/{editId}", With(Privilege::DevicesWrite), TimelineEdit, none),
    row("GET /api/devices/{deviceId}/timelineSettings", Read, Device, none),
    row("PUT /api/devices/{deviceId}/timelineSettings", With(Privilege::DevicesWrite), Device, stops),
    row("PATCH /api/devices/{deviceId}/timelineSettings", With(Privilege::DevicesWrite), Device, stops),
    row("GET /api/groups/{groupId}/timelineSettings", Read, Group, none),
    row("PUT /api/groups/{groupId}/timelineSettings", With(Privilege::GroupsWrite), Group, stops),
    row("PATCH /api/groups/{groupId}/timelineSettings", With(Privilege::GroupsWrite), Group, stops),
    row("GET /api/account/timelineSettings", Whole, None, none),
    row("PUT /api/account/timelineSettings", Admin, None, stops),
    row("PATCH /api/account/timelineSettings", Admin, None, stops),
    row("GET /api/devices/{deviceId}/visits", Read, Device, none),
    row("GET /api/geofences/{geofenceId}/visits", Read, Geofence, none),
    row("GET /api/maintenance", Read, None, none),
    row("POST /api/maintenance", With(Privilege::DevicesWrite), None, plan),
    row("GET /api/maintenance/{maintenanceId}", Read, Maintenance, none),
    row("PUT /api/maintenance/{maintenanceId}", With(Privilege::DevicesWrite), Maintenance, plan),
    row("PATCH /api/maintenance/{maintenanceId}", With(Privilege::DevicesWrite), Maintenance, name),
    row("DELETE /api/maintenance/{maintenanceId}", With(Privilege::DevicesWrite), Maintenance, none),
    row("POST /api/maintenance/{maintenanceId}/done", With(Privilege::DevicesWrite), Maintenance, done),
    row("GET /api/maintenance/{maintenanceId}/history", Read, Maintenance, none),
    row("GET /api/plans", Read, None, none),
    row("POST /api/plans", With(Privilege::DevicesWrite), None, name),
    row("GET /api/plans/{planId}", Read, Plan, none),
    row("PUT /api/plans/{planId}", With(Privilege::DevicesWrite), Plan, name),
    row("PATCH /api/plans/{planId}", With(Privilege::DevicesWrite), Plan, name),
    row("DELETE /api/plans/{planId}", With(Privilege::DevicesWrite), Plan, none),
    row("POST /api/plans/{planId}/copy", With(Privilege::DevicesWrite), Plan, empty),
    row("POST /api/plans/{planId}/start", With(Privilege::DevicesWrite), Plan, empty),
    row("POST /api/plans/{planId}/checkIn", With(Privilege::DevicesWrite), Plan, empty),
    row("POST /api/plans/{planId}/pause", With(Privilege::DevicesWrite), Plan, empty),
    row("POST /api/plans/{planId}/resume", With(Privilege::DevicesWrite), Plan, empty),
    row("POST /api/plans/{planId}/extend", With(Privilege::DevicesWrite), Plan, minutes),
    row("POST /api/plans/{planId}/end", With(Privilege::DevicesWrite), Plan, empty),
    row("POST /api/plans/{planId}/cancel", With(Privilege::DevicesWrite), Plan, empty),
    row("GET /api/plans/{planId}/events", Read, Plan, none),
    row("GET /api/plans/{planId}/rescue", Read, Plan, none),
    row("GET /api/plans/{planId}/links", Read, Plan, none),
    row("POST /api/plans/{planId}/links", With(Privilege::DevicesWrite), Plan, empty),
    row("DELETE /api/plans/{planId}/links/{linkId}", With(Privilege::DevicesWrite), Plan, none),
    row("GET /api/commands/{commandId}", Read, Command, none),
    row("DELETE /api/commands/{commandId}", With(Privilege::CommandsSend), Command, none),
    row("GET /api/alerts", Read, None, none),
    row("GET /api/alerts/{alertId}", Read, Alert, none),
    row("POST /api/alerts/{alertId}/acknowledge", With(Privilege::AlertsWrite), Alert, none),
    row("POST /api/alerts/{alertId}/end", With(Privilege::AlertsWrite), Alert, none),
    row("GET /api/alerts/{alertId}/notes", Read, Alert, none),
    row("GET /api/alerts/{alertId}/notes/{noteId}", Read, Alert, none),
    row("POST /api/alerts/{alertId}/notes", With(Privilege::AlertsWrite), Alert, note),
    row("GET /api/devices/{deviceId}/alertRecipients", Read, Device, none),
    row("POST /api/devices/{deviceId}/alertRecipients/test", With(Privilege::DevicesWrite), Device, none),
    row("GET /api/drivers", Whole, None, none),
    row("POST /api/drivers", Wholly(Privilege::DevicesWrite), None, name),
    row("GET /api/drivers/{driverId}", Read, Driver, none),
    row("PUT /api/drivers/{driverId}", With(Privilege::DevicesWrite), Driver, name),
    row("PATCH /api/drivers/{driverId}", With(Privilege::DevicesWrite), Driver, name),
    row("DELETE /api/drivers/{driverId}", With(Privilege::DevicesWrite), Driver, none),
    row("GET /api/drivers/{driverId}/assignments", Read, Driver, none),
    row("POST /api/drivers/{driverId}/assignments", With(Privilege::DevicesWrite), Driver, assignment),
    row("GET /api/devices/{deviceId}/driverAssignments", Whole, Device, none),
    row("GET /api/driverAssignments/{assignmentId}", Read, Assignment, none),
    row("PUT /api/driverAssignments/{assignmentId}", With(Privilege::DevicesWrite), Assignment, assignment),
    row("PATCH /api/driverAssignments/{assignmentId}", With(Privilege::DevicesWrite), Assignment, nothing),
    row("DELETE /api/driverAssignments/{assignmentId}", With(Privilege::DevicesWrite), Assignment, none),
    row("GET /api/contactGroups", Whole, None, none),
    row("POST /api/contactGroups", Admin, None, contacts),
    row("GET /api/contactGroups/{contactGroupId}", Read, ContactGroup, none),
    row("PUT /api/contactGroups/{contactGroupId}", Admin, ContactGroup, contacts),
    row("PATCH /api/contactGroups/{contactGroupId}", Admin, ContactGroup, contacts),
    row("DELETE /api/contactGroups/{contactGroupId}", Admin, ContactGroup, none),
    row("GET /api/session/watchList", Read, None, none),
    row("PUT /api/session/watchList", Read, None, watch_list),
    row("PATCH /api/session/watchList", Read, None, watch_list),
    row("GET /api/devices/{deviceId}/alertRouting", Read, Device, none),
    row("PUT /api/devices/{deviceId}/alertRouting", With(Privilege::DevicesWrite), Device, recipients),
    row("PATCH /api/devices/{deviceId}/alertRouting", With(Privilege::DevicesWrite), Device, recipients),
    row("DELETE /api/devices/{deviceId}/alertRouting", With(Privilege::DevicesWrite), Device, none),
    row("GET /api/groups/{groupId}/alertRouting", Read, Group, none),
    row("PUT /api/groups/{groupId}/alertRouting", With(Privilege::GroupsWrite), Group, recipients),
    row("PATCH /api/groups/{groupId}/alertRouting", With(Privilege::GroupsWrite), Group, recipients),
    row("DELETE /api/groups/{groupId}/alertRouting", With(Privilege::GroupsWrite), Group, none),
    row("GET /api/account/alertRouting", Whole, None, none),
    row("PUT /api/account/alertRouting", Admin, None, recipients),
    row("PATCH /api/account/alertRouting", Admin, None, recipients),
    row("DELETE /api/account/alertRouting", Admin, None, none),
    row("GET /api/account/notificationSettings", Whole, None, none),
    row("PUT /api/account/notificationSettings", Admin, None, channels),
    row("PATCH /api/account/notificationSettings", Admin, None, channels),
    row("GET /api/account/overviewReport", Whole, None, none),
    row("PUT /api/account/overviewReport", Admin, None, report),
    row("PATCH /api/account/overviewReport", Admin, None, report),
    row("GET /api/notifications", Read, None, none),
    row("GET /api/devices/{deviceId}/notifications", Read, Device, none),
    row("GET /api/notifications/{notificationId}", Read, Notification, none),
    row("POST /api/notifications/{notificationId}/resend", With(Privilege::AlertsWrite), Notification, none),
    row("GET /api/events", Read, None, none),
    row("GET /api/stream", Read, None, none),
    row("GET /api/groups", Read, None, none),
    row("POST /api/groups", Wholly(Privilege::GroupsWrite), None, name),
    row("GET /api/groups/{groupId}", Read, Group, none),
    row("PUT /api/groups/{groupId}", With(Privilege::GroupsWrite), Group, name),
    row("PATCH /api/groups/{groupId}", With(Privilege::GroupsWrite), Group, name),
    row("DELETE /api/groups/{groupId}", With(Privilege::GroupsWrite), Group, none),
    row("GET /api/users", Read, None, none),
    row("POST /api/users", Wholly(Privilege::UsersWrite), None, none),
    row("GET /api/users/countries", Read, None, none),
    row("GET /api/users/timeZones", Read, None, none),
    row("GET /api/users/{userId}", Read, User, none),
    row("PUT /api/users/{userId}", With(Privilege::UsersWrite), User, none),
    row("PATCH /api/users/{userId}", With(Privilege::UsersWrite), User, name),
    row("POST /api/users/{userId}/passwordLink", Session, User, none),
    row("POST /api/users/{userId}/passwordLink/mail", Session, User, none),
    row("DELETE /api/users/{userId}", With(Privilege::UsersWrite), User, none),
    row("GET /api/audit", Admin, None, none),
    row("GET /api/shares", Read, None, none),
    row("POST /api/shares", With(Privilege::DevicesWrite), None, none),
    row("GET /api/shares/{shareId}", Read, Share, none),
    row("DELETE /api/shares/{shareId}", With(Privilege::DevicesWrite), Share, none),
    row("GET /api/shared/{secret}", Open, Secret, none),
    row("GET /api/templates", Whole, None, none),
    row("POST /api/templates/preview", Admin, None, preview),
    row("GET /api/templates/{kind}", Whole, Template, none),
    row("PUT /api/templates/{kind}", Admin, Template, template),
    row("DELETE /api/templates/{kind}", Admin, Template, none),
    row("GET /api/webhooks", Admin, None, none),
    row("POST /api/webhooks", Admin, None, webhook),
    row("GET /api/webhooks/{webhookId}", Admin, Webhook, none),
    row("PUT /api/webhooks/{webhookId}", Admin, Webhook, webhook),
    row("PATCH /api/webhooks/{webhookId}", Admin, Webhook, name),
    row("DELETE /api/webhooks/{webhookId}", Admin, Webhook, none),
    row("POST /api/webhooks/{webhookId}/rotateSecret", Admin, Webhook, none),
    row("POST /api/webhooks/{webhookId}/test", Admin, Webhook, none),
    row("GET /api/webhooks/{webhookId}/deliveries", Admin, Webhook, none),
    row("POST /api/webhooks/{webhookId}/deliveries/{deliveryId}/retry", Admin, Webhook, none),
    row("GET /api/rules", Read, None, none),
    row("POST /api/rules", With(Privilege::RulesWrite), None, none),
    row("GET /api/rules/{ruleId}", Read, Rule, none),
    row("PUT /api/rules/{ruleId}", With(Privilege::RulesWrite), Rule, none),
    row("PATCH /api/rules/{ruleId}", With(Privilege::RulesWrite), Rule, name),
    row("DELETE /api/rules/{ruleId}", With(Privilege::RulesWrite), Rule, none),
    row("POST /api/rules/{ruleId}/test", Read, Rule, none),
    row("POST /api/rules/test", Read, None, none),
    row("GET /api/geofences", Read, None, none),
    row("POST /api/geofences", With(Privilege::RulesWrite), None, fence),
    row("GET /api/geofences/{geofenceId}", Read, Geofence, none),
    row("PUT /api/geofences/{geofenceId}", With(Privilege::RulesWrite), Geofence, fence),
    row("PATCH /api/geofences/{geofenceId}", With(Privilege::RulesWrite), Geofence, fence_name),
    row("DELETE /api/geofences/{geofenceId}", With(Privilege::RulesWrite), Geofence, none),
    // Last, because it counts like a failed sign-in of the client that all rows share.
    row("POST /api/session/forgottenPassword", Open, None, forgotten),
];
