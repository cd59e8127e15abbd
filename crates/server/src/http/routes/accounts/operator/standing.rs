//! Suspending and deleting accounts.

use perigee_core::accounts::account::Account;
use perigee_core::accounts::standing::{GRACE_DAYS, GRACE_DAYS_MAX, SUSPENSION_MESSAGE_MAX};
use perigee_core::id::AccountId;
use perigee_core::text::Line;

use super::accounts::{answer, find};
use super::view::OperatorAccountAnswer;
use crate::http::extract::OperatorCaller;
use crate::http::prelude::*;

input! {
    /// Suspension of an account.
    struct SuspensionInput {
        /// Text for users who are refused, shown by the console and in errors of the API. Default: none.
        message: Line<0, SUSPENSION_MESSAGE_MAX>, nullable, example "Your subscription has ended. Call +34 900 000 000.";
    }
}

fn read_suspension(body: &Value) -> ApiResult<Option<String>> {
    read_body(body, &[], |input: SuspensionInput, _| {
        Some(input.message.filter(|message| !message.trim().is_empty()))
    })
}

/// The account after a change by an operator. Its users are read again with their next request.
async fn changed(app: &App, caller: &Caller, account: Account) -> ApiReply<OperatorAccountAnswer> {
    app.access.identities.invalidate_account(account.id);
    Ok(answer(caller, find(app, Some(account.id)).await?))
}

/// Suspend an account
///
/// Refuses all users of the account: they cannot sign in, their sessions and tokens get 403 `account-suspended`, and
/// open streams end. Devices are not affected: locations are stored, rules raise alerts, and alerts are sent to all
/// recipients, who can acknowledge them by the link in the message. Share links and webhooks continue as well. Suspending
/// a suspended account changes its message. Requires an operator of the server with a console session. Fails with
/// `account-has-operator` if a user of the account is an operator.
#[utoipa::path(put, path = "/api/operator/accounts/{accountId}/suspension", tag = "operator",
    security(("session" = [])), request_body = SuspensionInput,
    responses((status = 200, description = "The suspended account.", body = OperatorAccountAnswer)))]
pub async fn suspend_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    body: JsonBody,
) -> ApiReply<OperatorAccountAnswer> {
    let message = read_suspension(&body.value)?;
    let id = id.ok_or_else(|| not_found(Kind::Account))?;
    let account = app.store.suspend_account(&caller.origin(), id, message).await?;
    changed(&app, &caller, account).await
}

/// Resume an account
///
/// Ends the suspension of an account. Sessions and tokens that have not expired work again. Requires an operator of the
/// server with a console session.
#[utoipa::path(delete, path = "/api/operator/accounts/{accountId}/suspension", tag = "operator",
    security(("session" = [])),
    responses((status = 200, description = "The account, which is not suspended.", body = OperatorAccountAnswer)))]
pub async fn resume_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    params: Params,
) -> ApiReply<OperatorAccountAnswer> {
    params.finish()?;
    let id = id.ok_or_else(|| not_found(Kind::Account))?;
    let account = app.store.resume_account(&caller.origin(), id).await?;
    changed(&app, &caller, account).await
}

/// Delete an account
///
/// Schedules the deletion of the account with all its data, after a grace period of `graceDays`. Until then all users
/// are refused with 403 `account-deleted`, devices are not affected, as with a suspension, and
/// `POST /api/operator/accounts/{accountId}/restore` undoes the deletion. Afterwards a background job deletes the data in
/// small steps. Repeating the request moves the time. Requires an operator of the server with a console session. Fails
/// with `account-has-operator` if a user of the account is an operator.
#[utoipa::path(delete, path = "/api/operator/accounts/{accountId}", tag = "operator", security(("session" = [])), params(
    ("graceDays" = Option<u32>, Query, description = "Length of the grace period in days. Default: 30.", minimum = 1, maximum = 365, example = 30),
), responses((status = 200, description = "The account, with the time of its deletion.", body = OperatorAccountAnswer)))]
pub async fn delete_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    preconditions: Preconditions,
    mut params: Params,
) -> ApiReply<OperatorAccountAnswer> {
    let days = params.number("graceDays", 1, GRACE_DAYS_MAX).unwrap_or(GRACE_DAYS);
    params.finish()?;
    let present = find(&app, id).await?.account;
    preconditions.check(Kind::Account, present.revision)?;
    let account = app.store.request_deletion(&caller.origin(), present.id, days).await?;
    changed(&app, &caller, account).await
}

/// Restore an account
///
/// Undoes the deletion of an account during its grace period. An account that was suspended before stays suspended.
/// Requires an operator of the server with a console session. Fails with `account-purging` if the data are being
/// deleted.
#[utoipa::path(post, path = "/api/operator/accounts/{accountId}/restore", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The restored account.", body = OperatorAccountAnswer)))]
pub async fn restore_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    params: Params,
) -> ApiReply<OperatorAccountAnswer> {
    params.finish()?;
    let id = id.ok_or_else(|| not_found(Kind::Account))?;
    let account = app.store.undo_deletion(&caller.origin(), id).await?;
    changed(&app, &caller, account).await
}
