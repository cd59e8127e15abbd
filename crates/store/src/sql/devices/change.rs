//! Shared by creating and replacing a device: the checks, and the columns that a client sets.

use perigee_core::access::actor::{Actor, Reach, Scope};
use perigee_core::accounts::account::Account;
use perigee_core::devices::device::{Device, DeviceRef, DeviceSettings};
use perigee_core::error::{Kind, StoreError, Unique};
use perigee_core::events::event::EventKind;
use perigee_core::gateways::decoding::Decoding;
use perigee_core::id::DeviceId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::super::{events, scope, search};
use super::{identifiers, limits as daily_limits, read};
use crate::{Tx, Value, params};

/// Validates and normalises the settings for a new device or for this one.
///
/// A user who sees one group keeps the device in that group: leaving the group out must not make it invisible to them.
pub(super) async fn admit(
    tx: &Tx,
    scope: Scope,
    device: Option<DeviceId>,
    mut settings: DeviceSettings,
) -> Result<DeviceSettings> {
    if let Reach::Group(own) = scope.reach {
        settings.groups.push(own);
    }
    settings.groups.sort_unstable();
    settings.groups.dedup();
    scope::require_groups(tx, scope, &settings.groups).await?;
    if let Some(identifier) = &settings.identifier {
        let sql = "SELECT id FROM device WHERE account_id = ?1 AND identifier = ?2";
        let holder = tx.query_opt(sql, params![scope.account, identifier]).await?;
        let holder = holder.map(|row| row.i64("id")).transpose()?.map(DeviceId::from_i64);
        if holder.is_some() && holder != device {
            return Err(StoreError::Taken(Unique::Identifier));
        }
    }
    identifiers::require_free(tx, scope.account, device, &mut settings).await?;
    Ok(settings)
}

/// The settings without the groups, in the order of [`COLUMNS`].
pub(super) fn values(settings: &DeviceSettings) -> Result<Vec<Value>> {
    let limits = &settings.limits;
    let fields =
        [Some(settings.name.as_str()), settings.identifier.as_deref(), settings.description.as_deref()];
    let text = |text: &Option<String>| Value::from(text.clone());
    Ok(vec![
        text(&settings.identifier),
        Value::from(identifiers::to_text(&settings.identifiers)?),
        Value::from(&settings.name),
        text(&settings.description),
        text(&settings.min),
        Value::from(search::tags_text(&settings.tags)?),
        text(&settings.icon),
        text(&settings.model),
        Value::from(decoding_text(&settings.decoding)?),
        Value::from(settings.expected_interval_s),
        Value::from(settings.retention_days),
        Value::from(limits.expiration_date.map(|date| date.to_string())),
        Value::from(daily_limits::to_text(&limits.daily)?),
        Value::from(limits.critical_reserve),
        Value::from(search::searchable(&fields)),
    ])
}

/// The stored form of the settings for decoding.
pub(super) fn decoding_text(decoding: &Decoding) -> Result<String> {
    serde_json::to_string(decoding).map_err(|cause| StoreError::Internal(cause.into()))
}

/// The columns of [`values`].
pub(super) const COLUMNS: [&str; 15] = [
    "identifier",
    "identifiers",
    "name",
    "description",
    "min",
    "tags",
    "icon",
    "model",
    "decoding",
    "expected_interval_s",
    "retention_days",
    "expiration_date",
    "daily_limits",
    "critical_reserve",
    "search",
];

/// The device after a change, as the actor sees it.
pub(super) async fn reread(tx: &Tx, account: &Account, actor: &Actor, id: DeviceId) -> Result<Device> {
    let device = read::find(tx, account, actor.scope, &DeviceRef::Id(id)).await?;
    device.ok_or(StoreError::NotFound(Kind::Device))
}

/// Appends an event with the device's revision.
pub(super) async fn append_event(tx: &Tx, kind: EventKind, device: &Device) -> Result<()> {
    let data = serde_json::json!({ "revision": device.revision });
    events::append(tx, device.account, kind, device.id.to_string(), Some(device.id), data).await
}

/// Appends an event with the device's expiry.
pub(super) async fn append_expiry_event(
    tx: &Tx,
    kind: EventKind,
    device: &Device,
    expires: Option<Timestamp>,
) -> Result<()> {
    let data = serde_json::json!({ "expires": expires.map(|expires| expires.to_string()) });
    events::append(tx, device.account, kind, device.id.to_string(), Some(device.id), data).await
}
