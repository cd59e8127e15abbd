//! Two accounts, their objects and all identities.

use std::collections::BTreeMap;

use perigee_core::access::actor::{Actor, Origin, Reach, Scope};
use perigee_core::access::credential::{LinkPurpose as KeptPurpose, NewLink};
use perigee_core::access::privilege::Privilege;
use perigee_core::accounts::branding::Logo;
use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::severity::Severity;
use perigee_core::devices::command::{CommandFilter, CommandKind, CommandState, NewCommand};
use perigee_core::devices::conversation::{Carrier, NewOutgoing, TextKind, TextState};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::devices::device_file::{MediaType, NewDeviceFile};
use perigee_core::drivers::{AssignmentSettings, DriverSettings};
use perigee_core::gateways::account_gateway::NewGateway;
use perigee_core::gateways::gateway::{MessageFilter, NewMessage, Reporter};
use perigee_core::gateways::message_contents::MessageContents;
use perigee_core::gateways::raw_usage::Keep;
use perigee_core::groups::group::GroupSettings;
use perigee_core::id::{
    AlertId, AlertNoteId, DeliveryId, DeviceId, DriverId, FileId, GeofenceId, GroupId, KeyId, PlanId,
    PlanLinkId, RuleId, SessionId, UserId, WebhookId,
};
use perigee_core::locations::geofence::{GeofenceSettings, Position, Shape};
use perigee_core::locations::location::{DuplicateRule, Latitude, Location, Longitude, Readings, TimeRange};
use perigee_core::maintenance::{
    CycleStart, MaintenanceFilter, MaintenanceLimits, MaintenanceSettings, MaintenanceWarning,
};
use perigee_core::notifications::contact::ContactGroupSettings;
use perigee_core::notifications::notification::NotificationFilter;
use perigee_core::notifications::push::{NewPushSubscription, PushEndpoint, PushSettings};
use perigee_core::notifications::routing::{
    AlertRouting, Destination, Preferences, Recipient, RoutingHolder,
};
use perigee_core::page::PageRequest;
use perigee_core::plans::{CheckInRules, Grace, NewPlanLink, PlanKind, PlanSettings, PlanWords};
use perigee_core::reports::SavedReportSettings;
use perigee_core::rules::rule::{Condition, RuleSettings, RuleTarget};
use perigee_core::shares::share::{NewShare, ShareTarget};
use perigee_core::store::{
    AccountGateways, AccountStandings as _, Alerts, Assignments, Commands, ContactGroups, Conversations,
    Credentials, DeviceFiles, Devices, Drivers, Geofences, Groups, Locations, MaintenancePlans,
    Notifications, PlanLinks as _, Plans as _, PushSubscriptions, RawMessages, Routing, Rules,
    SavedReports as _, Shares, Timelines, Webhooks,
};
use perigee_core::time::{Clock as _, Timestamp};
use perigee_core::timeline::EditKind;
use perigee_core::webhooks::webhook::{NewDelivery, Webhook, WebhookSecret, WebhookSettings};
use perigee_server::auth::Secret;
use perigee_server::auth::link::LinkPurpose;
use perigee_server::auth::signing::SigningKeys;
use perigee_server::auth::token::{NewToken, Tokens};
use perigee_server::background::TimelineEngine;
use serde_json::{Value, json};

use super::Verdict;
use super::rows::{Access, Kind, Row};
use crate::support::people::{PASSWORD, Traits};
use crate::support::{Answer, Engine, PNG, Person, Tenant, TestApp};

/// A password that somebody changes theirs to.
pub(super) const NEW_PASSWORD: &str = "nine lives of a harbour cat";

/// The identity of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    NoToken,
    Malformed,
    Expired,
    WrongAudience,
    OldKey,
    Disabled,
    ReadOnly,
    GroupScoped,
    DeviceScoped,
    Normal,
    Admin,
    Owner,
    /// An admin with a console session instead of a token.
    SignedIn,
    OtherOwner,
}

impl Identity {
    pub(super) const ALL: &[Self] = &[
        Self::NoToken,
        Self::Malformed,
        Self::Expired,
        Self::WrongAudience,
        Self::OldKey,
        Self::Disabled,
        Self::ReadOnly,
        Self::GroupScoped,
        Self::DeviceScoped,
        Self::Normal,
        Self::Admin,
        Self::Owner,
        Self::SignedIn,
        Self::OtherOwner,
    ];

    /// Why they are refused in any case.
    pub(super) fn refusal(self) -> Option<Verdict> {
        match self {
            Self::NoToken => Some(Verdict::Unknown("unauthenticated")),
            Self::Expired => Some(Verdict::Unknown("token-expired")),
            Self::Malformed | Self::WrongAudience | Self::OldKey => Some(Verdict::Unknown("invalid-token")),
            Self::Disabled => Some(Verdict::Forbidden("user-disabled")),
            _ => None,
        }
    }

    /// Whether the object is visible to them.
    pub(super) fn sees(self, kind: Kind, object: Object) -> bool {
        match (kind, object) {
            (Kind::None, _) => true,
            // Push subscriptions are those of the user.
            (Kind::Template | Kind::PushSubscription, object) => object == Object::Own,
            (_, Object::Missing | Object::Malformed) => false,
            (_, object) if (self == Self::OtherOwner) != (object == Object::OtherAccount) => false,
            (_, Object::OtherAccount) => true,
            (
                Kind::User
                | Kind::Gateway
                | Kind::ContactGroup
                | Kind::Webhook
                | Kind::SavedReport
                | Kind::Driver
                | Kind::Assignment,
                _,
            ) => !matches!(self, Self::GroupScoped | Self::DeviceScoped),
            (Kind::Group | Kind::Geofence, Object::Own) => self != Self::DeviceScoped,
            (_, Object::Own) => true,
            (_, Object::OtherGroup) => !matches!(self, Self::GroupScoped | Self::DeviceScoped),
        }
    }

    /// Whether they may do this to what they see.
    pub(super) fn may(self, access: Access) -> bool {
        let whole = !matches!(self, Self::GroupScoped | Self::DeviceScoped);
        match access {
            Access::Open | Access::Read => true,
            Access::Session => self == Self::SignedIn,
            // Nobody here is one.
            Access::Operator => false,
            Access::Whole => whole,
            Access::With(_) => self != Self::ReadOnly,
            Access::Wholly(_) => self != Self::ReadOnly && whole,
            Access::Widely(_) => !matches!(self, Self::ReadOnly | Self::DeviceScoped),
            Access::Admin => {
                matches!(self, Self::Admin | Self::Owner | Self::SignedIn | Self::OtherOwner)
            }
        }
    }
}

/// The requested resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Object {
    /// In the first group of the first account.
    Own,
    /// In its other group.
    OtherGroup,
    /// In the other account.
    OtherAccount,
    /// Well formed, but nowhere.
    Missing,
    Malformed,
}

impl Object {
    /// The objects that make sense for a kind of resource.
    pub(super) fn of(kind: Kind) -> &'static [Self] {
        match kind {
            Kind::None => &[Self::Own],
            Kind::Webhook
            | Kind::Gateway
            | Kind::ContactGroup
            | Kind::SavedReport
            | Kind::Driver
            | Kind::Assignment => &[Self::Own, Self::OtherAccount, Self::Missing, Self::Malformed],
            Kind::Secret => &[Self::Own, Self::Missing, Self::Malformed],
            Kind::Template => &[Self::Own, Self::Malformed],
            _ => &[Self::Own, Self::OtherGroup, Self::OtherAccount, Self::Missing, Self::Malformed],
        }
    }
}

const WRITES: [Privilege; 7] = [
    Privilege::DevicesWrite,
    Privilege::GroupsWrite,
    Privilege::UsersWrite,
    Privilege::LocationsWrite,
    Privilege::AlertsWrite,
    Privilege::CommandsSend,
    Privilege::RulesWrite,
];

/// Two accounts and everybody in them.
pub(super) struct World {
    app: TestApp,
    /// One engine for all rows, because it keeps the lease of an account.
    timelines: TimelineEngine,
    first: Tenant,
    second: Tenant,
    group: GroupId,
    other_group: GroupId,
    device: DeviceId,
    other_device: DeviceId,
    foreign_device: DeviceId,
    people: Vec<(Identity, String)>,
}

impl World {
    pub(super) async fn new(engine: Engine) -> Self {
        let app = TestApp::with(engine, |config| {
            config.limits.burst = 1_000_000;
            config.limits.requests_per_second = 1_000_000;
            config.limits.bad_tokens_per_second = 1_000_000;
            config.limits.token_failures_per_minute = 1_000_000;
        })
        .await;
        // Streams end at once, so that they are answers like others.
        app.app.tasks.stopping.cancel();
        let (first, second) = (app.tenant("first", 100_000).await, app.tenant("second", 100_000).await);
        let group = make_group(&app, &first).await;
        let logo = Logo { media_type: MediaType::Png, bytes: PNG.to_vec() };
        app.store.set_logo(&Origin::command(), first.account.id, Some(logo.clone())).await.unwrap();
        app.store.set_logo(&Origin::command(), second.account.id, Some(logo)).await.unwrap();
        let other_group = make_group(&app, &first).await;
        let device = make_device(&app, &first, Some(group)).await;
        let other_device = make_device(&app, &first, Some(other_group)).await;
        let foreign_device = make_device(&app, &second, None).await;
        let mut world = Self {
            timelines: TimelineEngine::new(app.app.clone()),
            app,
            first,
            second,
            group,
            other_group,
            device,
            other_device,
            foreign_device,
            people: Vec::new(),
        };
        world.people = world.make_people().await;
        world
    }

    async fn make_people(&self) -> Vec<(Identity, String)> {
        let (app, first) = (&self.app, &self.first);
        let person = async |name: &str, traits: Traits| app.person(first, name, traits).await;
        let writes = || WRITES.to_vec();
        let admin = Traits { privileges: vec![Privilege::Admin], ..Traits::default() };
        let scoped = Traits { privileges: writes(), group: Some(self.group), ..Traits::default() };
        let narrow = Traits { privileges: writes(), device: Some(self.device), ..Traits::default() };
        let disabled = Traits { privileges: vec![Privilege::Admin], disabled: true, ..Traits::default() };
        let normal = person("normal", Traits { privileges: writes(), ..Traits::default() }).await;
        let outdated = person("outdated", Traits { privileges: writes(), ..Traits::default() }).await;
        app.equip(&first.account, outdated.id, outdated.email.clone()).await;
        vec![
            (Identity::Malformed, "not.a.token".to_owned()),
            (Identity::Expired, self.token_from_the_past(&normal).await),
            (Identity::WrongAudience, self.token_for_others(&normal).await),
            (Identity::OldKey, outdated.token),
            (Identity::Disabled, person("disabled", disabled).await.token),
            (Identity::ReadOnly, person("reader", Traits::default()).await.token),
            (Identity::GroupScoped, person("scoped", scoped).await.token),
            (Identity::DeviceScoped, person("narrow", narrow).await.token),
            (Identity::Normal, normal.token),
            (Identity::Admin, person("admin", admin).await.token),
            (Identity::Owner, self.first.owner.token.clone()),
            (Identity::OtherOwner, self.second.owner.token.clone()),
        ]
    }

    async fn token_from_the_past(&self, person: &Person) -> String {
        let key = self.key_of(person).await;
        let long_ago = self.app.app.clock.now().plus_seconds(-86_400);
        let (token, _) =
            self.app.app.access.authenticator.issue(self.first.account.id, person.id, key, long_ago).unwrap();
        token
    }

    async fn token_for_others(&self, person: &Person) -> String {
        let kept = self.app.store.signing_keys(unused_key(&self.app)).await.unwrap();
        let key = perigee_server::auth::signing::SigningKey::from_pkcs8(&kept[0].pkcs8).unwrap();
        let tokens = Tokens::new(SigningKeys::new(key, Vec::new()), "perigee", "somebody-else");
        let key = self.key_of(person).await;
        let new = NewToken { user: person.id, account: self.first.account.id, key, lifetime_s: 3_600 };
        tokens.issue(new, self.app.app.clock.now()).unwrap().0
    }

    async fn key_of(&self, person: &Person) -> KeyId {
        self.app.store.find_identity(person.id).await.unwrap().unwrap().api_key.unwrap()
    }

    /// Sends the operation of a row.
    pub(super) async fn send(&self, row: &Row, identity: Identity, object: Object) -> Answer {
        let (method, path) = row.operation.split_once(' ').unwrap();
        // Somebody new each time: some operations end the session or change the password.
        let signed_in = match identity {
            Identity::SignedIn => {
                let admin = Traits { privileges: vec![Privilege::Admin], ..Traits::default() };
                Some(self.app.person(&self.first, &format!("s{}", rand::random::<u64>()), admin).await)
            }
            _ => None,
        };
        let path = match path.split_once('{') {
            Some((before, after)) if row.kind == Kind::PushSubscription && object == Object::Own => {
                let (_, after) = after.split_once('}').unwrap();
                let user = signed_in.as_ref().unwrap_or(&self.first.owner).id;
                format!("{before}{}{after}", make_push_subscription(&self.app, &self.first, user).await)
            }
            Some((before, after)) => {
                let (_, after) = after.split_once('}').unwrap();
                format!(
                    "{before}{}{after}",
                    self.name_of(row.kind, object, matches!(method, "DELETE" | "PUT")).await
                )
            }
            None => path.to_owned(),
        };
        let path = match path.split_once("{deliveryId}") {
            Some((before, after)) => format!("{before}{}{after}", self.delivery_of(&path).await),
            None => path,
        };
        let path = match path.split_once("{noteId}") {
            Some((before, after)) => format!("{before}{}{after}", self.note_of(&path).await),
            None => path,
        };
        let path = match path.split_once("{linkId}") {
            Some((before, after)) => format!("{before}{}{after}", self.link_of(&path).await),
            None => path,
        };
        let path = match path.split_once("{fileId}") {
            Some((before, after)) => format!("{before}{}{after}", self.file_of(&path).await),
            None => path,
        };
        let path = match row.operation {
            "DELETE /api/devices/{deviceId}/locations"
            | "POST /api/rules/{ruleId}/test"
            | "POST /api/rules/test"
            | "GET /api/devices/{deviceId}/visits"
            | "GET /api/geofences/{geofenceId}/visits" => {
                format!("{path}?from=2020-01-01T00:00:00Z&to=2020-01-02T00:00:00Z")
            }
            "GET /api/places" => format!("{path}?at=42.09,-8.9"),
            _ => path,
        };
        let mut call = self.app.call(&format!("{method} {path}"));
        if let Some((_, token)) = self.people.iter().find(|(who, _)| *who == identity) {
            call = call.header("authorization", &format!("Bearer {token}"));
        }
        if let Some(person) = &signed_in {
            call = call.cookie(&self.app.sign_in(person).await);
        }
        if row.operation == "PUT /api/devices/{deviceId}/photo" {
            return call.body("image/png", PNG).send().await;
        }
        let body = self.body_of(row, identity).await;
        if body.is_null() { call.send().await } else { call.json(&body).send().await }
    }

    async fn body_of(&self, row: &Row, identity: Identity) -> Value {
        let (owner, is_foreign) = (&self.first.owner, identity == Identity::OtherOwner);
        match row.operation {
            "POST /api/Auth/Token" => json!({ "userName": owner.email, "apiKey": owner.api_key }),
            "POST /api/session" => json!({ "email": owner.email, "password": PASSWORD }),
            "POST /api/session/passwordReset" => {
                json!({ "token": self.make_link().await, "newPassword": NEW_PASSWORD })
            }
            "POST /api/account/pushSubscriptions" => {
                let keys = self.app.store.list_push_keys().await.unwrap();
                let key = perigee_notify::push::PushKey::from_pkcs8(&keys[0].pkcs8).unwrap();
                json!({
                    "endpoint": format!("https://push.example.com/{}", rand::random::<u64>()),
                    "p256dh": key.public(),
                    "auth": "BTBZMqHH6r4Tts7J_aSIgg",
                    "applicationServerKey": key.public(),
                })
            }
            "POST /api/users" | "PUT /api/users/{userId}" => {
                let email = format!("u{}@new.test", rand::random::<u64>());
                json!({ "name": "New", "email": email, "country": "ES", "timeZone": "UTC" })
            }
            // A PUT without them would take the device out of its group.
            "PUT /api/groups/{groupId}" if !is_foreign => {
                json!({ "name": "Changed", "devices": [self.device] })
            }
            // Who sees one device only sees none of its groups, and moves it out of none.
            "PUT /api/devices/{deviceId}" if !is_foreign && identity != Identity::DeviceScoped => {
                json!({ "name": "Changed", "groups": [self.group] })
            }
            "POST /api/shares" => {
                let device = if is_foreign { self.foreign_device } else { self.device };
                json!({ "deviceId": device, "until": "2026-02-01T00:00:00Z" })
            }
            "POST /api/rules" | "POST /api/rules/test" | "PUT /api/rules/{ruleId}" => {
                let device = if is_foreign { self.foreign_device } else { self.device };
                json!({ "name": "New", "devices": [device], "conditions": [{ "type": "sos" }] })
            }
            "POST /api/plans" | "PUT /api/plans/{planId}" => {
                let device = if is_foreign { self.foreign_device } else { self.device };
                json!({ "name": "Vigo to Horta", "devices": [device] })
            }
            "POST /api/maintenance" | "PUT /api/maintenance/{maintenanceId}" => {
                let device = if is_foreign { self.foreign_device } else { self.device };
                let mut body = (row.body)();
                body["deviceId"] = json!(device);
                body
            }
            _ => (row.body)(),
        }
    }

    /// The secret of a link that sets somebody's password.
    async fn make_link(&self) -> String {
        let name = format!("l{}", rand::random::<u64>());
        let person = self.app.person(&self.first, &name, Traits::default()).await;
        let secret = Secret::generate();
        let new = NewLink {
            user: person.id,
            purpose: KeptPurpose::Reset,
            hash: *LinkPurpose::PasswordReset.hash(&secret).as_bytes(),
            expires: self.app.app.clock.now().plus_seconds(3_600),
        };
        self.app.store.create_link(&Origin::command(), new).await.unwrap();
        secret.expose().to_owned()
    }

    fn device_of(&self, object: Object) -> DeviceId {
        match object {
            Object::Own => self.device,
            Object::OtherGroup => self.other_device,
            _ => self.foreign_device,
        }
    }

    /// A file of the device a path names, if there is that device.
    /// The id of a note about the alert in this path; of none if there is no such alert.
    async fn note_of(&self, path: &str) -> AlertNoteId {
        let alert = path.split('/').nth(3).and_then(|text| text.parse::<AlertId>().ok());
        for tenant in [&self.first, &self.second] {
            let Some(alert) = alert else { break };
            let actor = Actor::operator(tenant.account.id);
            let made = self.app.store.add_alert_note(&actor, alert, "Seen".to_owned(), None).await;
            if let Ok(made) = made {
                return made.into_inner().id;
            }
        }
        AlertNoteId::from_i64(1)
    }

    /// A traveller's link to the plan of a path.
    async fn link_of(&self, path: &str) -> PlanLinkId {
        let plan = path.split('/').nth(3).and_then(|text| text.parse::<PlanId>().ok());
        for tenant in [&self.first, &self.second] {
            let Some(plan) = plan else { break };
            let actor = Actor::operator(tenant.account.id);
            let secret = Secret::generate().expose().to_owned();
            let new = NewPlanLink { name: None, until: None, secret };
            if let Ok(made) = self.app.store.create_plan_link(&actor, plan, new, None).await {
                return made.into_inner().id;
            }
        }
        PlanLinkId::from_i64(1)
    }

    async fn file_of(&self, path: &str) -> String {
        let device = path.split('/').find_map(|part| part.parse::<DeviceId>().ok());
        for tenant in [&self.first, &self.second] {
            let Some(device) = device else { break };
            let reporter = reporter(Scope::for_operator(tenant.account.id), device);
            let (name, bytes) = ("a.jpg".to_owned(), b"\xff\xd8\xff".to_vec());
            let new = NewDeviceFile { captured_at: None, name, source: "jt808", bytes };
            let contents = MessageContents { files: vec![new], ..MessageContents::default() };
            if self.app.store.store_message(&reporter, raw_message(), contents).await.is_ok() {
                let page = PageRequest::first(1);
                let files = self.app.store.list_files(reporter.scope, device, page).await.unwrap();
                return files.items[0].id.to_string();
            }
        }
        FileId::from_i64(1).to_string()
    }

    /// A delivery of the webhook a path names, if there is that webhook.
    async fn delivery_of(&self, path: &str) -> String {
        let webhook = path.split('/').find_map(|part| part.parse::<WebhookId>().ok());
        for tenant in [&self.first, &self.second] {
            let new = NewDelivery {
                message: "m".into(),
                kind: "webhook.test".into(),
                device: None,
                body: "{}".into(),
            };
            if let Some(webhook) = webhook
                && let Ok(made) =
                    self.app.store.add_delivery(&Actor::operator(tenant.account.id), webhook, new).await
            {
                return made.id.to_string();
            }
        }
        DeliveryId::from_i64(1).to_string()
    }

    /// The path segment that names the object; a fresh one where the operation may spoil it for others.
    async fn name_of(&self, kind: Kind, object: Object, fresh: bool) -> String {
        let (tenant, group) = match object {
            Object::Own => (&self.first, Some(self.group)),
            Object::OtherGroup => (&self.first, Some(self.other_group)),
            Object::OtherAccount => (&self.second, None),
            Object::Missing => return missing(kind),
            Object::Malformed => return "not-an-id".to_owned(),
        };
        match kind {
            Kind::None => String::new(),
            Kind::Template => "alert-sms".to_owned(),
            // The own one is somebody's scope and outlives every attempt to delete it.
            Kind::Device if fresh && object != Object::Own => {
                make_device(&self.app, tenant, group).await.to_string()
            }
            Kind::Device => self.device_of(object).to_string(),
            Kind::Group => match group {
                Some(group) if object == Object::Own || !fresh => group.to_string(),
                _ => make_group(&self.app, tenant).await.to_string(),
            },
            Kind::User => {
                let name = format!("u{}", rand::random::<u64>());
                self.app.person(tenant, &name, Traits { group, ..Traits::default() }).await.id.to_string()
            }
            Kind::Alert => make_alert(&self.app, tenant, self.device_of(object)).await.to_string(),
            Kind::Notification => make_notification(&self.app, tenant, self.device_of(object)).await,
            Kind::Share | Kind::Secret => {
                let device = self.device_of(object);
                let (id, secret) = make_share(&self.app, tenant, device).await;
                if kind == Kind::Secret { secret } else { id }
            }
            Kind::Webhook => {
                // One for each request, or the account would soon have enough of them.
                let page = PageRequest::first(1);
                let scope = Scope::for_operator(tenant.account.id);
                match self.app.store.list_webhooks(scope, page).await.unwrap().items.first() {
                    Some(webhook) if !fresh => webhook.id.to_string(),
                    _ => make_webhook(&self.app, tenant).await.id.to_string(),
                }
            }
            Kind::Rule => {
                let device = match object {
                    Object::Own => self.device,
                    Object::OtherGroup => self.other_device,
                    _ => self.foreign_device,
                };
                make_rule(&self.app, tenant, device).await
            }
            Kind::Geofence => make_fence(&self.app, tenant, group).await,
            Kind::Gateway => make_gateway(&self.app, tenant).await,
            Kind::Command => make_command(&self.app, tenant, self.device_of(object)).await,
            Kind::ConversationMessage => make_text(&self.app, tenant, self.device_of(object)).await,
            Kind::ContactGroup => make_contact_group(&self.app, tenant).await,
            Kind::PushSubscription => make_push_subscription(&self.app, tenant, tenant.owner.id).await,
            Kind::SavedReport => make_saved_report(&self.app, tenant).await,
            Kind::Driver => make_driver(&self.app, tenant).await.to_string(),
            Kind::Assignment => make_assignment(&self.app, tenant, self.device_of(object)).await,
            Kind::Segment => self.make_segment(tenant, self.device_of(object)).await,
            Kind::TimelineEdit => make_edit(&self.app, tenant, self.device_of(object)).await,
            Kind::Maintenance => make_plan(&self.app, tenant, self.device_of(object)).await,
            Kind::Plan => make_float_plan(&self.app, tenant, self.device_of(object)).await,
            Kind::RawMessage => make_raw_message(&self.app, tenant, self.device_of(object)).await,
        }
    }

    /// The first segment of a device, which stood for an hour.
    async fn make_segment(&self, tenant: &Tenant, device: DeviceId) -> String {
        let app = &self.app;
        let actor = Actor::operator(tenant.account.id);
        let always = TimeRange { from: Timestamp::MIN, to: Timestamp::MAX };
        let find = || app.store.list_segments(actor.scope, device, always, None, 1);
        if find().await.unwrap().segments.is_empty() {
            let at = |minutes: i64| Location {
                time: app.clock().now().plus_seconds(-60 * minutes),
                latitude: Latitude::from_degrees(42.0).unwrap(),
                longitude: Longitude::from_degrees(-8.0).unwrap(),
                readings: Readings::default(),
            };
            app.store.store_locations(&actor, device, vec![at(60), at(30), at(1)]).await.unwrap();
            self.timelines.run_to_end().await;
        }
        find().await.unwrap().segments[0].id.to_string()
    }
}

/// An edit at a time at which nothing is known of the device.
async fn make_edit(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let at = Timestamp::from_millis(rand::random::<u32>().into());
    let edit = (EditKind::Split, TimeRange { from: at, to: at });
    let actor = Actor::operator(tenant.account.id);
    let made = app.store.add_timeline_edit(&actor, device, edit, None).await.unwrap();
    made.into_inner().id.to_string()
}

fn missing(kind: Kind) -> String {
    match kind {
        Kind::Device => DeviceId::from_i64(1).to_string(),
        Kind::Group => GroupId::from_i64(1).to_string(),
        Kind::User => UserId::from_i64(1).to_string(),
        Kind::Share => perigee_core::id::ShareId::from_i64(1).to_string(),
        Kind::Webhook => WebhookId::from_i64(1).to_string(),
        Kind::Secret => Secret::generate().expose().to_owned(),
        Kind::Alert => perigee_core::id::AlertId::from_i64(1).to_string(),
        Kind::Notification => perigee_core::id::NotificationId::from_i64(1).to_string(),
        Kind::Rule => RuleId::from_i64(1).to_string(),
        Kind::Geofence => GeofenceId::from_i64(1).to_string(),
        Kind::Gateway => perigee_core::id::GatewayId::from_i64(1).to_string(),
        Kind::Command => perigee_core::id::CommandId::from_i64(1).to_string(),
        Kind::ConversationMessage => perigee_core::id::ConversationMessageId::from_i64(1).to_string(),
        Kind::ContactGroup => perigee_core::id::ContactGroupId::from_i64(1).to_string(),
        Kind::PushSubscription => perigee_core::id::PushSubscriptionId::from_i64(1).to_string(),
        Kind::SavedReport => perigee_core::id::SavedReportId::from_i64(1).to_string(),
        Kind::Driver => DriverId::from_i64(1).to_string(),
        Kind::Assignment => perigee_core::id::AssignmentId::from_i64(1).to_string(),
        Kind::RawMessage => perigee_core::id::MessageId::from_i64(1).to_string(),
        Kind::Segment => perigee_core::id::SegmentId::from_i64(1).to_string(),
        Kind::TimelineEdit => perigee_core::id::EditId::from_i64(1).to_string(),
        Kind::Plan => PlanId::from_i64(1).to_string(),
        Kind::Maintenance => perigee_core::id::MaintenancePlanId::from_i64(1).to_string(),
        Kind::None | Kind::Template => String::new(),
    }
}

async fn make_gateway(app: &TestApp, tenant: &Tenant) -> String {
    let new = NewGateway {
        feed: "osmand".to_owned(),
        name: None,
        device: None,
        options: "{}".to_owned(),
        secret_hash: rand::random(),
        polled: false,
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_gateway(&actor, new, None).await.unwrap().into_inner().id.to_string()
}

async fn make_command(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let actor = Actor::operator(tenant.account.id);
    let filter = CommandFilter { device: Some(device), state: Some(CommandState::Queued) };
    let queued = app.store.list_commands(actor.scope, filter, PageRequest::first(1)).await.unwrap();
    if let Some(command) = queued.items.first() {
        return command.id.to_string();
    }
    let deadline = app.app.clock.now().plus_seconds(86_400);
    let new = NewCommand { kind: CommandKind::RebootDevice, values: "{}".to_owned(), deadline };
    app.store.create_command(&actor, device, new, None).await.unwrap().into_inner().id.to_string()
}

/// A message that waits for its provider.
async fn make_text(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let actor = Actor::operator(tenant.account.id);
    let messages = app.store.list_conversation(actor.scope, device, PageRequest::first(1)).await.unwrap();
    if let Some(queued) = messages.items.first().filter(|message| message.state == TextState::Queued) {
        return queued.id.to_string();
    }
    let carrier = Carrier::Gateway {
        gateway: perigee_core::id::GatewayId::from_i64(1),
        feed: "garmin".to_owned(),
        address: "300434030000000".to_owned(),
    };
    let deadline = app.app.clock.now().plus_seconds(86_400);
    let new = NewOutgoing { kind: TextKind::Text, text: "hello".to_owned(), carrier, deadline };
    app.store.send_text(&actor, device, new, None).await.unwrap().into_inner().id.to_string()
}

async fn make_contact_group(app: &TestApp, tenant: &Tenant) -> String {
    // One that is there already, or the account would soon have enough of them.
    let scope = Scope::for_operator(tenant.account.id);
    let there = app.store.list_contact_groups(scope, PageRequest::first(1)).await.unwrap().items.pop();
    if let Some(group) = there {
        return group.id.to_string();
    }
    let settings = ContactGroupSettings { name: "Night watch".to_owned(), contacts: Vec::new() };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_contact_group(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

/// A browser of the user, the same for each user.
async fn make_push_subscription(app: &TestApp, tenant: &Tenant, user: UserId) -> String {
    let new = NewPushSubscription {
        session: SessionId::from_i64(1),
        endpoint: PushEndpoint {
            url: format!("https://push.example.com/{user}"),
            p256dh: vec![4; 65],
            auth: vec![7; 16],
            key_id: "key".to_owned(),
        },
        endpoint_hash: user.to_string(),
        settings: PushSettings {
            name: "Firefox on Linux".to_owned(),
            minimum_severity: Severity::Warning,
            quiet_hours: None,
            critical_in_quiet_hours: true,
        },
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_push_subscription(&actor, user, new, None).await.unwrap().into_inner().id.to_string()
}

async fn make_saved_report(app: &TestApp, tenant: &Tenant) -> String {
    // One that is there already, or the account would soon have enough of them. Those of users are visible to their owners.
    let scope = Scope::for_operator(tenant.account.id);
    let listed = app.store.list_saved_reports(scope, tenant.owner.id, PageRequest::first(200)).await;
    if let Some(saved) = listed.unwrap().items.into_iter().find(|saved| saved.owner.is_none()) {
        return saved.id.to_string();
    }
    let report = serde_json::json!({ "kind": "trips", "period": "yesterday" });
    let settings = SavedReportSettings { name: "Trips".to_owned(), report, schedule: None };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_saved_report(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

async fn make_driver(app: &TestApp, tenant: &Tenant) -> DriverId {
    let settings = DriverSettings { name: "Ana".to_owned(), ..DriverSettings::default() };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_driver(&actor, settings, None).await.unwrap().into_inner().id
}

/// An assignment at a time at which the device has no other.
async fn make_assignment(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let driver = make_driver(app, tenant).await;
    let from = Timestamp::from_millis(i64::from(rand::random::<u32>()) * 1_000);
    let settings = AssignmentSettings { device, from, to: Some(from.plus_millis(1)) };
    let actor = Actor::operator(tenant.account.id);
    let made = app.store.create_assignment(&actor, driver, settings, None).await.unwrap();
    made.into_inner().id.to_string()
}

fn reporter(scope: Scope, device: DeviceId) -> Reporter {
    Reporter {
        scope,
        device,
        identifier: "imei".to_owned(),
        model: None,
        reported_model: None,
        decoding: perigee_core::gateways::decoding::Decoding::new(),
        proposed_zone_minutes: None,
        proof: None,
    }
}

fn raw_message() -> NewMessage {
    NewMessage {
        source: "gt06",
        peer: "192.0.2.1:5".to_owned(),
        identifier: None,
        bytes: vec![1],
        error: None,
        gateway: None,
        duplicate_rule: DuplicateRule::Content,
        keep: Keep::Always,
    }
}

/// A plan of a voyage of a device.
async fn make_float_plan(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let settings = PlanSettings {
        name: "Vigo to Horta".to_owned(),
        kind: PlanKind::Voyage,
        description: None,
        is_template: false,
        devices: vec![device],
        travellers: Vec::new(),
        notify: None,
        craft: None,
        waypoints: Vec::new(),
        start: None,
        starts_itself: false,
        expected_arrival: None,
        ends_at_destination: false,
        time_zone: None,
        check_ins: CheckInRules::default(),
        grace: Grace::default(),
        words: PlanWords::default(),
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_plan(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

/// A plan of a device: the one that is there already, because a device has few.
async fn make_plan(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let actor = Actor::operator(tenant.account.id);
    let filter = MaintenanceFilter { device: Some(device), group: None };
    let page = PageRequest::first(1);
    let there = app.store.list_maintenance_plans(actor.scope, &filter, page).await.unwrap().items.pop();
    if let Some(status) = there {
        return status.plan.id.to_string();
    }
    let at = app.app.clock.now().plus_seconds(-60);
    let settings = MaintenanceSettings {
        name: "Oil change".to_owned(),
        limits: MaintenanceLimits { distance_m: Some(15_000_000), ..MaintenanceLimits::default() },
        warning: MaintenanceWarning::default(),
        start: CycleStart { at, odometer_m: None, hour_meter_s: None },
        notes: None,
    };
    let made = app.store.create_maintenance_plan(&actor, device, settings, None).await.unwrap();
    made.into_inner().plan.id.to_string()
}

async fn make_raw_message(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let scope = Scope::for_operator(tenant.account.id);
    let reporter = reporter(scope, device);
    app.store.store_message(&reporter, raw_message(), MessageContents::default()).await.unwrap();
    let filter = MessageFilter { device: Some(device), ..MessageFilter::default() };
    let messages = app.store.list_messages(scope, &filter, PageRequest::first(1)).await.unwrap();
    messages.items[0].id.to_string()
}

async fn make_rule(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let settings = RuleSettings {
        name: "Rule".to_owned(),
        description: None,
        enabled: true,
        target: RuleTarget { devices: vec![device], ..RuleTarget::default() },
        conditions: vec![Condition::Sos],
        for_s: 0,
        cool_down_s: 0,
        max_accuracy_m: RuleSettings::MAX_ACCURACY_M,
        schedule: None,
        alert_name: None,
        text: None,
        critical: false,
        routing: AlertRouting::default(),
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_rule(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

/// A geofence made by somebody who sees this group.
async fn make_fence(app: &TestApp, tenant: &Tenant, group: Option<GroupId>) -> String {
    let centre = Position { latitude: Latitude::from_e7(0), longitude: Longitude::from_e7(0) };
    let shape = Shape::Circle { centre, radius_m: 1.0 };
    let settings = GeofenceSettings { name: "Fence".to_owned(), description: None, shape };
    let reach = group.map_or(Reach::Account, Reach::Group);
    let actor = Actor::operator(tenant.account.id).limited_to(reach);
    app.store.create_geofence(&actor, settings, None).await.unwrap().into_inner().id.to_string()
}

fn unused_key(app: &TestApp) -> perigee_core::access::credential::SigningKey {
    perigee_core::access::credential::SigningKey {
        kid: "unused".to_owned(),
        pkcs8: Vec::new(),
        creation: app.app.clock.now(),
        expires: None,
    }
}

async fn make_group(app: &TestApp, tenant: &Tenant) -> GroupId {
    let settings = GroupSettings { name: "Group".to_owned(), ..GroupSettings::default() };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_group(&actor, settings, None).await.unwrap().into_inner().id
}

async fn make_device(app: &TestApp, tenant: &Tenant, group: Option<GroupId>) -> DeviceId {
    let groups = group.into_iter().collect();
    let settings = DeviceSettings { name: "Device".to_owned(), groups, ..DeviceSettings::default() };
    let actor = Actor::operator(tenant.account.id);
    app.store.create_device(&actor, settings, None).await.unwrap().into_inner().id
}

async fn make_alert(app: &TestApp, tenant: &Tenant, device: DeviceId) -> AlertId {
    let alert = Alert {
        time: app.app.clock.now(),
        name: rand::random::<u64>().to_string(),
        text: None,
        position: None,
        critical: false,
        attributes: BTreeMap::new(),
    };
    let actor = Actor::operator(tenant.account.id);
    app.store.store_alerts(&actor, device, vec![alert]).await.unwrap()[0].1
}

/// The id of a message about this device, which is sent to somebody for the purpose.
async fn make_notification(app: &TestApp, tenant: &Tenant, device: DeviceId) -> String {
    let (actor, holder) = (Actor::operator(tenant.account.id), RoutingHolder::Device(device));
    let seen = app.store.get_routing(actor.scope, holder).await.unwrap().revision;
    let ana = Recipient {
        destination: Destination::Email("ana@example.com".parse().unwrap()),
        preferences: Preferences::default(),
        minimum_severity: Severity::Info,
        schedule: None,
    };
    let routing = Some(AlertRouting { recipients: vec![ana], ..AlertRouting::default() });
    app.store.replace_routing(&actor, holder, seen, routing).await.unwrap();
    let filter = NotificationFilter {
        alert: Some(make_alert(app, tenant, device).await),
        ..NotificationFilter::default()
    };
    let found = app.store.list_notifications(actor.scope, &filter, PageRequest::first(1)).await.unwrap();
    found.items[0].id.to_string()
}

async fn make_webhook(app: &TestApp, tenant: &Tenant) -> Webhook {
    let settings = WebhookSettings {
        name: None,
        url: "https://example.com/hook".to_owned(),
        filter: perigee_core::events::event::EventFilter::default(),
        enabled: true,
    };
    let (actor, secret) = (Actor::operator(tenant.account.id), WebhookSecret(vec![1; 32]));
    app.store.create_webhook(&actor, settings, secret, None).await.unwrap().into_inner()
}

async fn make_share(app: &TestApp, tenant: &Tenant, device: DeviceId) -> (String, String) {
    let now = app.app.clock.now();
    let secret = Secret::generate().expose().to_owned();
    let new = NewShare {
        target: ShareTarget::Device(device),
        name: None,
        from: now,
        until: now.plus_seconds(3_600),
        show_account: true,
        show_trips: false,
        secret: secret.clone(),
    };
    let actor = Actor::operator(tenant.account.id);
    let share = app.store.create_share(&actor, new, None).await.unwrap().into_inner();
    (share.id.to_string(), secret)
}
