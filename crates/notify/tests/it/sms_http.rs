//! SMS by HTTP: the request to the provider, and the verdict on each answer.

use std::time::Duration;

use perigee_core::id::NotificationId;
use perigee_core::notifications::notification::{Channel, Message, SendOutcome, Sender as _};
use perigee_notify::sms::http::{GatewayAuth, GatewayBody, GatewayMethod, HttpGatewaySettings, HttpSender};

use crate::gateway::{FakeGateway, Manner};

fn settings(gateway: &FakeGateway) -> HttpGatewaySettings {
    let fields = [("To", "{number}"), ("From", "{sender}"), ("Body", "{text}")];
    HttpGatewaySettings {
        method: GatewayMethod::Post,
        url: format!("http://{}/2010/Accounts/AC1/Messages.json", gateway.address),
        allow_http: true,
        headers: [("Idempotency-Key".to_owned(), "{id}".to_owned())].into(),
        body: GatewayBody::Form(fields.map(|(name, value)| (name.to_owned(), value.to_owned())).into()),
        auth: GatewayAuth::Basic { user_name: "AC1".to_owned(), password: "token".to_owned().into() },
        sender: "+15005550006".to_owned(),
        reference_pointer: Some("/sid".to_owned()),
        success_pointer: None,
        success_values: Vec::new(),
        later_values: Vec::new(),
        refused_statuses: Vec::new(),
        later_statuses: Vec::new(),
        authorities: None,
        connect_time_out: Duration::from_secs(5),
        time_out: Duration::from_secs(10),
    }
}

fn message() -> Message {
    Message {
        id: NotificationId::from_i64(42),
        channel: Channel::SMS,
        to: "+34600123456".to_owned(),
        subject: String::new(),
        text: "SOS: Boat & \"Ñ\"\n+1".to_owned(),
        html: None,
        mail_link: None,
        push: None,
        attachment: None,
        pictures: Vec::new(),
    }
}

async fn attempt(settings: HttpGatewaySettings) -> SendOutcome {
    HttpSender::new(settings).unwrap().send(&message()).await
}

#[tokio::test]
async fn a_form_as_twilio_like_providers_want_it() {
    let gateway = FakeGateway::answering("201 Created", "", r#"{"sid":"SM1","status":"queued"}"#).await;
    assert_eq!(attempt(settings(&gateway)).await, SendOutcome::Sent { reference: Some("SM1".to_owned()) });
    let requests = gateway.requests.lock().unwrap();
    let (head, body) = &requests[0];
    assert!(head.starts_with("POST /2010/Accounts/AC1/Messages.json HTTP/1.1\r\n"), "{head}");
    assert!(head.contains("authorization: Basic QUMxOnRva2Vu\r\n"), "{head}");
    assert!(head.contains("idempotency-key: ntf_000000000001a\r\n"), "{head}");
    let expect = "Body=SOS%3A+Boat+%26+%22%C3%91%22%0A%2B1&From=%2B15005550006&To=%2B34600123456";
    assert_eq!(body, expect);
}

#[tokio::test]
async fn a_query_that_no_text_can_leave() {
    let gateway = FakeGateway::answering("200 OK", "", "OK").await;
    let asked = HttpGatewaySettings {
        method: GatewayMethod::Get,
        url: format!("http://{}/send?to={{digits}}&text={{text}}", gateway.address),
        body: GatewayBody::None,
        auth: GatewayAuth::Bearer("token".to_owned().into()),
        ..settings(&gateway)
    };
    assert_eq!(attempt(asked).await, SendOutcome::Sent { reference: None });
    let requests = gateway.requests.lock().unwrap();
    let expect = "GET /send?to=34600123456&text=SOS%3A%20Boat%20%26%20%22%C3%91%22%0A%2B1 HTTP/1.1\r\n";
    assert!(requests[0].0.starts_with(expect), "{}", requests[0].0);
    assert!(requests[0].0.contains("authorization: Bearer token\r\n"));
}

#[tokio::test]
async fn statuses_decide() {
    let later = |wait| move |delivery: &SendOutcome| matches!(delivery, SendOutcome::RetryLater { wait: w, .. } if *w == wait);
    let check = async |status: &str, headers: &str, expect: &dyn Fn(&SendOutcome) -> bool| {
        let gateway = FakeGateway::answering(status, headers, "{\"message\":\"no\"}").await;
        let delivery = attempt(settings(&gateway)).await;
        assert!(expect(&delivery), "{status}: {delivery:?}");
    };
    check("429 Too Many Requests", "retry-after: 17\r\n", &later(Some(17))).await;
    check("503 Service Unavailable", "retry-after: 99999999\r\n", &later(Some(86_400))).await;
    check("503 Service Unavailable", "retry-after: soon\r\n", &later(None)).await;
    check("401 Unauthorized", "", &later(None)).await;
    check("400 Bad Request", "", &|d| matches!(d, SendOutcome::Refused { reason } if reason.contains("no")))
        .await;
    check("500 Internal Server Error", "", &|d| matches!(d, SendOutcome::Unclear { .. })).await;
    check("504 Gateway Timeout", "", &|d| matches!(d, SendOutcome::Unclear { .. })).await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let elsewhere = FakeGateway::answering("200 OK", "", "{}").await;
    let location = format!("location: http://{}/\r\n", elsewhere.address);
    let gateway = FakeGateway::answering("307 Temporary Redirect", &location, "").await;
    let delivery = attempt(settings(&gateway)).await;
    assert!(
        matches!(&delivery, SendOutcome::RetryLater { reason, .. } if reason.contains("redirect")),
        "{delivery:?}"
    );
    assert_eq!(elsewhere.requests.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_unclear() {
    for manner in [Manner::Hang, Manner::Close] {
        let gateway = FakeGateway::start(manner).await;
        let hurried = HttpGatewaySettings { time_out: Duration::from_millis(300), ..settings(&gateway) };
        let delivery = attempt(hurried).await;
        assert!(matches!(delivery, SendOutcome::Unclear { .. }), "{delivery:?}");
        assert_eq!(gateway.requests.lock().unwrap().len(), 1, "the provider had taken it");
    }
}

#[tokio::test]
async fn nobody_listening_is_later() {
    let gateway = FakeGateway::answering("200 OK", "", "").await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/?key=secret", listener.local_addr().unwrap());
    drop(listener);
    let delivery = attempt(HttpGatewaySettings { url, ..settings(&gateway) }).await;
    let SendOutcome::RetryLater { reason, .. } = &delivery else { panic!("{delivery:?}") };
    assert!(!reason.contains("secret"), "{reason}");
}

#[tokio::test]
async fn a_body_without_end_ends() {
    let gateway = FakeGateway::start(Manner::Flood).await;
    assert_eq!(attempt(settings(&gateway)).await, SendOutcome::Sent { reference: None });
    let checked = HttpGatewaySettings {
        success_pointer: Some("/status".to_owned()),
        success_values: vec!["0".to_owned()],
        ..settings(&gateway)
    };
    assert!(matches!(attempt(checked).await, SendOutcome::Unclear { .. }));
}

#[tokio::test]
async fn providers_that_answer_200_to_everything() {
    let check = async |body: &str, expect: &dyn Fn(&SendOutcome) -> bool| {
        let gateway = FakeGateway::answering("200 OK", "", body).await;
        let checked = HttpGatewaySettings {
            success_pointer: Some("/messages/0/status".to_owned()),
            success_values: vec!["0".to_owned()],
            later_values: vec!["1".to_owned()],
            reference_pointer: Some("/messages/0/message-id".to_owned()),
            ..settings(&gateway)
        };
        let delivery = attempt(checked).await;
        assert!(expect(&delivery), "{body}: {delivery:?}");
    };
    check(r#"{"messages":[{"status":"0","message-id":"0A1"}]}"#, &|d| {
        *d == SendOutcome::Sent { reference: Some("0A1".to_owned()) }
    })
    .await;
    check(r#"{"messages":[{"status":0}]}"#, &|d| *d == SendOutcome::Sent { reference: None }).await;
    check(r#"{"messages":[{"status":"1"}]}"#, &|d| matches!(d, SendOutcome::RetryLater { .. })).await;
    check(r#"{"messages":[{"status":"4"}]}"#, &|d| matches!(d, SendOutcome::Refused { .. })).await;
    check("<html>", &|d| matches!(d, SendOutcome::Unclear { .. })).await;
}

#[tokio::test]
async fn numbers_that_are_none_are_refused() {
    let gateway = FakeGateway::answering("200 OK", "", "").await;
    let sender = HttpSender::new(settings(&gateway)).unwrap();
    let delivery = sender.send(&Message { to: "600 123 456".to_owned(), ..message() }).await;
    assert!(matches!(delivery, SendOutcome::Refused { .. }), "{delivery:?}");
    assert_eq!(gateway.requests.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn settings_that_cannot_stand_are_refused() {
    let gateway = FakeGateway::answering("200 OK", "", "").await;
    let check = |change: &dyn Fn(&mut HttpGatewaySettings), expect: &str| {
        let mut settings = settings(&gateway);
        change(&mut settings);
        let error = HttpSender::new(settings).err().unwrap().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(&|s| s.allow_http = false, "https");
    check(&|s| s.url = "https://{number}.example.com/{text}".to_owned(), "url");
    check(&|s| s.url = "https://example.com{text}".to_owned(), "url");
    check(&|s| s.url = "ftp://example.com/".to_owned(), "url");
    check(&|s| s.url = "nowhere".to_owned(), "url");
    check(&|s| s.body = GatewayBody::Json(serde_json::json!({"to": "{number}"})), "{text}");
    check(&|s| s.body = GatewayBody::Json(serde_json::json!({"to": "{numbr}"})), "{numbr}");
    check(&|s| s.headers = [("bad name".to_owned(), String::new())].into(), "bad name");
    check(&|s| s.reference_pointer = Some("sid".to_owned()), "JSON pointer");
    check(&|s| s.success_pointer = Some("/s".to_owned()), "success_values");
    check(&|s| s.auth = GatewayAuth::Bearer("a\nb".to_owned().into()), "Authorization");
}
