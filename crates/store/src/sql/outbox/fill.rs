//! Writing the messages of new alerts, in the transaction that stores the alerts.

use std::collections::{BTreeSet, HashMap};

use perigee_core::account::Account;
use perigee_core::id::{AccountId, AlertId, DeviceId, NotificationId, WebhookId};
use perigee_core::notification::{Channel, Notice, NotificationState, RepeatFilter, SuppressedReason};
use perigee_core::routing::{AlertRouting, Recipient};
use perigee_core::severity::Severity;
use perigee_core::store::Result;

use super::super::query::insert_many;
use super::super::{accounts, ids, routing};
use crate::{Tx, Value, params};

/// A new alert, with what its messages need.
pub(in crate::sql) struct Raised {
    pub(in crate::sql) id: AlertId,
    pub(in crate::sql) name: String,
    pub(in crate::sql) severity: Severity,
}

pub(super) const INSERT: &str = "INSERT INTO notification (account_id, id, device_id, alert_id, name, critical, \
                                 channel, address, preferences, document, state, reason, due, created, queued_at)";

/// A message to insert.
pub(super) struct Draft {
    pub(super) alert: Option<AlertId>,
    pub(super) name: String,
    pub(super) critical: bool,
    pub(super) channel: Channel,
    pub(super) address: String,
    pub(super) preferences: String,
    pub(super) document: Option<String>,
    pub(super) suppressed: Option<SuppressedReason>,
}

/// The key of a recipient's repetitions: channel, address and name of the alert.
type RepetitionKey = (Channel, String, String);

/// The routing of a device's alerts, and the account whose time zone applies.
pub(in crate::sql) struct Audience {
    account: Account,
    routing: AlertRouting,
}

impl Audience {
    /// The audience of a device, if a routing is set at any level.
    pub(in crate::sql) async fn of(tx: &Tx, account: AccountId, device: DeviceId) -> Result<Option<Self>> {
        let Some((_, routing)) = routing::in_force(tx, account, device).await? else { return Ok(None) };
        Ok(accounts::find(tx, account).await?.map(|account| Self { account, routing }))
    }

    /// The webhooks to which an alert of this severity is routed now.
    pub(in crate::sql) fn webhooks(&self, tx: &Tx, severity: Severity) -> BTreeSet<WebhookId> {
        self.routing.webhooks_at(severity, tx.now(), &self.account.settings.time_zone)
    }
}

/// Writes a message for each alert and recipient; suppressed ones are written too, with their reason.
pub(in crate::sql) async fn fill(
    tx: &Tx,
    audience: &Audience,
    device: DeviceId,
    alerts: &[Raised],
) -> Result<()> {
    let Audience { account, routing } = audience;
    if alerts.is_empty() || routing.recipients.is_empty() {
        return Ok(());
    }
    let mut repetitions = Repetitions::load(tx, account.id, device).await?;
    let addressees = routing.addressees(tx.now(), &account.settings.time_zone);
    let mut drafts = Vec::new();
    for alert in alerts {
        for addressee in &addressees {
            let Some(notice) = addressee.notice(alert.severity) else { continue };
            let suppressed = match notice {
                Notice::OutsideSchedule(_) => Some(SuppressedReason::Schedule),
                Notice::Now(_) => {
                    let key = (addressee.channel, addressee.address.to_owned(), alert.name.clone());
                    (!repetitions.admit(tx, key)).then_some(SuppressedReason::Repeated)
                }
            };
            drafts.push(Draft {
                alert: Some(alert.id),
                name: alert.name.clone(),
                critical: alert.severity == Severity::Critical,
                channel: addressee.channel,
                address: addressee.address.to_owned(),
                preferences: preferences(notice.recipient())?,
                document: None,
                suppressed,
            });
        }
    }
    repetitions.save(tx, account.id, device).await?;
    write(tx, account.id, Some(device), drafts).await
}

fn preferences(recipient: &Recipient) -> Result<String> {
    serde_json::to_string(&recipient.preferences)
        .map_err(|cause| perigee_core::error::StoreError::Internal(cause.into()))
}

/// Inserts messages about a device, and wakes the workers that send them.
pub(super) async fn write(
    tx: &Tx,
    account: AccountId,
    device: Option<DeviceId>,
    drafts: Vec<Draft>,
) -> Result<()> {
    if drafts.is_empty() {
        return Ok(());
    }
    let make = |now| NotificationId::new(now).as_i64();
    let first = ids::fresh_ids(tx, "notification", account, drafts.len(), make).await?;
    let waits = |channel| drafts.iter().any(|draft| draft.channel == channel && draft.suppressed.is_none());
    for channel in Channel::ALL.iter().copied().filter(|channel| waits(*channel)) {
        tx.signal_outbox_after_commit(channel);
    }
    let mut rows: Vec<Vec<Value>> = Vec::with_capacity(drafts.len());
    for (draft, id) in drafts.into_iter().zip(first..) {
        let waits = draft.suppressed.is_none();
        let state = if waits { NotificationState::Waiting } else { NotificationState::Suppressed };
        let row = params![
            account,
            id,
            device,
            draft.alert,
            draft.name,
            draft.critical,
            draft.channel.name(),
            draft.address,
            draft.preferences,
            draft.document,
            state.name(),
            draft.suppressed.map(SuppressedReason::name),
            waits.then(|| tx.now()),
            tx.now(),
            tx.now(),
        ];
        rows.push(row.to_vec());
    }
    insert_many(tx, INSERT, &rows, "").await?;
    Ok(())
}

/// The recent notifications of a device's recipients, by which repetitions are suppressed.
struct Repetitions {
    known: HashMap<RepetitionKey, RepeatFilter>,
    changed: HashMap<RepetitionKey, RepeatFilter>,
}

impl Repetitions {
    async fn load(tx: &Tx, account: AccountId, device: DeviceId) -> Result<Self> {
        let sql = "SELECT channel, address, name, told_at, met_at, pause_s FROM notification_repetition \
                   WHERE account_id = ?1 AND device_id = ?2";
        let mut known = HashMap::new();
        for row in tx.query(sql, params![account, device]).await? {
            let key =
                (super::super::column::parsed(&row, "channel")?, row.text("address")?, row.text("name")?);
            let repetition = RepeatFilter {
                told_at: row.timestamp("told_at")?,
                met_at: row.timestamp("met_at")?,
                pause_s: row.int("pause_s")?,
            };
            known.insert(key, repetition);
        }
        Ok(Self { known, changed: HashMap::new() })
    }

    /// Whether this may be sent now, rather than suppressed as a repetition.
    fn admit(&mut self, tx: &Tx, key: RepetitionKey) -> bool {
        let before = self.changed.get(&key).or_else(|| self.known.get(&key)).copied();
        let (after, told) = RepeatFilter::record(before, tx.now());
        self.changed.insert(key, after);
        told
    }

    async fn save(self, tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
        let row = |(key, repetition): (RepetitionKey, RepeatFilter)| {
            let (channel, address, name) = key;
            let RepeatFilter { told_at, met_at, pause_s } = repetition;
            params![account, device, channel.name(), address, name, told_at, met_at, pause_s].to_vec()
        };
        let rows: Vec<Vec<Value>> = self.changed.into_iter().map(row).collect();
        let head = "INSERT INTO notification_repetition \
                    (account_id, device_id, channel, address, name, told_at, met_at, pause_s)";
        let tail = "ON CONFLICT (account_id, device_id, channel, address, name) DO UPDATE SET \
                    told_at = excluded.told_at, met_at = excluded.met_at, pause_s = excluded.pause_s";
        insert_many(tx, head, &rows, tail).await?;
        Ok(())
    }
}
