//! SMS by SMPP: the verdict on each answer of a centre, renewed sessions, and delivery receipts.

use std::time::Duration;

use perigee_core::id::NotificationId;
use perigee_core::notifications::notification::{Channel, Message, Receipt, SendOutcome, Sender as _};
use perigee_notify::sms::smpp::{LongTexts, SmppSender, SmppSettings};
use rusmpp::CommandStatus;

use crate::smsc::{FakeCentre, Turn};

fn settings(port: u16) -> SmppSettings {
    SmppSettings {
        host: "127.0.0.1".to_owned(),
        port,
        tls: false,
        authorities: None,
        system_id: "perigee".to_owned(),
        password: "secret".to_owned().into(),
        system_type: String::new(),
        sender: "Perigee".to_owned(),
        long_texts: LongTexts::Segments,
        window: 10,
        per_second: 0,
        enquire_every: Duration::from_secs(30),
        time_out: Duration::from_secs(10),
    }
}

fn message(text: &str) -> Message {
    Message {
        id: NotificationId::from_i64(42),
        channel: Channel::SMS,
        to: "+34600123456".to_owned(),
        subject: String::new(),
        text: text.to_owned(),
        html: None,
        mail_link: None,
        push: None,
        attachment: None,
        pictures: Vec::new(),
    }
}

async fn attempt(turns: Vec<Turn>, text: &str) -> SendOutcome {
    let centre = FakeCentre::start(CommandStatus::EsmeRok, turns).await;
    let hurried = SmppSettings { time_out: Duration::from_millis(500), ..settings(centre.address.port()) };
    let (gateway, _receipts) = SmppSender::new(hurried).unwrap();
    gateway.send(&message(text)).await
}

#[tokio::test]
async fn a_message_is_taken_and_its_receipt_comes() {
    let centre = FakeCentre::start(CommandStatus::EsmeRok, vec![]).await;
    let (gateway, mut receipts) = SmppSender::new(settings(centre.address.port())).unwrap();
    let delivery = gateway.send(&message("SOS: Boat")).await;
    assert_eq!(delivery, SendOutcome::Sent { reference: Some("M0".to_owned()) });
    assert_eq!(receipts.recv().await, Some(Receipt { reference: "M0".to_owned(), failure: None }));
    gateway.close().await;
}

#[tokio::test]
async fn a_long_message_has_the_reference_of_its_last_segment() {
    let centre = FakeCentre::start(CommandStatus::EsmeRok, vec![]).await;
    let (gateway, mut receipts) = SmppSender::new(settings(centre.address.port())).unwrap();
    let delivery = gateway.send(&message(&"Привет ".repeat(20))).await;
    assert_eq!(delivery, SendOutcome::Sent { reference: Some("M2".to_owned()) });
    assert_eq!(receipts.recv().await.unwrap().reference, "M2");
    assert_eq!(centre.received.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn statuses_decide() {
    let throttled = attempt(vec![Turn::Answer(CommandStatus::EsmeRthrottled)], "x").await;
    assert!(
        matches!(&throttled, SendOutcome::RetryLater { reason, .. } if reason.contains("0x00000058")),
        "{throttled:?}"
    );
    let unknown = attempt(vec![Turn::Answer(CommandStatus::EsmeRinvdstadr)], "x").await;
    assert!(matches!(unknown, SendOutcome::Refused { .. }), "{unknown:?}");
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_unclear() {
    for turn in [Turn::Ignore, Turn::Close] {
        let delivery = attempt(vec![turn], "x").await;
        assert!(matches!(delivery, SendOutcome::Unclear { .. }), "{turn:?}: {delivery:?}");
    }
}

#[tokio::test]
async fn a_message_taken_in_part_is_never_sent_again() {
    let in_part = vec![Turn::Take, Turn::Answer(CommandStatus::EsmeRmsgqful)];
    let delivery = attempt(in_part, &"x".repeat(200)).await;
    assert!(
        matches!(&delivery, SendOutcome::Unclear { reason } if reason.contains("1 of 2")),
        "{delivery:?}"
    );
}

#[tokio::test]
async fn nobody_listening_or_wanting_us_is_later() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let (gateway, _receipts) = SmppSender::new(settings(port)).unwrap();
    assert!(matches!(gateway.send(&message("x")).await, SendOutcome::RetryLater { .. }));
    let centre = FakeCentre::start(CommandStatus::EsmeRinvpaswd, vec![]).await;
    let (gateway, _receipts) = SmppSender::new(settings(centre.address.port())).unwrap();
    let delivery = gateway.send(&message("x")).await;
    assert!(
        matches!(&delivery, SendOutcome::RetryLater { reason, .. } if reason.contains("refused the connection")),
        "{delivery:?}"
    );
    assert_eq!(centre.received.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn a_lost_session_is_renewed() {
    let centre = FakeCentre::start(CommandStatus::EsmeRok, vec![Turn::Close]).await;
    let (gateway, _receipts) = SmppSender::new(settings(centre.address.port())).unwrap();
    assert!(matches!(gateway.send(&message("x")).await, SendOutcome::Unclear { .. }));
    assert_eq!(gateway.send(&message("y")).await, SendOutcome::Sent { reference: Some("M1".to_owned()) });
    assert_eq!(*centre.bound.lock().unwrap(), 2);
}

#[tokio::test]
async fn a_centre_that_sends_no_packets_ends_nothing_else() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _closed = tokio::io::AsyncWriteExt::write_all(&mut stream, &[0xFF; 64]).await;
        }
    });
    let (gateway, _receipts) = SmppSender::new(settings(port)).unwrap();
    assert!(matches!(gateway.send(&message("x")).await, SendOutcome::RetryLater { .. }));
}

#[test]
fn settings_that_cannot_stand_are_refused() {
    let check = |change: &dyn Fn(&mut SmppSettings), expect: &str| {
        let mut settings = settings(2775);
        change(&mut settings);
        let error = SmppSender::new(settings).err().unwrap().to_string();
        assert!(error.contains(expect), "{error}");
    };
    check(&|s| s.host = String::new(), "host");
    check(&|s| s.system_id = "x".repeat(16), "system_id");
    check(&|s| s.password = "123456789".to_owned().into(), "password");
    check(&|s| s.sender = "Perigee Alerts".to_owned(), "sender");
    check(&|s| s.sender = "Ñandú".to_owned(), "sender");
    check(&|s| s.window = 0, "window");
}
