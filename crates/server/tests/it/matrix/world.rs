//! Two accounts, their people, and the request of a row.

use perigee_core::access::actor::Origin;
use perigee_core::access::privilege::Privilege;
use perigee_core::accounts::branding::Logo;
use perigee_core::devices::device_file::MediaType;
use perigee_core::id::{DeviceId, GroupId, KeyId};
use perigee_core::store::{AccountStandings as _, Credentials};
use perigee_server::auth::signing::SigningKeys;
use perigee_server::auth::token::{NewToken, Tokens};
use perigee_server::background::TimelineEngine;

use super::identity::Identity;
use super::made::*;
use super::object::Object;
use super::rows::{Kind, Row};
use crate::support::people::Traits;
use crate::support::{Answer, Engine, PNG, Person, Tenant, TestApp};

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
    pub(super) app: TestApp,
    /// One engine for all rows, because it keeps the lease of an account.
    pub(super) timelines: TimelineEngine,
    pub(super) first: Tenant,
    pub(super) second: Tenant,
    pub(super) group: GroupId,
    pub(super) other_group: GroupId,
    pub(super) device: DeviceId,
    pub(super) other_device: DeviceId,
    pub(super) foreign_device: DeviceId,
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
}
