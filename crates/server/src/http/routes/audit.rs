//! The audit log: who changed what and when, who signed in, who was denied.

use axum::extract::State;
use axum::response::Response;
use perigee_core::audit::{AuditEntry, AuditFilter};
use perigee_core::id::UserId;
use perigee_core::privilege::Privilege;
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::App;
use crate::http::error::ApiResult;
use crate::http::extract::{Caller, Params};
use crate::http::list::answer_list;

/// Entries of a page unless the client says otherwise.
const PAGE: u32 = 100;

/// Something that was done, or refused.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry)]
pub struct AuditView {
    /// Its id; later entries have larger ones.
    #[schema(example = "aud_01jc2m8k4n5p6")]
    id: String,
    /// When it was done.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// The way in: `token`, `session`, `link`, `command` (the operator's) or `service` (the service itself).
    #[schema(example = "session")]
    via: String,
    /// The id of the user; null when it was the operator or the service itself.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    user: Option<String>,
    /// The IP address of the client; null for the service itself.
    #[schema(example = "203.0.113.7")]
    address: Option<String>,
    /// The id of the request, as in the service's log.
    #[schema(example = "req_5f0c6a1e9b7d43c2a8e1f604")]
    request: Option<String>,
    /// The action, as `thing.verb`.
    #[schema(example = "group.update")]
    action: String,
    /// The id of what it was done to.
    #[schema(example = "grp_01jc2m8k4n5p6")]
    target: Option<String>,
    /// Whether it was let through.
    #[schema(example = "done", pattern = "^(done|denied)$")]
    outcome: &'static str,
    /// Details in words, if there are any.
    #[schema(example = "from the console")]
    detail: Option<String>,
    /// How often it happened. Refusals of one user and one operation within an hour share an entry, which tells the
    /// first of them; everything else has an entry of its own.
    #[schema(example = 1, minimum = 1)]
    count: u64,
    /// When it happened last, if more than once.
    #[schema(example = "2026-05-01T12:40:00Z", format = DateTime)]
    last_date_time: Option<String>,
}

/// Entries of the audit log.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuditList {
    /// The entries, newest first.
    audit: Vec<AuditView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl From<AuditEntry> for AuditView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            id: entry.id.to_string(),
            date_time: entry.at.to_string(),
            via: entry.via,
            user: entry.user.map(|user| user.to_string()),
            address: entry.address.map(|address| address.to_string()),
            request: entry.request,
            action: entry.action,
            target: entry.target,
            outcome: entry.outcome.name(),
            detail: entry.detail,
            count: entry.count,
            last_date_time: entry.last_at.map(|at| at.to_string()),
        }
    }
}

/// Read the audit log.
///
/// Newest first and always in pages. Needs `owner` or `admin` and a user who sees the whole account.
#[utoipa::path(get, path = "/api/audit", tag = "audit", params(
    ("limit" = Option<u32>, Query, description = "Entries at the most; 100 unless given.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
    ("user" = Option<String>, Query, description = "Only what this user did: their id.", example = "usr_01jc2m8k4n5p6"),
    ("action" = Option<String>, Query, description = "Only this action.", example = "group.update"),
    ("target" = Option<String>, Query, description = "Only what was done to the thing with this id.", example = "grp_01jc2m8k4n5p6"),
), responses((status = 200, description = "Entries, newest first.", body = AuditList)))]
pub async fn list_audit(State(app): State<App>, caller: Caller, mut params: Params) -> ApiResult<Response> {
    caller.require(Privilege::Admin)?;
    caller.require_whole_account()?;
    let filter = AuditFilter {
        user: params.parsed::<UserId>("user", "the id of a user, such as \"usr_01jc2m8k4n5p6\""),
        action: params.text("action"),
        target: params.text("target"),
    };
    let part = params.finish_page("audit", PAGE)?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let (store, filter) = (store.clone(), filter.clone());
        async move { store.list_audits(scope, &filter, page).await }
    };
    answer_list(&app, &caller, "audit", part, fetch, AuditView::from).await
}
