//! The e-mail counters and consents of an account, while a transaction reserves messages.

use std::collections::{BTreeSet, HashMap};

use perigee_core::id::AccountId;
use perigee_core::notifications::notification::{
    Channel, EmailConsent, EmailCounter, EmailCounts, MessagingSettings, SendingPolicy, SuppressedReason,
    Urgency,
};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::notifications::email_recipients;
use crate::sql::query::insert_many;
use crate::{Tx, Value, params};

const HOUR_MS: i64 = 3_600_000;

/// The counters of an account and of some recipients. The account is locked.
pub(super) struct EmailState {
    account: AccountId,
    date: String,
    hour: Timestamp,
    today: u32,
    critical_today: u32,
    taken: u32,
    critical_taken: u32,
    recipients: HashMap<String, Recipient>,
    /// Addresses of the account that get mail without a confirmation.
    admitted: u32,
}

struct Recipient {
    consent: EmailConsent,
    hour: u32,
    taken: u32,
    /// Whether this transaction lets it get mail without a confirmation.
    is_admitted_now: bool,
}

/// The properties of a message that the e-mail caps depend on.
#[derive(Clone, Copy)]
pub(super) struct Nature {
    /// Whether it asks the recipient to confirm.
    pub(super) asks: bool,
    /// Whether its recipient needs it to sign in.
    pub(super) lets_sign_in: bool,
    /// Whether it is about a critical alert, and whether it is the first message about it.
    pub(super) urgency: Urgency,
    /// Whether an earlier attempt has counted it.
    pub(super) counted: bool,
}

impl EmailState {
    /// Reads the counters of this date and hour, and the consents of these recipients.
    pub(super) async fn load<'a>(
        tx: &Tx,
        account: AccountId,
        date: &str,
        addresses: impl Iterator<Item = &'a str>,
    ) -> Result<Self> {
        let hour = Timestamp::from_millis(tx.now().as_millis().div_euclid(HOUR_MS) * HOUR_MS);
        let folded: BTreeSet<String> = addresses.map(str::to_lowercase).collect();
        let mut state = Self {
            account,
            date: date.to_owned(),
            hour,
            today: 0,
            critical_today: 0,
            taken: 0,
            critical_taken: 0,
            recipients: HashMap::new(),
            admitted: 0,
        };
        if folded.is_empty() {
            return Ok(state);
        }
        let sql = "SELECT units, critical_units FROM account_message_counter \
                   WHERE account_id = ?1 AND date = ?2 AND channel = ?3";
        if let Some(row) = tx.query_opt(sql, params![account, date, Channel::EMAIL.name()]).await? {
            (state.today, state.critical_today) = (row.int("units")?, row.int("critical_units")?);
        }
        state.admitted = email_recipients::admitted(tx, account).await?;
        for address in folded {
            let sql =
                "SELECT emails FROM recipient_counter WHERE account_id = ?1 AND address = ?2 AND hour = ?3";
            let row = tx.query_opt(sql, params![account, &address, hour]).await?;
            let hour = row.map(|row| row.int("emails")).transpose()?.unwrap_or_default();
            let consent = email_recipients::find(tx, account, &address).await?;
            state.recipients.insert(address, Recipient { consent, hour, taken: 0, is_admitted_now: false });
        }
        Ok(state)
    }

    /// Why the recipient's consent forbids this e-mail, if it does.
    pub(super) fn refuses(
        &self,
        policy: &SendingPolicy,
        address: &str,
        nature: Nature,
    ) -> Option<SuppressedReason> {
        let consent = self.recipients.get(&address.to_lowercase())?.consent;
        if nature.lets_sign_in {
            return None;
        }
        if consent.unsubscribed_at.is_some() {
            Some(SuppressedReason::Unsubscribed)
        } else if !nature.asks && policy.confirmation.holds_back(consent, self.admitted) {
            Some(SuppressedReason::Unconfirmed)
        } else {
            None
        }
    }

    /// How one more e-mail is counted, or why the caps forbid it; `None` if it was counted before.
    pub(super) fn admit(
        &self,
        policy: &SendingPolicy,
        settings: &MessagingSettings,
        address: &str,
        nature: Nature,
    ) -> std::result::Result<Option<EmailCounter>, SuppressedReason> {
        if nature.counted {
            return Ok(None);
        }
        let recipient_hour = self.recipients.get(&address.to_lowercase()).map_or(0, |known| known.hour);
        let counts = EmailCounts { today: self.today, critical_today: self.critical_today, recipient_hour };
        policy.email_caps.admit(settings, counts, nature.urgency).map(Some)
    }

    /// Counts an e-mail. The first one to an address without consent admits the address, unless it is a request for
    /// consent.
    pub(super) fn take(&mut self, address: &str, counter: EmailCounter, asks: bool) {
        match counter {
            EmailCounter::Ordinary => (self.today, self.taken) = (self.today + 1, self.taken + 1),
            EmailCounter::Critical => {
                (self.critical_today, self.critical_taken) =
                    (self.critical_today + 1, self.critical_taken + 1);
            }
        }
        if let Some(known) = self.recipients.get_mut(&address.to_lowercase()) {
            (known.hour, known.taken) = (known.hour + 1, known.taken + 1);
            if !asks && !known.consent.is_confirmed() && known.consent.admitted_at.is_none() {
                known.consent.admitted_at = Some(self.hour);
                known.is_admitted_now = true;
                self.admitted += 1;
            }
        }
    }

    pub(super) async fn save(self, tx: &Tx) -> Result<()> {
        if self.taken + self.critical_taken == 0 {
            return Ok(());
        }
        let sql = "INSERT INTO account_message_counter (account_id, date, channel, units, critical_units) \
                   VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT (account_id, date, channel) DO UPDATE SET \
                       units = account_message_counter.units + excluded.units, \
                       critical_units = account_message_counter.critical_units + excluded.critical_units";
        let channel = Channel::EMAIL.name();
        tx.execute(sql, params![self.account, &self.date, channel, self.taken, self.critical_taken]).await?;
        let (account, hour) = (self.account, self.hour);
        let admitted: Vec<Vec<Value>> = self
            .recipients
            .iter()
            .filter(|(_, known)| known.is_admitted_now)
            .map(|(address, _)| params![account, address, tx.now()].to_vec())
            .collect();
        let head = "INSERT INTO email_recipient (account_id, address, admitted_at)";
        let tail = "ON CONFLICT (account_id, address) DO UPDATE SET admitted_at = excluded.admitted_at";
        insert_many(tx, head, &admitted, tail).await?;
        let rows: Vec<Vec<Value>> = self
            .recipients
            .into_iter()
            .filter(|(_, known)| known.taken > 0)
            .map(|(address, known)| params![account, address, hour, known.taken].to_vec())
            .collect();
        let head = "INSERT INTO recipient_counter (account_id, address, hour, emails)";
        let tail = "ON CONFLICT (account_id, address, hour) DO UPDATE SET \
                    emails = recipient_counter.emails + excluded.emails";
        insert_many(tx, head, &rows, tail).await?;
        Ok(())
    }
}
