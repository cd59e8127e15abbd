//! Templates of messages to people.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use perigee_core::error::Kind;
use perigee_core::notification::{Channel, StoredTemplate};
use perigee_core::privilege::Privilege;
use perigee_core::routing::{Language, Units};
use perigee_core::zone::Zone;
use perigee_notify::sms::{fit, segments};
use perigee_notify::template::{TemplateError, TemplateKind, render, sample};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::app::App;
use crate::budget::Payer;
use crate::http::edit::{ENVELOPE, retry_changed};
use crate::http::error::{ApiError, ApiResult, internal, invalid_body, not_found};
use crate::http::extract::{Caller, Change, IdPath, JsonBody, Params, Preconditions, entity_tag};
use crate::http::json::{Fields, Pointer, Problem};
use crate::http::reply::{Done, Reply, not_modified};

/// Memory that rendering one template takes at the most.
const RENDERING_BYTES: usize = 2 * 1024 * 1024;

/// What one kind of message says.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Template)]
pub struct TemplateView {
    /// Which text it is.
    #[schema(example = "alert-sms")]
    kind: &'static str,
    /// The source of the template, in the language of Jinja.
    #[schema(example = "{{ alert.title }}: {{ device.name }}", min_length = 1, max_length = 20000)]
    source: String,
    /// Whether it is the built-in one.
    #[schema(example = false)]
    built_in: bool,
    /// When it was last changed, if ever.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

/// What all kinds of messages say.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateList {
    /// The templates, one of each kind.
    #[schema(value_type = Vec<TemplateView>)]
    templates: Vec<TemplateView>,
}

/// A template of the account's own.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct TemplateInput {
    /// The source of the template, in the language of Jinja.
    #[schema(example = "{{ alert.title }}: {{ device.name }}", min_length = 1, max_length = 20000)]
    source: String,
}

/// A template to try, and for whom.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is read")]
pub struct PreviewInput {
    /// Which text it is.
    #[schema(example = "alert-sms")]
    kind: String,
    /// The template; the account's present one unless given.
    #[schema(example = "{{ alert.title }}: {{ device.name }}", min_length = 1, max_length = 20000)]
    source: Option<String>,
    /// The reader's language; English unless given.
    #[schema(example = "es")]
    language: Option<String>,
    /// The reader's units; metric unless given.
    #[schema(example = "nautical")]
    units: Option<String>,
    /// The reader's time zone; the account's unless given.
    #[schema(example = "Europe/Madrid")]
    time_zone: Option<String>,
}

/// What a template makes of sample data.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// The text that the template gives.
    #[schema(example = "SOS: Sea Otter")]
    text: String,
    /// The segments it takes as an SMS.
    #[schema(example = 1)]
    segments: Option<usize>,
}

fn view(kind: TemplateKind, stored: &StoredTemplate) -> TemplateView {
    TemplateView {
        kind: kind.name(),
        source: stored.source.clone().unwrap_or_else(|| kind.built_in().to_owned()),
        built_in: stored.source.is_none(),
        last_modified: stored.last_modified.map(|at| at.to_string()),
    }
}

/// A template that fails is refused at its member, with the line.
fn refuse(error: &TemplateError) -> ApiError {
    let pointer = Pointer::root().member("source");
    invalid_body(vec![Problem { pointer, detail: format!("The template cannot be used: {error}.") }])
}

fn read_source(body: &Value) -> ApiResult<String> {
    let mut fields = Fields::of(body).map_err(invalid_body)?;
    fields.ignore(ENVELOPE);
    fields.ignore(&["kind", "builtIn", "lastModified"]);
    let source = fields.multiline_text("source").chars(1..=TemplateKind::SOURCE_MAX).required();
    fields.finish(|| source).map_err(invalid_body)
}

async fn find(app: &App, caller: &Caller, kind: TemplateKind) -> ApiResult<StoredTemplate> {
    let mut all = app.store.templates(caller.scope()).await?;
    Ok(all.remove(kind.name()).unwrap_or(StoredTemplate::UNSET))
}

fn require_kind(kind: Option<TemplateKind>) -> ApiResult<TemplateKind> {
    kind.ok_or_else(|| not_found(Kind::Template))
}

/// List templates.
///
/// One of each kind: the account's own, or the built-in one.
#[utoipa::path(get, path = "/api/templates", tag = "templates",
    responses((status = 200, description = "The templates.", body = TemplateList)))]
pub async fn list_templates(
    State(app): State<App>,
    caller: Caller,
    params: Params,
) -> ApiResult<Reply<TemplateList>> {
    params.finish()?;
    caller.require_whole_account()?;
    let all = app.store.templates(caller.scope()).await?;
    let one = |kind: &TemplateKind| view(*kind, all.get(kind.name()).unwrap_or(&StoredTemplate::UNSET));
    Ok(caller.reply(TemplateList { templates: TemplateKind::ALL.iter().map(one).collect() }))
}

/// Read a template.
#[utoipa::path(get, path = "/api/templates/{kind}", tag = "templates",
    params(("kind" = String, Path, description = "Which text.", example = "alert-sms")),
    responses((status = 200, description = "The template.", body = TemplateView)))]
pub async fn get_template(
    State(app): State<App>,
    caller: Caller,
    IdPath(kind): IdPath<TemplateKind>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let kind = require_kind(kind)?;
    caller.require_whole_account()?;
    let stored = find(&app, &caller, kind).await?;
    let tag = entity_tag(stored.revision);
    if let Some(tag) = preconditions.known(&tag) {
        return Ok(not_modified(&tag));
    }
    Ok(caller.reply(view(kind, &stored)).revision(stored.revision).into_response())
}

/// Set a template of the account's own.
///
/// It is tried with sample data first; one that fails is refused with the line and what is wrong. Should it fail later
/// on data nobody thought of, the built-in one speaks.
#[utoipa::path(put, path = "/api/templates/{kind}", tag = "templates", request_body = TemplateInput,
    params(("kind" = String, Path, description = "Which text.", example = "alert-sms")),
    responses((status = 200, description = "The template as it is now.", body = TemplateView)))]
pub async fn replace_template(
    State(app): State<App>,
    caller: Caller,
    IdPath(kind): IdPath<TemplateKind>,
    change: Change,
) -> ApiResult<Reply<TemplateView>> {
    let kind = require_kind(kind)?;
    caller.require_whole_account()?;
    caller.require(Privilege::Admin)?;
    let stored = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, kind).await?;
        change.preconditions.check(Kind::Template, present.revision)?;
        let source = read_source(&change.apply(&view(kind, &present)).await?)?;
        for (language, units) in [("en", Units::Metric), ("es", Units::Nautical)] {
            let language = language.parse().map_err(internal)?;
            try_out(&app, &caller, kind, source.clone(), (language, units, Zone::utc())).await?;
        }
        Ok(app.store.replace_template(&caller.actor(), kind.name(), present.revision, Some(source)).await)
    })
    .await?;
    Ok(caller.reply(view(kind, &stored)).revision(stored.revision))
}

/// Return to the built-in template.
#[utoipa::path(delete, path = "/api/templates/{kind}", tag = "templates",
    params(("kind" = String, Path, description = "Which text.", example = "alert-sms")),
    responses((status = 200, description = "The built-in template speaks again.", body = Done)))]
pub async fn delete_template(
    State(app): State<App>,
    caller: Caller,
    IdPath(kind): IdPath<TemplateKind>,
    preconditions: Preconditions,
) -> ApiResult<Reply<Done>> {
    let kind = require_kind(kind)?;
    caller.require_whole_account()?;
    caller.require(Privilege::Admin)?;
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, kind).await?;
        preconditions.check(Kind::Template, present.revision)?;
        Ok(app.store.replace_template(&caller.actor(), kind.name(), present.revision, None).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}

/// Preview a template.
///
/// Shows what it makes of sample data. Nothing is kept and nothing is sent.
#[utoipa::path(post, path = "/api/templates/preview", tag = "templates", request_body = PreviewInput,
    responses((status = 200, description = "What it makes.", body = Preview)))]
pub async fn preview_template(
    State(app): State<App>,
    caller: Caller,
    params: Params,
    body: JsonBody,
) -> ApiResult<Reply<Preview>> {
    params.finish()?;
    caller.require_whole_account()?;
    caller.require(Privilege::Admin)?;
    let mut fields = Fields::of(&body.value).map_err(invalid_body)?;
    let kinds: Vec<(&str, TemplateKind)> =
        TemplateKind::ALL.iter().map(|kind| (kind.name(), *kind)).collect();
    let kind = fields.text("kind").one_of(&kinds).required();
    let source = fields.multiline_text("source").chars(1..=TemplateKind::SOURCE_MAX).nullable();
    let language = fields.parsed::<Language>("language", "a language tag such as en or pt-BR").nullable();
    let units = Units::ALL.map(|units| (units.name(), units));
    let units = fields.text("units").one_of(&units).nullable().unwrap_or_default();
    let zone = fields.parsed::<Zone>("timeZone", "an IANA time zone such as Europe/Madrid").nullable();
    let (kind, source, language, zone) =
        fields.finish(|| Some((kind?, source, language, zone))).map_err(invalid_body)?;
    let source = match source {
        Some(source) => source,
        None => view(kind, &find(&app, &caller, kind).await?).source,
    };
    let zone = zone.unwrap_or_else(|| caller.account().settings.time_zone.clone());
    let language = language.unwrap_or_default();
    let text = try_out(&app, &caller, kind, source, (language, units, zone)).await?;
    Ok(caller.reply(match kind.channel() {
        Channel::Email => Preview { text, segments: None },
        Channel::Sms => {
            let text = fit(&text, app.config.sms.fitting());
            Preview { segments: Some(segments(&text).count), text }
        }
    }))
}

/// Renders a template with sample data, off the threads that serve connections.
async fn try_out(
    app: &App,
    caller: &Caller,
    kind: TemplateKind,
    source: String,
    reader: (Language, Units, Zone),
) -> ApiResult<String> {
    let base_url = app.base_url.to_string();
    let work = move || {
        let (language, units, zone) = reader;
        let facts = sample(kind.topic(), kind.channel(), language.as_str(), units, zone, &base_url);
        render(kind, &source, &facts)
    };
    let rendered = app.budget.run(Payer::account(caller.account().id), RENDERING_BYTES, work).await?;
    rendered.map_err(|error| refuse(&error))
}
