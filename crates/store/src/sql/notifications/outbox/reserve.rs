//! Reserving messages: they are counted before they are sent, and those that may not be sent are recorded.
//!
//! The account is locked, so that no other change of a limit or a counter comes in between.

use std::collections::{BTreeMap, HashMap, HashSet};

use perigee_core::accounts::account::Account;
use perigee_core::accounts::operator_notice::NoticeKind;
use perigee_core::id::{AccountId, DeviceId, NotificationId};
use perigee_core::notifications::notification::{
    Candidate, Channel, MessagingSettings, NotificationState, Reservation, SendingPolicy, SuppressedReason,
    Urgency,
};
use perigee_core::notifications::routing::Preferences;
use perigee_core::store::{Reserved, Result};
use perigee_core::time::Timestamp;

use super::counter::Counters;
use super::due::horizon;
use super::email::{EmailState, Nature};
use super::owners;
use crate::sql::query::for_ids;
use crate::sql::{
    accounts, accounts::operator_notices, column, notifications::email_recipients, notifications::routing,
};
use crate::{Row, Tx, params};

const DUE: &str = "\
    SELECT id, device_id, alert_id, name, critical, channel, address, preferences, state, doubts, email_counted, \
        first_critical \
    FROM notification \
    WHERE account_id = ?1 AND due IS NOT NULL AND (due <= ?2 OR due > ?3) AND id IN ({ids})";

/// A due message, as read under the lock.
struct DueMessage {
    id: NotificationId,
    /// The device whose quota it counts against; `None` for messages to the account.
    counted: Option<DeviceId>,
    critical: bool,
    channel: Channel,
    address: String,
    /// Whether a worker began to send it and its lease ended without an outcome.
    lost: bool,
    /// Attempts whose result is unknown.
    unclear_attempts: u32,
    preferences: Preferences,
    nature: Nature,
}

impl DueMessage {
    fn from_row(row: &Row) -> Result<Self> {
        let is_alert = row.opt_i64("alert_id")?.is_some();
        let lost = row.str("state")? == NotificationState::Sending.name();
        let critical = row.bool("critical")?;
        let nature = Nature {
            asks: row.str("name")? == owners::CONFIRM,
            lets_sign_in: owners::lets_sign_in(row.str("name")?),
            urgency: match (critical && is_alert, row.bool("first_critical")?) {
                (true, true) => Urgency::FirstCritical,
                (true, false) => Urgency::Critical,
                (false, _) => Urgency::Ordinary,
            },
            counted: row.bool("email_counted")?,
        };
        Ok(Self {
            id: NotificationId::from_i64(row.i64("id")?),
            counted: row.opt_i64("device_id")?.map(DeviceId::from_i64).filter(|_| is_alert),
            critical,
            channel: column::parsed(row, "channel")?,
            address: row.text("address")?,
            lost,
            unclear_attempts: row.int::<u32>("doubts")? + u32::from(lost),
            preferences: column::json(row, "preferences")?,
            nature,
        })
    }
}

/// The decision about a message.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Decision {
    /// It may be sent: segments, attempts with an unknown result, and whether it counts against a device.
    Send(u32, u32, bool),
    /// It is not sent: its final state and the reason.
    Keep(&'static str, String),
}

/// Decides about the candidates of one account, and counts those that may be sent.
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
    let account = accounts::lock(tx, account).await?;
    let ids: Vec<i64> = candidates.iter().map(|candidate| candidate.id.as_i64()).collect();
    let mut waiting = HashMap::new();
    for row in for_ids(tx, DUE, params![account.id, tx.now(), horizon(tx.now())], &ids).await? {
        let message = DueMessage::from_row(&row)?;
        waiting.insert(message.id, message);
    }
    let mut allowance = Allowance::new(tx, &account, &waiting, policy).await?;
    let mut decisions: BTreeMap<Decision, Vec<i64>> = BTreeMap::new();
    let mut order = Vec::new();
    for Candidate { id, segments, .. } in candidates {
        let Some(message) = waiting.remove(&id) else { continue };
        let decision = allowance.decide(&message, segments);
        if let Decision::Send(segments, ..) = &decision {
            if counts {
                allowance.count(&message, *segments);
            }
            order.push(id);
        }
        decisions.entry(decision).or_default().push(id.as_i64());
    }
    let (date, lease) = (allowance.date.clone(), tx.now().plus_millis(allowance.policy.lease_ms));
    allowance.save(tx).await?;
    write(tx, &account, (&date, lease), decisions, order).await
}

/// The limits of an account and what it has used of them: the policy, the settings and the counters.
struct Allowance {
    account: AccountId,
    date: String,
    policy: SendingPolicy,
    settings: MessagingSettings,
    counters: Counters,
    /// Reached limits to announce.
    reached: Vec<(DeviceId, Channel, u32)>,
    email: EmailState,
    /// Recipients to ask for a confirmation of their address.
    unconfirmed: Vec<(String, Preferences)>,
    /// Whether a message was suppressed by the ceiling. Operators then get a notice.
    at_ceiling: bool,
}

impl Allowance {
    async fn new(
        tx: &Tx,
        account: &Account,
        waiting: &HashMap<NotificationId, DueMessage>,
        mut policy: SendingPolicy,
    ) -> Result<Self> {
        if let Some(own) = email_ceiling(tx, account.id).await? {
            policy.email_caps.ceiling = Some(own);
        }
        let date = account.day_at(tx.now()).0.date;
        let devices: HashSet<DeviceId> = waiting.values().filter_map(|message| message.counted).collect();
        let devices: Vec<DeviceId> = devices.into_iter().collect();
        let channels = waiting.values().map(|message| message.channel).collect();
        let emails = waiting
            .values()
            .filter(|message| message.channel == Channel::EMAIL && policy.on.contains(&Channel::EMAIL));
        let addresses = emails.map(|message| message.address.as_str());
        let email = EmailState::load(tx, account.id, &date.to_string(), addresses).await?;
        Ok(Self {
            account: account.id,
            date: date.to_string(),
            email,
            unconfirmed: Vec::new(),
            at_ceiling: false,
            policy,
            settings: routing::messaging(tx, account.id).await?.settings,
            counters: Counters::load(tx, account.id, date, &devices, &channels).await?,
            reached: Vec::new(),
        })
    }

    fn decide(&mut self, message: &DueMessage, segments: std::result::Result<u32, String>) -> Decision {
        // A message that may have been sent is sent at most once more, and only where that does no harm.
        let is_repeated = message.channel.kind().is_repeated_if_unclear && message.unclear_attempts <= 1;
        if message.lost && !is_repeated {
            return Decision::Keep(
                NotificationState::Unclear.name(),
                "the server stopped while the notification was being sent".into(),
            );
        }
        let kept = |state: NotificationState, reason: String| {
            // A message that may have been sent is not reported as suppressed.
            let state = if message.unclear_attempts > 0 { NotificationState::Unclear } else { state };
            Decision::Keep(state.name(), reason)
        };
        if let Some(reason) = self.policy.forbids(&self.settings, message.channel, &message.address) {
            return kept(NotificationState::Suppressed, reason.name().into());
        }
        if message.channel == Channel::EMAIL
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
        let of_device = match message.counted {
            Some(device) => self.refusal(device, message, segments),
            None => self.units_refused(message, segments),
        };
        if let Some(reason) = of_device.or_else(|| self.capped(message)) {
            self.at_ceiling |= reason == SuppressedReason::EmailCeiling;
            return kept(NotificationState::Suppressed, reason.name().into());
        }
        Decision::Send(segments, message.unclear_attempts, message.counted.is_some())
    }

    /// Why the e-mail caps forbid this message, if they do.
    fn capped(&self, message: &DueMessage) -> Option<SuppressedReason> {
        if message.channel != Channel::EMAIL {
            return None;
        }
        self.email.admit(&self.policy, &self.settings, &message.address, message.nature).err()
    }

    /// Counts a message that is about to be sent.
    fn count(&mut self, message: &DueMessage, segments: u32) {
        match message.counted {
            Some(device) => self.counters.take(device, message.channel, segments),
            None => self.counters.take_units(message.channel, segments),
        }
        if message.channel == Channel::EMAIL
            && let Ok(Some(counter)) =
                self.email.admit(&self.policy, &self.settings, &message.address, message.nature)
        {
            self.email.take(&message.address, counter, message.nature.asks);
        }
    }

    /// Why the quota of the device or the caps of its account forbid this message, if they do.
    fn refusal(&mut self, device: DeviceId, message: &DueMessage, segments: u32) -> Option<SuppressedReason> {
        let quota = self.counters.quota(device, message.channel)?;
        if let Some(reason) = quota.refuses(message.critical) {
            // The reserve for critical alerts is not a reached limit.
            let is_reached = reason == SuppressedReason::Limit;
            if is_reached && self.counters.mark_announced(device, message.channel) {
                self.reached.push((device, message.channel, quota.limit.unwrap_or_default()));
            }
            return Some(reason);
        }
        self.units_refused(message, segments)
    }

    /// Why the caps of the account forbid this message, if they do. Those on e-mail are separate.
    fn units_refused(&self, message: &DueMessage, segments: u32) -> Option<SuppressedReason> {
        let channel = message.channel;
        if channel == Channel::EMAIL {
            return None;
        }
        let (used, more) = (self.counters.units(channel), channel.kind().units(segments));
        self.policy.exceeds_caps(&self.settings, channel, used, more)
    }

    /// Writes the counters, and announces the limits that were reached.
    async fn save(self, tx: &Tx) -> Result<()> {
        self.counters.save(tx).await?;
        self.email.save(tx).await?;
        if !self.unconfirmed.is_empty() {
            email_recipients::ask(tx, self.account, self.unconfirmed).await?;
        }
        if self.at_ceiling {
            operator_notices::add(tx, self.account, NoticeKind::EmailCeiling, &self.date).await?;
        }
        for (device, channel, limit) in self.reached {
            owners::announce_limit(tx, self.account, device, channel, limit, &self.date).await?;
        }
        Ok(())
    }
}

/// The ceiling that operators set for an account.
async fn email_ceiling(tx: &Tx, account: AccountId) -> Result<Option<u32>> {
    let sql = "SELECT email_ceiling FROM account WHERE id = ?1";
    Ok(tx.query_one(sql, params![account]).await?.opt_int("email_ceiling")?)
}

/// Reserves without counting. Deliberately wrong: the tests of the limits must catch it.
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
    decisions: BTreeMap<Decision, Vec<i64>>,
    order: Vec<NotificationId>,
) -> Result<Reserved> {
    let mut tokens = HashMap::new();
    let mut suppressed = 0;
    for (decision, ids) in decisions {
        match decision {
            Decision::Send(segments, unclear_attempts, counted) => {
                let sql = "UPDATE notification SET state = 'sending', reason = NULL, due = ?2, counted_on = ?3, \
                               segments = ?4, doubts = ?5, token = token + 1, attempts = attempts + 1, \
                               email_counted = CASE WHEN channel = 'email' THEN TRUE ELSE FALSE END \
                           WHERE account_id = ?1 AND id IN ({ids}) RETURNING id, token";
                let date = counted.then_some(date);
                let values = params![account.id, lease, date, segments, unclear_attempts];
                for row in for_ids(tx, sql, values, &ids).await? {
                    tokens.insert(row.i64("id")?, row.i64("token")?);
                }
            }
            Decision::Keep(state, reason) => {
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
