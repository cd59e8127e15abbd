//! Consent of e-mail recipients, which they give by links in their mail, and requests for consent.

use perigee_core::access::actor::Scope;
use perigee_core::id::AccountId;
use perigee_core::notifications::notification::{ConsentChange, EmailConsent, MailedAccount};
use perigee_core::notifications::routing::Preferences;
use perigee_core::store::{EmailRecipients, Result};
use perigee_core::text::Email;

use crate::forward::forward;
use crate::sql::{accounts, column, notifications::outbox};
use crate::{Tx, params};

/// The name of the key that signs the links in mails.
const LINK_KEY: &str = "mail-links";

/// The consent of an address, in lower case, to an account's mail.
pub(in crate::sql) async fn find(tx: &Tx, account: AccountId, folded: &str) -> Result<EmailConsent> {
    let sql = "SELECT unsubscribed_at, confirmed_at, admitted_at FROM email_recipient WHERE account_id = ?1 AND address = ?2";
    let mut consent = EmailConsent::default();
    if let Some(row) = tx.query_opt(sql, params![account, folded]).await? {
        consent.unsubscribed_at = row.opt_timestamp("unsubscribed_at")?;
        consent.confirmed_at = row.opt_timestamp("confirmed_at")?;
        consent.admitted_at = row.opt_timestamp("admitted_at")?;
    }
    let sql = "SELECT 1 AS found FROM user_directory WHERE email_folded = ?1 AND account_id = ?2";
    consent.is_user = tx.query_opt(sql, params![folded, account]).await?.is_some();
    Ok(consent)
}

/// Addresses of an account that get mail without a confirmation.
pub(in crate::sql) async fn admitted(tx: &Tx, account: AccountId) -> Result<u32> {
    let sql = "SELECT CAST(COUNT(*) AS BIGINT) AS admitted FROM email_recipient \
               WHERE account_id = ?1 AND admitted_at IS NOT NULL AND confirmed_at IS NULL";
    Ok(tx.query_one(sql, params![account]).await?.int("admitted")?)
}

async fn change(tx: &Tx, account: AccountId, address: Email, change: ConsentChange) -> Result<EmailConsent> {
    accounts::lock(tx, account).await?;
    let folded = address.folded();
    let (unsubscribed, confirmed) = match change {
        ConsentChange::Unsubscribe => (Some(tx.now()), None),
        ConsentChange::Subscribe => (None, Some(tx.now())),
    };
    let before = find(tx, account, &folded).await?;
    let is_set = match change {
        ConsentChange::Unsubscribe => before.unsubscribed_at.is_some(),
        ConsentChange::Subscribe => before.unsubscribed_at.is_none() && before.confirmed_at.is_some(),
    };
    if is_set {
        return Ok(before);
    }
    let sql = "INSERT INTO email_recipient (account_id, address, unsubscribed_at, confirmed_at) \
               VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT (account_id, address) DO UPDATE SET \
                   unsubscribed_at = excluded.unsubscribed_at, confirmed_at = excluded.confirmed_at";
    tx.execute(sql, params![account, &folded, unsubscribed, confirmed]).await?;
    find(tx, account, &folded).await
}

/// Writes a mail to each recipient who may be asked. The account is locked.
pub(in crate::sql) async fn ask(
    tx: &Tx,
    account: AccountId,
    recipients: Vec<(String, Preferences)>,
) -> Result<usize> {
    let sql = "SELECT CAST(COUNT(*) AS BIGINT) AS asked FROM email_recipient \
               WHERE account_id = ?1 AND asked_at > ?2 AND asked_at <= ?3";
    let since = tx.now().plus_seconds(-86_400);
    let mut asked = tx.query_one(sql, params![account, since, tx.now()]).await?.i64("asked")?;
    let mut to_ask = Vec::new();
    for (address, preferences) in recipients {
        let folded = address.to_lowercase();
        let consent = find(tx, account, &folded).await?;
        if asked >= EmailConsent::ASKED_A_DAY || consent.is_confirmed() || consent.unsubscribed_at.is_some() {
            continue;
        }
        // A time in the future was written by a wrong clock.
        let sql = "INSERT INTO email_recipient (account_id, address, asked_at) VALUES (?1, ?2, ?3) \
                   ON CONFLICT (account_id, address) DO UPDATE SET asked_at = excluded.asked_at \
                   WHERE email_recipient.asked_at IS NULL OR email_recipient.asked_at <= ?4 \
                       OR email_recipient.asked_at > ?3";
        let asked_before = tx.now().plus_seconds(-EmailConsent::ASK_AGAIN_S);
        if tx.execute(sql, params![account, &folded, tx.now(), asked_before]).await? > 0 {
            asked += 1;
            to_ask.push((address, preferences));
        }
    }
    let count = to_ask.len();
    outbox::ask_recipients(tx, account, to_ask).await?;
    Ok(count)
}

async fn ask_locked(tx: &Tx, account: AccountId, recipients: Vec<(String, Preferences)>) -> Result<usize> {
    accounts::lock(tx, account).await?;
    ask(tx, account, recipients).await
}

async fn link_key(tx: &Tx, fresh: [u8; 32]) -> Result<[u8; 32]> {
    let sql = "INSERT INTO service_key (name, key, creation) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    tx.execute(sql, params![LINK_KEY, fresh.to_vec(), tx.now()]).await?;
    let row = tx.query_one("SELECT key FROM service_key WHERE name = ?1", params![LINK_KEY]).await?;
    let key: Vec<u8> = row.bytes("key")?;
    key.try_into().map_err(|_other| column::unreadable("key", "not 32 bytes"))
}

async fn mailed_account(tx: &Tx, account: AccountId, address: Email) -> Result<Option<MailedAccount>> {
    let Some(found) = accounts::find(tx, account).await? else { return Ok(None) };
    let consent = find(tx, account, &address.folded()).await?;
    Ok(Some(MailedAccount { name: found.shown_name().to_owned(), consent }))
}

async fn list(tx: &Tx, account: AccountId, addresses: Vec<String>) -> Result<(Vec<EmailConsent>, u32)> {
    let mut consents = Vec::with_capacity(addresses.len());
    for address in addresses {
        consents.push(find(tx, account, &address.to_lowercase()).await?);
    }
    Ok((consents, admitted(tx, account).await?))
}

forward! {
    impl EmailRecipients for Database {
        write mail_link_key(&self, fresh: [u8; 32]) -> [u8; 32] = link_key;
        read find_mailed_account(&self, account: AccountId, &address: Email)
            -> Option<MailedAccount> = mailed_account;
        write change_email_consent(&self, account: AccountId, &address: Email, said: ConsentChange)
            -> EmailConsent = change;
        read list_email_consents(&self, scope: Scope, addresses: Vec<String>)
            -> (Vec<EmailConsent>, u32) = list(scope.account, addresses);
        write ask_to_confirm(&self, account: AccountId, recipients: Vec<(String, Preferences)>)
            -> usize = ask_locked;
    }
}
