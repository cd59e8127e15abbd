//! The messages that are due, with everything their templates may use.

use std::collections::{BTreeSet, HashMap};

use perigee_core::alerts::alert::StoredAlert;
use perigee_core::id::{AccountId, AlertId, DeviceId, FileId, NotificationId};
use perigee_core::notifications::notification::{
    Appearance, Channel, Content, LONGEST_WAIT_S, MessageDevice, NotificationState, Occasion,
};
use perigee_core::notifications::routing::Preferences;
use perigee_core::store::{NamedDevice, Result};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::owners;
use crate::sql::devices::read::names;
use crate::sql::query::waiting_accounts;
use crate::sql::{alerts, column, notifications::email_recipients};
use crate::{Row, Tx, params};

/// A due time beyond this was written by a wrong clock: the message is due now.
pub(super) fn horizon(now: Timestamp) -> Timestamp {
    now.plus_seconds(2 * LONGEST_WAIT_S)
}

/// Selects the accounts with due messages, among those with waiting messages: by one index seek for critical messages
/// and one for others.
fn accounts_sql(tx: &Tx, span: Span) -> String {
    if tx.is_distributed() {
        let compares = span.compares();
        return format!(
            "SELECT DISTINCT account_id AS id FROM notification WHERE channel = ?1 AND due {compares} ?2"
        );
    }
    let exists = |critical: &str| {
        format!(
            "EXISTS (SELECT 1 FROM notification d WHERE d.channel = ?1 AND d.account_id = waiting.id \
                 AND d.critical = {critical} AND d.due {} ?2)",
            span.compares()
        )
    };
    format!(
        "WITH RECURSIVE {} SELECT id FROM waiting WHERE id IS NOT NULL AND ({} OR {})",
        waiting_accounts("notification", "channel = ?1 AND due IS NOT NULL"),
        exists("TRUE"),
        exists("FALSE")
    )
}

/// Selects messages that are due, or that a wrong clock put too far ahead. Queried separately, because together they
/// are not one index range.
#[derive(Clone, Copy)]
enum Span {
    Due,
    TooFarAhead,
}

impl Span {
    const fn compares(self) -> &'static str {
        match self {
            Self::Due => "<=",
            Self::TooFarAhead => ">",
        }
    }

    fn bound(self, now: Timestamp) -> Timestamp {
        match self {
            Self::Due => now,
            Self::TooFarAhead => horizon(now),
        }
    }
}

const OF_ACCOUNT: &str = "\
    SELECT n.id, n.device_id, n.alert_id, n.name AS occasion, n.channel, n.address, n.preferences, n.document, n.state, \
        n.created, n.step, \
        COALESCE(a.brand_name, a.name) AS account_name, a.brand_colour, a.logo_id, a.time_zone \
    FROM notification n \
    JOIN account a ON a.id = n.account_id \
    WHERE n.channel = ?1 AND n.account_id = ?2 AND n.critical = ?3 AND n.due {compares} ?4 \
    ORDER BY n.due LIMIT ?5";

/// Messages that are due: an equal share of each account, critical ones first.
pub(super) async fn list(tx: &Tx, channel: Channel, limit: u32) -> Result<Vec<Content>> {
    // Two subqueries: only then is each one index seek.
    let sql = "SELECT (SELECT MIN(due) FROM notification WHERE channel = ?1 AND due IS NOT NULL) AS first, \
                   (SELECT MAX(due) FROM notification WHERE channel = ?1 AND due IS NOT NULL) AS last";
    let row = tx.query_one(sql, params![channel.name()]).await?;
    let (first, last) = (row.opt_timestamp("first")?, row.opt_timestamp("last")?);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let mut contents = Vec::new();
    if last.is_some_and(|last| last > horizon(tx.now())) {
        contents = list_span(tx, channel, limit, Span::TooFarAhead).await?;
    }
    if first.is_some_and(|first| first <= tx.now()) && contents.len() < limit {
        contents.extend(list_span(tx, channel, limit - contents.len(), Span::Due).await?);
    }
    Ok(contents)
}

async fn list_span(tx: &Tx, channel: Channel, limit: usize, span: Span) -> Result<Vec<Content>> {
    let mut accounts = Vec::new();
    for row in tx.query(&accounts_sql(tx, span), params![channel.name(), span.bound(tx.now())]).await? {
        accounts.push(AccountId::from_i64(row.i64("id")?));
    }
    if accounts.is_empty() {
        return Ok(Vec::new());
    }
    // Starts with another account each time, so that none is always left out.
    let turn = usize::try_from(tx.now().as_millis()).unwrap_or(0) % accounts.len();
    accounts.rotate_left(turn);
    let part = (limit / accounts.len()).max(1);
    let mut contents = Vec::new();
    for account in accounts {
        let most = part.min(limit.saturating_sub(contents.len()));
        if most == 0 {
            break;
        }
        contents.extend(of_account(tx, channel, account, most, span).await?);
    }
    Ok(contents)
}

async fn of_account(
    tx: &Tx,
    channel: Channel,
    account: AccountId,
    most: usize,
    span: Span,
) -> Result<Vec<Content>> {
    let sql = OF_ACCOUNT.replace("{compares}", span.compares());
    let mut rows = Vec::new();
    for critical in [true, false] {
        let left = i64::try_from(most.saturating_sub(rows.len())).unwrap_or(i64::MAX);
        if left > 0 {
            let values = params![channel.name(), account, critical, span.bound(tx.now()), left];
            rows.extend(tx.query(&sql, values).await?);
        }
    }
    let (mut wanted, mut devices) = (Vec::new(), BTreeSet::new());
    for row in &rows {
        wanted.extend(row.opt_i64("alert_id")?);
        devices.extend(row.opt_i64("device_id")?);
    }
    let alerts = alerts::of_ids(tx, account, &wanted).await?;
    let devices = names(tx, account, &devices.into_iter().collect::<Vec<_>>()).await?;
    let mut contents = Vec::with_capacity(rows.len());
    for row in &rows {
        let mut content = content(tx, account, row, (&alerts, &devices))?;
        if channel == Channel::EMAIL {
            let recipient = email_recipients::find(tx, account, &content.to.to_lowercase()).await?;
            content.is_stranger = !recipient.is_confirmed();
        }
        contents.push(content);
    }
    Ok(contents)
}

fn content(
    tx: &Tx,
    account: AccountId,
    row: &Row,
    (alerts, devices): (&HashMap<AlertId, StoredAlert>, &HashMap<DeviceId, NamedDevice>),
) -> Result<Content> {
    let preferences: Preferences = column::json(row, "preferences")?;
    let zone: Zone = column::parsed(row, "time_zone")?;
    let occasion = match row.opt_i64("alert_id")?.map(|id| alerts.get(&AlertId::from_i64(id))) {
        Some(Some(alert)) => Occasion::Alert {
            severity: alert.severity,
            alert: Box::new(alert.clone()),
            step: row.int("step")?,
        },
        Some(None) => Occasion::Deleted,
        None => owners::occasion(row)?,
    };
    let device = row.opt_i64("device_id")?.and_then(|id| devices.get(&DeviceId::from_i64(id)));
    let device =
        device.cloned().map(|NamedDevice { id, name, identifier }| MessageDevice { id, name, identifier });
    Ok(Content {
        id: NotificationId::from_i64(row.i64("id")?),
        account,
        account_name: row.text("account_name")?,
        appearance: Appearance {
            colour: column::opt_parsed(row, "brand_colour")?,
            logo_id: row.opt_i64("logo_id")?.map(FileId::from_i64),
            ..Appearance::default()
        },
        channel: column::parsed(row, "channel")?,
        to: row.text("address")?,
        time_zone: preferences.time_zone.clone().unwrap_or(zone),
        preferences,
        occasion,
        device,
        last_location: None,
        base_url: String::new(),
        is_stranger: false,
        mail_link: None,
        acknowledge_link: None,
        created: row.timestamp("created")?,
        is_lost: row.str("state")? == NotificationState::Sending.name(),
        now: tx.now(),
    })
}

/// The time at which the next message is due.
pub(super) async fn next(tx: &Tx, channel: Channel) -> Result<Option<Timestamp>> {
    let sql = "SELECT MIN(due) AS due FROM notification WHERE channel = ?1 AND due IS NOT NULL";
    Ok(tx.query_one(sql, params![channel.name()]).await?.opt_timestamp("due")?)
}
