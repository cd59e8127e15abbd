//! Commands to devices: queued, sent, answered, failed or expired. Every change of a state appends an event.

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::command::{
    Command, CommandEnd, CommandFilter, CommandKind, CommandState, NewCommand,
};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::gateways::gateway::Reporter;
use perigee_core::id::{AccountId, CommandId, DeviceId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::store::{Commands, Result};

use crate::forward::forward;
use crate::sql::conversations;
use crate::sql::events::event_append::{NewEvent, append_events};
use crate::sql::query::{Query, for_ids};
use crate::sql::{access::audit, accounts, column, idempotency, ids, scope};
use crate::{Database, Row, Tx, params};

const COLUMNS: &str = "account_id, id, device_id, kind, parameters, state, created_by, creation, deadline, protocol, \
                       sent_at, ended_at, answer, error";
/// The error of a command that a user cancelled.
pub(in crate::sql) const CANCELLED: &str = "The command was cancelled before it was sent.";

fn from_row(row: &Row) -> Result<Command> {
    let (kind, state) = (row.text("kind")?, row.text("state")?);
    Ok(Command {
        id: CommandId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        device: DeviceId::from_i64(row.i64("device_id")?),
        kind: CommandKind::named(&kind).ok_or_else(|| column::unreadable("kind", "not a kind of command"))?,
        values: row.text("parameters")?,
        state: CommandState::named(&state)
            .ok_or_else(|| column::unreadable("state", "not a state of a command"))?,
        created_by: row.opt_i64("created_by")?.map(UserId::from_i64),
        creation: row.timestamp("creation")?,
        deadline: row.timestamp("deadline")?,
        protocol: row.opt_text("protocol")?,
        sent_at: row.opt_timestamp("sent_at")?,
        ended_at: row.opt_timestamp("ended_at")?,
        answer: row.opt_text("answer")?,
        error: row.opt_text("error")?,
    })
}

/// Text in the form that a column can store, truncated to its length.
fn cut(text: &str) -> String {
    text.chars().filter(|letter| *letter != '\0').take(Command::ANSWER_MAX).collect()
}

/// Appends the event of the state that a command has now.
async fn announce(tx: &Tx, command: &Command) -> Result<()> {
    let kind = match command.state {
        CommandState::Queued => EventKind::CommandQueued,
        CommandState::Sent => EventKind::CommandSent,
        CommandState::Answered => EventKind::CommandAnswered,
        CommandState::Failed => EventKind::CommandFailed,
        CommandState::Expired => EventKind::CommandExpired,
    };
    // The state as it was: the command read with the event may have changed since.
    let data = serde_json::json!({ "state": command.state.name() }).to_string();
    let event = NewEvent { subject: command.id.to_string(), device: Some(command.device), data };
    append_events(tx, command.account, kind, vec![event]).await?;
    conversations::follow(tx, command).await
}

async fn create(
    tx: &Tx,
    actor: Actor,
    device: DeviceId,
    new: NewCommand,
    once: Option<IdempotencyKey>,
) -> Result<Created<Command>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    scope::require_device(tx, actor.scope, device).await?;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    require_room(tx, account, device).await?;
    let command = insert(tx, &actor, account, device, new).await?;
    idempotency::keep(tx, account, once.as_ref(), &command).await?;
    Ok(Created::Now(command))
}

/// Queues a command that carries a message of a conversation. The caller has locked the account and checked the device.
pub(in crate::sql) async fn queue(
    tx: &Tx,
    actor: &Actor,
    account: AccountId,
    device: DeviceId,
    new: NewCommand,
) -> Result<Command> {
    require_room(tx, account, device).await?;
    insert(tx, actor, account, device, new).await
}

/// Fails if the queue of the device is full.
async fn require_room(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let sql =
        "SELECT COUNT(*) AS count FROM command WHERE account_id = ?1 AND device_id = ?2 AND state = 'queued'";
    let queued = tx.query_one(sql, params![account, device]).await?.i64("count")?;
    if queued >= i64::from(Command::QUEUED_MAX) {
        return Err(StoreError::TooMany { kind: Kind::Command, most: Command::QUEUED_MAX });
    }
    Ok(())
}

/// Stores a command, its event and its audit entry.
async fn insert(
    tx: &Tx,
    actor: &Actor,
    account: AccountId,
    device: DeviceId,
    new: NewCommand,
) -> Result<Command> {
    // Devices get commands in the order of their ids.
    let id = ids::next_id(tx, "command", account).await?;
    let sql = format!(
        "INSERT INTO command (account_id, id, device_id, kind, parameters, state, created_by, creation, deadline) \
         VALUES (?1, ?2, ?3, ?4, ?5, 'queued', ?6, ?7, ?8) RETURNING {COLUMNS}"
    );
    let by = actor.origin.user;
    let values = params![account, id, device, new.kind.name(), new.values, by, tx.now(), new.deadline];
    let command = from_row(&tx.query_one(&sql, values).await?)?;
    delete_old(tx, account, device).await?;
    announce(tx, &command).await?;
    audit::record(tx, account, &actor.origin, "command.create", Some(command.id.to_string())).await?;
    Ok(command)
}

/// Deletes commands of a device beyond the newest ones, except those that are queued.
async fn delete_old(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let sql = "DELETE FROM command WHERE account_id = ?1 AND device_id = ?2 AND state <> 'queued' AND id < \
               (SELECT id FROM command WHERE account_id = ?1 AND device_id = ?2 ORDER BY id DESC LIMIT 1 OFFSET ?3)";
    tx.execute(sql, params![account, device, i64::from(Command::KEPT_MAX) - 1]).await?;
    Ok(())
}

fn select(scope: Scope) -> Query {
    let mut query =
        Query::new(format!("SELECT {COLUMNS} FROM command WHERE account_id = ?1"), params![scope.account]);
    scope::keep_devices(&mut query, scope, "device_id");
    query
}

async fn list(tx: &Tx, scope: Scope, filter: CommandFilter, page: PageRequest) -> Result<Page<Command>> {
    let mut query = select(scope);
    if let Some(device) = filter.device {
        query.push_with(" AND device_id = {}", device);
    }
    if let Some(state) = filter.state {
        query.push_with(" AND state = {}", state.name());
    }
    query.push_with(" AND id < {}", page.after.unwrap_or(i64::MAX));
    query.push_with(" ORDER BY id DESC LIMIT {}", i64::from(page.limit) + 1);
    let commands = query.rows(tx).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(commands, page.limit, |command| command.id.as_i64()))
}

async fn find(tx: &Tx, scope: Scope, id: CommandId) -> Result<Option<Command>> {
    let mut query = select(scope);
    query.push_with(" AND id = {}", id);
    query.row(tx).await?.as_ref().map(from_row).transpose()
}

/// The commands with these ids in the scope, for events about them.
pub(in crate::sql) async fn find_many(tx: &Tx, scope: Scope, ids: &[i64]) -> Result<Vec<Command>> {
    let sql = format!("SELECT {COLUMNS} FROM command WHERE account_id = ?1 AND id IN ({{ids}})");
    let rows = for_ids(tx, &sql, params![scope.account], ids).await?;
    let commands = rows.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    let devices = commands.iter().map(|command| command.device).collect();
    let visible = scope::visible_devices(tx, scope, devices).await?;
    Ok(commands.into_iter().filter(|command| visible.contains(&command.device)).collect())
}

async fn cancel(tx: &Tx, actor: Actor, id: CommandId) -> Result<Command> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let found = find(tx, actor.scope, id).await?.ok_or(StoreError::NotFound(Kind::Command))?;
    if found.state != CommandState::Queued {
        return Err(StoreError::NotQueued(found.state));
    }
    let failed = withdraw(tx, account, id).await?;
    audit::record(tx, account, &actor.origin, "command.cancel", Some(id.to_string())).await?;
    failed.ok_or(StoreError::NotQueued(found.state))
}

/// Takes a command out of the queue. `None` if it is not queued.
pub(in crate::sql) async fn withdraw(tx: &Tx, account: AccountId, id: CommandId) -> Result<Option<Command>> {
    change(tx, account, id, Step::Failed(CANCELLED)).await
}

/// A change of a command's state.
enum Step<'a> {
    Sent(&'static str),
    Unsent,
    Answered(&'a str),
    Failed(&'a str),
    Expired,
}

/// Changes the state of a command. `None` if it is not in the state that the step begins from.
async fn change(tx: &Tx, account: AccountId, id: CommandId, step: Step<'_>) -> Result<Option<Command>> {
    let from = match step {
        Step::Sent(_) | Step::Failed(_) | Step::Expired => "queued",
        Step::Unsent | Step::Answered(_) => "sent",
    };
    let mut query = Query::new("UPDATE command SET ", &[]);
    match step {
        Step::Sent(protocol) => {
            query.push_with("state = 'sent', sent_at = {}", tx.now());
            query.push_with(", protocol = {}", protocol);
        }
        Step::Unsent => query.push("state = 'queued', sent_at = NULL, protocol = NULL"),
        Step::Answered(text) => {
            query.push_with("state = 'answered', ended_at = {}", tx.now());
            query.push_with(", answer = {}", cut(text));
        }
        Step::Failed(text) => {
            query.push_with("state = 'failed', ended_at = {}", tx.now());
            query.push_with(", error = {}", cut(text));
        }
        Step::Expired => query.push_with("state = 'expired', ended_at = {}", tx.now()),
    }
    query.push_with(" WHERE account_id = {}", account);
    query.push_with(" AND id = {}", id);
    query.push_with(" AND state = {}", from);
    query.push(&format!(" RETURNING {COLUMNS}"));
    let command = query.row(tx).await?.as_ref().map(from_row).transpose()?;
    if let Some(command) = &command {
        announce(tx, command).await?;
    }
    Ok(command)
}

async fn queued(tx: &Tx, reporter: Reporter, limit: u32) -> Result<Vec<Command>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM command WHERE account_id = ?1 AND device_id = ?2 AND state = 'queued' \
         AND deadline > ?3 ORDER BY id LIMIT ?4"
    );
    let values = params![reporter.scope.account, reporter.device, tx.now(), i64::from(limit)];
    tx.query(&sql, values).await?.iter().map(from_row).collect()
}

async fn mark_sent(tx: &Tx, reporter: Reporter, id: CommandId, protocol: &'static str) -> Result<bool> {
    let account = accounts::lock(tx, reporter.scope.account).await?.id;
    Ok(change(tx, account, id, Step::Sent(protocol)).await?.is_some())
}

async fn settle(tx: &Tx, reporter: Reporter, id: CommandId, end: CommandEnd) -> Result<()> {
    let account = accounts::lock(tx, reporter.scope.account).await?.id;
    let step = match &end {
        CommandEnd::Failed(error) => Step::Failed(error),
        CommandEnd::Unsent => Step::Unsent,
    };
    change(tx, account, id, step).await?;
    Ok(())
}

async fn answer(tx: &Tx, reporter: Reporter, text: String) -> Result<bool> {
    let account = accounts::lock(tx, reporter.scope.account).await?.id;
    let sql = "SELECT id FROM command WHERE account_id = ?1 AND device_id = ?2 AND state = 'sent' \
               AND sent_at > ?3 ORDER BY sent_at, id LIMIT 1";
    let since = tx.now().plus_millis(-Command::ANSWER_WITHIN_MS);
    let row = tx.query_opt(sql, params![account, reporter.device, since]).await?;
    let Some(row) = row else { return Ok(false) };
    let id = CommandId::from_i64(row.i64("id")?);
    Ok(change(tx, account, id, Step::Answered(&text)).await?.is_some())
}

async fn waiting(tx: &Tx, limit: u32) -> Result<Vec<DeviceId>> {
    let sql = "SELECT DISTINCT device_id FROM command WHERE state = 'queued' AND deadline > ?1 LIMIT ?2";
    let rows = tx.query(sql, params![tx.now(), i64::from(limit)]).await?;
    rows.iter().map(|row| Ok(DeviceId::from_i64(row.i64("device_id")?))).collect()
}

async fn overdue(tx: &Tx, limit: u32) -> Result<Vec<(AccountId, CommandId)>> {
    let sql = "SELECT account_id, id FROM command WHERE state = 'queued' AND deadline <= ?1 \
               ORDER BY account_id, id LIMIT ?2";
    let rows = tx.query(sql, params![tx.now(), i64::from(limit)]).await?;
    let pair =
        |row: &Row| Ok((AccountId::from_i64(row.i64("account_id")?), CommandId::from_i64(row.i64("id")?)));
    rows.iter().map(pair).collect()
}

async fn expire(tx: &Tx, limit: u32) -> Result<Vec<AccountId>> {
    let mut accounts = Vec::new();
    for (account, id) in overdue(tx, limit).await? {
        if accounts.last() != Some(&account) {
            accounts::lock(tx, account).await?;
            accounts.push(account);
        }
        change(tx, account, id, Step::Expired).await?;
    }
    Ok(accounts)
}

async fn expire_commands(database: &Database, limit: u32) -> Result<Vec<AccountId>> {
    // Mostly no command is overdue, and a read finds that out without using the writer.
    if database.read(move |tx| overdue(tx, 1).boxed()).await?.is_empty() {
        return Ok(Vec::new());
    }
    database.write(move |tx| expire(tx, limit).boxed()).await
}

forward! {
    impl Commands for Database {
        write create_command(
            &self, &actor: Actor, device: DeviceId, new: NewCommand, once: Option<IdempotencyKey>
        ) -> Created<Command> = create;
        read list_commands(&self, scope: Scope, filter: CommandFilter, page: PageRequest)
            -> Page<Command> = list;
        read find_command(&self, scope: Scope, id: CommandId) -> Option<Command> = find;
        write cancel_command(&self, &actor: Actor, id: CommandId) -> Command = cancel;
        read queued_commands(&self, &reporter: Reporter, limit: u32) -> Vec<Command> = queued;
        write mark_sent(&self, &reporter: Reporter, id: CommandId, protocol: &'static str)
            -> bool = mark_sent;
        write settle_command(&self, &reporter: Reporter, id: CommandId, end: CommandEnd) -> () = settle;
        write answer_command(&self, &reporter: Reporter, &text: str) -> bool = answer;
        read devices_with_commands(&self, limit: u32) -> Vec<DeviceId> = waiting;
        run expire_commands(&self, limit: u32) -> Vec<AccountId> = expire_commands;
    }
}
