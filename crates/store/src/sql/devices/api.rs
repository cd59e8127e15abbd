//! The store's `Devices` trait, implemented by SQL.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::device::{Device, DeviceFilter, DeviceRef, DeviceSettings};
use perigee_core::devices::device_photo::NewPhoto;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{Devices, ExpiryAnnouncement, NamedDevice, Result};
use perigee_core::time::Timestamp;

use super::{create, delete, expiry, photo, read, replace};
use crate::sql::{accounts, accounts::license_check, groups::editions};
use crate::{Database, Tx};

async fn find(tx: &Tx, scope: Scope, device: DeviceRef) -> Result<Option<Device>> {
    match accounts::find(tx, scope.account).await? {
        Some(account) => read::find(tx, &account, scope, &device).await,
        None => Ok(None),
    }
}

async fn list(tx: &Tx, scope: Scope, filter: DeviceFilter, page: PageRequest) -> Result<Page<Device>> {
    match accounts::find(tx, scope.account).await? {
        Some(account) => read::list(tx, &account, scope, &filter, page).await,
        None => Ok(Page { items: Vec::new(), next: None }),
    }
}

/// Passes an outcome on. The failed transaction was rolled back, so the lack of licences is announced in another one.
async fn announce_if_exhausted<T>(database: &Database, outcome: Result<T>) -> Result<T> {
    if let Err(StoreError::LicenseExhausted(account)) = outcome {
        let told = database.write(move |tx| license_check::announce_exhausted(tx, account).boxed()).await;
        if let Err(error) = told {
            tracing::warn!(%account, %error, "could not announce that every licence is used");
        }
    }
    outcome
}

/// Records a published change of the device's groups first, so that the client's revision is compared with it.
async fn follow_up(database: &Database, account: AccountId, id: DeviceId) -> Result<()> {
    if database.read(move |tx| editions::is_to_follow_up(tx, account, id).boxed()).await? {
        database.write(move |tx| editions::follow_up_device(tx, account, id).boxed()).await?;
    }
    Ok(())
}

#[async_trait]
impl Devices for Database {
    async fn create_device(
        &self,
        actor: &Actor,
        settings: DeviceSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Device>> {
        let actor = actor.clone();
        let made = self.write(move |tx| create::create(tx, actor, settings, once).boxed()).await;
        announce_if_exhausted(self, made).await
    }

    async fn find_device(&self, scope: Scope, device: &DeviceRef) -> Result<Option<Device>> {
        let device = device.clone();
        self.read(move |tx| find(tx, scope, device).boxed()).await
    }

    async fn find_device_id(&self, scope: Scope, device: &DeviceRef) -> Result<Option<DeviceId>> {
        let cached = self.log().find_cached_id(scope, device);
        if let Some((_, Some(id))) = cached {
            return Ok(Some(id));
        }
        let wanted = device.clone();
        // Boxed: the future is large and rarely needed, and would enlarge the caller's.
        let look = self.read(move |tx| async move { read::find_id(tx, scope, &wanted).await }.boxed());
        let found = Box::pin(look).await?;
        if let (Some((epoch, _)), Some(id)) = (cached, found) {
            self.log().cache_id(epoch, scope, device, id);
        }
        Ok(found)
    }

    async fn find_named_devices(&self, scope: Scope, texts: &[String]) -> Result<Vec<NamedDevice>> {
        let texts = texts.to_vec();
        self.read(move |tx| async move { read::find_named(tx, scope, &texts).await }.boxed()).await
    }

    async fn list_devices(
        &self,
        scope: Scope,
        filter: &DeviceFilter,
        page: PageRequest,
    ) -> Result<Page<Device>> {
        let filter = filter.clone();
        self.read(move |tx| list(tx, scope, filter, page).boxed()).await
    }

    async fn replace_device(
        &self,
        actor: &Actor,
        id: DeviceId,
        seen: Revision,
        settings: DeviceSettings,
    ) -> Result<Device> {
        let actor = actor.clone();
        follow_up(self, actor.scope.account, id).await?;
        let replaced = self.write(move |tx| replace::replace(tx, actor, id, seen, settings).boxed()).await;
        announce_if_exhausted(self, replaced).await
    }

    async fn set_photo(
        &self,
        actor: &Actor,
        id: DeviceId,
        seen: Option<Revision>,
        photo: Option<NewPhoto>,
    ) -> Result<Device> {
        let actor = actor.clone();
        self.write(move |tx| photo::set(tx, actor, id, seen, photo).boxed()).await
    }

    async fn delete_device(&self, actor: &Actor, id: DeviceId, seen: Option<Revision>) -> Result<()> {
        let actor = actor.clone();
        follow_up(self, actor.scope.account, id).await?;
        self.write(move |tx| delete::delete(tx, actor, id, seen).boxed()).await
    }

    async fn announce_expiries(&self) -> Result<Vec<ExpiryAnnouncement>> {
        expiry::announce(self).await
    }

    async fn next_expiry(&self) -> Result<Option<Timestamp>> {
        self.read(|tx| expiry::next(tx).boxed()).await
    }
}
