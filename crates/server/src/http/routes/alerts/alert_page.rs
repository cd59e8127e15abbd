//! The page behind the link in a message about an alert, on which the recipient acknowledges the alert without an
//! account.

use axum::body::Bytes;
use axum::response::Html;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use perigee_core::access::actor::Via;
use perigee_core::alerts::alert::{AlertNote, NotifiedAlert};
use perigee_core::text::NAME_MAX;
use sha2::{Digest as _, Sha256};

use crate::auth::AlertLink;
use crate::http::context::RequestContext;
use crate::http::extract::TextPath;
use crate::http::limit::too_many;
use crate::http::prelude::*;
use crate::http::routes::accounts::logo::picture;
use crate::http::routes::alerts::alert_page_text::{AlertPage, Shown, alert_words, style};

/// Shows the alert and a form. Changes nothing, because mail scanners and chat programs follow links.
pub async fn get_alert_page(
    State(app): State<App>,
    context: RequestContext,
    headers: HeaderMap,
    TextPath(token): TextPath,
) -> ApiResult<Response> {
    let Some((link, notified)) = open(&app, &context, &token).await? else {
        return Ok(no_such_link(&headers));
    };
    let is_expired = app.clock.now() >= link.expires;
    Ok(shown(&app, &token, &notified, is_expired, None))
}

/// The page, with permission for the colours of the account, which are the only style in it.
fn shown(
    app: &App,
    token: &str,
    notified: &NotifiedAlert,
    is_expired: bool,
    problem: Option<&str>,
) -> Response {
    let has_map = app.maps.pictures.is_some();
    let page =
        AlertPage::of(&Shown { base_url: &app.base_url, token, has_map }, notified, is_expired, problem);
    let mut response = Html(page).into_response();
    if let Some(style) = style(notified) {
        let hash = STANDARD.encode(Sha256::digest(style.as_bytes()));
        let policy = format!(
            "default-src 'self'; style-src 'self' 'sha256-{hash}'; object-src 'none'; base-uri 'none'; \
             form-action 'self'; frame-ancestors 'none'"
        );
        if let Ok(policy) = HeaderValue::try_from(policy) {
            response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
        }
    }
    response
}

/// The picture of the map on the page.
pub async fn get_alert_map(
    State(app): State<App>,
    context: RequestContext,
    TextPath(token): TextPath,
) -> ApiResult<Response> {
    let missing = || not_found(Kind::File);
    let (_, notified) = open(&app, &context, &token).await?.ok_or_else(missing)?;
    let (latitude, longitude) = notified.alert.best_position().ok_or_else(missing)?;
    let pictures = app.maps.pictures.clone().ok_or_else(missing)?;
    let draw = move || pictures.draw(latitude.as_degrees(), longitude.as_degrees());
    let drawn = tokio::task::spawn_blocking(draw).await.map_err(internal)?.ok_or_else(missing)?;
    let headers = [
        (header::CONTENT_TYPE, "image/png"),
        (header::CACHE_CONTROL, "private, max-age=3600"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    Ok((headers, drawn.as_ref().clone()).into_response())
}

/// The logo on the page.
pub async fn get_alert_logo(
    State(app): State<App>,
    context: RequestContext,
    TextPath(token): TextPath,
) -> ApiResult<Response> {
    let missing = || not_found(Kind::File);
    let (link, _) = open(&app, &context, &token).await?.ok_or_else(missing)?;
    Ok(picture(app.store.find_logo(link.account).await?.ok_or_else(missing)?))
}

/// Acknowledges the alert with a name and a note.
pub async fn acknowledge_by_link(
    State(app): State<App>,
    context: RequestContext,
    headers: HeaderMap,
    TextPath(token): TextPath,
    body: Bytes,
) -> ApiResult<Response> {
    let Some((link, notified)) = open(&app, &context, &token).await? else {
        return Ok(no_such_link(&headers));
    };
    let is_expired = app.clock.now() >= link.expires;
    let (name, note) = read_form(&body);
    if is_expired || name.is_none() {
        let problem = (!is_expired).then(|| alert_words(&notified).name_missing.as_str());
        let page = shown(&app, &token, &notified, is_expired, problem);
        return Ok((StatusCode::BAD_REQUEST, page).into_response());
    }
    let origin = context.origin(Via::Link, None);
    let name = name.unwrap_or_default();
    let done = app.store.acknowledge_notified_alert(&origin, link.account, link.message, name, note).await?;
    match done {
        Some(notified) => Ok(shown(&app, &token, &notified, false, None)),
        None => Ok(no_such_link(&headers)),
    }
}

/// The message and the alert that a link is for; `None` if the token is invalid. Each client address may try few
/// invalid links; valid ones are limited like openings of share links.
async fn open(
    app: &App,
    context: &RequestContext,
    token: &str,
) -> ApiResult<Option<(AlertLink, NotifiedAlert)>> {
    let rated = app.access.rates.bad_token(context.address(), false);
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "Too many invalid links were opened from this IP address."));
    }
    let Some(link) = app.access.alert_links.read(token) else {
        app.access.rates.bad_token(context.address(), true);
        return Ok(None);
    };
    let rated = app.access.rates.view(token, context.address());
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "This link was opened too often."));
    }
    let notified = app.store.find_notified_alert(link.account, link.message).await?;
    Ok(notified.map(|notified| (link, notified)))
}

/// The name and the note of a form, without control characters and cut to their maximum lengths.
fn read_form(body: &[u8]) -> (Option<String>, Option<String>) {
    let (mut name, mut note) = (None, None);
    for (member, value) in url::form_urlencoded::parse(body) {
        match &*member {
            "name" => name = clean(&value, NAME_MAX, false),
            "note" => note = clean(&value, AlertNote::TEXT_MAX, true),
            _ => {}
        }
    }
    (name, note)
}

fn clean(text: &str, max_chars: usize, keep_newlines: bool) -> Option<String> {
    let text = text.replace("\r\n", "\n");
    let kept = text.chars().filter(|letter| !letter.is_control() || (keep_newlines && *letter == '\n'));
    let kept: String = kept.take(max_chars).collect();
    let kept = kept.trim();
    (!kept.is_empty()).then(|| kept.to_owned())
}

fn no_such_link(headers: &HeaderMap) -> Response {
    (StatusCode::NOT_FOUND, Html(AlertPage::problem(headers))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_cleaned() {
        let long = format!("name=+Ana%00+B%0A&note=one%0D%0Atwo%07&other=x&extra={}", "y".repeat(20));
        assert_eq!(read_form(long.as_bytes()), (Some("Ana B".to_owned()), Some("one\ntwo".to_owned())));
        assert_eq!(read_form(b"name=+&note="), (None, None));
        let long = format!("name={}", "n".repeat(NAME_MAX + 50));
        assert_eq!(read_form(long.as_bytes()).0.map(|name| name.len()), Some(NAME_MAX));
    }
}
