//! Requests of satellite networks and phones. The address holds the secret of a gateway.

use axum::extract::{Path, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use perigee_core::account_gateway::Gateway;
use perigee_core::error::Kind;
use perigee_gateways::{Delivery, Feed, FeedContext, FeedOutcome, FeedRequest, Options, find_feed};

use crate::app::App;
use crate::auth::{Secret, gateway_secret};
use crate::budget::Payer;
use crate::http::context::RequestContext;
use crate::http::error::{ApiResult, forbidden, not_found};
use crate::http::extract::{Received, read_body};
use crate::http::limit::too_many;
use crate::ingest::FeedArrival;

/// The gateway of an address, if both parts of it are right.
async fn find(app: &App, feed: &str, secret: &str) -> ApiResult<Option<(&'static Feed, Gateway)>> {
    let feed = find_feed(feed).filter(|feed| feed.delivery == Delivery::Push);
    let (Some(feed), Some(secret)) = (feed, Secret::parse(secret)) else { return Ok(None) };
    let gateway = app.store.find_gateway(*gateway_secret::hash(&secret).as_bytes()).await?;
    Ok(gateway.filter(|gateway| gateway.settings.feed == feed.name).map(|gateway| (feed, gateway)))
}

/// Takes a request, stores it with everything it says, and answers as its sender expects. Whoever tries addresses that
/// do not exist is slowed down as with bad tokens.
pub async fn receive_gateway_request(
    State(app): State<App>,
    context: RequestContext,
    Path((feed, secret)): Path<(String, String)>,
    request: Request,
) -> ApiResult<Response> {
    let (parts, body) = request.into_parts();
    let rated = app.rates.bad_token(context.address(), false);
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "Too many invalid gateway addresses were called from this address."));
    }
    let Some((feed, gateway)) = find(&app, &feed, &secret).await? else {
        app.rates.bad_token(context.address(), true);
        return Err(not_found(Kind::Gateway));
    };
    let payer = Payer::client(context.address(), Some(gateway.account));
    let Received { bytes, permit: _held } = read_body(body, feed.max_body, &app.budget.bodies, payer).await?;
    let headers: Vec<(&str, &str)> = parts
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
        .collect();
    let request = FeedRequest {
        method: parts.method.as_str(),
        query: parts.uri.query().unwrap_or_default(),
        headers: &headers,
        body: &bytes,
    };
    let options = Options::new(serde_json::from_str(&gateway.settings.options).unwrap_or_default());
    let now = app.clock.now();
    let feed_context = FeedContext { now, options: &options };
    if let Err(refused) = (feed.check)(&request, &feed_context) {
        metrics::counter!("perigee_gateway_refused_total", "source" => feed.name).increment(1);
        app.ingest.note_refused(&gateway, refused.to_string());
        return Err(forbidden(format!("The request is refused: {refused}.")));
    }
    let arrival =
        FeedArrival { gateway: &gateway, feed, request, options: &options, peer: context.address(), at: now };
    let outcome = match app.ingest.take_request(arrival).await {
        Ok(()) => FeedOutcome::Stored,
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                feed = feed.name,
                "a message could not be stored"
            );
            FeedOutcome::Failed
        }
    };
    let reply = (feed.reply)(&request, &feed_context, &outcome);
    let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
    let content_type = HeaderValue::from_static(reply.content_type);
    Ok((status, [(header::CONTENT_TYPE, content_type)], reply.body).into_response())
}
