//! Writing the messages of new alerts, in the transaction that stores the alerts.

use std::collections::HashMap;

use perigee_core::accounts::account::Account;
use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::severity::Severity;
use perigee_core::id::{AccountId, AlertId, DeviceId};
use perigee_core::notifications::notification::{
    Addressee, Audience, Channel, Notice, NotificationState, RepeatFilter, SuppressedReason, Urgency,
};
use perigee_core::notifications::routing::Recipient;
use perigee_core::store::{Additions, Queue, Result};

use super::audience::{DeviceAudience, RoutedAlert};
use super::escalate;
use crate::sql::ids;
use crate::sql::query::insert_many;
use crate::{Tx, Value, params};

/// A new alert, with what its messages need.
pub(in crate::sql) struct Raised {
    pub(in crate::sql) id: AlertId,
    pub(in crate::sql) name: String,
    pub(in crate::sql) severity: Severity,
    /// Whether only those of its own routing are notified.
    pub(in crate::sql) is_alone: bool,
}

pub(super) const INSERT: &str = "INSERT INTO notification (account_id, id, device_id, alert_id, name, critical, \
                                 channel, address, preferences, document, state, reason, due, created, queued_at, \
                                 step, first_critical)";

/// A message to insert.
pub(super) struct Draft {
    pub(super) alert: Option<AlertId>,
    pub(super) name: String,
    pub(super) critical: bool,
    /// Whether it is the first message of a critical alert, which no cap on e-mail holds back.
    pub(super) first_critical: bool,
    /// The step of an escalation, from 1; 0 for the message of the alert itself.
    pub(super) step: u32,
    pub(super) channel: Channel,
    pub(super) address: String,
    pub(super) preferences: String,
    pub(super) document: Option<String>,
    pub(super) suppressed: Option<SuppressedReason>,
}

/// The names under which first messages of critical alerts are recorded: of alerts of the SOS button, and of all
/// others. No alert has a blank name.
const SOS: &str = " ";
const ANY_OTHER: &str = "";

/// The key of a recipient's repetitions: channel, address and name of the alert.
type RepetitionKey = (Channel, String, String);

/// Writes a message for each alert and recipient, and starts the escalations of critical ones; suppressed messages are
/// written too, with their reason.
pub(in crate::sql) async fn fill(
    tx: &Tx,
    of_device: &DeviceAudience,
    device: DeviceId,
    alerts: &[RoutedAlert],
) -> Result<()> {
    let account = &of_device.account;
    if alerts.iter().all(|routed| routed.audience(of_device).is_nobody()) {
        return Ok(());
    }
    let mut repetitions = Repetitions::load(tx, account.id, device).await?;
    let mut drafts = Vec::new();
    for routed in alerts {
        let (alert, audience) = (&routed.alert, routed.audience(of_device));
        for addressee in audience.addressees(tx.now(), &account.settings.time_zone) {
            let Some(notice) = addressee.notice(alert.severity) else { continue };
            let mut draft = draft(alert, &addressee, notice)?;
            if draft.suppressed.is_none() {
                let (channel, address) = (addressee.channel, addressee.address.to_owned());
                let is_critical = alert.severity == Severity::Critical;
                let is_admitted = repetitions.admit(tx, (channel, address.clone(), alert.name.clone()));
                draft.first_critical =
                    is_admitted && is_critical && repetitions.is_first(tx, channel, &address, &alert.name);
                draft.suppressed = (!is_admitted).then_some(SuppressedReason::Repeated);
            }
            drafts.push(draft);
        }
        if alert.severity == Severity::Critical {
            escalate::start(tx, account.id, device, alert, &audience.escalations).await?;
        }
    }
    if drafts.is_empty() {
        return Ok(());
    }
    repetitions.save(tx, account.id, device).await?;
    write(tx, account.id, Some(device), drafts).await
}

/// The message to one addressee; suppressed if no schedule covers the time.
fn draft(alert: &Raised, addressee: &Addressee<'_>, notice: Notice<'_>) -> Result<Draft> {
    let suppressed = match notice {
        Notice::OutsideSchedule(_) => Some(SuppressedReason::Schedule),
        Notice::Now(_) => None,
    };
    Ok(Draft {
        alert: Some(alert.id),
        name: alert.name.clone(),
        critical: alert.severity == Severity::Critical,
        first_critical: false,
        step: 0,
        channel: addressee.channel,
        address: addressee.address.to_owned(),
        preferences: preferences(notice.recipient())?,
        document: None,
        suppressed,
    })
}

/// The messages of a step of an escalation. They are not repetitions: nobody has acknowledged the alert.
pub(super) fn drafts_of_step(
    tx: &Tx,
    account: &Account,
    audience: &Audience,
    alert: &Raised,
    step: u32,
) -> Result<Vec<Draft>> {
    let addressees = audience.addressees(tx.now(), &account.settings.time_zone);
    let notified = addressees.iter().filter_map(|one| Some((one, one.notice(alert.severity)?)));
    notified.map(|(addressee, notice)| Ok(Draft { step, ..draft(alert, addressee, notice)? })).collect()
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
    let first = ids::fresh_ids(tx, "notification", account, drafts.len()).await?;
    let waits = |channel| drafts.iter().any(|draft| draft.channel == channel && draft.suppressed.is_none());
    for channel in Channel::all().iter().copied().filter(|channel| waits(*channel)) {
        tx.mark(Additions::to_queue(Queue::Outbox(channel)));
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
            draft.step,
            draft.first_critical,
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
            let key = (crate::sql::column::parsed(&row, "channel")?, row.text("address")?, row.text("name")?);
            let repetition = RepeatFilter {
                notified_at: row.timestamp("told_at")?,
                met_at: row.timestamp("met_at")?,
                pause_s: row.int("pause_s")?,
            };
            known.insert(key, repetition);
        }
        Ok(Self { known, changed: HashMap::new() })
    }

    /// Whether this is the first message to this address about a critical alert for some time. Alerts of the SOS
    /// button are recorded separately, so that other alerts do not use up their exemption from the caps.
    fn is_first(&mut self, tx: &Tx, channel: Channel, address: &str, name: &str) -> bool {
        let name = if Alert::is_critical_by_name(name) { SOS } else { ANY_OTHER };
        let key = (channel, address.to_owned(), name.to_owned());
        let before = self.changed.get(&key).or_else(|| self.known.get(&key)).copied();
        let is_recent = |known: &RepeatFilter| {
            known.notified_at <= tx.now() && tx.now() < known.notified_at.plus_seconds(Urgency::FIRST_AGAIN_S)
        };
        if before.as_ref().is_some_and(is_recent) {
            return false;
        }
        let pause_s = RepeatFilter::SHORTEST_S;
        self.changed.insert(key, RepeatFilter { notified_at: tx.now(), met_at: tx.now(), pause_s });
        true
    }

    /// Whether this may be sent now, rather than suppressed as a repetition.
    fn admit(&mut self, tx: &Tx, key: RepetitionKey) -> bool {
        let before = self.changed.get(&key).or_else(|| self.known.get(&key)).copied();
        let (after, is_admitted) = RepeatFilter::record(before, tx.now());
        self.changed.insert(key, after);
        is_admitted
    }

    async fn save(self, tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
        let row = |(key, repetition): (RepetitionKey, RepeatFilter)| {
            let (channel, address, name) = key;
            let RepeatFilter { notified_at, met_at, pause_s } = repetition;
            params![account, device, channel.name(), address, name, notified_at, met_at, pause_s].to_vec()
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
