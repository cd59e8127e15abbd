//! The audit log: who changed what and when, who signed in, who was denied.

use perigee_core::access::audit::{AuditEntry, AuditFilter};
use perigee_core::id::UserId;

use crate::http::prelude::*;

/// Entries per page by default.
const PAGE: u32 = 100;

/// An entry of the audit log: an action that was carried out or denied.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AuditEntry)]
pub struct AuditView {
    /// Unique identifier of the entry, assigned by the server. Later entries have larger IDs.
    #[schema(example = "aud_01jc2m8k4n5p6")]
    id: String,
    /// Time of the action.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// Way of access. `token`: with an API token. `session`: in the console. `link`: with a link, such as one that
    /// sets a password. `command`: by the operator on the command line. `service`: by the server itself.
    #[schema(example = "session")]
    via: String,
    /// ID of the user who acted. Null if no user was involved.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    user: Option<String>,
    /// IP address of the client. Null if there was none.
    #[schema(example = "203.0.113.7")]
    address: Option<String>,
    /// ID of the request, as in the log of the server. Null if there was none.
    #[schema(example = "req_5f0c6a1e9b7d43c2a8e1f604")]
    request: Option<String>,
    /// Action, as `resource.verb`.
    #[schema(example = "group.update")]
    action: String,
    /// ID of the resource that the action was applied to. Null if there was none.
    #[schema(example = "grp_01jc2m8k4n5p6")]
    target: Option<String>,
    /// Outcome of the action. `done`: it was carried out. `denied`: it was refused.
    #[schema(example = "done", pattern = "^(done|denied)$")]
    outcome: &'static str,
    /// Details in words, such as what changed or why the action was denied. Null if there are none.
    #[schema(example = "from the console")]
    detail: Option<String>,
    /// Number of times that the action happened. Denied requests of one user and one operation within an hour share
    /// an entry, which describes the first of them. Every other action has its own entry.
    #[schema(example = 1, minimum = 1)]
    count: u64,
    /// Time of the last occurrence, if `count` is greater than 1. Null otherwise.
    #[schema(example = "2026-05-01T12:40:00Z", format = DateTime)]
    last_date_time: Option<String>,
}

list! {
    /// A list of entries of the audit log.
    pub struct AuditList;
    /// The entries, newest first.
    audit: AuditView,
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

/// List audit log entries
///
/// Returns who changed what and when, who signed in, and what was denied, newest first. Requires the privilege `admin`
/// and a caller who sees the whole account. Entries are kept for the retention time of the server, 400 days by default.
/// The list is always returned in pages.
#[utoipa::path(get, path = "/api/audit", tag = "audit", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of entries in a page. Default: 100.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("user" = Option<String>, Query, description = "Only entries of the user with this ID.", example = "usr_01jc2m8k4n5p6"),
    ("action" = Option<String>, Query, description = "Only entries of this action.", example = "group.update"),
    ("target" = Option<String>, Query, description = "Only entries about the resource with this ID.", example = "grp_01jc2m8k4n5p6"),
), responses((status = 200, description = "The entries, newest first.", body = AuditList)))]
pub async fn list_audit(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    caller.require(Privilege::Admin)?;
    caller.require_whole_account()?;
    let filter = AuditFilter {
        user: params.parsed::<UserId>("user", "the ID of a user, such as \"usr_01jc2m8k4n5p6\""),
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
