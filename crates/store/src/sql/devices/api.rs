//! The store's `Devices` trait, implemented by SQL.

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::device::{Device, DeviceFilter, DeviceRef, DeviceSettings};
use perigee_core::devices::device_photo::NewPhoto;
use perigee_core::devices::new_devices::NewDevices;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{Devices, ExpiryAnnouncement, NamedDevice, Result};
use perigee_core::time::Timestamp;

use super::{create, create_many, delete, expiry, photo, read, replace};
use crate::forward::forward;
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
        let announced =
            database.write(move |tx| license_check::announce_exhausted(tx, account).boxed()).await;
        if let Err(error) = announced {
            tracing::warn!(%account, %error, "could not announce that every licence is used");
        }
    }
    outcome
}

/// Records a published change of the device's groups before the device is changed, so that the client's revision is
/// compared with the revision after it.
async fn follow_up(database: &Database, account: AccountId, id: DeviceId) -> Result<()> {
    if database.read(move |tx| editions::is_to_follow_up(tx, account, id).boxed()).await? {
        database.write(move |tx| editions::follow_up_device(tx, account, id).boxed()).await?;
    }
    Ok(())
}

async fn create_device(
    database: &Database,
    actor: &Actor,
    settings: DeviceSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Device>> {
    let actor = actor.clone();
    let made = database.write(move |tx| create::create(tx, actor, settings, once).boxed()).await;
    announce_if_exhausted(database, made).await
}

async fn create_devices(
    database: &Database,
    actor: &Actor,
    settings: &[DeviceSettings],
    once: Option<IdempotencyKey>,
) -> Result<Created<NewDevices>> {
    let (actor, settings) = (actor.clone(), settings.to_vec());
    let made = database.write(move |tx| create_many::create(tx, actor, settings, once).boxed()).await;
    announce_if_exhausted(database, made).await
}

async fn find_device_id(database: &Database, scope: Scope, device: &DeviceRef) -> Result<Option<DeviceId>> {
    let memory = database.memory();
    let cached = memory.map(|memory| memory.find_cached_id(scope, device));
    if let Some((_, Some(id))) = cached {
        return Ok(Some(id));
    }
    let wanted = device.clone();
    // Boxed: the future is large and rarely needed, and would enlarge the caller's.
    let reading = database.read(move |tx| async move { read::find_id(tx, scope, &wanted).await }.boxed());
    let found = Box::pin(reading).await?;
    if let (Some(memory), Some((epoch, _)), Some(id)) = (memory, cached, found) {
        memory.cache_id(epoch, scope, device, id);
    }
    Ok(found)
}

async fn replace_device(
    database: &Database,
    actor: &Actor,
    id: DeviceId,
    seen: Revision,
    settings: DeviceSettings,
) -> Result<Device> {
    let actor = actor.clone();
    follow_up(database, actor.scope.account, id).await?;
    let replaced = database.write(move |tx| replace::replace(tx, actor, id, seen, settings).boxed()).await;
    announce_if_exhausted(database, replaced).await
}

async fn delete_device(
    database: &Database,
    actor: &Actor,
    id: DeviceId,
    seen: Option<Revision>,
) -> Result<()> {
    let actor = actor.clone();
    follow_up(database, actor.scope.account, id).await?;
    database.write(move |tx| delete::delete(tx, actor, id, seen).boxed()).await
}

forward! {
    impl Devices for Database {
        run create_device(&self, &actor: Actor, settings: DeviceSettings, once: Option<IdempotencyKey>)
            -> Created<Device> = create_device;
        run create_devices(&self, &actor: Actor, &settings: [DeviceSettings], once: Option<IdempotencyKey>)
            -> Created<NewDevices> = create_devices;
        read preview_devices(&self, &actor: Actor, &settings: [DeviceSettings])
            -> NewDevices = create_many::preview;
        read find_device(&self, scope: Scope, &device: DeviceRef) -> Option<Device> = find;
        run find_device_id(&self, scope: Scope, &device: DeviceRef) -> Option<DeviceId> = find_device_id;
        read list_named_devices(&self, scope: Scope, &texts: [String])
            -> Vec<NamedDevice> = read::find_named(scope, &texts);
        read list_devices(&self, scope: Scope, &filter: DeviceFilter, page: PageRequest)
            -> Page<Device> = list;
        run replace_device(&self, &actor: Actor, id: DeviceId, seen: Revision, settings: DeviceSettings)
            -> Device = replace_device;
        write set_photo(&self, &actor: Actor, id: DeviceId, seen: Option<Revision>, photo: Option<NewPhoto>)
            -> Device = photo::set;
        run delete_device(&self, &actor: Actor, id: DeviceId, seen: Option<Revision>) -> () = delete_device;
        run announce_expiries(&self) -> Vec<ExpiryAnnouncement> = expiry::announce;
        read next_expiry(&self) -> Option<Timestamp> = expiry::next;
    }
}
