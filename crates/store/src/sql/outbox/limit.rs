//! Tells the owner that a device's messages of the day are used up.

use perigee_core::event::EventKind;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::notification::Channel;
use perigee_core::privilege::Privileges;
use perigee_core::routing::Preferences;
use perigee_core::store::Result;

use super::super::{column, events};
use super::fill::{Draft, write};
use crate::{Tx, params};

const fn kind(channel: Channel) -> EventKind {
    match channel {
        Channel::Email => EventKind::LimitEmailReached,
        Channel::Sms => EventKind::LimitSmsReached,
    }
}

/// The channel whose limit a message of this name tells of.
pub(super) fn channel_of(name: &str) -> Channel {
    if name == kind(Channel::Sms).name() { Channel::Sms } else { Channel::Email }
}

/// Appends the event and writes an e-mail to each owner, which counts against no device.
pub(super) async fn tell(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    channel: Channel,
    limit: u32,
    date: &str,
) -> Result<()> {
    let kind = kind(channel);
    let figures = serde_json::json!({ "date": date, "limit": limit });
    events::append(tx, account, kind, device.to_string(), Some(device), figures).await?;
    // Whoever set the limit to none at all knows it.
    if limit == 0 {
        return Ok(());
    }
    let sql = "SELECT email, name, time_zone FROM account_user \
               WHERE account_id = ?1 AND (privileges & ?2) <> 0 AND disabled = FALSE \
                   AND (valid_from IS NULL OR valid_from <= ?3) AND (expires IS NULL OR expires > ?3) \
               ORDER BY id";
    let owner = i64::from(Privileges::OWNER.as_bits());
    let mut drafts = Vec::new();
    for row in tx.query(sql, params![account, owner, tx.now()]).await? {
        let preferences = Preferences {
            name: Some(row.text("name")?),
            time_zone: Some(column::parsed(&row, "time_zone")?),
            ..Preferences::default()
        };
        drafts.push(Draft {
            alert: None,
            name: kind.name().to_owned(),
            critical: false,
            channel: Channel::Email,
            address: row.text("email")?,
            preferences: serde_json::to_string(&preferences)
                .map_err(|cause| perigee_core::error::StoreError::Internal(cause.into()))?,
            suppressed: None,
        });
    }
    write(tx, account, Some(device), drafts).await
}
