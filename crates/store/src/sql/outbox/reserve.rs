//! Counts messages before they are sent, and records those that are not to be.
//!
//! The account is locked, so that whatever else changes a limit or a counter comes before or after, never between.

use std::collections::{BTreeMap, HashMap, HashSet};

use perigee_core::account::Account;
use perigee_core::id::{AccountId, DeviceId, NotificationId};
use perigee_core::notification::{
    Candidate, Channel, MessagingSettings, NotificationState, Reservation, SendingPolicy, SuppressedReason,
};
use perigee_core::routing::Preferences;
use perigee_core::store::{Reserved, Result};
use perigee_core::time::Timestamp;

use super::super::query::for_ids;
use super::super::{accounts, column, email_recipients, routing};
use super::counter::Counters;
use super::due::horizon;
use super::email::{EmailState, Nature};
use super::owners;
use crate::{Row, Tx, params};

const DUE: &str = "\
    SELECT id, device_id, alert_id, name, critical, channel, address, preferences, state, doubts, email_counted \
    FROM notification \
    WHERE account_id = ?1 AND due IS NOT NULL AND (due <= ?2 OR due > ?3) AND id IN ({ids})";

/// A message that is due, as it stands under the lock.
struct Waiting {
    id: NotificationId,
    /// The device whose quota it takes of; none for what is told to the owner.
    counted: Option<DeviceId>,
    critical: bool,
    channel: Channel,
    address: String,
    /// Whether somebody began to send it and was not heard of again.
    lost: bool,
    doubts: u32,
    preferences: Preferences,
    nature: Nature,
}

impl Waiting {
    fn from_row(row: &Row) -> Result<Self> {
        let is_alert = row.opt_i64("alert_id")?.is_some();
        let lost = row.str("state")? == NotificationState::Sending.name();
        let critical = row.bool("critical")?;
        let nature = Nature {
            asks: row.str("name")? == owners::CONFIRM,
            critical: critical && is_alert,
            counted: row.bool("email_counted")?,
        };
        Ok(Self {
            id: NotificationId::from_i64(row.i64("id")?),
            counted: row.opt_i64("device_id")?.map(DeviceId::from_i64).filter(|_| is_alert),
            critical,
            channel: column::parsed(row, "channel")?,
            address: row.text("address")?,
            lost,
            doubts: row.int::<u32>("doubts")? + u32::from(lost),
            preferences: column::json(row, "preferences")?,
            nature,
        })
    }
}

/// What is to become of a message.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    /// It may be sent: its segments, its doubts, and whether it was counted.
    Send(u32, u32, bool),
    /// It is not sent: its state and the reason.
    Keep(&'static str, String),
}

/// Decides over candidates of one account, and counts those that may be sent.
pub(super) async fn reserve(
    tx: &Tx,
    account: AccountId,
    candidates: Vec<Candidate>,
    policy: SendingPolicy,
) -> Result<Reserved> {
    #[cfg(feature = "unsafe-late-limit")]
    let counts = !crate::late_limit::is_on();
    #[cfg(not(feature = "unsafe-late-limit"))]
    let counts = true;
    decide(tx, account, candidates, policy, counts).await
}

async fn decide(
    tx: &Tx,
    account: AccountId,
    candidates: Vec<Candidate>,
    policy: SendingPolicy,
    counts: bool,
) -> Result<Reserved> {
    tx.keep_device_cache_valid();
    let account = accounts::lock(tx, account).await?;
    let ids: Vec<i64> = candidates.iter().map(|candidate| candidate.id.as_i64()).collect();
    let mut waiting = HashMap::new();
    for row in for_ids(tx, DUE, params![account.id, tx.now(), horizon(tx.now())], &ids).await? {
        let message = Waiting::from_row(&row)?;
        waiting.insert(message.id, message);
    }
    let mut bench = Bench::new(tx, &account, &waiting, policy).await?;
    let mut verdicts: BTreeMap<Verdict, Vec<i64>> = BTreeMap::new();
    let mut order = Vec::new();
    for Candidate { id, segments, .. } in candidates {
        let Some(message) = waiting.remove(&id) else { continue };
        let verdict = bench.judge(&message, segments);
        if let Verdict::Send(segments, ..) = &verdict {
            if counts {
                bench.count(&message, *segments);
            }
            order.push(id);
        }
        verdicts.entry(verdict).or_default().push(id.as_i64());
    }
    let (date, lease) = (bench.date.clone(), tx.now().plus_millis(bench.policy.lease_ms));
    bench.close(tx).await?;
    write(tx, &account, (&date, lease), verdicts, order).await
}

/// Where it is decided: what is allowed, and what is left.
struct Bench {
    account: AccountId,
    date: String,
    policy: SendingPolicy,
    settings: MessagingSettings,
    counters: Counters,
    /// Limits to be told of, each once.
    reached: Vec<(DeviceId, Channel, u32)>,
    email: EmailState,
    /// Recipients to be asked whether they take e-mail.
    unconfirmed: Vec<(String, Preferences)>,
}

impl Bench {
    async fn new(
        tx: &Tx,
        account: &Account,
        waiting: &HashMap<NotificationId, Waiting>,
        policy: SendingPolicy,
    ) -> Result<Self> {
        let date = account.day_at(tx.now()).0.date;
        let devices: HashSet<DeviceId> = waiting.values().filter_map(|message| message.counted).collect();
        let devices: Vec<DeviceId> = devices.into_iter().collect();
        let emails = waiting.values().filter(|message| message.channel == Channel::Email && policy.email_on);
        let addresses = emails.map(|message| message.address.as_str());
        let email = EmailState::load(tx, account.id, &date.to_string(), addresses).await?;
        Ok(Self {
            account: account.id,
            date: date.to_string(),
            email,
            unconfirmed: Vec::new(),
            policy,
            settings: routing::messaging(tx, account.id).await?.settings,
            counters: Counters::load(tx, account.id, date, &devices).await?,
            reached: Vec::new(),
        })
    }

    fn judge(&mut self, message: &Waiting, segments: std::result::Result<u32, String>) -> Verdict {
        // An SMS that may have gone out is never sent twice, an e-mail once more at the most.
        if message.lost && (message.channel == Channel::Sms || message.doubts > 1) {
            return Verdict::Keep(
                NotificationState::Unclear.name(),
                "the server stopped while it was being sent".into(),
            );
        }
        let kept = |state: NotificationState, reason: String| {
            // What may have gone out already is not called suppressed.
            let state = if message.doubts > 0 { NotificationState::Unclear } else { state };
            Verdict::Keep(state.name(), reason)
        };
        if let Some(reason) = self.policy.forbids(&self.settings, message.channel, &message.address) {
            return kept(NotificationState::Suppressed, reason.name().into());
        }
        if message.channel == Channel::Email
            && let Some(reason) = self.email.refuses(&self.policy, &message.address, message.nature)
        {
            if reason == SuppressedReason::Unconfirmed {
                self.unconfirmed.push((message.address.clone(), message.preferences.clone()));
            }
            return kept(NotificationState::Suppressed, reason.name().into());
        }
        let segments = match segments {
            Ok(segments) => segments,
            Err(reason) => return kept(NotificationState::Failed, reason),
        };
        let of_device = message.counted.and_then(|device| self.refusal(device, message, segments));
        if let Some(reason) = of_device.or_else(|| self.capped(message)) {
            return kept(NotificationState::Suppressed, reason.name().into());
        }
        Verdict::Send(segments, message.doubts, message.counted.is_some())
    }

    /// Why the caps on e-mail have nothing left for this message, if so.
    fn capped(&self, message: &Waiting) -> Option<SuppressedReason> {
        if message.channel != Channel::Email {
            return None;
        }
        self.email.admit(&self.policy, &self.settings, &message.address, message.nature).err()
    }

    /// Counts a message that is about to be sent.
    fn count(&mut self, message: &Waiting, segments: u32) {
        if let Some(device) = message.counted {
            self.counters.take(device, message.channel, segments);
        }
        if message.channel == Channel::Email
            && let Ok(Some(lane)) =
                self.email.admit(&self.policy, &self.settings, &message.address, message.nature)
        {
            self.email.take(&message.address, lane);
        }
    }

    /// Why the device or its account has nothing left for this message, if so.
    fn refusal(&mut self, device: DeviceId, message: &Waiting, segments: u32) -> Option<SuppressedReason> {
        let quota = self.counters.quota(device, message.channel)?;
        if let Some(reason) = quota.refuses(message.critical) {
            // What is kept for critical alerts is not used up.
            let is_reached = reason == SuppressedReason::Limit;
            if is_reached && self.counters.tell(device, message.channel) {
                self.reached.push((device, message.channel, quota.limit.unwrap_or_default()));
            }
            return Some(reason);
        }
        match message.channel {
            Channel::Sms => self.policy.caps(&self.settings, self.counters.segments, segments),
            Channel::Email => None,
        }
    }

    /// Writes the counters, and tells of the limits that were reached.
    async fn close(self, tx: &Tx) -> Result<()> {
        self.counters.save(tx).await?;
        self.email.save(tx).await?;
        if !self.unconfirmed.is_empty() {
            email_recipients::ask(tx, self.account, self.unconfirmed).await?;
        }
        for (device, channel, limit) in self.reached {
            owners::tell_limit(tx, self.account, device, channel, limit, &self.date).await?;
        }
        Ok(())
    }
}

/// Reserves without counting, as a store does that counts after sending. Deliberately wrong: the tests of the limits must
/// catch it.
#[cfg(feature = "testing")]
pub async fn reserve_uncounted(
    database: &crate::Database,
    candidate: Candidate,
    policy: SendingPolicy,
) -> Result<Reserved> {
    let account = candidate.account;
    database.write(move |tx| Box::pin(decide(tx, account, vec![candidate], policy, false))).await
}

async fn write(
    tx: &Tx,
    account: &Account,
    (date, lease): (&str, Timestamp),
    verdicts: BTreeMap<Verdict, Vec<i64>>,
    order: Vec<NotificationId>,
) -> Result<Reserved> {
    let mut tokens = HashMap::new();
    let mut suppressed = 0;
    for (verdict, ids) in verdicts {
        match verdict {
            Verdict::Send(segments, doubts, counted) => {
                let sql = "UPDATE notification SET state = 'sending', reason = NULL, due = ?2, counted_on = ?3, \
                               segments = ?4, doubts = ?5, token = token + 1, attempts = attempts + 1, \
                               email_counted = CASE WHEN channel = 'email' THEN TRUE ELSE FALSE END \
                           WHERE account_id = ?1 AND id IN ({ids}) RETURNING id, token";
                let date = counted.then_some(date);
                let values = params![account.id, lease, date, segments, doubts];
                for row in for_ids(tx, sql, values, &ids).await? {
                    tokens.insert(row.i64("id")?, row.i64("token")?);
                }
            }
            Verdict::Keep(state, reason) => {
                suppressed += ids.len();
                let sql = "UPDATE notification SET state = ?2, reason = ?3, due = NULL, token = token + 1 \
                           WHERE account_id = ?1 AND id IN ({ids})";
                for_ids(tx, sql, params![account.id, state, reason], &ids).await?;
            }
        }
    }
    let grant = |id: NotificationId| {
        let token = tokens.get(&id.as_i64()).copied()?;
        Some(Reservation { account: account.id, id, token })
    };
    Ok(Reserved { granted: order.into_iter().filter_map(grant).collect(), suppressed })
}
