//! Composes the bytes of an e-mail.

use std::time::{Duration, SystemTime};

use lettre::Address;
use lettre::message::header::{ContentTransferEncoding, ContentType, Header, HeaderName, HeaderValue};
use lettre::message::{Body, Mailbox, MultiPart, SinglePart};
use perigee_core::notifications::notification::{Attachment, InlinePicture, Message};
use perigee_core::time::Timestamp;

use crate::plain::{lines, one_line};

/// The parts that all messages of a sender share.
pub(super) struct Letterhead {
    pub(super) from: Mailbox,
    pub(super) reply_to: Option<Mailbox>,
    pub(super) domain: String,
    pub(super) unsubscribe: Option<String>,
}

macro_rules! headers {
    ($($(#[$doc:meta])* $type:ident = $name:literal;)+) => {$(
        $(#[$doc])*
        #[derive(Clone)]
        struct $type(String);

        impl Header for $type {
            fn name() -> HeaderName {
                HeaderName::new_from_ascii_str($name)
            }

            fn parse(text: &str) -> Result<Self, Box<dyn std::error::Error + Send + Sync>> {
                Ok(Self(text.to_owned()))
            }

            fn display(&self) -> HeaderValue {
                HeaderValue::new(Self::name(), self.0.clone())
            }
        }
    )+};
}

headers! {
    /// Keeps auto-responders from answering (RFC 3834).
    AutoSubmitted = "Auto-Submitted";
    /// The same for Exchange, which ignores `Auto-Submitted`.
    SuppressResponses = "X-Auto-Response-Suppress";
    /// Lets recipients filter alerts (RFC 2919).
    ListId = "List-Id";
    /// How to unsubscribe (RFC 2369); left out if there is no such address.
    ListUnsubscribe = "List-Unsubscribe";
    /// Declares that a POST to the first address of `List-Unsubscribe` unsubscribes (RFC 8058).
    ListUnsubscribePost = "List-Unsubscribe-Post";
}

impl Letterhead {
    /// The e-mail for this message, or why it cannot be composed.
    pub(super) fn write(&self, message: &Message, to: &Address, now: Timestamp) -> Result<Vec<u8>, String> {
        let mut builder = lettre::Message::builder()
            .message_id(Some(format!("<{}@{}>", message.id, self.domain)))
            .date(system_time(now))
            .from(self.from.clone())
            .to(Mailbox::new(None, to.clone()))
            .subject(one_line(&message.subject))
            .header(AutoSubmitted("auto-generated".to_owned()))
            .header(SuppressResponses("All".to_owned()))
            .header(ListId(format!("<alerts.{}>", self.domain)));
        if let Some(reply_to) = &self.reply_to {
            builder = builder.reply_to(reply_to.clone());
        }
        let ways: Vec<String> =
            message.mail_link.iter().chain(&self.unsubscribe).map(|way| format!("<{way}>")).collect();
        if !ways.is_empty() {
            builder = builder.header(ListUnsubscribe(ways.join(", ")));
        }
        // RFC 8058 requires https.
        if message.mail_link.as_ref().is_some_and(|link| link.starts_with("https:")) {
            builder = builder.header(ListUnsubscribePost("List-Unsubscribe=One-Click".to_owned()));
        }
        let text = lines(&message.text);
        let html = message.html.as_ref();
        let html =
            html.map(|html| with_pictures(text.clone(), lines(html), &message.pictures)).transpose()?;
        let built = match (html, &message.attachment) {
            (Some(both), None) => builder.multipart(both),
            (None, None) => builder.singlepart(SinglePart::plain(text)),
            (html, Some(file)) => {
                let body = MultiPart::mixed();
                let body = match html {
                    Some(both) => body.multipart(both),
                    None => body.singlepart(SinglePart::plain(text)),
                };
                builder.multipart(body.singlepart(attached(file)?))
            }
        };
        built.map(|email| email.formatted()).map_err(|error| format!("cannot write the e-mail: {error}"))
    }
}

/// Text and HTML, with the pictures that the HTML shows as parts of the same e-mail.
fn with_pictures(text: String, html: String, pictures: &[InlinePicture]) -> Result<MultiPart, String> {
    if pictures.is_empty() {
        return Ok(MultiPart::alternative_plain_html(text, html));
    }
    let mut related = MultiPart::related().singlepart(SinglePart::html(html));
    for picture in pictures {
        let media_type = ContentType::parse(picture.media_type)
            .map_err(|error| format!("cannot show a picture of type {}: {error}", picture.media_type))?;
        let body = Body::new_with_encoding(picture.bytes.as_ref().clone(), ContentTransferEncoding::Base64)
            .map_err(|_unencoded| "cannot encode a picture".to_owned())?;
        let part = lettre::message::Attachment::new_inline(picture.content_id.to_owned());
        related = related.singlepart(part.body(body, media_type));
    }
    Ok(MultiPart::alternative().singlepart(SinglePart::plain(text)).multipart(related))
}

/// A file as a part of an e-mail, in Base64.
fn attached(file: &Attachment) -> Result<SinglePart, String> {
    let media_type = ContentType::parse(&file.media_type)
        .map_err(|error| format!("cannot attach a file of type {}: {error}", file.media_type))?;
    let body = Body::new_with_encoding(file.bytes.as_ref().clone(), ContentTransferEncoding::Base64)
        .map_err(|_unencoded| "cannot encode the attached file".to_owned())?;
    Ok(lettre::message::Attachment::new(one_line(&file.name)).body(body, media_type))
}

/// The recipient's address for the SMTP envelope, with the host name in Punycode.
pub(super) fn recipient(text: &str) -> Result<Address, String> {
    let email: perigee_core::text::Email =
        text.parse().map_err(|error| format!("the address of the recipient {error}"))?;
    let (local, host) = email.as_str().rsplit_once('@').unwrap_or_default();
    let host =
        url::Host::parse(host).map_err(|error| format!("the host of the recipient's address: {error}"))?;
    Address::new(local, host.to_string()).map_err(|error| format!("the address of the recipient: {error}"))
}

/// Converts to the type that lettre takes. Messages have no dates before 1970.
fn system_time(now: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(u64::try_from(now.as_millis()).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use perigee_core::id::NotificationId;
    use perigee_core::notifications::notification::Channel;

    use super::*;

    fn letterhead() -> Letterhead {
        Letterhead {
            from: "Perigee <alerts@example.org>".parse().unwrap(),
            reply_to: None,
            domain: "example.org".to_owned(),
            unsubscribe: None,
        }
    }

    fn written(subject: &str, text: &str, html: Option<&str>) -> String {
        let message = Message {
            id: NotificationId::from_i64(7),
            channel: Channel::EMAIL,
            to: "ana@example.com".to_owned(),
            subject: subject.to_owned(),
            text: text.to_owned(),
            html: html.map(str::to_owned),
            mail_link: None,
            push: None,
            attachment: None,
            pictures: Vec::new(),
        };
        let now = "2026-05-01T12:00:00Z".parse().unwrap();
        let bytes = letterhead().write(&message, &recipient(&message.to).unwrap(), now).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn headers_are_those_of_alert_mail() {
        let mail = written("SOS", "Help.", None);
        for header in [
            "Message-ID: <ntf_0000000000007@example.org>\r\n",
            "Date: Fri, 01 May 2026 12:00:00 +0000\r\n",
            "From: Perigee <alerts@example.org>\r\n",
            "To: ana@example.com\r\n",
            "Subject: SOS\r\n",
            "Auto-Submitted: auto-generated\r\n",
            "List-Id: <alerts.example.org>\r\n",
        ] {
            assert!(mail.contains(header), "{header} in {mail}");
        }
        for absent in ["Precedence", "List-Unsubscribe", "Bcc", "Cc:"] {
            assert!(!mail.contains(absent), "{absent} in {mail}");
        }
    }

    #[test]
    fn one_click_unsubscription_requires_https() {
        let write = |link: Option<&str>, unsubscribe: Option<&str>| {
            let head = Letterhead { unsubscribe: unsubscribe.map(str::to_owned), ..letterhead() };
            let message = Message {
                id: NotificationId::from_i64(7),
                channel: Channel::EMAIL,
                to: "ana@example.com".to_owned(),
                subject: "SOS".to_owned(),
                text: "Help.".to_owned(),
                html: None,
                mail_link: link.map(str::to_owned),
                push: None,
                attachment: None,
                pictures: Vec::new(),
            };
            let now = "2026-05-01T12:00:00Z".parse().unwrap();
            String::from_utf8(head.write(&message, &recipient(&message.to).unwrap(), now).unwrap()).unwrap()
        };
        let both = write(Some("https://a.example/mail/t"), Some("mailto:off@a.example"));
        let ways = "List-Unsubscribe: <https://a.example/mail/t>, <mailto:off@a.example>\r\n";
        assert!(both.contains(ways), "{both}");
        assert!(both.contains("List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n"), "{both}");
        let plain = write(Some("http://a.example/mail/t"), None);
        assert!(plain.contains("List-Unsubscribe: <http://a.example/mail/t>\r\n"), "{plain}");
        assert!(!plain.contains("List-Unsubscribe-Post"), "{plain}");
    }

    #[test]
    fn no_name_can_add_a_header_or_a_body() {
        for hostile in
            ["x\r\nBcc: all@example.com", "x\nBcc: all@example.com", "x\r\n\r\nbody", "x\0\u{2028}Bcc: y"]
        {
            let mail = written(hostile, "Text.", Some("<p>Text.</p>"));
            let (head, _) = mail.split_once("\r\n\r\n").unwrap();
            assert!(
                !head.contains("\r\nBcc") && !head.contains('\0') && !head.contains('\u{2028}'),
                "{head}"
            );
            assert!(head.contains("\r\nMIME-Version: 1.0"), "{head}");
        }
    }

    #[test]
    fn letters_beyond_ascii_travel_encoded() {
        let mail = written("🚤 Ñandú: velocidad", "¡Atención!\nFin\u{2028}x\0y", Some("<p>¡Atención!</p>"));
        assert!(mail.is_ascii(), "{mail}");
        assert!(mail.contains("Subject: =?utf-8?b?"), "{mail}");
        assert!(mail.contains("multipart/alternative"), "{mail}");
        assert!(!mail.replace("\r\n", "").contains(['\r', '\n', '\0']), "{mail:?}");
    }

    #[test]
    fn a_file_is_attached_in_base64() {
        let message = Message {
            id: NotificationId::from_i64(7),
            channel: Channel::EMAIL,
            to: "ana@example.com".to_owned(),
            subject: "Trips".to_owned(),
            text: "See the file.".to_owned(),
            html: None,
            mail_link: None,
            push: None,
            attachment: Some(Attachment {
                name: "viajes\r\nBcc: all@example.com.csv".to_owned(),
                media_type: "text/csv".to_owned(),
                bytes: std::sync::Arc::new(b".\r\n.\r\nBoat".to_vec()),
            }),
            pictures: Vec::new(),
        };
        let now = "2026-05-01T12:00:00Z".parse().unwrap();
        let bytes = letterhead().write(&message, &recipient(&message.to).unwrap(), now).unwrap();
        let mail = String::from_utf8(bytes).unwrap();
        assert!(mail.contains("Content-Type: multipart/mixed;"), "{mail}");
        assert!(mail.contains("Content-Type: text/csv\r\n"), "{mail}");
        assert!(mail.contains("\r\nLg0KLg0KQm9hdA=="), "{mail}");
        assert!(mail.contains("Content-Disposition: attachment; filename="), "{mail}");
        assert!(!mail.contains("\r\nBcc"), "{mail}");
    }

    #[test]
    fn pictures_are_parts_of_the_mail() {
        let picture = InlinePicture {
            content_id: InlinePicture::MAP,
            media_type: "image/png",
            bytes: std::sync::Arc::new(b"\x89PNG".to_vec()),
        };
        let message = Message {
            id: NotificationId::from_i64(7),
            channel: Channel::EMAIL,
            to: "ana@example.com".to_owned(),
            subject: "SOS".to_owned(),
            text: "Help.".to_owned(),
            html: Some("<img src=\"cid:map@perigee\">".to_owned()),
            mail_link: None,
            push: None,
            attachment: None,
            pictures: vec![picture],
        };
        let now = "2026-05-01T12:00:00Z".parse().unwrap();
        let bytes = letterhead().write(&message, &recipient(&message.to).unwrap(), now).unwrap();
        let mail = String::from_utf8(bytes).unwrap();
        let order = ["multipart/alternative", "text/plain", "multipart/related", "text/html", "image/png"];
        let found: Vec<_> = order.iter().map(|part| mail.find(&format!("Content-Type: {part}"))).collect();
        assert!(found.iter().all(Option::is_some) && found.is_sorted(), "{found:?} in {mail}");
        assert!(
            mail.contains("Content-ID: <map@perigee>") && mail.contains("Content-Disposition: inline"),
            "{mail}"
        );
    }

    #[test]
    fn hosts_beyond_ascii_are_spelled_for_the_network() {
        assert_eq!(recipient("jose@correo.es").unwrap().to_string(), "jose@correo.es");
        assert_eq!(recipient("a@bücher.example").unwrap().to_string(), "a@xn--bcher-kva.example");
        assert!(recipient("a@b\r\nRCPT TO:<c@d>").is_err());
        assert!(recipient("<a@b>").is_err());
    }
}
