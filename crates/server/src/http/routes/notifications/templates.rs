//! Templates of notifications.

use perigee_core::notifications::notification::{Channel, StoredTemplate};
use perigee_core::notifications::routing::{Language, Units};
use perigee_core::text::Lines;
use perigee_core::zone::Zone;
use perigee_notify::sms::{fit, segments};
use perigee_notify::template::{TemplateError, TemplateKind, render, sample};

use crate::budget::Payer;
use crate::http::input::{Word, parsed_kinds, words};
use crate::http::prelude::*;
use crate::http::routes::notifications::alert_routing::input::LanguageTag;

/// Maximum memory that rendering one template takes.
const RENDERING_BYTES: usize = 2 * 1024 * 1024;

/// A template: the text of one kind of message, with placeholders.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Template)]
pub struct TemplateView {
    /// Kind of the template: which text of which message it renders.
    #[schema(example = "alert-sms", value_type = TemplateKindName)]
    kind: &'static str,
    /// Source of the template, in the Jinja language.
    #[schema(example = "{{ alert.title }}: {{ device.name }}")]
    source: String,
    /// Whether the template is the built-in one. False if the account replaced it.
    #[schema(example = false)]
    built_in: bool,
    /// Time at which the account last changed the template. Null if it never did.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    last_modified: Option<String>,
}

/// A list of templates.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TemplateList {
    /// The templates, one of each kind.
    #[schema(value_type = Vec<TemplateView>)]
    templates: Vec<TemplateView>,
}

words! {
    "TemplateKind", "Kind of a template: which text of which message it renders. The beginning of the name is the message: `alert` for an \
     alert, `limit` for a reached daily limit, `overview` for an overview report. The rest is the part of it: `email-subject`, `email-text` (plain text), \
     `email-html` or `sms`." => TemplateKind;
}

/// A kind of template, as the API describes it.
pub type TemplateKindName = Word<TemplateKind>;

/// The source of a template.
type Source = Lines<1, { TemplateKind::SOURCE_MAX }>;

input! {
    /// A template of the account.
    struct TemplateInput {
        /// Source of the template, in the Jinja language. Up to 20,000 characters.
        source: Source, required, example "{{ alert.title }}: {{ device.name }}";
    }
}

input! {
    /// A template to preview, and the settings of its reader.
    struct PreviewInput {
        /// Kind of the template: which text of which message it renders.
        kind: Word<TemplateKind>, required, example "alert-sms";
        /// Source of the template. Default: the current template of the account.
        source: Source, nullable, example "{{ alert.title }}: {{ device.name }}";
        /// Language of the reader, as a tag such as `en` or `pt-BR`. Default: `en`.
        language: ReaderLanguage, nullable, example "es";
        /// Units of the reader. Default: `metric`.
        units: Word<Units>, nullable, example "nautical";
        /// Time zone of the reader, as an IANA name. Default: the time zone of the account.
        time_zone as "timeZone": ReaderZone, nullable, example "Europe/Madrid";
    }
}

parsed_kinds! {
    /// The language of a reader.
    ReaderLanguage => Language, "a language tag such as en or pt-BR", LanguageTag::schema();
    /// The time zone of a reader.
    ReaderZone => Zone, "an IANA time zone such as Europe/Madrid", Zone::schema();
}

/// A template rendered with sample data.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Preview {
    /// Text that the template renders.
    #[schema(example = "SOS: Sea Otter")]
    text: String,
    /// Number of SMS segments that the text takes. Null for e-mail.
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

/// Refuses a template that fails, at the member `source` and with the line.
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

/// List templates
///
/// Returns one template of each kind: that of the account, or the built-in one. Requires a caller who sees the whole
/// account.
#[utoipa::path(get, path = "/api/templates", tag = "templates",
    responses((status = 200, description = "The templates, one of each kind.", body = TemplateList)))]
pub async fn list_templates(Call(app, caller): Call, params: Params) -> ApiReply<TemplateList> {
    params.finish()?;
    caller.require_whole_account()?;
    let all = app.store.templates(caller.scope()).await?;
    let one = |kind: &TemplateKind| view(*kind, all.get(kind.name()).unwrap_or(&StoredTemplate::UNSET));
    Ok(caller.reply(TemplateList { templates: TemplateKind::ALL.iter().map(one).collect() }))
}

/// Retrieve a template
///
/// Returns the template of one kind: that of the account, or the built-in one. Requires a caller who sees the whole
/// account.
#[utoipa::path(get, path = "/api/templates/{kind}", tag = "templates",
    responses((status = 200, description = "The template of this kind.", body = TemplateView)))]
pub async fn get_template(
    Call(app, caller): Call,
    IdPath(kind): IdPath<TemplateKind>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let kind = require_kind(kind)?;
    caller.require_whole_account()?;
    let stored = find(&app, &caller, kind).await?;
    Ok(caller.reply_unless_known(&preconditions, stored.revision, view(kind, &stored)))
}

/// Replace a template
///
/// Replaces the built-in template of one kind with one of the account. Requires the privilege `admin` and a caller who
/// sees the whole account. The template is rendered with sample data first; if that fails, the request is rejected with
/// the line and the problem. The template applies to messages that are sent from then on. If it fails later with other
/// data, the built-in template is used for that message.
#[utoipa::path(put, path = "/api/templates/{kind}", tag = "templates", request_body = TemplateInput,
    responses((status = 200, description = "The template was replaced.", body = TemplateView)))]
pub async fn replace_template(
    Call(app, caller): Call,
    IdPath(kind): IdPath<TemplateKind>,
    change: Change,
) -> ApiReply<TemplateView> {
    let kind = require_kind(kind)?;
    caller.require_whole_account()?;
    caller.require(Privilege::Admin)?;
    let stored = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, kind).await?;
        change.preconditions.check(Kind::Template, present.revision)?;
        let source = read_source(&change.apply(&view(kind, &present)).await?)?;
        // Two languages are enough: they differ in words only.
        for (language, units) in [("en", Units::Metric), ("es", Units::Nautical)] {
            let language = language.parse().map_err(internal)?;
            render_sample(&app, &caller, kind, source.clone(), (language, units, Zone::utc())).await?;
        }
        Ok(app.store.replace_template(&caller.actor(), kind.name(), present.revision, Some(source)).await)
    })
    .await?;
    Ok(caller.reply(view(kind, &stored)).revision(stored.revision))
}

/// Delete a template
///
/// Deletes the template of the account, so that the built-in template is used again. Requires the privilege `admin` and
/// a caller who sees the whole account.
#[utoipa::path(delete, path = "/api/templates/{kind}", tag = "templates",
    responses((status = 200, description = "The template was deleted; the built-in one is used again.", body = Done)))]
pub async fn delete_template(
    Call(app, caller): Call,
    IdPath(kind): IdPath<TemplateKind>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
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

/// Preview a template
///
/// Renders a template with sample data. Requires the privilege `admin` and a caller who sees the whole account. Nothing
/// is stored and nothing is sent.
#[utoipa::path(post, path = "/api/templates/preview", tag = "templates", request_body = PreviewInput,
    responses((status = 200, description = "The rendered text.", body = Preview)))]
pub async fn preview_template(Call(app, caller): Call, params: Params, body: JsonBody) -> ApiReply<Preview> {
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
    let text = render_sample(&app, &caller, kind, source, reader).await?;
    Ok(caller.reply(if kind.channel() == Channel::SMS {
        let text = fit(&text, app.config.sms.fitting());
        Preview { segments: Some(segments(&text).count), text }
    } else {
        Preview { text, segments: None }
    }))
}

/// Renders a template with sample data, on a blocking thread.
async fn render_sample(
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
