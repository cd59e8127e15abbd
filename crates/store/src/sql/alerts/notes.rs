//! Notes about alerts, and acknowledgements by the link in a message.

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::alerts::alert::{AlertNote, NotifiedAlert, StoredAlert};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, AlertId, AlertNoteId, DeviceId, FileId, NotificationId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::notifications::routing::Preferences;
use perigee_core::store::Result;
use perigee_core::zone::Zone;

use super::super::devices::read::names;
use super::read;
use crate::sql::{access::audit, access::user_rows, column, events, idempotency, ids, notifications::outbox};
use crate::{Row, Tx, params};

const COLUMNS: &str = "id, user_id, name, text, acknowledges, created";

fn from_row(row: &Row) -> Result<AlertNote> {
    Ok(AlertNote {
        id: AlertNoteId::from_i64(row.i64("id")?),
        user: row.opt_i64("user_id")?.map(UserId::from_i64),
        name: row.text("name")?,
        text: row.opt_text("text")?,
        acknowledges: row.bool("acknowledges")?,
        created: row.timestamp("created")?,
    })
}

/// The author of a note.
pub(super) struct Author {
    pub(super) user: Option<UserId>,
    pub(super) name: String,
}

impl Author {
    /// The user of a request; one without a user is the operator.
    pub(super) async fn of(tx: &Tx, actor: &Actor) -> Result<Self> {
        let user = match actor.origin.user {
            Some(user) => user_rows::find(tx, actor.scope.account, user).await?,
            None => None,
        };
        let name = user.map(|user| user.profile.name).unwrap_or_default();
        Ok(Self { user: actor.origin.user, name })
    }
}

/// Stores a note. Refused if the alert has the maximum number of notes, unless the note acknowledges it.
pub(super) async fn insert(
    tx: &Tx,
    account: AccountId,
    alert: AlertId,
    author: Author,
    text: Option<String>,
    acknowledges: bool,
) -> Result<AlertNote> {
    let sql = "SELECT COUNT(*) AS count FROM alert_note WHERE account_id = ?1 AND alert_id = ?2";
    let count = tx.query_one(sql, params![account, alert]).await?.i64("count")?;
    if !acknowledges && count >= i64::from(AlertNote::PER_ALERT_MAX) {
        return Err(StoreError::TooMany { kind: Kind::AlertNote, most: AlertNote::PER_ALERT_MAX });
    }
    let id = ids::fresh_id(tx, "alert_note", account).await?;
    let sql = format!(
        "INSERT INTO alert_note (account_id, alert_id, {COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) \
         RETURNING {COLUMNS}"
    );
    let Author { user, name } = author;
    let values = params![account, alert, id, user, name, text, acknowledges, tx.now()];
    from_row(&tx.query_one(&sql, values).await?)
}

/// Stores a note of the service about an alert. An alert with the maximum number of notes gets none.
pub(in crate::sql) async fn add_service_note(
    tx: &Tx,
    account: AccountId,
    alert: AlertId,
    text: &str,
) -> Result<()> {
    let author = Author { user: None, name: String::new() };
    match insert(tx, account, alert, author, Some(text.to_owned()), false).await {
        Ok(_) | Err(StoreError::TooMany { .. }) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Stores a note of a user about an alert.
pub(super) async fn add(
    tx: &Tx,
    actor: Actor,
    id: AlertId,
    text: String,
    once: Option<IdempotencyKey>,
) -> Result<Created<AlertNote>> {
    let account = actor.scope.account;
    tx.lock_account(account).await?;
    read::find(tx, actor.scope, id).await?.ok_or(StoreError::NotFound(Kind::Alert))?;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let author = Author::of(tx, &actor).await?;
    let note = insert(tx, account, id, author, Some(text), false).await?;
    audit::record(tx, account, &actor.origin, "alert.note", Some(id.to_string())).await?;
    idempotency::keep(tx, account, once.as_ref(), &note).await?;
    Ok(Created::Now(note))
}

/// The notes about an alert, the oldest first.
pub(super) async fn list(tx: &Tx, scope: Scope, id: AlertId) -> Result<Vec<AlertNote>> {
    read::find(tx, scope, id).await?.ok_or(StoreError::NotFound(Kind::Alert))?;
    let sql = format!("SELECT {COLUMNS} FROM alert_note WHERE account_id = ?1 AND alert_id = ?2 ORDER BY id");
    tx.query(&sql, params![scope.account, id]).await?.iter().map(from_row).collect()
}

/// The alert of a notification, as its recipient sees it.
pub(super) async fn find_notified(
    tx: &Tx,
    account: AccountId,
    message: NotificationId,
) -> Result<Option<NotifiedAlert>> {
    let sql = "SELECT n.alert_id, n.preferences, d.id AS device_id, COALESCE(a.brand_name, a.name) AS account_name, \
               a.brand_colour, a.logo_id, a.time_zone \
               FROM notification n JOIN account a ON a.id = n.account_id \
               JOIN device d ON d.account_id = n.account_id AND d.id = n.device_id \
               WHERE n.account_id = ?1 AND n.id = ?2 AND n.alert_id IS NOT NULL";
    let Some(row) = tx.query_opt(sql, params![account, message]).await? else { return Ok(None) };
    let alert = AlertId::from_i64(row.i64("alert_id")?);
    let mut found = read::of_ids(tx, account, &[alert.as_i64()]).await?;
    let Some(mut alert) = found.remove(&alert) else { return Ok(None) };
    read::add_acknowledgements(tx, account, std::iter::once(&mut alert)).await?;
    let preferences: Preferences = column::json(&row, "preferences")?;
    let zone: Zone = column::parsed(&row, "time_zone")?;
    let device = row.i64("device_id")?;
    let name = names(tx, account, &[device]).await?.remove(&DeviceId::from_i64(device));
    let by = alert.acknowledged.and_then(|(_, user)| user);
    let by = match by {
        Some(user) => user_rows::find(tx, account, user).await?,
        None => None,
    };
    Ok(Some(NotifiedAlert {
        alert,
        device: name.map(|device| device.name).unwrap_or_default(),
        account: row.text("account_name")?,
        colour: column::opt_parsed(&row, "brand_colour")?,
        logo: row.opt_i64("logo_id")?.map(FileId::from_i64),
        time_zone: preferences.time_zone.clone().unwrap_or(zone),
        preferences,
        acknowledged_by: by.map(|user| user.profile.name),
    }))
}

/// Acknowledges the alert of a notification. The note of a second person is stored, but the first
/// acknowledgement stays.
pub(super) async fn acknowledge_notified(
    tx: &Tx,
    origin: Origin,
    (account, message): (AccountId, NotificationId),
    name: String,
    text: Option<String>,
) -> Result<Option<NotifiedAlert>> {
    tx.lock_account(account).await?;
    let Some(before) = find_notified(tx, account, message).await? else { return Ok(None) };
    let StoredAlert { id, device, acknowledged, .. } = before.alert;
    let author = Author { user: None, name };
    if acknowledged.is_some() {
        if text.is_some() {
            insert(tx, account, id, author, text, false).await?;
        }
        return find_notified(tx, account, message).await;
    }
    let sql = "UPDATE alert SET acknowledged_at = ?3, checksum = checksum + CAST(?3 AS BIGINT) \
               WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![account, id, tx.now()]).await?;
    let detail = Some(author.name.clone());
    insert(tx, account, id, author, text, true).await?;
    outbox::stop_escalations(tx, account, id).await?;
    let subject = id.to_string();
    let kind = EventKind::AlertAcknowledged;
    events::append(tx, account, kind, subject.clone(), Some(device), serde_json::json!({})).await?;
    audit::record_with(tx, account, &origin, "alert.acknowledge", Some(subject), detail).await?;
    find_notified(tx, account, message).await
}
