//! Invitations and forgotten passwords by mail: the links in them work once and end signed in.

use std::sync::Arc;

use async_trait::async_trait;
use http::header;
use parking_lot::Mutex;
use perigee_core::notifications::notification::{Channel, Message, SendOutcome, Sender};
use perigee_core::store::Credentials as _;
use perigee_server::auth::totp::TotpSecret;
use perigee_server::background::Worker;
use perigee_server::senders::Senders;
use serde_json::{Value, json};

use crate::support::people::PASSWORD;
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(
    an_invitation_is_mailed_in_the_persons_language_and_ends_signed_in,
    whoever_invites_chooses_the_language,
    invitations_are_in_every_language_of_a_country,
    a_forgotten_password_is_set_by_mail_and_nobody_learns_who_exists,
    a_second_factor_is_still_asked_for,
);

/// Accepts every e-mail.
#[derive(Default)]
struct Sink(Mutex<Vec<Message>>);

#[async_trait]
impl Sender for Sink {
    async fn send(&self, message: &Message) -> SendOutcome {
        self.0.lock().push(message.clone());
        SendOutcome::Sent { reference: None }
    }
}

struct Mailed {
    app: TestApp,
    sink: Arc<Sink>,
    worker: Worker,
}

impl Mailed {
    async fn new(engine: Engine) -> Self {
        let app = TestApp::with(engine, |config| config.email.host = "mail.example.com".into()).await;
        let sink = Arc::new(Sink::default());
        let senders = Senders {
            channels: [(Channel::EMAIL, sink.clone() as Arc<dyn Sender>)].into(),
            centre: None,
            push: None,
        };
        let (channels, _) = senders.into_channels(&app.app.config, &app.app.store, &app.app.clock);
        let worker = Worker::new(&app.app, &channels, Channel::EMAIL);
        Self { app, sink, worker }
    }

    /// Sends what is due, and returns the messages since the last call.
    async fn sent(&self) -> Vec<Message> {
        self.worker.send_due().await.expect("the store works");
        std::mem::take(&mut *self.sink.0.lock())
    }

    /// Asks for a mail as anybody can, and waits until it is written.
    async fn ask_for_reset(&self, email: &str) -> Value {
        let call = self.app.call("POST /api/session/forgottenPassword").json(&json!({ "email": email }));
        let answer = call.send().await.expect(200);
        self.app.settle().await;
        answer
    }

    async fn set_password(&self, token: &str) -> crate::support::Answer {
        let body = json!({ "token": token, "newPassword": "nine lives of a harbour cat" });
        self.app.call("POST /api/session/passwordReset").json(&body).send().await
    }
}

fn token_in(message: &Message) -> String {
    let (_, rest) = message.text.split_once("http://perigee.test/password?language=").expect("a link");
    let (_, token) = rest.split_once("#token=").expect("a link with its secret");
    token.split_whitespace().next().unwrap_or_default().to_owned()
}

async fn an_invitation_is_mailed_in_the_persons_language_and_ends_signed_in(engine: Engine) {
    let on = Mailed::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let user = json!({ "name": "Leo", "email": "leo@acme.test", "country": "ES", "timeZone": "UTC" });
    let user = on.app.send(&owner, "POST /api/users", &user).await.expect(201);
    let cookie = on.app.sign_in(&owner).await;
    let line = format!("POST /api/users/{}/passwordLink/mail", user["id"].as_str().unwrap());
    let mailed = on.app.call(&line).cookie(&cookie).send().await.expect(200);
    assert_eq!((&mailed["email"], &mailed["mailed"]), (&json!("leo@acme.test"), &json!(true)));
    let [mail] = &on.sent().await[..] else { panic!("one mail") };
    assert_eq!((&*mail.to, &*mail.subject), ("leo@acme.test", "Invitación a acme"));
    assert_eq!(mail.mail_link, None, "nobody unsubscribes from an invitation");
    let token = token_in(mail);
    let set = on.set_password(&token).await;
    let cookie = set.headers[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    assert_eq!(set.expect(200)["signedIn"], true);
    let session = on.app.call("GET /api/session").cookie(&cookie).send().await.expect(200);
    assert_eq!(session["user"]["email"], "leo@acme.test");
    on.set_password(&token).await.expect(401);
    let listed = on.app.get(&owner, "/api/notifications").await;
    assert!(!listed.to_string().contains(&token), "the secret is not stored");
}

async fn whoever_invites_chooses_the_language(engine: Engine) {
    let on = Mailed::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let user = json!({
        "name": "Eva", "email": "eva@acme.test", "country": "GB", "timeZone": "UTC", "language": "es",
    });
    let user = on.app.send(&owner, "POST /api/users", &user).await.expect(201);
    assert_eq!(user["language"], "es");
    let path = format!("/api/users/{}", user["id"].as_str().unwrap());
    // A client that does not know the member changes nothing of it.
    let known = json!({ "name": "Eva B", "email": "eva@acme.test", "country": "GB", "timeZone": "UTC" });
    let changed = on.app.send(&owner, &format!("PUT {path}"), &known).await.expect(200);
    assert_eq!((&changed["name"], &changed["language"]), (&json!("Eva B"), &json!("es")));

    let cookie = on.app.sign_in(&owner).await;
    let link = on.app.call(&format!("POST {path}/passwordLink")).cookie(&cookie).send().await.expect(201);
    let url = link["url"].as_str().unwrap();
    assert!(url.starts_with("http://perigee.test/password?language=es#token="), "{url}");
    on.app.call(&format!("POST {path}/passwordLink/mail")).cookie(&cookie).send().await.expect(200);
    let [mail] = &on.sent().await[..] else { panic!("one mail") };
    assert_eq!(mail.subject, "Invitación a acme");
    assert!(mail.text.contains("http://perigee.test/password?language=es#token="), "{}", mail.text);
    let set = on.set_password(&token_in(mail)).await;
    let cookie = set.headers[header::SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let session = on.app.call("GET /api/session").cookie(&cookie).send().await.expect(200);
    assert_eq!(session["preferences"]["language"], "es");

    let change = json!({ "language": "en" });
    let changed = on.app.send(&owner, &format!("PATCH {path}"), &change).await.expect(200);
    assert_eq!(changed["language"], "en");
    let unknown = on.app.send(&owner, &format!("PATCH {path}"), &json!({ "language": "nl" })).await;
    unknown.expect_error(400, "invalid-body");
}

async fn invitations_are_in_every_language_of_a_country(engine: Engine) {
    let on = Mailed::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let cookie = on.app.sign_in(&owner).await;
    for (country, tag, subject) in [
        ("FR", "fr", "Invitation de acme"),
        ("AT", "de", "Einladung zu acme"),
        ("BR", "pt", "Convite para acme"),
        ("IT", "it", "Invito a acme"),
        ("NL", "en", "Invitation to acme"),
    ] {
        let email = format!("{tag}@acme.test");
        let user = json!({ "name": tag, "email": email, "country": country, "timeZone": "UTC" });
        let user = on.app.send(&owner, "POST /api/users", &user).await.expect(201);
        let line = format!("POST /api/users/{}/passwordLink/mail", user["id"].as_str().unwrap());
        on.app.call(&line).cookie(&cookie).send().await.expect(200);
        let [mail] = &on.sent().await[..] else { panic!("one mail") };
        assert_eq!((&*mail.to, &*mail.subject), (&*email, subject));
        assert!(mail.text.contains(&format!("/password?language={tag}#token=")), "{}", mail.text);
    }
}

async fn a_forgotten_password_is_set_by_mail_and_nobody_learns_who_exists(engine: Engine) {
    let on = Mailed::new(engine).await;
    on.app.tenant("acme", 10).await;
    let (known, unknown) =
        (on.ask_for_reset("owner@acme.test").await, on.ask_for_reset("nobody@acme.test").await);
    assert_eq!(known, unknown);
    let [mail] = &on.sent().await[..] else { panic!("one mail") };
    assert_eq!((&*mail.to, &*mail.subject), ("owner@acme.test", "New password"));
    let first = token_in(mail);
    on.ask_for_reset("owner@acme.test").await;
    let second = token_in(&on.sent().await[0]);
    on.set_password(&first).await.expect(401);
    assert_eq!(on.set_password(&second).await.expect(200)["signedIn"], true);
    for _ in 0..3 {
        on.ask_for_reset("OWNER@acme.test").await;
    }
    assert_eq!(on.sent().await.len(), 1, "three an hour");
    on.app.clock().advance_seconds(3_601);
    on.ask_for_reset("owner@acme.test").await;
    let late = token_in(&on.sent().await[0]);
    on.app.clock().advance_seconds(7 * 86_400);
    on.set_password(&late).await.expect(401);
    // The failed attempts so far are forgotten.
    on.app.clock().advance_seconds(120);
    let ask = json!({ "email": "owner@acme.test" });
    let mut statuses = Vec::new();
    for _ in 0..15 {
        statuses
            .push(on.app.call("POST /api/session/forgottenPassword").json(&ask).send().await.status.as_u16());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 429).count(), 5, "{statuses:?}");
}

async fn a_second_factor_is_still_asked_for(engine: Engine) {
    let on = Mailed::new(engine).await;
    let owner = on.app.tenant("acme", 10).await.owner;
    let cookie = on.app.sign_in(&owner).await;
    let call = |line: &str, body: Value| on.app.call(line).cookie(&cookie).json(&body).send();
    call("POST /api/session/totp", json!({ "password": PASSWORD })).await.expect(200);
    let kept = on.app.store.find_login_by_id(owner.id).await.unwrap().unwrap().totp.unwrap();
    let secret = TotpSecret::from_bytes(kept.secret.try_into().unwrap());
    let code = json!({ "code": secret.code(on.app.app.clock.now()) });
    call("PUT /api/session/totp", code).await.expect(200);
    on.ask_for_reset("owner@acme.test").await;
    let token = token_in(&on.sent().await[0]);
    let set = on.set_password(&token).await;
    assert!(!set.headers.contains_key(header::SET_COOKIE));
    assert_eq!(set.expect(200)["signedIn"], false);
}
