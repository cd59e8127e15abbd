//! The content of notifications in browsers: what the service worker and declarative Web Push need, within one record.

use perigee_core::alerts::severity::Severity;
use perigee_core::notifications::notification::{Channel, Content, Occasion, PushUrgency};
use perigee_notify::push::PLAINTEXT_MAX;
use perigee_notify::template::TemplateKind;
use serde_json::{Value, json};

use crate::template::{compose, content};

async fn payload(content: &Content, own: &[(TemplateKind, &str)]) -> Value {
    let message = compose(content, own).await.message;
    assert!(message.text.len() <= PLAINTEXT_MAX, "{} bytes", message.text.len());
    assert_eq!((message.html, message.mail_link), (None, None));
    serde_json::from_str(&message.text).unwrap()
}

#[tokio::test]
async fn an_alert_has_everything_that_a_notification_shows() {
    let sos = content(Channel::PUSH, "en", "SOSButton");
    let link = sos.acknowledge_link.clone().unwrap();
    let (id, url) = ("alr_0000000000002", "https://track.example.com/alerts/alr_0000000000002");
    assert_eq!(
        payload(&sos, &[]).await,
        json!({ "web_push": 8030, "notification": {
            "title": "SOS: Sea Otter <7>",
            "body": "1 May 14:00\nBarcelona, Spain, 41.38506,2.17340",
            "lang": "en",
            "navigate": url,
            "app_badge": "1",
            "tag": id,
            "renotify": true,
            "timestamp": 1_777_636_804_000_i64,
            "requireInteraction": true,
            "actions": [{ "action": "acknowledge", "title": "Acknowledge", "navigate": link }],
            "data": {
                "alert": id,
                "severity": "critical",
                "device": "Sea Otter <7>",
                "place": "Barcelona, Spain",
                "time": "2026-05-01T12:00:04Z",
                "url": url,
                "acknowledge": {
                    "url": link,
                    "name": "Ana",
                    "done": "Acknowledged",
                    "failed": "Not acknowledged: the server could not be reached. Tap to open the alert.",
                },
            },
        } })
    );
    let spanish = payload(&content(Channel::PUSH, "es", "SOSButton"), &[]).await;
    assert_eq!(spanish["notification"]["actions"][0]["title"], "Atender");
}

#[tokio::test]
async fn severities_decide_how_long_a_push_is_kept_and_whether_it_wakes() {
    let handling = async |severity: Severity| {
        let mut content = content(Channel::PUSH, "en", "LowBattery");
        let Occasion::Alert { severity: of_alert, .. } = &mut content.occasion else { unreachable!() };
        *of_alert = severity;
        let push = compose(&content, &[]).await.message.push.unwrap();
        assert_eq!(push.topic.as_deref(), Some("alr_0000000000002"));
        (push.ttl_s, push.urgency)
    };
    assert_eq!(handling(Severity::Critical).await, (86_400, PushUrgency::High));
    assert_eq!(handling(Severity::Warning).await, (21_600, PushUrgency::Normal));
    assert_eq!(handling(Severity::Info).await, (3_600, PushUrgency::Low));
}

#[tokio::test]
async fn texts_of_any_length_fit_into_one_record() {
    let mut long = content(Channel::PUSH, "en", "SOSButton");
    let name = "🚤\"\\".repeat(500);
    long.preferences.name = Some(name.clone());
    long.account_name.clone_from(&name);
    if let Some(device) = &mut long.device {
        device.name.clone_from(&name);
    }
    if let Occasion::Alert { alert, .. } = &mut long.occasion {
        alert.alert.text = Some(name);
    }
    let body = "{% for i in range(400) %}\"🚤\u{1}{% endfor %}";
    let own = [
        (TemplateKind::AlertPushTitle, "{{ device.name }}{{ device.name }}"),
        (TemplateKind::AlertPushText, body),
    ];
    let shown = payload(&long, &own).await["notification"].clone();
    assert!(shown["body"].as_str().unwrap().contains("🚤"), "{shown}");
    assert_eq!(shown["data"]["acknowledge"]["url"], long.acknowledge_link.unwrap());

    let mut acknowledged = content(Channel::PUSH, "en", "SOSButton");
    acknowledged.acknowledge_link = None;
    assert!(payload(&acknowledged, &[]).await["notification"].get("actions").is_none());
    let test = Content { occasion: Occasion::Test, device: None, ..acknowledged };
    let shown = payload(&test, &[]).await["notification"].clone();
    assert_eq!(
        (&shown["title"], &shown["navigate"]),
        (&json!("Test: notifications"), &json!("https://track.example.com/"))
    );
}
