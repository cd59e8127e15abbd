//! Templates of messages to people.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use perigee_core::error::Kind;
use perigee_core::notification::{Channel, StoredTemplate};
use perigee_core::privilege::Privilege;
use perigee_core::routing::{Language, Units};
use perigee_core::text::Lines;
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
use crate::http::input::{Word, input, parsed_kinds, read_body, words};
use crate::http::json::{Pointer, Problem};
use crate::http::reply::{Done, Reply, not_modified};
use crate::http::routes::alert_routing::input::LanguageTag;

/// Memory that rendering one template takes at the most.
const RENDERING_BYTES: usize = 2 * 1024 * 1024;

/// What one kind of message says.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Template)]
pub struct TemplateView {
    /// Which text it is.
    #[schema(example = "alert-sms", value_type = TemplateKindName)]
    kind: &'static str,
    /// The source of the template, in the language of Jinja.
    #[schema(example = "{{ alert.title }}: {{ device.name }}")]
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

words! {
    "TemplateKind", "Which text a template writes." => TemplateKind;
}

/// Which text a template writes, as the document names it.
pub type TemplateKindName = Word<TemplateKind>;

/// The text of a template.
type Source = Lines<1, { TemplateKind::SOURCE_MAX }>;

input! {
    /// A template of the account's own.
    struct TemplateInput {
        /// The source of the template, in the language of Jinja.
        source: Source, required, example "{{ alert.title }}: {{ device.name }}";
    }
}

input! {
    /// A template to try, and for whom.
    struct PreviewInput {
        /// Which text it is.
        kind: Word<TemplateKind>, required, example "alert-sms";
        /// The template; the account's present one unless given.
        source: Source, nullable, example "{{ alert.title }}: {{ device.name }}";
        /// The reader's language; English unless given.
        language: ReaderLanguage, nullable, example "es";
        /// The reader's units; metric unless given.
        units: Word<Units>, nullable, example "nautical";
        /// The reader's time zone; the account's unless given.
        time_zone as "timeZone": ReaderZone, nullable, example "Europe/Madrid";
    }
}

parsed_kinds! {
    /// The language of a reader.
    ReaderLanguage => Language, "a language tag such as en or pt-BR", LanguageTag::schema();
    /// The time zone of a reader.
    ReaderZone => Zone, "an IANA time zone such as Europe/Madrid", Zone::schema();
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
    let ignored: [&[_]; 2] = [ENVELOPE, &["kind", "builtIn", "lastModified"]];
    read_body(body, &ignored, |input: TemplateInput, _| input.source)
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
    let wanted = read_body(&body.value, &[], |input: PreviewInput, _| Some((input.kind?, input)))?;
    let (kind, PreviewInput { source, language, units, time_zone, .. }) = wanted;
    let source = match source {
        Some(source) => source,
        None => view(kind, &find(&app, &caller, kind).await?).source,
    };
    let zone = time_zone.unwrap_or_else(|| caller.account().settings.time_zone.clone());
    let reader = (language.unwrap_or_default(), units.unwrap_or_default(), zone);
    let text = try_out(&app, &caller, kind, source, reader).await?;
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
