//! Messages to the account rather than about an alert: reached limits, overview reports, requests to confirm an address.
//! They count against no device.

use perigee_core::error::StoreError;
use perigee_core::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::notification::{Channel, Occasion};
use perigee_core::overview::{Overview, OverviewRecipient};
use perigee_core::privilege::Privileges;
use perigee_core::routing::Preferences;
use perigee_core::store::Result;

use super::super::{column, events};
use super::fill::{Draft, write};
use crate::{Row, Tx, params};

/// The prefix of the names of reports, followed by their frequency.
const OVERVIEW: &str = "overview.";
/// The name of a mail that asks a recipient to confirm their address.
pub(super) const CONFIRM: &str = "recipient.confirm";

const fn limit_event(channel: Channel) -> EventKind {
    match channel {
        Channel::Email => EventKind::LimitEmailReached,
        Channel::Sms => EventKind::LimitSmsReached,
    }
}

/// The occasion of a message that is not about an alert.
pub(super) fn occasion(row: &Row) -> Result<Occasion> {
    if row.opt_str("document")?.is_some() {
        return Ok(Occasion::Overview(Box::new(column::json(row, "document")?)));
    }
    let name = row.str("occasion")?;
    if name == CONFIRM {
        return Ok(Occasion::ConfirmRecipient);
    }
    let limit = Channel::ALL.iter().copied().find(|channel| limit_event(*channel).name() == name);
    Ok(limit.map_or(Occasion::Gone, |channel| Occasion::LimitReached { channel }))
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
    let kind = limit_event(channel);
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
        channel: Channel::Email,
        address,
        preferences: text(&preferences)?,
        document,
        suppressed: None,
    })
}

fn text(value: &impl serde::Serialize) -> Result<String> {
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
    let reader = |row: &Row| -> Result<(String, Preferences)> {
        let time_zone = Some(column::parsed(row, "time_zone")?);
        let preferences = Preferences { name: Some(row.text("name")?), time_zone, ..Preferences::default() };
        Ok((row.text("email")?, preferences))
    };
    rows.iter().map(reader).collect()
}
