//! A fresh store, and the objects most cases begin with.

use perigee_core::access::actor::{Actor, Origin, Scope, Via};
use perigee_core::access::audit::{AuditEntry, AuditFilter};
use perigee_core::access::privilege::Privileges;
use perigee_core::access::user::{NewUser, User, UserProfile};
use perigee_core::accounts::account::{Account, AccountSettings, NewAccount};
use perigee_core::events::event::Event;
use perigee_core::id::{DeviceId, GroupId, IdSource};
use perigee_core::idempotency::IdempotencyKey;
use perigee_core::page::PageRequest;
use perigee_core::store::{Accounts as _, Audits as _, Events as _, Users as _};
use perigee_core::text::Tags;
use perigee_core::time::{Clock as _, MockClock, Timestamp};
use perigee_core::zone::Zone;
use perigee_store::testing::Scratch;
use perigee_store::{Database, Engine, Value, params};

/// A fresh store whose clock stands still until it is moved.
pub(crate) struct Fixture {
    pub(crate) store: Database,
    scratch: Scratch,
    /// Makes the ids of rows that a case writes directly.
    ids: IdSource,
}

/// An account and its owner.
#[derive(Clone)]
pub(crate) struct Tenant {
    pub(crate) account: Account,
    pub(crate) owner: User,
}

impl Tenant {
    /// The owner, making changes in a console session.
    pub(crate) fn actor(&self) -> Actor {
        let origin = Origin {
            via: Via::Session,
            user: Some(self.owner.id),
            address: Some([192, 0, 2, 7].into()),
            request: Some("req-1".into()),
        };
        Actor::for_operator(self.account.id, origin)
    }

    /// The scope of the whole account.
    pub(crate) fn scope(&self) -> Scope {
        Scope::for_operator(self.account.id)
    }

    /// An idempotency key of the owner.
    pub(crate) fn once(&self, endpoint: &str, key: &str, body: u8) -> IdempotencyKey {
        IdempotencyKey {
            user: self.owner.id,
            endpoint: endpoint.into(),
            key: key.into(),
            body_hash: [body; 32],
        }
    }
}

impl Fixture {
    pub(crate) async fn new(engine: Engine) -> Self {
        let scratch = Scratch::migrated(engine).await;
        Self { store: scratch.open().await, scratch, ids: IdSource::default() }
    }

    /// Closes the store and opens it again.
    pub(crate) async fn restart(&mut self) {
        self.store.close().await;
        self.store = self.scratch.open().await;
    }

    /// Abandons the store, as a crash would, and opens it again.
    pub(crate) async fn crash(&mut self) {
        self.store.abandon().await;
        self.store = self.scratch.open().await;
    }

    /// Another node on the same store. SQLite has only one, which is returned.
    pub(crate) async fn other_node(&self) -> Database {
        match self.store.engine() {
            Engine::Sqlite => self.store.clone(),
            Engine::Postgres => self.scratch.open().await,
        }
    }

    /// The storage of the store, to damage it.
    pub(crate) fn scratch(&self) -> &Scratch {
        &self.scratch
    }

    pub(crate) fn clock(&self) -> &MockClock {
        self.scratch.clock()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock().now()
    }

    /// An account with ten licences, in the zone of Madrid.
    pub(crate) async fn tenant(&self, name: &str) -> Tenant {
        let made = self.store.create_account(&Origin::command(), new_account(name)).await;
        let (account, owner) = made.expect("the account is made");
        Tenant { account, owner }
    }

    /// A user of the account as [`profile`] describes.
    pub(crate) async fn user(&self, tenant: &Tenant, name: &str) -> User {
        let new = NewUser { profile: profile(name), password_hash: Some("hash".into()) };
        let made = self.store.create_user(&tenant.actor(), new, None).await;
        made.expect("the user is made").into_inner()
    }

    /// A device row, for cases that are not about devices.
    pub(crate) async fn device(&self, tenant: &Tenant, expires: Option<Timestamp>) -> DeviceId {
        let (account, id, now) = (tenant.account.id, DeviceId::new(&self.ids, self.now()), self.now());
        self.sql(
            "INSERT INTO device (account_id, id, revision, name, tags, expires, licensed, critical_reserve,
                 search, creation, last_modified)
             VALUES (?1, ?2, 1, 'device', '{}', ?3, TRUE, 0, 'device', ?4, ?4)",
            params![account, id, expires, now],
        )
        .await;
        let sql = "UPDATE account SET held_licenses = held_licenses + 1 WHERE id = ?1";
        self.sql(sql, params![account]).await;
        id
    }

    /// A group row with these devices, for cases that are not about groups.
    pub(crate) async fn group(&self, tenant: &Tenant, devices: &[DeviceId]) -> GroupId {
        let (account, id, now) = (tenant.account.id, GroupId::new(&self.ids, self.now()), self.now());
        self.sql(
            "INSERT INTO device_group (account_id, id, revision, name, search, creation, last_modified)
             VALUES (?1, ?2, 1, 'group', 'group', ?3, ?3)",
            params![account, id, now],
        )
        .await;
        for device in devices {
            let sql = "INSERT INTO group_membership (account_id, group_id, device_id) VALUES (?1, ?2, ?3)";
            self.sql(sql, params![account, id, *device]).await;
        }
        id
    }

    /// Runs a statement directly, past the checks of the store.
    pub(crate) async fn sql(&self, sql: &'static str, values: &[Value]) {
        let values = values.to_vec();
        let run = self.store.write(move |tx| Box::pin(async move { Ok(tx.execute(sql, &values).await?) }));
        run.await.expect("the statement runs");
    }

    /// Every event of the account.
    pub(crate) async fn events(&self, tenant: &Tenant) -> Vec<Event> {
        self.store.list_events(tenant.scope(), 0, 1_000).await.expect("events are listed")
    }

    /// Every audit entry of the account, newest first.
    pub(crate) async fn audits(&self, tenant: &Tenant) -> Vec<AuditEntry> {
        let page = PageRequest::first(1_000);
        let list = self.store.list_audits(tenant.scope(), &AuditFilter::default(), page).await;
        list.expect("audits are listed").items
    }
}

/// An account with this name, whose owner is `owner@<name>.example`.
pub(crate) fn new_account(name: &str) -> NewAccount {
    NewAccount {
        settings: AccountSettings {
            name: name.into(),
            time_zone: zone("Europe/Madrid"),
            expiry_notice_days: AccountSettings::EXPIRY_NOTICE_DAYS,
            retention_days: None,
            emergency_procedure: None,
            quick_replies: None,
        },
        licenses: 10,
        owner_email: format!("owner@{name}.example").parse().expect("an address"),
        owner_language: None,
        owner_country: None,
        owner_password_hash: "owner-hash".into(),
    }
}

/// A reader of the whole account with the address `<name>@users.example`.
pub(crate) fn profile(name: &str) -> UserProfile {
    UserProfile {
        name: name.into(),
        email: format!("{name}@users.example").parse().expect("an address"),
        country: Some("ES".parse().expect("a country")),
        time_zone: zone("Europe/Madrid"),
        language: None,
        description: None,
        message: None,
        disabled: false,
        disabled_message: None,
        tags: Tags::new(),
        privileges: Privileges::NONE,
        group: None,
        device: None,
        admin_devices: None,
        from: None,
        expires: None,
    }
}

/// The zone with this id.
pub(crate) fn zone(id: &str) -> Zone {
    id.parse().expect("a zone")
}

/// Asserts that something failed for this reason.
#[macro_export]
macro_rules! assert_fails {
    ($result:expr, $pattern:pat $(if $guard:expr)?) => {{
        let result = $result;
        assert!(
            matches!(&result, Err($pattern) $(if $guard)?),
            "{result:?} instead of {}",
            stringify!($pattern)
        );
    }};
}
