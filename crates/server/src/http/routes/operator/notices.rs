//! What operators of the server should look at.

use axum::extract::State;
use perigee_core::error::Kind;
use perigee_core::id::NoticeId;
use perigee_core::operator_notice::OperatorNotice;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::error::{ApiResult, not_found};
use crate::http::extract::{IdPath, OperatorCaller, Params};
use crate::http::reply::{Done, Reply};

/// A notice to operators.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorNotice)]
pub struct OperatorNoticeView {
    /// Unique identifier of the notice, assigned by the server.
    #[schema(example = "ntc_01jc2m8k4n5p6")]
    id: String,
    /// What it is about. `email-ceiling`: the account reached its e-mails of a day in all, and further ones are suppressed.
    /// `identifier-contested`: the account registered an identifier that another account holds.
    #[schema(example = "email-ceiling", pattern = "^(email-ceiling|identifier-contested)$")]
    kind: &'static str,
    /// ID of the account that it is about.
    #[schema(example = "acc_01jc2m8k4n5p5")]
    account_id: String,
    /// Name of that account.
    #[schema(example = "Castro Fishing")]
    account_name: String,
    /// The date (`email-ceiling`) or the identifier (`identifier-contested`).
    #[schema(example = "2026-05-01")]
    subject: String,
    /// Time at which it was written.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// Notices to operators.
#[derive(Serialize, ToSchema)]
pub struct OperatorNoticeList {
    /// The notices that were not dismissed, newest first; 1,000 at the most.
    notices: Vec<OperatorNoticeView>,
}

impl From<OperatorNotice> for OperatorNoticeView {
    fn from(notice: OperatorNotice) -> Self {
        Self {
            id: notice.id.to_string(),
            kind: notice.kind.name(),
            account_id: notice.account.to_string(),
            account_name: notice.account_name,
            subject: notice.subject,
            creation: notice.created.to_string(),
        }
    }
}

/// List notices to operators.
///
/// One for each account, kind and subject. For operators of the server.
#[utoipa::path(get, path = "/api/operator/notices", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The notices, newest first.", body = OperatorNoticeList)))]
pub async fn list_operator_notices(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    params: Params,
) -> ApiResult<Reply<OperatorNoticeList>> {
    params.finish()?;
    let notices = app.store.list_notices().await?.into_iter().map(OperatorNoticeView::from).collect();
    Ok(caller.reply(OperatorNoticeList { notices }))
}

/// Dismiss a notice.
///
/// It is not listed from then on, and not written again for the same subject. For operators of the server.
#[utoipa::path(delete, path = "/api/operator/notices/{noticeId}", tag = "operator", security(("session" = [])),
    params(("noticeId" = String, Path, description = "ID of the notice.", example = "ntc_01jc2m8k4n5p6")),
    responses((status = 200, description = "The notice was dismissed.", body = Done)))]
pub async fn dismiss_operator_notice(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<NoticeId>,
    params: Params,
) -> ApiResult<Reply<Done>> {
    params.finish()?;
    let missing = || not_found(Kind::Notice);
    if !app.store.dismiss_notice(id.ok_or_else(missing)?).await? {
        return Err(missing());
    }
    Ok(caller.reply(Done {}))
}
