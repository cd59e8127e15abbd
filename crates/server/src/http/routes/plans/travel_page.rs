//! The page behind a traveller's link: the state of the plan, and buttons that steer it, without an account and without a
//! script, so that it works on a telephone over a satellite.

use axum::body::Bytes;
use axum::response::Html;
use http::{HeaderMap, StatusCode};
use perigee_core::access::actor::Via;
use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::plans::{OpenPlan, PlanAction, PlanSettings, PlanState};
use perigee_core::time::Timestamp;

use crate::auth::Secret;
use crate::http::context::RequestContext;
use crate::http::extract::TextPath;
use crate::http::limit::too_many;
use crate::http::prelude::*;
use crate::http::routes::notifications::mail_page::{self, escape};
use crate::http::routes::page_words::{TravelWords, page_words};

/// Hours by which the page extends a plan.
const HOURS: [u32; 7] = [1, 2, 4, 8, 12, 24, 48];

/// Shows the plan and its buttons. Changes nothing, because mail scanners and chat programs follow links.
pub async fn get_travel_page(
    State(app): State<App>,
    context: RequestContext,
    headers: HeaderMap,
    TextPath(secret): TextPath,
) -> ApiResult<Response> {
    let language = mail_page::accepted_language(&headers);
    let Some(secret) = admit(&app, &context, &secret)? else { return Ok(no_such_link(language)) };
    match app.store.open_plan_link(secret.expose()).await? {
        Some(open) => Ok(Html(page(language, &open, None)).into_response()),
        None => Ok(refuse(&app, &context, language)),
    }
}

/// Does what a button says.
pub async fn use_travel_page(
    State(app): State<App>,
    context: RequestContext,
    headers: HeaderMap,
    TextPath(secret): TextPath,
    body: Bytes,
) -> ApiResult<Response> {
    let language = mail_page::accepted_language(&headers);
    let Some(secret) = admit(&app, &context, &secret)? else { return Ok(no_such_link(language)) };
    let words = &page_words(language).travel;
    let Some(open) = app.store.open_plan_link(secret.expose()).await? else {
        return Ok(refuse(&app, &context, language));
    };
    let Some(action) = read_form(&body) else {
        let page = Html(page(language, &open, Some((&words.refused, true))));
        return Ok((StatusCode::BAD_REQUEST, page).into_response());
    };
    let origin = context.origin(Via::Link, None);
    match app.store.act_by_plan_link(&origin, secret.expose(), action).await {
        Ok(Some(open)) => Ok(Html(page(language, &open, Some((&words.done, false)))).into_response()),
        Ok(None) => Ok(refuse(&app, &context, language)),
        Err(StoreError::PlanRefused(_)) => {
            let page = Html(page(language, &open, Some((&words.refused, true))));
            Ok((StatusCode::CONFLICT, page).into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// The secret, if it has the form of one. Each client address may try few invalid links; valid ones are limited like openings of
/// share links.
fn admit(app: &App, context: &RequestContext, secret: &str) -> ApiResult<Option<Secret>> {
    let rated = app.access.rates.bad_token(context.address(), false);
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "Too many invalid links were opened from this IP address."));
    }
    let Some(secret) = Secret::parse(secret) else {
        app.access.rates.bad_token(context.address(), true);
        return Ok(None);
    };
    let rated = app.access.rates.view(secret.expose(), context.address());
    if !rated.allowance.allowed {
        context.set_rated(rated);
        return Err(too_many(rated, "This link was opened too often."));
    }
    Ok(Some(secret))
}

fn refuse(app: &App, context: &RequestContext, language: ConsoleLanguage) -> Response {
    app.access.rates.bad_token(context.address(), true);
    no_such_link(language)
}

fn no_such_link(language: ConsoleLanguage) -> Response {
    let problem = escape(&page_words(language).travel.no_link);
    let body = format!("<p class=\"message problem\">{problem}</p>");
    (StatusCode::NOT_FOUND, Html(mail_page::page(language, "Perigee", &body))).into_response()
}

/// The action of a form: `say` and, for an extension, `hours`.
fn read_form(body: &[u8]) -> Option<PlanAction> {
    let (mut say, mut hours) = (None, None);
    for (member, value) in url::form_urlencoded::parse(body) {
        match &*member {
            "say" => say = Some(value.into_owned()),
            "hours" => hours = value.parse::<u32>().ok().and_then(|hours| hours.checked_mul(60)),
            _ => {}
        }
    }
    match say?.as_str() {
        "start" => Some(PlanAction::Start),
        "checkIn" => Some(PlanAction::CheckIn),
        "pause" => Some(PlanAction::Pause(None)),
        "resume" => Some(PlanAction::Resume),
        "end" => Some(PlanAction::End),
        "extend" => {
            let minutes = hours.filter(|minutes| (1..=PlanSettings::EXTEND_MAX).contains(minutes));
            minutes.map(PlanAction::Extend)
        }
        _ => None,
    }
}

fn page(language: ConsoleLanguage, open: &OpenPlan, said: Option<(&str, bool)>) -> String {
    let words = &page_words(language).travel;
    let said = said.map_or_else(String::new, |(text, is_problem)| {
        let (role, class) = if is_problem { ("alert", "message problem") } else { ("status", "message") };
        format!("<p role=\"{role}\" class=\"{class}\">{}</p>\n", escape(text))
    });
    let title = format!("{} · {}", escape(&open.plan.settings.name), escape(&open.account));
    mail_page::page(language, &title, &format!("{said}{}{}", facts(words, open), buttons(words, open)))
}

fn clock(open: &OpenPlan, at: Timestamp) -> String {
    let zone = open.plan.zone(&open.zone);
    let local = zone.as_jiff().to_datetime(at.to_jiff());
    format!("{} ({})", local.strftime("%Y-%m-%d %H:%M"), zone.id())
}

/// The state of the plan, and its last and next check-in, as HTML.
fn facts(words: &TravelWords, open: &OpenPlan) -> String {
    let progress = &open.plan.progress;
    let missed = progress.missed.as_ref().map(|missed| missed.deadline.at);
    let state = match progress.state {
        PlanState::Draft => words.draft.clone(),
        PlanState::Active => words.active.clone(),
        PlanState::Paused => words.paused.clone(),
        PlanState::Overdue => {
            words.overdue.replace("{time}", &missed.map(|at| clock(open, at)).unwrap_or_default())
        }
        PlanState::Ended => words.ended.clone(),
        PlanState::Cancelled => words.cancelled.clone(),
    };
    let line = |text: &str, at: Option<Timestamp>| {
        at.map(|at| format!("<p>{}</p>\n", escape(&text.replace("{time}", &clock(open, at)))))
            .unwrap_or_default()
    };
    let next = open.plan.next_deadline(&open.zone).map(|deadline| deadline.at);
    let arrival = open.plan.settings.expected_arrival.filter(|_| progress.state.is_running());
    let class = if progress.state == PlanState::Overdue { "message problem" } else { "message" };
    format!(
        "<p class=\"{class}\">{}</p>\n{}{}{}",
        escape(&state),
        line(&words.next, next),
        line(&words.last, progress.last.as_ref().map(|last| last.at)),
        line(&words.arrival, arrival)
    )
}

fn buttons(words: &TravelWords, open: &OpenPlan) -> String {
    let button = |say: &str, label: &str| {
        format!(
            "<form method=\"post\"><input type=\"hidden\" name=\"say\" value=\"{say}\">\
             <button type=\"submit\">{}</button></form>\n",
            escape(label)
        )
    };
    let state = open.plan.progress.state;
    if !state.is_running() {
        let is_startable = !open.plan.settings.is_template;
        return if is_startable { button("start", &words.start) } else { String::new() };
    }
    let option = |hours: u32| {
        let label =
            if hours == 1 { words.hour.clone() } else { words.hours.replace("{count}", &hours.to_string()) };
        format!("<option value=\"{hours}\">{}</option>", escape(&label))
    };
    let options: String = HOURS.into_iter().map(option).collect();
    let extend = format!(
        "<form method=\"post\"><input type=\"hidden\" name=\"say\" value=\"extend\">\
         <label for=\"hours\">{}</label>\n<select id=\"hours\" name=\"hours\">{options}</select>\n\
         <button type=\"submit\">{}</button></form>\n",
        escape(&words.by),
        escape(&words.extend)
    );
    let pause = match state {
        PlanState::Paused => button("resume", &words.resume),
        _ => button("pause", &words.pause),
    };
    [button("checkIn", &words.well), extend, pause, button("end", &words.end)].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_say_what_to_do() {
        assert_eq!(read_form(b"say=checkIn"), Some(PlanAction::CheckIn));
        assert_eq!(read_form(b"say=extend&hours=2"), Some(PlanAction::Extend(120)));
        for wrong in
            [&b"say=extend"[..], b"say=extend&hours=0", b"say=extend&hours=99999", b"say=cancel", b""]
        {
            assert_eq!(read_form(wrong), None);
        }
    }
}
