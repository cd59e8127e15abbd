//! Replacing the settings of a device. One that is reactivated takes a licence.

use perigee_core::access::actor::Actor;
use perigee_core::access::audit::changed;
use perigee_core::accounts::account::Account;
use perigee_core::accounts::license::{License, LicenseChange, expiry_instant};
use perigee_core::devices::device::{Device, DeviceRef, DeviceSettings};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::DeviceId;
use perigee_core::revision::Revision;
use perigee_core::store::Result;

use super::super::checksum::{ID_MODULUS, sum};
use super::super::locations::state_row;
use super::change::{COLUMNS, admit, append_event, append_expiry_event, reread, values};
use super::checksum::settings_crc;
use super::{expiry, identifiers, read};
use crate::sql::{
    access::audit, accounts, accounts::license_check, groups::editions, groups::members, rules::rule_engine,
};
use crate::{Tx, params};

pub(super) async fn replace(
    tx: &Tx,
    actor: Actor,
    id: DeviceId,
    seen: Revision,
    settings: DeviceSettings,
) -> Result<Device> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let now = license_check::settle(tx, account.id).await?;
    editions::follow_up_device(tx, account.id, id).await?;
    let found = read::find(tx, &account, actor.scope, &DeviceRef::Id(id)).await?;
    let before = found.ok_or(StoreError::NotFound(Kind::Device))?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Device));
    }
    let settings = admit(tx, actor.scope, Some(id), settings).await?;
    if settings == before.settings {
        return Ok(before);
    }
    // The instant was fixed when the date was set: a change of zone does not move it.
    let expires = if settings.limits.expiration_date == before.settings.limits.expiration_date {
        before.expires
    } else {
        expiry_instant(settings.limits.expiration_date, &account.settings.time_zone)
    };
    let (license, change) = before.license().with_expiry(expires, now);
    if change == LicenseChange::Take {
        license_check::require_free(tx, &account).await?;
    }
    // Announced before the new date replaces the old one.
    expiry::announce_device(tx, account.id, id, now).await?;
    update(tx, &account, id, &settings, license).await?;
    let taken = i64::from(license.licensed) - i64::from(before.license().licensed);
    license_check::change_held(tx, account.id, taken).await?;
    identifiers::save(tx, account.id, id, &settings).await?;
    members::move_device(tx, account.id, id, &before.settings.groups, &settings.groups).await?;
    if settings.decoding != before.settings.decoding {
        // The proposal was derived from fixes decoded with other settings.
        if let Some(mut state) = state_row::lock(tx, account.id, id).await?
            && state.proposed_zone_minutes.take().is_some()
        {
            state.save(tx).await?;
        }
    }
    rule_engine::wake(tx, account.id, id).await?;
    let after = reread(tx, &account, &actor, id).await?;
    append_event(tx, EventKind::DeviceUpdated, &after).await?;
    match change {
        LicenseChange::Take => append_expiry_event(tx, EventKind::DeviceReactivated, &after, expires).await?,
        LicenseChange::Free => append_expiry_event(tx, EventKind::DeviceExpired, &after, expires).await?,
        LicenseChange::None => {}
    }
    let detail = changed(&after.settings.changes_since(&before.settings));
    audit::record_with(tx, account.id, &actor.origin, "device.update", Some(id.to_string()), detail).await?;
    Ok(after)
}

async fn update(
    tx: &Tx,
    account: &Account,
    id: DeviceId,
    settings: &DeviceSettings,
    license: License,
) -> Result<()> {
    // An expiry caused by this change is announced by it.
    let announced = license.expires.filter(|_| !license.licensed);
    let settable = values(settings)?;
    let known = settings_crc(account.id, id, &settable)
        + sum(params![1, tx.now(), license.expires, license.licensed, announced]);
    // A column that is not set keeps its value, which counts in the checksum.
    let kept = if announced.is_some() { "" } else { " + COALESCE(announced_expired, 0)" };
    let near_at = expiry::near_at(license.expires, account.settings.expiry_notice_days);
    let mut row =
        params![account.id, id, tx.now(), license.expires, license.licensed, announced, known, near_at]
            .to_vec();
    let assignments: Vec<String> =
        COLUMNS.iter().zip(row.len() + 1..).map(|(column, number)| format!("{column} = ?{number}")).collect();
    row.extend(settable);
    let sql = format!(
        "UPDATE device SET revision = revision + 1, last_modified = ?3, expires = ?4, licensed = ?5, \
         announced_expired = COALESCE(?6, announced_expired), near_at = ?8, \
         checksum = CAST(?7 AS BIGINT) + revision + creation + COALESCE(announced_near, 0) \
             + COALESCE(created_by, 0) % {ID_MODULUS}{kept}, \
         {} WHERE account_id = ?1 AND id = ?2",
        assignments.join(", ")
    );
    tx.execute(&sql, &row).await?;
    tx.log().licenses_changed(tx, account.id, &[id.as_i64()]).await
}
