//! The text of the page on which somebody acknowledges an alert: plain HTML and one form, no script.

use http::HeaderMap;
use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::alerts::alert::{AlertNote, NotifiedAlert};
use perigee_core::locations::place::{Form, Reader, describe};
use perigee_core::text::NAME_MAX;
use perigee_core::time::Timestamp;
use perigee_notify::template::alert_title;

use crate::config::BaseUrl;
use crate::http::routes::notifications::mail_page::{self, escape};
use crate::http::routes::page_words::{AlertWords, page_words};
use crate::map_picture;

/// The language of the message's recipient.
fn language_of(notified: &NotifiedAlert) -> ConsoleLanguage {
    ConsoleLanguage::of_reader(notified.preferences.language.as_str())
}

/// The words of the page, in the language of the message's recipient.
pub(in crate::http::routes) fn alert_words(notified: &NotifiedAlert) -> &'static AlertWords {
    &page_words(language_of(notified)).alert
}

/// Writes the page.
pub(in crate::http::routes) struct AlertPage;

impl AlertPage {
    /// The alert, its state, and a form unless the link has expired.
    pub(in crate::http::routes) fn of(
        shown: &Shown<'_>,
        notified: &NotifiedAlert,
        is_expired: bool,
        problem: Option<&str>,
    ) -> String {
        let texts = alert_words(notified);
        let alert = &notified.alert.alert;
        let text = alert.text.as_ref().map(|text| format!("<p>{}</p>\n", escape(text))).unwrap_or_default();
        let state =
            format!("<p role=\"status\" class=\"message\">{}</p>\n", state(texts, notified, is_expired));
        let problem = problem
            .map(|problem| format!("<p role=\"alert\" class=\"message problem\">{problem}</p>\n"))
            .unwrap_or_default();
        let form = if is_expired { String::new() } else { form(texts, notified) };
        let incident = escape(&shown.base_url.join(&format!("/alerts/{}", notified.alert.id)));
        let incident = format!("<p><a href=\"{incident}\">{}</a></p>\n", escape(&notified.account));
        let body: [String; 7] =
            [text, state, map(shown, texts, notified), facts(texts, notified), problem, form, incident];
        let title = alert_title(&alert.name, notified.preferences.language.as_str());
        let title = format!("{} · {}", escape(title), escape(&notified.device));
        let style = style(notified).map(|style| format!("<style>{style}</style>\n")).unwrap_or_default();
        let brand = brand(shown, notified);
        mail_page::branded_page(language_of(notified), &title, &body.concat(), (&style, &brand))
    }

    /// The page for a link that is invalid, or whose message was deleted.
    pub(in crate::http::routes) fn problem(headers: &HeaderMap) -> String {
        let language = mail_page::accepted_language(headers);
        let problem = &page_words(language).alert.no_link;
        mail_page::page(language, "Perigee", &format!("<p class=\"message problem\">{problem}</p>"))
    }
}

/// Where the page is shown.
pub(in crate::http::routes) struct Shown<'p> {
    /// The base URL of the service.
    pub(in crate::http::routes) base_url: &'p BaseUrl,
    /// The token in the URL of the page, by which its pictures are loaded.
    pub(in crate::http::routes) token: &'p str,
    /// Whether the server can draw a map.
    pub(in crate::http::routes) has_map: bool,
}

/// The colours of the account as a style sheet; `None` if it has none of its own.
pub(in crate::http::routes) fn style(notified: &NotifiedAlert) -> Option<String> {
    let colour = notified.colour?;
    Some(format!(":root{{--accent:{colour};--accent-ink:{}}}", colour.text()))
}

/// The logo and the name of the account.
fn brand(shown: &Shown<'_>, notified: &NotifiedAlert) -> String {
    let logo = notified
        .logo
        .map(|logo| format!("<img src=\"{}/logo?v={logo}\" alt=\"\" height=\"40\">", escape(shown.token)));
    format!("<p class=\"brand\">{}{}</p>\n", logo.unwrap_or_default(), escape(&notified.account))
}

/// A picture of the map with the position, if there is one.
fn map(shown: &Shown<'_>, texts: &AlertWords, notified: &NotifiedAlert) -> String {
    if !shown.has_map || notified.alert.best_position().is_none() {
        return String::new();
    }
    let (width, height) = (map_picture::SIZE.0 / 2, map_picture::SIZE.1 / 2);
    format!(
        "<p class=\"map\"><img src=\"{}/map.png\" alt=\"{}\" width=\"{width}\" height=\"{height}\"></p>\n",
        escape(shown.token),
        texts.place
    )
}

/// A time in the recipient's zone, as HTML.
fn clock(notified: &NotifiedAlert, at: Timestamp) -> String {
    let local = notified.time_zone.as_jiff().to_datetime(at.to_jiff());
    escape(&format!("{} ({})", local.strftime("%Y-%m-%d %H:%M:%S"), notified.time_zone.id()))
}

/// Device, time and position of the alert, as HTML.
fn facts(texts: &AlertWords, notified: &NotifiedAlert) -> String {
    let alert = &notified.alert.alert;
    let fact = |name: &str, value: String| format!("<dt>{name}</dt><dd>{value}</dd>\n");
    let place = notified.alert.best_position().map(|(latitude, longitude)| {
        let reader = Reader { language: language_of(notified), units: notified.preferences.units };
        let words = describe((latitude, longitude), reader, Form::Full);
        let words = words.map(|words| format!("{}<br>", escape(&words))).unwrap_or_default();
        let (latitude, longitude) = (latitude.as_degrees(), longitude.as_degrees());
        let map = format!(
            "https://www.openstreetmap.org/?mlat={latitude:.5}&amp;mlon={longitude:.5}#map=12/{latitude:.5}/{longitude:.5}"
        );
        let link = format!("<a rel=\"noreferrer\" href=\"{map}\">{}</a>", texts.map);
        fact(&texts.place, format!("{words}{latitude:.5}, {longitude:.5}<br>{link}"))
    });
    let device = fact(&texts.device, escape(&notified.device));
    let time = fact(&texts.time, clock(notified, alert.time));
    format!("<dl>{device}{time}{}</dl>\n", place.unwrap_or_default())
}

/// The state of the alert: open, acknowledged or ended.
fn state(texts: &AlertWords, notified: &NotifiedAlert, is_expired: bool) -> String {
    match (&notified.alert.acknowledged, notified.alert.ended_at) {
        (Some((at, _)), _) => {
            let name = notified.alert.acknowledged_name.as_deref().or(notified.acknowledged_by.as_deref());
            let text = texts.acknowledged.replace("{time}", &clock(notified, *at));
            text.replace("{name}", &escape(name.unwrap_or(&texts.somebody)))
        }
        (None, Some(at)) => texts.ended.replace("{time}", &clock(notified, at)),
        (None, None) if is_expired => texts.over.replace("{account}", &escape(&notified.account)),
        (None, None) => texts.open.clone(),
    }
}

/// The form that acknowledges an alert, or adds a note to one that was acknowledged.
fn form(texts: &AlertWords, notified: &NotifiedAlert) -> String {
    let name = escape(notified.preferences.name.as_deref().unwrap_or_default());
    let is_open = notified.alert.acknowledged.is_none();
    let button = if is_open { &texts.acknowledge } else { &texts.add_note };
    format!(
        "<form method=\"post\">\n<label for=\"name\">{}</label>\n\
         <input id=\"name\" type=\"text\" name=\"name\" value=\"{name}\" required maxlength=\"{NAME_MAX}\" \
         autocomplete=\"name\">\n<label for=\"note\">{}</label>\n\
         <textarea id=\"note\" name=\"note\" rows=\"3\" maxlength=\"{}\"></textarea>\n\
         <button type=\"submit\">{button}</button>\n</form>\n",
        texts.name,
        texts.note,
        AlertNote::TEXT_MAX
    )
}
