//! The page behind the link in every e-mail, on which the recipient unsubscribes from, resumes or confirms e-mail of an
//! account, and the request by which mail programs unsubscribe (RFC 8058).

use axum::body::Bytes;
use axum::response::Html;
use http::{HeaderMap, StatusCode, header};
use perigee_core::id::AccountId;
use perigee_core::notifications::notification::{ConfirmationPolicy, ConsentChange, MailedAccount};
use perigee_core::text::Email;

use crate::http::context::RequestContext;
use crate::http::extract::TextPath;
use crate::http::limit::too_many;
use crate::http::prelude::*;
use crate::http::routes::notifications::mail_page::{MailPage, accepted_language};

/// Shows the current state of the recipient. Changes nothing, because mail scanners follow links.
pub async fn get_mail_page(
    State(app): State<App>,
    context: RequestContext,
    headers: HeaderMap,
    TextPath(token): TextPath,
) -> ApiResult<Response> {
    match open(&app, &context, &token).await? {
        Some((_, _, account)) => Ok(page(&app, &headers, &account)),
        None => Ok(no_such_link(&headers)),
    }
}

/// Records the choice of the recipient, made with a button of the page or by the request of a mail program.
pub async fn change_mail(
    State(app): State<App>,
    context: RequestContext,
    headers: HeaderMap,
    TextPath(token): TextPath,
    body: Bytes,
) -> ApiResult<Response> {
    let Some((id, address, mut account)) = open(&app, &context, &token).await? else {
        return Ok(no_such_link(&headers));
    };
    let Some(change) = read_choice(&headers, &body) else {
        let problem = MailPage::problem(accepted_language(&headers), |words| &words.unclear);
        return Ok((StatusCode::BAD_REQUEST, Html(problem)).into_response());
    };
    account.consent = app.store.change_email_consent(id, &address, change).await?;
    Ok(page(&app, &headers, &account))
}

/// The account and the e-mail address of a link, if the link is valid. Invalid links are rate limited by client
/// address, valid ones like public views.
async fn open(
    app: &App,
    context: &RequestContext,
    token: &str,
) -> ApiResult<Option<(AccountId, Email, MailedAccount)>> {
    let rated = app.access.rates.bad_token(context.address(), false);
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "Too many invalid links were opened from this IP address."));
    }
    let Some((account, address)) = app.access.mail_links.read(token) else {
        app.access.rates.bad_token(context.address(), true);
        return Ok(None);
    };
    let rated = app.access.rates.view(token, context.address());
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "This link was opened too often."));
    }
    let found = app.store.find_mailed_account(account, &address).await?;
    Ok(found.map(|found| (account, address, found)))
}

/// The choice in a form. Mail programs send `List-Unsubscribe=One-Click`, URL-encoded or as multipart.
fn read_choice(headers: &HeaderMap, body: &[u8]) -> Option<ConsentChange> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.to_ascii_lowercase().starts_with("multipart/form-data") {
        let text = String::from_utf8_lossy(body);
        let one_click = text.contains("name=\"List-Unsubscribe\"") && text.contains("One-Click");
        return one_click.then_some(ConsentChange::Unsubscribe);
    }
    url::form_urlencoded::parse(body).find_map(|(name, value)| match (&*name, &*value) {
        ("List-Unsubscribe", "One-Click") | ("say", "unsubscribe") => Some(ConsentChange::Unsubscribe),
        ("say", "subscribe") => Some(ConsentChange::Subscribe),
        _ => None,
    })
}

fn page(app: &App, headers: &HeaderMap, account: &MailedAccount) -> Response {
    let requires_confirmation = app.config.notifications.confirmation() != ConfirmationPolicy::default();
    Html(MailPage::of(accepted_language(headers), account, requires_confirmation)).into_response()
}

fn no_such_link(headers: &HeaderMap) -> Response {
    let problem = MailPage::problem(accepted_language(headers), |words| &words.no_link);
    (StatusCode::NOT_FOUND, Html(problem)).into_response()
}
