//! Messages to devices that a user withdraws, or whose command changed its state.

use perigee_core::access::actor::Actor;
use perigee_core::devices::command::{Command, CommandState};
use perigee_core::devices::conversation::{ConversationMessage, TextState};
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::ConversationMessageId;
use perigee_core::store::Result;

use super::read::find;
use super::row::{COLUMNS, announce, from_row};
use crate::sql::devices::commands;
use crate::sql::{access::audit, accounts};
use crate::{Tx, params};

pub(super) async fn cancel(tx: &Tx, actor: Actor, id: ConversationMessageId) -> Result<ConversationMessage> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let missing = || StoreError::NotFound(Kind::ConversationMessage);
    let found = find(tx, actor.scope, id).await?.ok_or_else(missing)?;
    if found.state != TextState::Queued {
        return Err(StoreError::TextNotQueued(found.state));
    }
    if let Some(command) = found.command {
        commands::withdraw(tx, account, command).await?;
    } else {
        let sql = format!(
            "UPDATE conversation_message SET state = 'cancelled', changed_at = ?3, due = NULL \
             WHERE account_id = ?1 AND id = ?2 RETURNING {COLUMNS}"
        );
        let row = tx.query_one(&sql, params![account, id, tx.now()]).await?;
        announce(tx, EventKind::ConversationChanged, &from_row(&row)?).await?;
    }
    audit::record(tx, account, &actor.origin, "conversation.cancel", Some(id.to_string())).await?;
    find(tx, actor.scope, id).await?.ok_or_else(missing)
}

/// Gives the message that a command carries the state of the command, which has just changed.
pub(in crate::sql) async fn follow(tx: &Tx, command: &Command) -> Result<()> {
    let state = match command.state {
        CommandState::Queued => TextState::Queued,
        CommandState::Sent => TextState::HandedOver,
        CommandState::Answered => TextState::Delivered,
        CommandState::Failed if command.error.as_deref() == Some(commands::CANCELLED) => TextState::Cancelled,
        CommandState::Failed => TextState::Failed,
        CommandState::Expired => TextState::Expired,
    };
    let sql = format!(
        "UPDATE conversation_message SET state = ?3, changed_at = ?4, link = COALESCE(?5, link), reference = ?6, \
             error = ?7 WHERE account_id = ?1 AND command_id = ?2 AND state <> 'answered' RETURNING {COLUMNS}"
    );
    let error = command.error.as_deref().filter(|_| state == TextState::Failed);
    let values = params![
        command.account,
        command.id,
        state.name(),
        tx.now(),
        command.protocol.as_deref(),
        command.answer.as_deref(),
        error
    ];
    if let Some(row) = tx.query_opt(&sql, values).await? {
        announce(tx, EventKind::ConversationChanged, &from_row(&row)?).await?;
    }
    Ok(())
}
