//! The photo of a device that users set. It counts as a change of the device.

use perigee_core::access::actor::Actor;
use perigee_core::access::audit::changed;
use perigee_core::devices::device::{Device, DeviceRef};
use perigee_core::devices::device_photo::NewPhoto;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId, FileId};
use perigee_core::revision::Revision;
use perigee_core::store::Result;

use super::change::{append_event, reread};
use super::read;
use crate::sql::{access::audit, accounts, groups::editions, ids};
use crate::{Tx, params};

pub(super) async fn set(
    tx: &Tx,
    actor: Actor,
    id: DeviceId,
    seen: Option<Revision>,
    photo: Option<NewPhoto>,
) -> Result<Device> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    editions::follow_up_device(tx, account.id, id).await?;
    let found = read::find(tx, &account, actor.scope, &DeviceRef::Id(id)).await?;
    let before = found.ok_or(StoreError::NotFound(Kind::Device))?;
    if seen.is_some_and(|seen| seen != before.revision) {
        return Err(StoreError::RevisionMismatch(Kind::Device));
    }
    if photo.is_none() && before.photo.is_none() {
        return Ok(before);
    }
    let sql = "DELETE FROM device_photo WHERE account_id = ?1 AND device_id = ?2";
    tx.execute(sql, params![account.id, id]).await?;
    let photo = match photo {
        Some(photo) => Some(insert(tx, account.id, id, photo).await?),
        None => None,
    };
    let sql = "UPDATE device SET photo_id = ?3, revision = revision + 1, last_modified = ?4, \
                   checksum = checksum + 1 + CAST(?4 AS BIGINT) - last_modified \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account.id, id, photo, tx.now()]).await?;
    let after = reread(tx, &account, &actor, id).await?;
    append_event(tx, EventKind::DeviceUpdated, &after).await?;
    let detail = changed(&[("photo", true)]);
    audit::record_with(tx, account.id, &actor.origin, "device.update", Some(id.to_string()), detail).await?;
    Ok(after)
}

async fn insert(tx: &Tx, account: AccountId, device: DeviceId, photo: NewPhoto) -> Result<FileId> {
    let id = ids::fresh_id(tx, "device_photo", account).await?;
    let sql = "INSERT INTO device_photo (account_id, device_id, id, created, media_type, size, bytes) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let size = i64::try_from(photo.bytes.len()).unwrap_or(i64::MAX);
    let media_type = photo.media_type.name();
    tx.execute(sql, params![account, device, id, tx.now(), media_type, size, &photo.bytes]).await?;
    Ok(FileId::from_i64(id))
}
