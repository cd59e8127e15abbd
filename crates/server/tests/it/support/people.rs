//! Accounts and people to test with, made straight in the store, each with a token.

use perigee_core::access::actor::{Actor, Origin};
use perigee_core::access::credential::ApiKey as StoredKey;
use perigee_core::access::privilege::{Privilege, Privileges};
use perigee_core::access::user::{NewUser, UserProfile};
use perigee_core::accounts::account::{Account, AccountSettings, NewAccount};
use perigee_core::id::{DeviceId, GroupId, KeyId, UserId};
use perigee_core::store::{Accounts, Credentials, Users};
use perigee_core::text::Tags;
use perigee_core::zone::Zone;
use perigee_server::auth::api_key::ApiKey;
use secrecy::SecretString;
use serde_json::json;

use super::TestApp;

/// The password of everybody.
pub(crate) const PASSWORD: &str = "correct horse battery";

/// An account and its owner.
pub(crate) struct Tenant {
    pub(crate) account: Account,
    pub(crate) owner: Person,
}

/// Somebody with a token.
#[derive(Clone)]
pub(crate) struct Person {
    pub(crate) id: UserId,
    pub(crate) email: String,
    pub(crate) api_key: String,
    pub(crate) token: String,
}

/// Traits of a user that differ from the default.
#[derive(Default)]
pub(crate) struct Traits {
    pub(crate) privileges: Vec<Privilege>,
    pub(crate) group: Option<GroupId>,
    pub(crate) device: Option<DeviceId>,
    pub(crate) disabled: bool,
}

impl TestApp {
    /// An account with this many licences.
    pub(crate) async fn tenant(&self, name: &str, licenses: u32) -> Tenant {
        let email = format!("owner@{name}.test");
        let new = NewAccount {
            settings: AccountSettings {
                name: name.to_owned(),
                time_zone: Zone::utc(),
                expiry_notice_days: AccountSettings::EXPIRY_NOTICE_DAYS,
                retention_days: None,
                emergency_procedure: None,
                quick_replies: None,
            },
            licenses,
            owner_email: email.parse().expect("an address"),
            owner_language: None,
            owner_country: None,
            owner_password_hash: self.password_hash().await,
        };
        let (account, user) =
            self.store.create_account(&Origin::command(), new).await.expect("the account can be made");
        let owner = self.equip(&account, user.id, email).await;
        Tenant { account, owner }
    }

    /// Somebody in an account who may hold an API key and has these traits.
    pub(crate) async fn person(&self, tenant: &Tenant, name: &str, traits: Traits) -> Person {
        let email = format!("{name}@{}.test", tenant.account.settings.name);
        let mut privileges = traits.privileges;
        privileges.push(Privilege::Api);
        let profile = UserProfile {
            name: name.to_owned(),
            email: email.parse().expect("an address"),
            country: "ES".parse().ok(),
            time_zone: Zone::utc(),
            language: None,
            description: None,
            message: None,
            disabled: traits.disabled,
            disabled_message: None,
            tags: Tags::new(),
            privileges: privileges.into_iter().collect::<Privileges>(),
            group: traits.group,
            device: traits.device,
            admin_devices: None,
            from: None,
            expires: None,
        };
        let new = NewUser { profile, password_hash: Some(self.password_hash().await) };
        let actor = Actor::operator(tenant.account.id);
        let user =
            self.store.create_user(&actor, new, None).await.expect("the user can be made").into_inner();
        self.equip(&tenant.account, user.id, email).await
    }

    /// Signs somebody in and returns the cookie to send.
    pub(crate) async fn sign_in(&self, person: &Person) -> String {
        let body = json!({"email": person.email, "password": PASSWORD});
        let answer = self.call("POST /api/session").json(&body).send().await;
        answer.expect(200);
        answer.header("set-cookie").split(';').next().expect("a cookie").to_owned()
    }

    /// Waits for the work that outlives its request, and saves refusals.
    pub(crate) async fn settle(&self) {
        self.app.tasks.background.close();
        self.app.tasks.background.wait().await;
        self.app.tasks.background.reopen();
        self.app.counters.refusals.save(&*self.app.store).await.expect("refusals are saved");
    }

    async fn password_hash(&self) -> String {
        self.app.access.passwords.hash(SecretString::from(PASSWORD)).await.expect("hashing works")
    }

    /// Gives somebody a key and a token.
    pub(crate) async fn equip(&self, account: &Account, id: UserId, email: String) -> Person {
        let now = self.app.clock.now();
        let key = ApiKey::generate();
        let stored = StoredKey {
            id: KeyId::random(now),
            hash: *key.hash().as_bytes(),
            hint: "pgk_test".to_owned(),
            creation: now,
            last_used: None,
        };
        let key_id = stored.id;
        self.store.put_api_key(&Origin::command(), id, stored).await.expect("the key can be kept");
        let (token, _) =
            self.app.access.authenticator.issue(account.id, id, key_id, now).expect("a token can be made");
        Person { id, email, api_key: key.expose().to_owned(), token }
    }
}
