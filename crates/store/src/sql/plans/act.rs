//! Actions of people on plans: by the API, and by the traveller's link.

use perigee_core::access::actor::Actor;
use perigee_core::accounts::account::Account;
use perigee_core::error::StoreError;
use perigee_core::id::{PlanId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::plans::{CheckIn, CheckInBy, Plan, PlanAction};
use perigee_core::store::Result;

use super::bound;
use super::change::MISSING;
use super::effects::Effects;
use super::evaluate::look;
use super::evidence::newest_text;
use super::read::find_row;
use super::row::{PlanRow, save};
use crate::Tx;
use crate::sql::{access::audit, accounts, idempotency};

/// The name of an action in the audit log.
const fn name(action: PlanAction) -> &'static str {
    match action {
        PlanAction::Start => "plan.start",
        PlanAction::CheckIn => "plan.checkIn",
        PlanAction::Pause(_) => "plan.pause",
        PlanAction::Resume => "plan.resume",
        PlanAction::Extend(_) => "plan.extend",
        PlanAction::End => "plan.end",
        PlanAction::Cancel => "plan.cancel",
    }
}

/// Does what somebody asks of a plan, whose account is locked. What its devices sent before is read first, so that words
/// and buttons take effect in the order in which they arrived.
pub(super) async fn perform(
    tx: &Tx,
    account: &Account,
    row: &mut PlanRow,
    action: PlanAction,
    (by, note, user): (CheckInBy, Option<String>, Option<UserId>),
) -> Result<()> {
    let zone = &account.settings.time_zone;
    let mut effects = Effects::of(account, user);
    if action == PlanAction::Start {
        row.last_text = newest_text(tx, account.id, &row.plan.settings.devices).await?;
    } else {
        look(tx, row, zone, &mut effects).await?;
    }
    let check_in = CheckIn { at: tx.now(), by, device: None, position: None, text: note, waypoint: None };
    let before = row.plan.settings.clone();
    let outcomes = row.plan.act(action, check_in, tx.now(), zone).map_err(StoreError::PlanRefused)?;
    if action == PlanAction::Start {
        bound::require_few(tx, &row.plan).await?;
    }
    if row.plan.settings != before {
        row.plan.revision = row.plan.revision.next();
        row.plan.last_modified = tx.now();
    }
    effects.apply(tx, &mut row.plan, outcomes).await?;
    save(tx, row, zone).await
}

pub(super) async fn act(
    tx: &Tx,
    actor: Actor,
    id: PlanId,
    action: PlanAction,
    note: Option<String>,
    once: Option<IdempotencyKey>,
) -> Result<Created<Plan>> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let mut row = find_row(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if let Some(made) = idempotency::find(tx, account.id, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    perform(tx, &account, &mut row, action, (CheckInBy::Button, note, actor.origin.user)).await?;
    audit::record(tx, account.id, &actor.origin, name(action), Some(id.to_string())).await?;
    idempotency::keep(tx, account.id, once.as_ref(), &row.plan).await?;
    Ok(Created::Now(row.plan))
}
