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

/// The texts of the page in one language.
#[derive(Clone, Copy)]
pub(in crate::http::routes) struct PageText {
    language: &'static str,
    device: &'static str,
    time: &'static str,
    place: &'static str,
    map: &'static str,
    acknowledged: &'static str,
    somebody: &'static str,
    ended: &'static str,
    open: &'static str,
    over: &'static str,
    name: &'static str,
    note: &'static str,
    acknowledge: &'static str,
    add_note: &'static str,
    no_link: &'static str,
    /// Shown if the form had no name.
    pub(in crate::http::routes) name_missing: &'static str,
}

const ENGLISH: PageText = PageText {
    language: "en",
    device: "Device",
    time: "Time",
    place: "Place",
    map: "Show on a map",
    acknowledged: "{name} acknowledged this alert at {time}.",
    somebody: "Somebody",
    ended: "This alert ended at {time}.",
    open: "Nobody has acknowledged this alert yet. Acknowledge it if you take care of it. The other recipients can then \
           see that, and no further people are notified.",
    over: "This link has expired. Sign in, or ask somebody at {account} to acknowledge the alert.",
    name: "Your name",
    note: "Note (optional)",
    acknowledge: "Acknowledge",
    add_note: "Add a note",
    no_link: "This link is not valid. Open the complete link from the message that you received.",
    name_missing: "Enter your name, so that others know who takes care of the alert.",
};
const SPANISH: PageText = PageText {
    language: "es",
    device: "Dispositivo",
    time: "Hora",
    place: "Lugar",
    map: "Ver en un mapa",
    acknowledged: "{name} atendió esta alerta a las {time}.",
    somebody: "Alguien",
    ended: "Esta alerta terminó a las {time}.",
    open: "Nadie ha atendido todavía esta alerta. Atiéndala si se ocupa de ella: los demás lo sabrán y no se notificará \
           a nadie más.",
    over: "Este enlace ha caducado. Inicie sesión o pida a alguien de {account} que atienda la alerta.",
    name: "Su nombre",
    note: "Nota (opcional)",
    acknowledge: "Atender",
    add_note: "Añadir una nota",
    no_link: "Este enlace no es válido. Abra el enlace completo del mensaje que ha recibido.",
    name_missing: "Escriba su nombre, para que los demás sepan quién se ocupa.",
};

impl PageText {
    /// In the language of the message's recipient.
    pub(in crate::http::routes) fn of(notified: &NotifiedAlert) -> Self {
        if notified.preferences.language.as_str().starts_with("es") { SPANISH } else { ENGLISH }
    }
}

/// Writes the page.
pub(in crate::http::routes) struct AlertPage;

impl AlertPage {
    /// The alert, its state, and a form unless the link has expired.
    pub(in crate::http::routes) fn of(
        base_url: &BaseUrl,
        notified: &NotifiedAlert,
        is_expired: bool,
        problem: Option<&str>,
    ) -> String {
        let texts = PageText::of(notified);
        let alert = &notified.alert.alert;
        let text = alert.text.as_ref().map(|text| format!("<p>{}</p>\n", escape(text))).unwrap_or_default();
        let state =
            format!("<p role=\"status\" class=\"message\">{}</p>\n", state(texts, notified, is_expired));
        let problem = problem
            .map(|problem| format!("<p role=\"alert\" class=\"message problem\">{problem}</p>\n"))
            .unwrap_or_default();
        let form = if is_expired { String::new() } else { form(texts, notified) };
        let incident = escape(&base_url.join(&format!("/alerts/{}", notified.alert.id)));
        let incident = format!("<p><a href=\"{incident}\">{}</a></p>\n", escape(&notified.account));
        let body: [String; 6] = [text, facts(texts, notified), state, problem, form, incident];
        let title = alert_title(&alert.name, notified.preferences.language.as_str());
        let title = format!("{} · {}", escape(title), escape(&notified.device));
        mail_page::page(texts.language, &title, &body.concat())
    }

    /// The page for a link that is invalid, or whose message was deleted.
    pub(in crate::http::routes) fn problem(headers: &HeaderMap) -> String {
        let texts = if mail_page::PageText::of(headers).is_spanish() { SPANISH } else { ENGLISH };
        mail_page::page(
            texts.language,
            "Perigee",
            &format!("<p class=\"message problem\">{}</p>", texts.no_link),
        )
    }
}

/// A time in the recipient's zone, as HTML.
fn clock(notified: &NotifiedAlert, at: Timestamp) -> String {
    let local = notified.time_zone.as_jiff().to_datetime(at.to_jiff());
    escape(&format!("{} ({})", local.strftime("%Y-%m-%d %H:%M:%S"), notified.time_zone.id()))
}

/// Device, time and position of the alert, as HTML.
fn facts(texts: PageText, notified: &NotifiedAlert) -> String {
    let alert = &notified.alert.alert;
    let fact = |name: &str, value: String| format!("<dt>{name}</dt><dd>{value}</dd>\n");
    let place = notified.alert.best_position().map(|(latitude, longitude)| {
        let is_spanish = texts.language == SPANISH.language;
        let language = if is_spanish { ConsoleLanguage::Spanish } else { ConsoleLanguage::English };
        let reader = Reader { language, units: notified.preferences.units };
        let words = describe((latitude, longitude), reader, Form::Full);
        let words = words.map(|words| format!("{}<br>", escape(&words))).unwrap_or_default();
        let (latitude, longitude) = (latitude.as_degrees(), longitude.as_degrees());
        let map = format!(
            "https://www.openstreetmap.org/?mlat={latitude:.5}&amp;mlon={longitude:.5}#map=12/{latitude:.5}/{longitude:.5}"
        );
        let link = format!("<a rel=\"noreferrer\" href=\"{map}\">{}</a>", texts.map);
        fact(texts.place, format!("{words}{latitude:.5}, {longitude:.5}<br>{link}"))
    });
    let device = fact(texts.device, escape(&notified.device));
    let time = fact(texts.time, clock(notified, alert.time));
    format!("<dl>{device}{time}{}</dl>\n", place.unwrap_or_default())
}

/// The state of the alert: open, acknowledged or ended.
fn state(texts: PageText, notified: &NotifiedAlert, is_expired: bool) -> String {
    match (&notified.alert.acknowledged, notified.alert.ended_at) {
        (Some((at, _)), _) => {
            let name = notified.alert.acknowledged_name.as_deref().or(notified.acknowledged_by.as_deref());
            let text = texts.acknowledged.replace("{time}", &clock(notified, *at));
            text.replace("{name}", &escape(name.unwrap_or(texts.somebody)))
        }
        (None, Some(at)) => texts.ended.replace("{time}", &clock(notified, at)),
        (None, None) if is_expired => texts.over.replace("{account}", &escape(&notified.account)),
        (None, None) => texts.open.to_owned(),
    }
}

/// The form that acknowledges an alert, or adds a note to one that was acknowledged.
fn form(texts: PageText, notified: &NotifiedAlert) -> String {
    let name = escape(notified.preferences.name.as_deref().unwrap_or_default());
    let is_open = notified.alert.acknowledged.is_none();
    let button = if is_open { texts.acknowledge } else { texts.add_note };
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
