//! Messages to the account rather than about an alert: reached limits, overview reports, requests to confirm an
//! address. They count against no device.

use perigee_core::access::credential::LinkPurpose;
use perigee_core::access::privilege::Privileges;
use perigee_core::alerts::severity::Severity;
use perigee_core::alerts::sos_notice::SosNotice;
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, DeviceId, NotificationId, PushSubscriptionId};
use perigee_core::notifications::contact::Contact;
use perigee_core::notifications::notification::{Audience, Channel, Notice, Occasion, Source};
use perigee_core::notifications::overview::{Overview, OverviewRecipient};
use perigee_core::notifications::routing::{AlertRouting, Preferences};
use perigee_core::reports::ReportNotice;
use perigee_core::store::{PASSWORD_MAILS_AN_HOUR, Result, TEST_MESSAGES_AN_HOUR};

use super::audience::DeviceAudience;
use super::fill::{Draft, write};
use crate::sql::{column, events, notifications::contact_groups};
use crate::{Row, Tx, params};

/// The prefix of the names of reports, followed by their frequency.
const OVERVIEW: &str = "overview.";
/// The name of the mail with a scheduled report.
const REPORT: &str = "report.scheduled";
/// The name of a mail that asks a recipient to confirm their address.
pub(super) const CONFIRM: &str = "recipient.confirm";
/// The name of a message that tests whether recipients are reached.
pub(super) const TEST: &str = "recipient.test";
/// The names of mails with a link for setting a password.
const INVITATION: &str = "user.invitation";
const RESET: &str = "user.passwordReset";

/// Whether the recipient needs a message of this name to sign in. It is sent even if they unsubscribed.
pub(super) fn lets_sign_in(name: &str) -> bool {
    matches!(name, INVITATION | RESET)
}

/// The event of a reached daily limit; `None` for channels without one.
const fn limit_event(channel: Channel) -> Option<EventKind> {
    match channel {
        Channel::EMAIL => Some(EventKind::LimitEmailReached),
        Channel::SMS => Some(EventKind::LimitSmsReached),
        _ => None,
    }
}

/// The occasion of a message that is not about an alert.
pub(super) fn occasion(row: &Row) -> Result<Occasion> {
    if row.str("occasion")? == EventKind::SosUnregistered.name() {
        return Ok(Occasion::UnregisteredSos(Box::new(column::json(row, "document")?)));
    }
    if row.str("occasion")? == REPORT {
        return Ok(Occasion::ScheduledReport(Box::new(column::json(row, "document")?)));
    }
    if row.opt_str("document")?.is_some() {
        return Ok(Occasion::Overview(Box::new(column::json(row, "document")?)));
    }
    let name = row.str("occasion")?;
    match name {
        CONFIRM => return Ok(Occasion::ConfirmRecipient),
        TEST => return Ok(Occasion::Test),
        INVITATION => return Ok(Occasion::PasswordLink { purpose: LinkPurpose::Invitation }),
        RESET => return Ok(Occasion::PasswordLink { purpose: LinkPurpose::Reset }),
        _ => {}
    }
    let limit = Channel::all()
        .iter()
        .copied()
        .find(|channel| limit_event(*channel).is_some_and(|kind| kind.name() == name));
    Ok(limit.map_or(Occasion::Deleted, |channel| Occasion::LimitReached { channel }))
}

/// Announces a reached limit: appends the event and writes an e-mail to each owner.
pub(super) async fn announce_limit(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    channel: Channel,
    limit: u32,
    date: &str,
) -> Result<()> {
    let Some(kind) = limit_event(channel) else { return Ok(()) };
    let details = serde_json::json!({ "date": date, "limit": limit });
    events::append(tx, account, kind, device.to_string(), Some(device), details).await?;
    // A limit of zero was set on purpose.
    if limit == 0 {
        return Ok(());
    }
    let owners = owners(tx, account).await?;
    let drafts =
        owners.into_iter().map(|owner| draft(kind.name().to_owned(), owner, None)).collect::<Result<_>>()?;
    write(tx, account, Some(device), drafts).await
}

/// Writes a report to each of these recipients, or to each owner if there are none.
pub(in crate::sql) async fn write_overview(
    tx: &Tx,
    account: AccountId,
    recipients: &[OverviewRecipient],
    overview: &Overview,
) -> Result<()> {
    let readers = match recipients {
        [] => owners(tx, account).await?,
        named => named.iter().map(|one| (one.address.as_str().to_owned(), one.preferences.clone())).collect(),
    };
    let document = text(overview)?;
    let name = format!("{OVERVIEW}{}", overview.frequency.name());
    let drafts = readers
        .into_iter()
        .map(|reader| draft(name.clone(), reader, Some(document.clone())))
        .collect::<Result<_>>()?;
    write(tx, account, None, drafts).await
}

/// Writes a mail about a scheduled report to each of these readers.
pub(in crate::sql) async fn write_report(
    tx: &Tx,
    account: AccountId,
    readers: Vec<(String, Preferences)>,
    notice: &ReportNotice,
) -> Result<()> {
    let document = text(notice)?;
    let drafts = readers
        .into_iter()
        .map(|reader| draft(REPORT.to_owned(), reader, Some(document.clone())))
        .collect::<Result<_>>()?;
    write(tx, account, None, drafts).await
}

/// Writes a mail with a link for setting a password; false if the user got several lately.
pub(in crate::sql) async fn write_password_link(
    tx: &Tx,
    account: AccountId,
    user: Contact,
    purpose: LinkPurpose,
) -> Result<bool> {
    let sql = "SELECT CAST(COUNT(*) AS BIGINT) AS count FROM notification \
               WHERE account_id = ?1 AND name IN (?2, ?3) AND address = ?4 AND id >= ?5 AND created BETWEEN ?6 AND ?7";
    let address = user.destination.as_str().to_owned();
    let since = tx.now().plus_seconds(-3_600);
    let first = NotificationId::first_at(since);
    let values = params![account, INVITATION, RESET, &address, first, since, tx.now()];
    if tx.query_one(sql, values).await?.i64("count")? >= PASSWORD_MAILS_AN_HOUR {
        return Ok(false);
    }
    let name = match purpose {
        LinkPurpose::Invitation => INVITATION,
        LinkPurpose::Reset => RESET,
    };
    let mail = draft(name.to_owned(), (address, user.preferences), None)?;
    write(tx, account, None, vec![mail]).await?;
    Ok(true)
}

/// Writes a test message to every address of an audience, and returns their number; `None` if the account has sent
/// too many lately. They count against the caps of the account, not against the limits of the device.
pub(in crate::sql) async fn write_tests(
    tx: &Tx,
    of_device: &DeviceAudience,
    audience: &Audience,
    device: DeviceId,
) -> Result<Option<usize>> {
    let account = &of_device.account;
    let lately = tests_lately(tx, account.id).await?;
    let mut drafts = Vec::new();
    let mut steps = Audience::default();
    for escalation in &audience.escalations {
        let named = AlertRouting { escalation: Some(escalation.clone()), ..AlertRouting::default() };
        let directory = contact_groups::directory(tx, account.id, std::iter::once(&named)).await?;
        for step in &escalation.steps {
            steps.add_step(Source::Account, step, &directory);
        }
    }
    let recipients = audience.recipients.iter().chain(&steps.recipients).cloned().collect();
    // A test is sent in quiet hours too: somebody waits for it.
    let all = Audience { recipients, ..Audience::default() };
    for addressee in all.addressees(tx.now(), &account.settings.time_zone) {
        let Some(notice) = addressee.notice(Severity::Critical) else { continue };
        let preferences = text(&notice.recipient().preferences)?;
        let address = addressee.address.to_owned();
        let blank = Preferences::default();
        let draft = draft(TEST.to_owned(), (address, blank), None)?;
        drafts.push(Draft { channel: addressee.channel, preferences, ..draft });
    }
    let count = drafts.len();
    if lately + i64::try_from(count).unwrap_or(i64::MAX) > TEST_MESSAGES_AN_HOUR {
        return Ok(None);
    }
    write(tx, account.id, Some(device), drafts).await?;
    Ok(Some(count))
}

/// Test messages of the account in the last hour.
async fn tests_lately(tx: &Tx, account: AccountId) -> Result<i64> {
    let sql = "SELECT CAST(COUNT(*) AS BIGINT) AS count FROM notification \
               WHERE account_id = ?1 AND name = ?2 AND id >= ?3 AND created BETWEEN ?4 AND ?5";
    let since = tx.now().plus_seconds(-3_600);
    let first = NotificationId::first_at(since);
    Ok(tx.query_one(sql, params![account, TEST, first, since, tx.now()]).await?.i64("count")?)
}

/// Writes a test message to a browser; false if the account has sent too many test messages lately.
pub(in crate::sql) async fn write_push_test(
    tx: &Tx,
    account: AccountId,
    browser: PushSubscriptionId,
    preferences: &Preferences,
) -> Result<bool> {
    if tests_lately(tx, account).await? >= TEST_MESSAGES_AN_HOUR {
        return Ok(false);
    }
    let draft = draft(TEST.to_owned(), (browser.to_string(), preferences.clone()), None)?;
    write(tx, account, None, vec![Draft { channel: Channel::PUSH, ..draft }]).await?;
    Ok(true)
}

/// Writes messages about an SOS that is not an alert: to the recipients of the device, or to the owners if there are
/// none.
pub(in crate::sql) async fn write_sos(
    tx: &Tx,
    account: AccountId,
    device: Option<DeviceId>,
    notice: &SosNotice,
) -> Result<()> {
    let mut drafts = Vec::new();
    let audience = match device {
        Some(device) => DeviceAudience::of(tx, account, device).await?,
        None => None,
    };
    if let Some(DeviceAudience { account, common, .. }) = &audience {
        for addressee in common.addressees(tx.now(), &account.settings.time_zone) {
            let Some(Notice::Now(recipient)) = addressee.notice(Severity::Critical) else { continue };
            let reader = (addressee.address.to_owned(), recipient.preferences.clone());
            drafts.push(Draft { channel: addressee.channel, ..sos_draft(reader, notice)? });
        }
    }
    if drafts.is_empty() {
        for owner in owners(tx, account).await? {
            drafts.push(sos_draft(owner, notice)?);
        }
    }
    write(tx, account, device, drafts).await
}

/// Writes mails about an SOS of a device that no account has to the operators of the server, in their own accounts.
pub(in crate::sql) async fn write_sos_to_operators(tx: &Tx, notice: &SosNotice) -> Result<()> {
    let sql = "SELECT account_id, email, name, time_zone FROM account_user \
               WHERE operator = TRUE AND disabled = FALSE \
                   AND (valid_from IS NULL OR valid_from <= ?1) AND (expires IS NULL OR expires > ?1) \
               ORDER BY account_id, id";
    for row in tx.query(sql, params![tx.now()]).await? {
        let account = AccountId::from_i64(row.i64("account_id")?);
        tx.lock_account_beside(account).await?;
        write(tx, account, None, vec![sos_draft(reader(&row)?, notice)?]).await?;
    }
    Ok(())
}

fn sos_draft(reader: (String, Preferences), notice: &SosNotice) -> Result<Draft> {
    let draft = draft(EventKind::SosUnregistered.name().to_owned(), reader, Some(text(notice)?))?;
    Ok(Draft { critical: true, first_critical: true, ..draft })
}

/// Writes a mail to each of these recipients that asks them to confirm their address.
pub(in crate::sql) async fn ask_recipients(
    tx: &Tx,
    account: AccountId,
    recipients: Vec<(String, Preferences)>,
) -> Result<()> {
    let ask = |recipient| draft(CONFIRM.to_owned(), recipient, None);
    let drafts = recipients.into_iter().map(ask).collect::<Result<_>>()?;
    write(tx, account, None, drafts).await
}

fn draft(
    name: String,
    (address, preferences): (String, Preferences),
    document: Option<String>,
) -> Result<Draft> {
    Ok(Draft {
        alert: None,
        name,
        critical: false,
        first_critical: false,
        step: 0,
        channel: Channel::EMAIL,
        address,
        preferences: text(&preferences)?,
        document,
        suppressed: None,
    })
}

pub(super) fn text(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|cause| StoreError::Internal(cause.into()))
}

/// The addresses and preferences of the owners who are currently active.
async fn owners(tx: &Tx, account: AccountId) -> Result<Vec<(String, Preferences)>> {
    let sql = "SELECT email, name, time_zone FROM account_user \
               WHERE account_id = ?1 AND (privileges & ?2) <> 0 AND disabled = FALSE \
                   AND (valid_from IS NULL OR valid_from <= ?3) AND (expires IS NULL OR expires > ?3) \
               ORDER BY id";
    let owner = i64::from(Privileges::OWNER.as_bits());
    let rows = tx.query(sql, params![account, owner, tx.now()]).await?;
    rows.iter().map(reader).collect()
}

/// The address and preferences of a user.
fn reader(row: &Row) -> Result<(String, Preferences)> {
    let time_zone = Some(column::parsed(row, "time_zone")?);
    let preferences = Preferences { name: Some(row.text("name")?), time_zone, ..Preferences::default() };
    Ok((row.text("email")?, preferences))
}
