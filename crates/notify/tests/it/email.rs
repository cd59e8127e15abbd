//! E-mail: the verdict on each kind of server, and the message that is sent.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::id::NotificationId;
use perigee_core::notifications::notification::{Channel, Message, SendOutcome, Sender as _};
use perigee_core::time::SystemClock;
use perigee_notify::email::{Credentials, EmailSender, EmailSettings, Security, SettingsError};

use crate::smtp::{Act, FakeServer, Flood, GREETED, Hang, Hear, OFFERED, Say, Take, TakePart};

fn settings(port: u16) -> EmailSettings {
    EmailSettings {
        host: "127.0.0.1".to_owned(),
        port,
        security: Security::None,
        authorities: None,
        credentials: None,
        from: "Perigee <alerts@example.org>".to_owned(),
        reply_to: None,
        domain: "example.org".to_owned(),
        hello: "example.org".to_owned(),
        unsubscribe: None,
        time_out: Duration::from_secs(10),
        final_time_out: Duration::from_secs(10),
        connections: 1,
        idle: Duration::from_secs(10),
    }
}

fn message() -> Message {
    Message {
        id: NotificationId::from_i64(42),
        channel: Channel::EMAIL,
        to: "ana@example.com".to_owned(),
        subject: "SOS from Boat".to_owned(),
        text: "Help.\n.\nend".to_owned(),
        html: Some("<p>Help.</p>".to_owned()),
        mail_link: None,
        push: None,
        attachment: None,
        pictures: Vec::new(),
    }
}

fn script(parts: &[&[Act]]) -> Vec<Act> {
    parts.concat()
}

async fn attempt(server: &FakeServer) -> SendOutcome {
    attempt_with(server, |settings| settings).await
}

async fn attempt_with(server: &FakeServer, change: impl Fn(EmailSettings) -> EmailSettings) -> SendOutcome {
    let sender = EmailSender::new(change(settings(server.address.port())), Arc::new(SystemClock)).unwrap();
    let delivery = sender.send(&message()).await;
    assert_eq!(*server.surprises.lock().unwrap(), Vec::<String>::new());
    delivery
}

fn impatient_before_the_dot(settings: EmailSettings) -> EmailSettings {
    EmailSettings { time_out: Duration::from_millis(200), ..settings }
}

fn impatient_after_the_dot(settings: EmailSettings) -> EmailSettings {
    EmailSettings { final_time_out: Duration::from_millis(200), ..settings }
}

#[track_caller]
fn assert_later(delivery: &SendOutcome, expect: &str) {
    let SendOutcome::RetryLater { reason, .. } = delivery else { panic!("{delivery:?} is not Later") };
    assert!(reason.contains(expect), "{reason}");
}

#[track_caller]
fn assert_unclear(delivery: &SendOutcome) {
    assert!(matches!(delivery, SendOutcome::Unclear { .. }), "{delivery:?} is not Unclear");
}

#[track_caller]
fn assert_refused(delivery: &SendOutcome, expect: &str) {
    let SendOutcome::Refused { reason } = delivery else { panic!("{delivery:?} is not Refused") };
    assert!(reason.contains(expect), "{reason}");
}

#[tokio::test]
async fn a_taken_message_is_sent_whole() {
    let server =
        FakeServer::start(vec![script(&[&GREETED, &OFFERED, &[Take, Say("250 2.0.0 queued as X1\r\n")]])])
            .await;
    assert_eq!(
        attempt(&server).await,
        SendOutcome::Sent { reference: Some("2.0.0 queued as X1".to_owned()) }
    );
    let taken = server.taken.lock().unwrap();
    assert!(taken[0].contains("Message-ID: <ntf_000000000001a@example.org>\r\n"), "{}", taken[0]);
    // The line with a lone dot came as two.
    assert!(taken[0].contains("Help.\r\n..\r\nend"), "{}", taken[0]);
}

#[tokio::test]
async fn nobody_listening_is_later() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let sender = EmailSender::new(settings(port), Arc::new(SystemClock)).unwrap();
    assert_later(&sender.send(&message()).await, "cannot connect");
}

#[tokio::test]
async fn an_unwilling_server_is_later() {
    for greeting in ["421 too busy\r\n", "554 no service\r\n"] {
        let server = FakeServer::start(vec![vec![Say(greeting)]]).await;
        assert_later(&attempt(&server).await, greeting.trim());
    }
    let server = FakeServer::start(vec![vec![]]).await;
    assert_later(&attempt(&server).await, "greeting");
}

#[tokio::test]
async fn greylisting_is_later_and_a_bad_mailbox_refused() {
    let to_the_recipient = &OFFERED[..3];
    let grey = script(&[
        &GREETED,
        to_the_recipient,
        &[Say("450-4.2.0 Greylisted,\r\n450 4.2.0 come back in 300 seconds\r\n")],
    ]);
    assert_later(&attempt(&FakeServer::start(vec![grey]).await).await, "come back in 300 seconds");
    let unknown = script(&[&GREETED, to_the_recipient, &[Say("550 5.1.1 no such user\r\n")]]);
    assert_refused(&attempt(&FakeServer::start(vec![unknown]).await).await, "no such user");
    // Not about the message: the operator must correct a setting.
    let locked = script(&[&GREETED, &OFFERED[..1], &[Say("530 5.7.0 authenticate first\r\n")]]);
    assert_later(&attempt(&FakeServer::start(vec![locked]).await).await, "authenticate first");
}

#[tokio::test]
async fn answers_to_the_final_dot_decide() {
    let ending = |answer| script(&[&GREETED, &OFFERED, &[Take, Say(answer)]]);
    let full = FakeServer::start(vec![ending("452 4.3.1 disk full\r\n")]).await;
    assert_later(&attempt(&full).await, "disk full");
    let spam = FakeServer::start(vec![ending("554 5.7.1 spam\r\n")]).await;
    assert_refused(&attempt(&spam).await, "spam");
    for senseless in ["354 go on\r\n", "ok\r\n", "250-a\r\n251 b\r\n"] {
        assert_unclear(&attempt(&FakeServer::start(vec![ending(senseless)]).await).await);
    }
}

#[tokio::test]
async fn lost_before_the_final_dot_is_later() {
    for (step, _) in OFFERED.iter().enumerate().filter(|(_, act)| matches!(act, Hear(_))) {
        let server = FakeServer::start(vec![script(&[&GREETED, &OFFERED[..=step]])]).await;
        assert_later(&attempt(&server).await, "lost before the message was sent");
        let server = FakeServer::start(vec![script(&[&GREETED, &OFFERED[..=step], &[Hang]])]).await;
        assert_later(&attempt_with(&server, impatient_before_the_dot).await, "in time");
    }
}

#[tokio::test]
async fn lost_after_the_final_dot_is_unclear() {
    let dropped = FakeServer::start(vec![script(&[&GREETED, &OFFERED, &[Take]])]).await;
    assert_unclear(&attempt(&dropped).await);
    assert_eq!(dropped.taken.lock().unwrap().len(), 1);
    let hanging = FakeServer::start(vec![script(&[&GREETED, &OFFERED, &[Take, Hang]])]).await;
    assert_unclear(&attempt_with(&hanging, impatient_after_the_dot).await);
}

#[tokio::test]
async fn a_server_that_stops_reading_is_later() {
    let server = FakeServer::start(vec![script(&[&GREETED, &OFFERED, &[TakePart, Hang]])]).await;
    let sender =
        EmailSender::new(impatient_before_the_dot(settings(server.address.port())), Arc::new(SystemClock))
            .unwrap();
    // More than sockets buffer, so that the final dot cannot have been sent.
    let long = Message { text: "x".repeat(60).repeat(250_000), html: None, ..message() };
    assert_later(&sender.send(&long).await, "in time");
}

#[tokio::test]
async fn endless_answers_end() {
    for flood in ["250-more\r\n", "250 no end of line"] {
        let server = FakeServer::start(vec![script(&[&GREETED[..2], &[Flood(flood)]])]).await;
        assert_later(&attempt(&server).await, "EHLO");
        let server = FakeServer::start(vec![script(&[&GREETED, &OFFERED, &[Take, Flood(flood)]])]).await;
        assert_unclear(&attempt(&server).await);
    }
}

#[tokio::test]
async fn connections_are_used_again_and_replaced_when_stale() {
    let again = script(&[&[Hear("RSET"), Say("250 ok\r\n")], &OFFERED, &[Take, Say("250 2\r\n")]]);
    let first = script(&[&GREETED, &OFFERED, &[Take, Say("250 1\r\n")], &again]);
    let fresh = script(&[&GREETED, &OFFERED, &[Take, Say("250 3\r\n"), Hang]]);
    let server = FakeServer::start(vec![first, fresh]).await;
    let sender = EmailSender::new(settings(server.address.port()), Arc::new(SystemClock)).unwrap();
    for (reference, connections) in [("1", 1), ("2", 1), ("3", 2)] {
        let delivery = sender.send(&message()).await;
        assert_eq!(delivery, SendOutcome::Sent { reference: Some(reference.to_owned()) });
        assert_eq!(*server.connections.lock().unwrap(), connections);
    }
}

#[tokio::test]
async fn without_starttls_nothing_is_said_in_the_clear() {
    let server = FakeServer::start(vec![script(&[&GREETED])]).await;
    let delivery =
        attempt_with(&server, |settings| EmailSettings { security: Security::Starttls, ..settings });
    assert_later(&delivery.await, "does not offer STARTTLS");
}

#[tokio::test]
async fn words_before_the_encryption_are_not_believed() {
    let injected = [
        Say("220 fake\r\n"),
        Hear("EHLO"),
        Say("250-fake\r\n250 STARTTLS\r\n"),
        Hear("STARTTLS"),
        Say("220 go\r\n250 ok\r\n"),
        Hang,
    ];
    let server = FakeServer::start(vec![injected.to_vec()]).await;
    let delivery =
        attempt_with(&server, |settings| EmailSettings { security: Security::Starttls, ..settings });
    assert_later(&delivery.await, "before the encryption began");
}

#[tokio::test]
async fn letters_a_server_cannot_take_are_refused() {
    let server = FakeServer::start(vec![script(&[&GREETED])]).await;
    let sender = EmailSender::new(settings(server.address.port()), Arc::new(SystemClock)).unwrap();
    let to_jose = Message { to: "josé@example.com".to_owned(), ..message() };
    assert_refused(&sender.send(&to_jose).await, "josé@example.com");
    for hostile in ["a@b\r\nDATA", "", "a@b> SIZE=1", "two@example.com, three@example.com"] {
        let delivery = sender.send(&Message { to: hostile.to_owned(), ..message() }).await;
        assert_refused(&delivery, "address");
    }
}

#[tokio::test]
async fn signing_in_by_plain_and_login() {
    let signed = |settings: EmailSettings| EmailSettings {
        credentials: Some(Credentials { user_name: "ana".to_owned(), password: "secret".to_owned().into() }),
        ..settings
    };
    let plain = [
        Say("220 fake\r\n"),
        Hear("EHLO"),
        Say("250-fake\r\n250 AUTH LOGIN PLAIN\r\n"),
        Hear("AUTH PLAIN AGFuYQBzZWNyZXQ="),
        Say("535 5.7.8 wrong password\r\n"),
    ];
    let server = FakeServer::start(vec![plain.to_vec()]).await;
    assert_later(&attempt_with(&server, signed).await, "wrong password");
    let login = [
        Say("220 fake\r\n"),
        Hear("EHLO"),
        Say("250-fake\r\n250 AUTH LOGIN\r\n"),
        Hear("AUTH LOGIN"),
        Say("334 VXNlcm5hbWU6\r\n"),
        Hear("YW5h"),
        Say("334 UGFzc3dvcmQ6\r\n"),
        Hear("c2VjcmV0"),
        Say("235 welcome\r\n"),
    ];
    let server = FakeServer::start(vec![script(&[&login, &OFFERED, &[Take, Say("250 ok\r\n")]])]).await;
    assert_eq!(attempt_with(&server, signed).await, SendOutcome::Sent { reference: Some("ok".to_owned()) });
}

#[test]
fn settings_that_cannot_stand_are_refused() {
    let check = |change: &dyn Fn(&mut EmailSettings), expect: &str| {
        let mut settings = settings(25);
        change(&mut settings);
        let error: SettingsError = EmailSender::new(settings, Arc::new(SystemClock)).err().unwrap();
        assert!(error.to_string().contains(expect), "{error}");
    };
    check(&|s| s.from = "nobody".to_owned(), "from");
    check(&|s| s.from = "A <a@b.c>\r\nBcc: d@e.f".to_owned(), "from");
    check(&|s| s.reply_to = Some("nobody".to_owned()), "reply_to");
    check(&|s| s.domain = "a b".to_owned(), "domain");
    check(&|s| s.host = String::new(), "host");
    check(&|s| s.unsubscribe = Some("http://x".to_owned()), "unsubscribe");
    check(&|s| s.connections = 0, "connections");
    check(&|s| s.authorities = Some("/nowhere.pem".into()), "/nowhere.pem");
    let credentials = Credentials { user_name: "a".to_owned(), password: "b".to_owned().into() };
    check(
        &|s| (s.host, s.credentials) = ("mail.example.org".to_owned(), Some(credentials.clone())),
        "anybody could read it",
    );
}

#[tokio::test]
async fn waiting_for_a_free_connection_is_no_attempt() {
    let taken = script(&[&GREETED, &OFFERED, &[Take, Say("250 taken\r\n")]]);
    let server = FakeServer::start(vec![script(&[&GREETED, &OFFERED, &[Take, Hang]]), taken]).await;
    // The first holds the only connection for longer than the second may take to hand its message over.
    let settings = EmailSettings {
        time_out: Duration::from_millis(400),
        final_time_out: Duration::from_millis(900),
        ..settings(server.address.port())
    };
    let sender = EmailSender::new(settings, Arc::new(SystemClock)).unwrap();
    assert_eq!(sender.at_once(), 1);
    let (one, other) = (message(), message());
    let (first, second) = tokio::join!(sender.send(&one), sender.send(&other));
    assert_unclear(&first);
    assert!(matches!(second, SendOutcome::Sent { .. }), "{second:?}");
}
