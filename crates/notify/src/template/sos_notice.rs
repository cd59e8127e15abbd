//! The text of a message about an SOS of a device that is not registered or has expired, in every language. Accounts
//! cannot change it.

use perigee_core::alerts::sos_notice::{SosNotice, SosReason};
use perigee_core::notifications::notification::{Channel, Composed, Content, Message};

use super::consent::{add_footer, shown_name};
use super::count::{segment_count, subject_of};
use super::facts::map_url;
use super::words::{SosWords, fill, words};
use crate::plain::excerpt;

/// Characters that are shown of texts of the sender or a user.
const SHOWN: usize = 40;

pub(super) fn message(content: &Content, notice: &SosNotice) -> Composed {
    let texts = &words(content.preferences.language.as_str()).sos;
    let named = content.device.as_ref().map(|device| excerpt(&device.name, SHOWN));
    let sender = named.unwrap_or_else(|| excerpt(&notice.identifier, SHOWN));
    let subject = match notice.reason {
        SosReason::UnknownDevice => &texts.unknown_device,
        SosReason::ExpiredDevice => &texts.expired_device,
    };
    let subject = fill(subject, &[("device", &sender)]);
    let mut text = match content.channel {
        Channel::EMAIL => long_text(content, notice, &subject, texts),
        _ => format!("{subject}. {}", position_line(notice, texts)),
    };
    let count = segment_count(content.channel, &text);
    add_footer(content, &mut text, None);
    let message = Message {
        id: content.id,
        channel: content.channel,
        to: content.to.clone(),
        subject: subject_of(content.channel, subject),
        text,
        html: None,
        mail_link: content.mail_link.clone(),
        push: None,
        attachment: None,
        pictures: Vec::new(),
    };
    Composed { message, segments: count }
}

fn long_text(content: &Content, notice: &SosNotice, subject: &str, texts: &SosWords) -> String {
    let local = content.time_zone.as_jiff().to_datetime(notice.time.to_jiff());
    let time = format!("{} ({})", local.strftime("%Y-%m-%d %H:%M:%S"), content.time_zone.id());
    let (identifier, source) = (excerpt(&notice.identifier, 100), &notice.source);
    let (account, position) = (shown_name(content), position_line(notice, texts));
    let no_alert = fill(&texts.no_alert, &[("account", &account)]);
    format!(
        "{subject}\n\n{}: {identifier}\n{}: {source} {}\n{}: {time}\n{position}\n\n{no_alert}\n",
        texts.identifier, texts.network, notice.peer, texts.time
    )
}

fn position_line(notice: &SosNotice, texts: &SosWords) -> String {
    let Some((latitude, longitude)) = notice.position else { return texts.no_position.clone() };
    let degrees = (latitude.as_degrees(), longitude.as_degrees());
    format!("{:.5}, {:.5} {}", degrees.0, degrees.1, map_url(degrees))
}
