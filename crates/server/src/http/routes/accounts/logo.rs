//! The logo of an account: set by operators, shown to its users.

use axum::body::Body;
use http::{HeaderValue, header};
use perigee_core::accounts::branding::Logo;
use perigee_core::id::AccountId;

use super::operator::accounts::{answer, find};
use super::operator::view::OperatorAccountAnswer;
use crate::http::extract::{ImageBody, OperatorCaller};
use crate::http::prelude::*;

/// The picture as a response. Its URL has the ID of the logo as a query, so that browsers may keep it.
pub(in crate::http::routes) fn picture(logo: Logo) -> Response {
    let mut response = Response::new(Body::from(logo.bytes));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(logo.media_type.name()));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; sandbox; frame-ancestors 'none'"),
    );
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("private, max-age=3600"));
    response
}

async fn find_picture(app: &App, account: AccountId) -> ApiResult<Response> {
    let logo = app.store.find_logo(account).await?;
    Ok(picture(logo.ok_or_else(|| not_found(Kind::File))?))
}

/// Download the logo of the account
///
/// Returns the logo that operators set for the account of the caller. `branding.logo` of the account is null if there
/// is none. Any user of the account may call this operation.
#[utoipa::path(get, path = "/api/account/logo", tag = "account", params(
    ("v" = Option<String>, Query, description = "ID of the logo, so that browsers load a new logo. It is not compared.", example = "fil_01jc2m8k4n5p6"),
), responses((status = 200, description = "The bytes of the logo.", content(
    (String = "image/png", example = json!("the bytes of the logo")),
    (String = "image/jpeg", example = json!("the bytes of the logo")),
))))]
pub async fn get_account_logo(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    params.text("v");
    params.finish()?;
    find_picture(&app, caller.account().id).await
}

/// Download the logo of an account
///
/// Returns the logo of an account. Requires an operator of the server with a console session.
#[utoipa::path(get, path = "/api/operator/accounts/{accountId}/logo", tag = "operator", security(("session" = [])), params(
    ("v" = Option<String>, Query, description = "ID of the logo, so that browsers load a new logo. It is not compared.", example = "fil_01jc2m8k4n5p6"),
), responses((status = 200, description = "The bytes of the logo.", content(
    (String = "image/png", example = json!("the bytes of the logo")),
    (String = "image/jpeg", example = json!("the bytes of the logo")),
))))]
pub async fn get_operator_logo(
    State(app): State<App>,
    OperatorCaller(_caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    mut params: Params,
) -> ApiResult<Response> {
    params.text("v");
    params.finish()?;
    find_picture(&app, id.ok_or_else(|| not_found(Kind::Account))?).await
}

/// Set the logo of an account
///
/// Replaces the logo of an account with a PNG or JPEG image of at most 64 KiB and 1,024 pixels on a side. Metadata is
/// removed. The logo is shown in the console, in e-mails and on pages for acknowledging alerts. Requires an operator of
/// the server with a console session.
#[utoipa::path(put, path = "/api/operator/accounts/{accountId}/logo", tag = "operator", security(("session" = [])),
    request_body(content(
        (String = "image/png", example = json!("the bytes of the logo")),
        (String = "image/jpeg", example = json!("the bytes of the logo")),
        (String = "application/octet-stream", example = json!("the bytes of the logo")),
    )), responses((status = 200, description = "The account, with the new logo.", body = OperatorAccountAnswer)))]
pub async fn replace_operator_logo(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    body: ImageBody,
) -> ApiReply<OperatorAccountAnswer> {
    let id = find(&app, id).await?.account.id;
    let (logo, _permit) = body.receive_logo(&app).await?;
    app.store.set_logo(&caller.origin(), id, Some(logo)).await?;
    app.access.identities.invalidate_account(id);
    Ok(answer(&caller, find(&app, Some(id)).await?))
}

/// Delete the logo of an account
///
/// Removes the logo of an account. Requires an operator of the server with a console session.
#[utoipa::path(delete, path = "/api/operator/accounts/{accountId}/logo", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The account, without a logo.", body = OperatorAccountAnswer)))]
pub async fn delete_operator_logo(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    params: Params,
) -> ApiReply<OperatorAccountAnswer> {
    params.finish()?;
    let id = id.ok_or_else(|| not_found(Kind::Account))?;
    app.store.set_logo(&caller.origin(), id, None).await?;
    app.access.identities.invalidate_account(id);
    Ok(answer(&caller, find(&app, Some(id)).await?))
}
