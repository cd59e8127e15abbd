//! Creating a device, which takes a licence unless its expiry is in the past.

use perigee_core::access::actor::{Actor, Reach};
use perigee_core::accounts::account::Account;
use perigee_core::accounts::license::{License, LicenseChange, expiry_instant};
use perigee_core::devices::device::{Device, DeviceSettings};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::DeviceId;
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::store::Result;

use super::super::checksum::{id_part, sum};
use super::super::ids::fresh_id;
use super::super::query::insert_many;
use super::change::{COLUMNS, admit, append_event, reread, values};
use super::checksum::settings_crc;
use super::{expiry, identifiers};
use crate::sql::{access::audit, accounts, accounts::license_check, groups::members, idempotency};
use crate::{Tx, Value, params};

pub(super) async fn create(
    tx: &Tx,
    actor: Actor,
    settings: DeviceSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Device>> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    if let Some(made) = idempotency::find(tx, account.id, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let (settings, license) = decide(tx, &account, &actor, settings).await?;
    let device = insert(tx, &account, &actor, settings, license).await?;
    idempotency::keep(tx, account.id, once.as_ref(), &device).await?;
    Ok(Created::Now(device))
}

/// Checks whether the device may be created, and decides its licence.
async fn decide(
    tx: &Tx,
    account: &Account,
    actor: &Actor,
    settings: DeviceSettings,
) -> Result<(DeviceSettings, License)> {
    // A user who sees one device only could not see another that they create.
    if matches!(actor.scope.reach, Reach::Device(_)) {
        return Err(StoreError::NotFound(Kind::Device));
    }
    let settings = admit(tx, actor.scope, None, settings).await?;
    check_admin_devices(tx, actor, 1).await?;
    let now = license_check::settle(tx, account.id).await?;
    let expires = expiry_instant(settings.limits.expiration_date, &account.settings.time_zone);
    let (license, change) = License { licensed: false, expires: None }.with_expiry(expires, now);
    if change == LicenseChange::Take {
        license_check::require_free(tx, account).await?;
    }
    Ok((settings, license))
}

/// Enforces the limit on devices that the user may create, if there is one, for this many more.
pub(super) async fn check_admin_devices(tx: &Tx, actor: &Actor, more: usize) -> Result<()> {
    let Some(user) = actor.origin.user else { return Ok(()) };
    let sql = "SELECT admin_devices FROM account_user WHERE account_id = ?1 AND id = ?2";
    let Some(row) = tx.query_opt(sql, params![actor.scope.account, user]).await? else { return Ok(()) };
    let Some(most) = row.opt_int::<u32>("admin_devices")? else { return Ok(()) };
    // Most users have no such limit, and may have created many devices.
    let sql = "SELECT COUNT(*) AS made FROM device WHERE account_id = ?1 AND created_by = ?2";
    let made = tx.query_one(sql, params![actor.scope.account, user]).await?.i64("made")?;
    let wanted = made.saturating_add(i64::try_from(more).unwrap_or(i64::MAX));
    if wanted > i64::from(most) { Err(StoreError::AdminDevicesExhausted(most)) } else { Ok(()) }
}

/// The statement that inserts rows of [`device_row`], up to their values.
pub(super) fn head() -> String {
    format!(
        "INSERT INTO device (account_id, id, revision, expires, licensed, announced_expired, near_at, created_by, \
         creation, last_modified, checksum, {})",
        COLUMNS.join(", ")
    )
}

/// The row of a new device.
pub(super) fn device_row(
    tx: &Tx,
    account: &Account,
    actor: &Actor,
    id: DeviceId,
    settings: &DeviceSettings,
    license: License,
) -> Result<Vec<Value>> {
    // A device that is created expired has no expiry to announce.
    let announced = license.expires.filter(|_| !license.licensed);
    let mut row = params![
        account.id,
        id,
        1,
        license.expires,
        license.licensed,
        announced,
        expiry::near_at(license.expires, account.settings.expiry_notice_days),
        actor.origin.user,
        tx.now(),
        tx.now(),
    ]
    .to_vec();
    let settable = values(settings)?;
    let numbers = sum(params![1, license.expires, license.licensed, announced, tx.now(), tx.now()]);
    let made_by = id_part(&Value::from(actor.origin.user));
    row.push(Value::from(settings_crc(account.id, id, &settable) + numbers + made_by));
    row.extend(settable);
    Ok(row)
}

async fn insert(
    tx: &Tx,
    account: &Account,
    actor: &Actor,
    settings: DeviceSettings,
    license: License,
) -> Result<Device> {
    let id = DeviceId::from_i64(fresh_id(tx, "device", account.id).await?);
    let row = device_row(tx, account, actor, id, &settings, license)?;
    insert_many(tx, &head(), &[row], "").await?;
    license_check::change_held(tx, account.id, i64::from(license.licensed)).await?;
    identifiers::save(tx, account.id, id, &settings).await?;
    members::move_device(tx, account.id, id, &[], &settings.groups).await?;
    let device = reread(tx, account, actor, id).await?;
    append_event(tx, EventKind::DeviceCreated, &device).await?;
    audit::record(tx, account.id, &actor.origin, "device.create", Some(id.to_string())).await?;
    Ok(device)
}

/// A deliberately wrong variant without the lock, in two transactions, which the tests of the licence race must catch.
#[cfg(feature = "testing")]
pub(super) mod without_lock {
    use super::{Actor, Device, DeviceSettings, Kind, Result, StoreError, accounts, decide, insert};
    use crate::Database;

    /// Creates a device, but counts the licences in one transaction and inserts in another, with `between` awaited in
    /// between.
    pub async fn create_device_without_lock(
        database: &Database,
        actor: &Actor,
        settings: DeviceSettings,
        between: impl Future<Output = ()> + Send,
    ) -> Result<Device> {
        let asking = actor.clone();
        let (account, settings, license) = database
            .write(move |tx| {
                Box::pin(async move {
                    let found = accounts::find(tx, asking.scope.account).await?;
                    let account = found.ok_or(StoreError::NotFound(Kind::Account))?;
                    let (settings, license) = decide(tx, &account, &asking, settings).await?;
                    Ok((account, settings, license))
                })
            })
            .await?;
        between.await;
        let making = actor.clone();
        database
            .write(move |tx| Box::pin(async move { insert(tx, &account, &making, settings, license).await }))
            .await
    }
}
