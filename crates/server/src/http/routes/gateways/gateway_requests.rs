//! Requests of satellite networks and phones to gateways. The URL contains the secret of the gateway.

use std::sync::Arc;

use axum::extract::{Path, Request};
use http::{HeaderValue, StatusCode, header};
use perigee_core::gateways::account_gateway::Gateway;
use perigee_gateways::{Delivery, Feed, FeedOutcome, Options, Refused, find_feed};

use crate::auth::{Secret, gateway_secret};
use crate::budget::Payer;
use crate::http::context::RequestContext;
use crate::http::extract::read_body;
use crate::http::limit::too_many;
use crate::http::prelude::*;
use crate::ingest::{FeedArrival, FeedBody, FeedSettings, IngestError};

/// The challenge for clients that can send a user and a password.
const BASIC_CHALLENGE: &str = "Basic realm=\"perigee\", charset=\"UTF-8\"";

/// The answer to a refused request.
fn refusal(refused: Refused) -> ApiError {
    let message = format!("The gateway refused the request: {refused}.");
    match refused {
        Refused::Basic(_) => ApiError::new(ErrorCode::InvalidCredentials, message)
            .with_header(header::WWW_AUTHENTICATE, BASIC_CHALLENGE),
        _ => forbidden(message),
    }
}

/// The gateway of a URL, if both the feed and the secret are right.
async fn find(app: &App, feed: &str, secret: &str) -> ApiResult<Option<(&'static Feed, Gateway)>> {
    let feed = find_feed(feed).filter(|feed| feed.delivery == Delivery::Push);
    let (Some(feed), Some(secret)) = (feed, Secret::parse(secret)) else { return Ok(None) };
    let gateway = app.store.find_gateway(*gateway_secret::hash(&secret).as_bytes()).await?;
    Ok(gateway.filter(|gateway| gateway.settings.feed == feed.name).map(|gateway| (feed, gateway)))
}

/// Receives a request, stores it with its content, and answers as the sender expects. Clients that try URLs that do not
/// exist are rate-limited like those with invalid tokens.
pub async fn receive_gateway_request(
    State(app): State<App>,
    context: RequestContext,
    Path((feed, secret)): Path<(String, String)>,
    request: Request,
) -> ApiResult<Response> {
    let (parts, body) = request.into_parts();
    let rated = app.access.rates.bad_token(context.address(), false);
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "Too many requests to unknown gateway URLs came from this IP address."));
    }
    let Some((feed, gateway)) = find(&app, &feed, &secret).await? else {
        app.access.rates.bad_token(context.address(), true);
        return Err(not_found(Kind::Gateway));
    };
    let rated = app.access.rates.gateway_request(gateway.id);
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "Too many requests were sent to this gateway. Send fewer at a time."));
    }
    let payer = Payer::client(context.address(), Some(gateway.account));
    let body = read_body(body, feed.max_body, &app.budget.bodies, payer).await?;
    let headers = parts.headers.iter();
    let headers =
        headers.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())));
    let query = parts.uri.query().unwrap_or_default();
    let request = FeedBody::new(parts.method.as_str(), query, headers.collect(), body);
    let options = Options::new(serde_json::from_str(&gateway.settings.options).unwrap_or_default());
    let settings = FeedSettings { feed, options: Arc::new(options), at: app.clock.now() };
    if let Err(refused) = request.check(&app.budget, &settings).await? {
        metrics::counter!("perigee_gateway_refused_total", "source" => feed.name).increment(1);
        app.ingest.feeds.note_refused(&gateway, refused.to_string());
        return Err(refusal(refused));
    }
    let arrival =
        FeedArrival { gateway: &gateway, request: &request, settings: &settings, peer: context.address() };
    let outcome = match app.ingest.take_request(arrival).await {
        Ok(()) => FeedOutcome::Stored,
        Err(IngestError::Busy(error)) => return Err(error.into()),
        Err(IngestError::Store(error)) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                feed = feed.name,
                "a message could not be stored"
            );
            FeedOutcome::Failed
        }
    };
    let reply = request.reply(&settings, &outcome);
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let content_type = HeaderValue::from_static(reply.content_type);
    Ok((status, [(header::CONTENT_TYPE, content_type)], reply.body).into_response())
}
