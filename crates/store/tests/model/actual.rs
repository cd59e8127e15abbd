//! The store under test, opened and closed, and its reads in the form of the model's.

use perigee_core::access::actor::{Actor, Origin};
use perigee_core::accounts::account::{AccountSettings, NewAccount};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{HistoryRequest, StoredLocation};
use perigee_core::store::{Accounts as _, Devices as _, Locations as _};
use perigee_core::time::{Clock as _, MockClock, Timestamp};
use perigee_store::testing::Scratch;
use perigee_store::{Database, Engine};

/// A store with one account.
pub(crate) struct Actual {
    scratch: Scratch,
    pub(crate) store: Database,
    pub(crate) account: AccountId,
}

impl Actual {
    pub(crate) async fn new(engine: Engine) -> Self {
        let scratch = Scratch::migrated(engine).await;
        let store = scratch.open().await;
        let new = NewAccount {
            settings: AccountSettings {
                name: "model".into(),
                time_zone: "UTC".parse().unwrap(),
                expiry_notice_days: 0,
                retention_days: None,
                emergency_procedure: None,
                quick_replies: None,
            },
            licenses: 1_000,
            owner_email: "owner@model.example".parse().unwrap(),
            owner_language: None,
            owner_country: None,
            owner_password_hash: "hash".into(),
        };
        let account = store.create_account(&Origin::command(), new).await.unwrap().0.id;
        Self { scratch, store, account }
    }

    pub(crate) fn actor(&self) -> Actor {
        Actor::operator(self.account)
    }

    pub(crate) fn clock(&self) -> &MockClock {
        self.scratch.clock()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock().now()
    }

    pub(crate) async fn restart(&mut self) {
        self.store.close().await;
        self.store = self.scratch.open().await;
    }

    pub(crate) async fn crash(&mut self) {
        self.store.abandon().await;
        self.store = self.scratch.open().await;
    }

    pub(crate) async fn add_device(&self) -> DeviceId {
        let settings = DeviceSettings { name: "device".into(), ..DeviceSettings::default() };
        self.store.create_device(&self.actor(), settings, None).await.unwrap().into_inner().id
    }

    /// The whole history requested, read in parts.
    pub(crate) async fn history(&self, device: DeviceId, mut request: HistoryRequest) -> Vec<StoredLocation> {
        let mut all = Vec::new();
        loop {
            let part = self.store.list_locations(self.actor().scope, device, request).await.unwrap();
            assert!(part.items.len() <= usize::try_from(request.limit).unwrap());
            all.extend(part.items);
            match part.next {
                Some(next) => request.after = Some(next),
                None => break all,
            }
        }
    }

    /// The whole feed, read in parts.
    pub(crate) async fn feed(&self, limit: u32) -> Vec<(DeviceId, StoredLocation)> {
        let (mut all, mut after) = (Vec::new(), 0);
        loop {
            let part = self.store.list_location_feed(self.actor().scope, after, limit).await.unwrap();
            all.extend(part.items);
            if part.next == after {
                break all;
            }
            after = part.next;
        }
    }
}
