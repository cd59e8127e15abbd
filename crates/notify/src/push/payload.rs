//! The content of a push: JSON in the declarative form (Push API, "Declarative Web Push"), which some browsers show by
//! themselves and the console's service worker shows in all others.

use perigee_core::alerts::severity::Severity;
use perigee_core::notifications::notification::{
    Composed, Content, Message, Occasion, PushHandling, PushUrgency,
};
use serde_json::{Value, json};

use super::encrypt::PLAINTEXT_MAX;
use crate::plain::{excerpt, lines};
use crate::template::{Facts, Labels};

/// Characters of a title, and of the name of a device and of a place among the data.
const TITLE_MAX: usize = 120;
const NAME_MAX: usize = 80;
/// Characters of the text at first; fewer if the whole would be too long.
const BODY_MAX: usize = 600;

/// Turns a composed text into the message to a browser: its title and text become a notification.
pub fn compose_push(content: &Content, composed: Composed) -> Composed {
    let Composed { message, segments } = composed;
    let (title, text) = (excerpt(&message.subject, TITLE_MAX), lines(&message.text));
    let mut body_max = BODY_MAX;
    let payload = loop {
        let payload = payload(content, &title, &cut(&text, body_max)).to_string();
        if payload.len() <= PLAINTEXT_MAX || body_max == 0 {
            break payload;
        }
        body_max /= 2;
    };
    let push = Some(handling(content));
    Composed { message: Message { text: payload, push, html: None, mail_link: None, ..message }, segments }
}

/// At most this many characters.
fn cut(text: &str, characters: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn payload(content: &Content, title: &str, body: &str) -> Value {
    let facts = Facts::of(content);
    let labels = Labels::of(&content.preferences.language);
    let mut notification = json!({
        "title": title,
        "body": body,
        "lang": labels.language,
        "navigate": format!("{}/", content.base_url),
        "data": {},
    });
    let mut set = |name: &str, value: Value| {
        if let Some(members) = notification.as_object_mut() {
            members.insert(name.to_owned(), value);
        }
    };
    if let Occasion::Alert { alert, severity, .. } = &content.occasion {
        let url = format!("{}/alerts/{}", content.base_url, alert.id);
        set("navigate", url.clone().into());
        set("app_badge", "1".into());
        set("tag", alert.id.to_string().into());
        set("renotify", true.into());
        set("timestamp", alert.alert.time.as_millis().into());
        set("requireInteraction", (*severity == Severity::Critical).into());
        let device = content.device.as_ref().map(|device| excerpt(&device.name, NAME_MAX));
        let mut data = json!({
            "alert": alert.id.to_string(),
            "severity": severity.name(),
            "device": device,
            "place": facts.place_in_words().map(|place| excerpt(place, NAME_MAX)),
            "time": alert.alert.time.to_string(),
            "url": url,
        });
        if let (Some(link), Some(members)) = (&content.acknowledge_link, data.as_object_mut()) {
            let name = content.preferences.name.as_deref().unwrap_or(labels.recipient);
            let acknowledge = json!({
                "url": link,
                "name": excerpt(name, NAME_MAX),
                "done": labels.acknowledged,
                "failed": labels.not_acknowledged,
            });
            members.insert("acknowledge".to_owned(), acknowledge);
            let action = json!({ "action": "acknowledge", "title": labels.acknowledge, "navigate": link });
            set("actions", json!([action]));
        }
        set("data", data);
    }
    json!({ "web_push": 8030, "notification": notification })
}

/// How long the push service keeps the message, and whether it wakes the device.
fn handling(content: &Content) -> PushHandling {
    let (ttl_s, urgency, topic) = match &content.occasion {
        Occasion::Alert { severity, alert, .. } => {
            let (ttl_s, urgency) = match severity {
                Severity::Critical => (86_400, PushUrgency::High),
                Severity::Warning => (21_600, PushUrgency::Normal),
                Severity::Info => (3_600, PushUrgency::Low),
            };
            (ttl_s, urgency, Some(alert.id.to_string()))
        }
        Occasion::UnregisteredSos(_) => (86_400, PushUrgency::High, None),
        // Somebody waits for a test; an old one would only confuse.
        _ => (300, PushUrgency::High, None),
    };
    PushHandling { account: content.account, ttl_s, urgency, topic }
}
