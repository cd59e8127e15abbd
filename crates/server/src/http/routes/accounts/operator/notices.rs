//! Notices to operators: accounts that need their attention.

use perigee_core::accounts::operator_notice::OperatorNotice;
use perigee_core::id::NoticeId;

use crate::http::extract::OperatorCaller;
use crate::http::prelude::*;

/// A notice to operators about an account.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorNotice)]
pub struct OperatorNoticeView {
    /// Unique identifier of the notice, assigned by the server.
    #[schema(example = "ntc_01jc2m8k4n5p6")]
    id: String,
    /// Kind of the notice. `email-ceiling`: the account reached its ceiling of e-mails per day, and further e-mails
    /// are suppressed. `identifier-contested`: the account registered an identifier that another account holds.
    /// `identifier-networks`: an identifier of the account reports from two networks.
    #[schema(
        example = "email-ceiling",
        pattern = "^(email-ceiling|identifier-contested|identifier-networks)$"
    )]
    kind: &'static str,
    /// ID of the account that the notice is about.
    #[schema(example = "acc_01jc2m8k4n5p5")]
    account_id: String,
    /// Name of the account that the notice is about.
    #[schema(example = "Castro Fishing")]
    account_name: String,
    /// Subject of the notice: a date for `email-ceiling`, otherwise an identifier.
    #[schema(example = "2026-05-01")]
    subject: String,
    /// Time at which the notice was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
}

/// A list of notices to operators.
#[derive(Serialize, ToSchema)]
pub struct OperatorNoticeList {
    /// Notices that were not dismissed, newest first. At most 1,000.
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

/// List notices
///
/// Returns notices about accounts that need the attention of an operator and were not dismissed. An account has at most
/// one notice of each kind and subject. Requires an operator of the server with a console session.
#[utoipa::path(get, path = "/api/operator/notices", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The notices, newest first.", body = OperatorNoticeList)))]
pub async fn list_operator_notices(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    params: Params,
) -> ApiReply<OperatorNoticeList> {
    params.finish()?;
    let notices = app.store.list_notices().await?.into_iter().map(OperatorNoticeView::from).collect();
    Ok(caller.reply(OperatorNoticeList { notices }))
}

/// Dismiss a notice
///
/// Removes the notice from the list. No further notice is created for the same account, kind and subject. Requires an
/// operator of the server with a console session.
#[utoipa::path(delete, path = "/api/operator/notices/{noticeId}", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The notice was dismissed.", body = Done)))]
pub async fn dismiss_operator_notice(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<NoticeId>,
    params: Params,
) -> ApiReply<Done> {
    params.finish()?;
    let missing = || not_found(Kind::Notice);
    if !app.store.dismiss_notice(id.ok_or_else(missing)?).await? {
        return Err(missing());
    }
    Ok(caller.reply(Done {}))
}
