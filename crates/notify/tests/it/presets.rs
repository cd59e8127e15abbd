//! The presets of channels: the bytes of each request, the verdict on each answer, and hostile values.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use perigee_core::id::NotificationId;
use perigee_core::notifications::notification::{Channel, Message, SendOutcome, Sender as _};
use perigee_core::notifications::routing::Destination;
use perigee_notify::preset::{PresetSender, PresetSettings, UrlCheck};

use crate::gateway::{FakeGateway, Manner};
use perigee_tls::{Trust, client_config};

/// Every channel that is a preset.
fn presets() -> impl Iterator<Item = Channel> {
    Channel::all().iter().copied().filter(|channel| channel.kind().request.is_some())
}

fn client() -> reqwest::Client {
    reqwest::Client::builder()
        .tls_backend_preconfigured(client_config(&Trust::Public).unwrap())
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(Duration::from_millis(500))
        .build()
        .unwrap()
}

fn anywhere() -> UrlCheck {
    Arc::new(|_url: &url::Url| Ok(()))
}

/// Settings with a value for everything that the preset requires, and this server.
fn settings(channel: Channel, server: &str) -> PresetSettings {
    let preset = channel.kind().request.as_ref();
    let all = preset.into_iter().flat_map(|preset| &preset.settings);
    let required = all.filter(|(_, setting)| setting.default.is_none());
    let values = required.map(|(name, _)| (name.clone(), format!("my-{name}").into())).collect();
    PresetSettings { server: server.to_owned(), allow_http: true, values }
}

fn sender(channel: Channel, gateway: &FakeGateway) -> PresetSender {
    let server = format!("http://{}", gateway.address);
    PresetSender::new(channel, settings(channel, &server), client(), anywhere()).unwrap()
}

fn message(channel: Channel) -> Message {
    Message {
        id: NotificationId::from_i64(42),
        channel,
        to: channel.kind().address.example().to_owned(),
        subject: "SOS: Boat 7".to_owned(),
        text: "SOS: Boat 7 & \"Ñ\"\n41.5, 2.1".to_owned(),
        html: None,
        mail_link: None,
        push: None,
        attachment: None,
        pictures: Vec::new(),
    }
}

/// What a service answers when it accepts a message.
fn accepted(channel: Channel) -> (&'static str, &'static str, Option<&'static str>) {
    match channel.name() {
        "ntfy" => ("200 OK", r#"{"id":"xE73Iyuabi","event":"message"}"#, Some("xE73Iyuabi")),
        "pushover" => ("200 OK", r#"{"status":1,"request":"e460545a"}"#, Some("e460545a")),
        "telegram" => ("200 OK", r#"{"ok":true,"result":{"message_id":9}}"#, Some("9")),
        "matrix" => ("200 OK", r#"{"event_id":"$abc"}"#, Some("$abc")),
        "slack" => ("200 OK", "ok", None),
        "teams" => ("202 Accepted", "", None),
        "discord" => ("204 No Content", "", None),
        "call" => ("201 Created", r#"{"sid":"CA1","status":"queued"}"#, Some("CA1")),
        "whatsapp" => ("200 OK", r#"{"messages":[{"id":"wamid.1"}]}"#, Some("wamid.1")),
        other => panic!("no answer of {other} is known"),
    }
}

/// The request without the headers that every request has.
fn shown((head, body): &(String, String)) -> String {
    let common = ["host:", "accept:", "content-length:", "user-agent:"];
    let lines = head.trim_end().lines().filter(|line| !common.iter().any(|name| line.starts_with(name)));
    format!("{}\n\n{body}\n", lines.collect::<Vec<_>>().join("\n"))
}

#[tokio::test]
async fn requests_are_as_the_services_want_them() {
    let mut all = String::new();
    for channel in presets() {
        let (status, body, reference) = accepted(channel);
        let gateway = FakeGateway::answering(status, "", body).await;
        let outcome = sender(channel, &gateway).send(&message(channel)).await;
        let reference = reference.map(str::to_owned);
        assert_eq!(outcome, SendOutcome::Sent { reference }, "{}", channel.name());
        let requests = gateway.requests.lock().unwrap();
        writeln!(all, "## {}\n{}", channel.name(), shown(&requests[0])).unwrap();
    }
    insta::assert_snapshot!(all);
}

async fn outcome(channel: Channel, status: &str, headers: &str, body: &str) -> SendOutcome {
    let gateway = FakeGateway::answering(status, headers, body).await;
    sender(channel, &gateway).send(&message(channel)).await
}

#[tokio::test]
async fn every_preset_understands_refusals_waits_and_silence() {
    for channel in presets() {
        let name = channel.name();
        let refused = outcome(channel, "400 Bad Request", "", r#"{"error":"no"}"#).await;
        assert!(matches!(refused, SendOutcome::Refused { .. }), "{name}: {refused:?}");
        let busy = outcome(channel, "429 Too Many Requests", "retry-after: 17\r\n", "{}").await;
        assert!(matches!(busy, SendOutcome::RetryLater { wait: Some(17), .. }), "{name}: {busy:?}");
        let locked_out = outcome(channel, "401 Unauthorized", "", "{}").await;
        assert!(matches!(locked_out, SendOutcome::RetryLater { .. }), "{name}: {locked_out:?}");
        let broken = outcome(channel, "500 Internal Server Error", "", "{}").await;
        assert!(matches!(broken, SendOutcome::Unclear { .. }), "{name}: {broken:?}");
        let moved = outcome(channel, "307 Temporary Redirect", "location: http://127.0.0.1:1/\r\n", "").await;
        assert!(matches!(moved, SendOutcome::RetryLater { .. }), "{name}: {moved:?}");
        let gateway = FakeGateway::start(Manner::Hang).await;
        let silence = sender(channel, &gateway).send(&message(channel)).await;
        assert!(matches!(silence, SendOutcome::Unclear { .. }), "{name}: {silence:?}");
    }
}

#[tokio::test]
async fn rules_of_single_services() {
    let of = |name: &str| name.parse::<Channel>().unwrap();
    let wait = r#"{"ok":false,"error_code":429,"parameters":{"retry_after":5}}"#;
    let busy = outcome(of("telegram"), "429 Too Many Requests", "", wait).await;
    assert!(matches!(busy, SendOutcome::RetryLater { wait: Some(5), .. }), "{busy:?}");
    let blocked = outcome(of("telegram"), "403 Forbidden", "", r#"{"ok":false}"#).await;
    assert!(matches!(blocked, SendOutcome::Refused { .. }), "{blocked:?}");
    let busy = outcome(of("discord"), "429 Too Many Requests", "", r#"{"retry_after":0.65}"#).await;
    assert!(matches!(busy, SendOutcome::RetryLater { wait: Some(1), .. }), "{busy:?}");
    let gone = outcome(of("slack"), "404 Not Found", "", "no_service").await;
    assert!(matches!(gone, SendOutcome::Refused { .. }), "{gone:?}");
    let limited = outcome(of("whatsapp"), "400 Bad Request", "", r#"{"error":{"code":130429}}"#).await;
    assert!(matches!(limited, SendOutcome::RetryLater { .. }), "{limited:?}");
    let refused = outcome(of("pushover"), "200 OK", "", r#"{"status":0}"#).await;
    assert!(matches!(refused, SendOutcome::Refused { .. }), "{refused:?}");
    let odd = outcome(of("pushover"), "200 OK", "", "<html>").await;
    assert!(matches!(odd, SendOutcome::Unclear { .. }), "{odd:?}");
}

#[tokio::test]
async fn no_text_changes_the_structure_of_a_request() {
    let hostile =
        "\"},\"x\":\"\r\nX-Evil: 1\r\n\r\n&To=+1900</Say><Dial>+1900</Dial>{token}{address}\\ <!channel>";
    for channel in presets() {
        let (status, body, _) = accepted(channel);
        let gateway = FakeGateway::answering(status, "", body).await;
        let message = Message { subject: hostile.to_owned(), text: hostile.to_owned(), ..message(channel) };
        let sent = sender(channel, &gateway).send(&message).await;
        assert!(matches!(sent, SendOutcome::Sent { .. }), "{}: {sent:?}", channel.name());
        let requests = gateway.requests.lock().unwrap();
        let (head, body) = &requests[0];
        assert!(!head.to_ascii_lowercase().contains("x-evil"), "{head}");
        assert!(!body.contains("my-token}"), "a value is not read as a template: {body}");
        if head.contains("application/json") {
            let read: serde_json::Value = serde_json::from_str(body).unwrap();
            assert!(read.get("x").is_none(), "{read}");
        } else {
            let fields: Vec<(String, String)> =
                url::form_urlencoded::parse(body.as_bytes()).into_owned().collect();
            let expected = channel.kind().request.as_ref().unwrap();
            let perigee_core::notifications::notification::RequestBody::Form(form) = &expected.body else {
                panic!("neither JSON nor a form")
            };
            assert_eq!(fields.len(), form.len(), "{fields:?}");
            let twiml = fields.iter().find(|(name, _)| name == "Twiml");
            assert!(twiml.is_none_or(|(_, twiml)| !twiml.contains("<Dial>")), "{twiml:?}");
        }
    }
}

#[tokio::test]
async fn addresses_that_are_none_are_refused_without_a_request() {
    for channel in presets() {
        for address in
            ["", "a b", "http://127.0.0.1/", "x\r\nHost: y", "https://127.0.0.1/services/x", "\u{202e}"]
        {
            let gateway = FakeGateway::answering("200 OK", "", "{}").await;
            let message = Message { to: address.to_owned(), ..message(channel) };
            let outcome = sender(channel, &gateway).send(&message).await;
            assert!(matches!(outcome, SendOutcome::Refused { .. }), "{}: {address}", channel.name());
            assert_eq!(gateway.requests.lock().unwrap().len(), 0);
            assert!(Destination::parse(channel, address).is_err());
        }
    }
}

#[tokio::test]
async fn the_guard_decides_before_anything_is_sent() {
    for channel in presets() {
        let gateway = FakeGateway::answering("200 OK", "", "{}").await;
        let server = format!("http://{}", gateway.address);
        let nowhere: UrlCheck =
            Arc::new(|_url: &url::Url| Err("must not be an address in a private network".to_owned()));
        let guarded = PresetSender::new(channel, settings(channel, &server), client(), nowhere).unwrap();
        let outcome = guarded.send(&message(channel)).await;
        assert!(matches!(outcome, SendOutcome::Refused { .. }), "{}: {outcome:?}", channel.name());
        assert_eq!(gateway.requests.lock().unwrap().len(), 0);
    }
}

#[test]
fn settings_that_cannot_be_used_are_refused_at_the_start() {
    let telegram: Channel = "telegram".parse().unwrap();
    let matrix: Channel = "matrix".parse().unwrap();
    let refusal = |channel, change: &dyn Fn(&mut PresetSettings)| {
        let mut settings = settings(channel, "https://example.org");
        change(&mut settings);
        PresetSender::new(channel, settings, client(), anywhere()).err().unwrap().to_string()
    };
    assert!(refusal(telegram, &|s| s.values.clear()).contains("\"token\""));
    assert!(refusal(telegram, &|s| drop(s.values.insert("tokn".into(), "x".into()))).contains("\"tokn\""));
    assert!(refusal(matrix, &|s| s.server.clear()).contains("server"));
    assert!(refusal(matrix, &|s| s.server = "ftp://example.org".into()).contains("server"));
    assert!(refusal(matrix, &|s| s.server = "https://me:secret@example.org".into()).contains("server"));
    assert!(
        refusal(matrix, &|s| {
            s.server = "http://example.org".into();
            s.allow_http = false;
        })
        .contains("http")
    );
    assert!(refusal(Channel::SMS, &|s| s.values.clear()).contains("preset"));
}
