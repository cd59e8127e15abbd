//! Creating many devices in one transaction, with few statements: all of them or none.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use perigee_core::access::actor::{Actor, Reach};
use perigee_core::accounts::account::Account;
use perigee_core::accounts::license::{License, LicenseChange, expiry_instant};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::devices::new_devices::{NewDevices, RowOutcome, RowRefusal};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::create::{check_admin_devices, device_row, head};
use super::identifiers;
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::query::{Query, for_ids, for_texts, insert_many};
use crate::sql::{access::audit, accounts, accounts::license_check, accounts::licenses};
use crate::sql::{groups::members, idempotency, ids::fresh_ids, scope};
use crate::{Tx, params};

/// A device to create.
struct NewDevice {
    /// Its place in the call.
    index: usize,
    settings: DeviceSettings,
    license: License,
}

/// What was found out about the devices of a call.
struct Examined {
    rows: Vec<RowOutcome>,
    new: Vec<NewDevice>,
    licenses_needed: u32,
}

/// Creates the devices, unless one of them is refused.
pub(super) async fn create(
    tx: &Tx,
    actor: Actor,
    settings: Vec<DeviceSettings>,
    once: Option<IdempotencyKey>,
) -> Result<Created<NewDevices>> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    if let Some(made) = idempotency::find(tx, account.id, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let now = license_check::settle(tx, account.id).await?;
    let examined = examine(tx, &account, &actor, settings, now).await?;
    let mut made = examined.outcome(license_check::free(tx, &account).await?);
    if made.has_refused() || examined.new.is_empty() {
        return Ok(Created::Now(made));
    }
    if examined.licenses_needed > made.licenses_free {
        return Err(StoreError::LicenseExhausted(account.id));
    }
    let first = insert(tx, &account, &actor, &examined).await?;
    for (id, device) in (first..).zip(&examined.new) {
        if let Some(row) = made.rows.get_mut(device.index) {
            *row = RowOutcome::New(Some(DeviceId::from_i64(id)));
        }
    }
    idempotency::keep(tx, account.id, once.as_ref(), &made).await?;
    Ok(Created::Now(made))
}

/// What [`create`] would do now.
pub(super) async fn preview(tx: &Tx, actor: Actor, settings: Vec<DeviceSettings>) -> Result<NewDevices> {
    let account = accounts::find(tx, actor.scope.account).await?;
    let account = account.ok_or(StoreError::NotFound(Kind::Account))?;
    let now = tx.now().max(license_check::decided_at(tx, account.id).await?);
    let examined = examine(tx, &account, &actor, settings, now).await?;
    Ok(examined.outcome(licenses::in_use(tx, account.id).await?.free()))
}

impl Examined {
    fn outcome(&self, licenses_free: u32) -> NewDevices {
        NewDevices { rows: self.rows.clone(), licenses_needed: self.licenses_needed, licenses_free }
    }
}

/// Decides for each device whether it is new, present or refused, and which licence a new one gets.
async fn examine(
    tx: &Tx,
    account: &Account,
    actor: &Actor,
    settings: Vec<DeviceSettings>,
    now: Timestamp,
) -> Result<Examined> {
    // A user who sees one device only could not see another that they create.
    if matches!(actor.scope.reach, Reach::Device(_)) {
        return Err(StoreError::NotFound(Kind::Device));
    }
    let groups = visible_groups(tx, actor, &settings).await?;
    let holders = Holders::of(tx, actor, &settings).await?;
    let (mut rows, mut new) = (Vec::with_capacity(settings.len()), Vec::new());
    let mut given: HashMap<String, usize> = HashMap::new();
    let mut licenses_needed = 0;
    for (index, mut settings) in settings.into_iter().enumerate() {
        if let Some(present) = holders.present(&settings) {
            rows.push(RowOutcome::Existing(present));
            continue;
        }
        if let Reach::Group(own) = actor.scope.reach {
            settings.groups.push(own);
        }
        settings.groups.sort_unstable();
        settings.groups.dedup();
        identifiers::sort(&mut settings);
        let names = identifiers::names(&settings);
        let unknown = settings.groups.iter().find(|group| !groups.contains(group));
        let refusal = unknown.map(|group| RowRefusal::UnknownGroup(*group)).or_else(|| {
            names.iter().find_map(|name| match given.get(name) {
                Some(first) => Some(RowRefusal::Repeated { identifier: name.clone(), first: *first }),
                None => holders.all.contains_key(name).then(|| RowRefusal::Taken(name.clone())),
            })
        });
        for name in names {
            given.entry(name).or_insert(index);
        }
        if let Some(refusal) = refusal {
            rows.push(RowOutcome::Refused(refusal));
            continue;
        }
        let expires = expiry_instant(settings.limits.expiration_date, &account.settings.time_zone);
        let (license, change) = License { licensed: false, expires: None }.with_expiry(expires, now);
        licenses_needed += u32::from(change == LicenseChange::Take);
        rows.push(RowOutcome::New(None));
        new.push(NewDevice { index, settings, license });
    }
    check_admin_devices(tx, actor, new.len()).await?;
    Ok(Examined { rows, new, licenses_needed })
}

/// The groups of the devices that exist and that the actor may see.
async fn visible_groups(tx: &Tx, actor: &Actor, settings: &[DeviceSettings]) -> Result<HashSet<GroupId>> {
    let mut wanted: BTreeSet<GroupId> =
        settings.iter().flat_map(|each| each.groups.iter().copied()).collect();
    if let Reach::Group(own) = actor.scope.reach {
        wanted.insert(own);
    }
    let ids: Vec<i64> = wanted.iter().map(|group| group.as_i64()).collect();
    let sql = "SELECT g.id FROM device_group g WHERE g.account_id = ?1 AND g.id IN ({ids})";
    let mut found = HashSet::with_capacity(ids.len());
    for row in for_ids(tx, sql, params![actor.scope.account], &ids).await? {
        found.insert(GroupId::from_i64(row.i64("id")?));
    }
    found.retain(|group| scope::sees_group(actor.scope, *group));
    Ok(found)
}

/// The devices that have one of the identifiers of a call.
struct Holders {
    /// Any device of the account, by each of its identifiers.
    all: HashMap<String, DeviceId>,
    /// Devices that the actor may see, by their first identifier.
    visible: HashMap<String, DeviceId>,
}

impl Holders {
    async fn of(tx: &Tx, actor: &Actor, settings: &[DeviceSettings]) -> Result<Self> {
        let account = actor.scope.account;
        let names: BTreeSet<String> = settings.iter().flat_map(identifiers::names).collect();
        let names: Vec<String> = names.into_iter().collect();
        let sql = "SELECT identifier, device_id FROM device_identifier WHERE account_id = ?1";
        let query = Query::new(sql, params![account]);
        let mut all = HashMap::new();
        for row in for_texts(tx, &query, " AND identifier IN ({texts})", &names).await? {
            all.insert(row.text("identifier")?, DeviceId::from_i64(row.i64("device_id")?));
        }
        let seen = scope::visible_devices(tx, actor.scope, all.values().copied().collect()).await?;
        let seen: Vec<i64> = seen.into_iter().map(DeviceId::as_i64).collect();
        let sql = "SELECT id, identifier FROM device WHERE account_id = ?1 AND id IN ({ids}) AND identifier IS NOT NULL";
        let mut visible = HashMap::new();
        for row in for_ids(tx, sql, params![account], &seen).await? {
            visible.insert(row.text("identifier")?, DeviceId::from_i64(row.i64("id")?));
        }
        Ok(Self { all, visible })
    }

    /// The visible device with the first identifier of these settings.
    fn present(&self, settings: &DeviceSettings) -> Option<DeviceId> {
        settings.identifier.as_ref().and_then(|identifier| self.visible.get(identifier)).copied()
    }
}

/// Inserts the devices under consecutive ids, and returns the first.
async fn insert(tx: &Tx, account: &Account, actor: &Actor, examined: &Examined) -> Result<i64> {
    let first = fresh_ids(tx, "device", account.id, examined.new.len()).await?;
    let devices: Vec<(DeviceId, &DeviceSettings)> =
        (first..).map(DeviceId::from_i64).zip(examined.new.iter().map(|device| &device.settings)).collect();
    let mut joining: BTreeMap<GroupId, Vec<DeviceId>> = BTreeMap::new();
    // In parts, so that the values of all rows are not in memory together.
    for (devices, new) in devices.chunks(ROWS_AT_ONCE).zip(examined.new.chunks(ROWS_AT_ONCE)) {
        let mut rows = Vec::with_capacity(devices.len());
        for ((id, settings), device) in devices.iter().zip(new) {
            rows.push(device_row(tx, account, actor, *id, settings, device.license)?);
            for group in &settings.groups {
                joining.entry(*group).or_default().push(*id);
            }
        }
        insert_many(tx, &head(), &rows, "").await?;
    }
    let taken = examined.new.iter().filter(|device| device.license.licensed).count();
    license_check::change_held(tx, account.id, i64::try_from(taken).unwrap_or(i64::MAX)).await?;
    identifiers::save_new(tx, account.id, &devices).await?;
    members::join_new(tx, account.id, &joining).await?;
    let targets: Vec<String> = devices.iter().map(|(id, _)| id.to_string()).collect();
    let event = |(subject, (id, _)): (&String, &(DeviceId, &DeviceSettings))| NewEvent {
        subject: subject.clone(),
        device: Some(*id),
        data: r#"{"revision":1}"#.to_owned(),
    };
    let events = targets.iter().zip(&devices).map(event).collect();
    append_events(tx, account.id, EventKind::DeviceCreated, events).await?;
    audit::record_many(tx, account.id, &actor.origin, "device.create", &targets).await?;
    Ok(first)
}

/// Devices whose rows are made at once.
const ROWS_AT_ONCE: usize = 1_000;
