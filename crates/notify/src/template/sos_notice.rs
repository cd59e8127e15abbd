//! The text of a message about an SOS of a device that is not registered or has expired, in every language. Accounts
//! cannot change it.

use perigee_core::alerts::sos_notice::{SosNotice, SosReason};
use perigee_core::notifications::notification::{Channel, Composed, Content, Message};

use super::consent::{add_footer, shown_name};
use super::count::{segment_count, subject_of};
use super::facts::map_url;
use super::words::supported_language;
use crate::plain::excerpt;

/// Characters that are shown of texts of the sender or a user.
const SHOWN: usize = 40;

pub(super) fn message(content: &Content, notice: &SosNotice) -> Composed {
    let is_spanish = supported_language(content.preferences.language.as_str()) == "es";
    let named = content.device.as_ref().map(|device| excerpt(&device.name, SHOWN));
    let sender = named.unwrap_or_else(|| excerpt(&notice.identifier, SHOWN));
    let subject = match (notice.reason, is_spanish) {
        (SosReason::UnknownDevice, false) => format!("SOS from a device that is not registered: {sender}"),
        (SosReason::ExpiredDevice, false) => format!("SOS from an expired device: {sender}"),
        (SosReason::UnknownDevice, true) => format!("SOS de un dispositivo no registrado: {sender}"),
        (SosReason::ExpiredDevice, true) => format!("SOS de un dispositivo caducado: {sender}"),
    };
    let mut text = match content.channel {
        Channel::EMAIL => long_text(content, notice, &subject, is_spanish),
        _ => format!("{subject}. {}", position_line(notice, is_spanish)),
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
        attachment: None,
    };
    Composed { message, segments: count }
}

fn long_text(content: &Content, notice: &SosNotice, subject: &str, is_spanish: bool) -> String {
    let local = content.time_zone.as_jiff().to_datetime(notice.time.to_jiff());
    let time = format!("{} ({})", local.strftime("%Y-%m-%d %H:%M:%S"), content.time_zone.id());
    let (identifier, source) = (excerpt(&notice.identifier, 100), &notice.source);
    let (account, position) = (shown_name(content), position_line(notice, is_spanish));
    if is_spanish {
        format!(
            "{subject}\n\nIdentificador: {identifier}\nRed: {source} {}\nHora: {time}\n{position}\n\n\
             No se ha creado ninguna alerta. Para recibir alertas de este dispositivo, regístrelo en {account} o amplíe su caducidad.\n",
            notice.peer
        )
    } else {
        format!(
            "{subject}\n\nIdentifier: {identifier}\nNetwork: {source} {}\nTime: {time}\n{position}\n\n\
             No alert was created. To get alerts of this device, register it in {account} or extend its expiry date.\n",
            notice.peer
        )
    }
}

fn position_line(notice: &SosNotice, is_spanish: bool) -> String {
    match (notice.position, is_spanish) {
        (Some((latitude, longitude)), _) => {
            let degrees = (latitude.as_degrees(), longitude.as_degrees());
            format!("{:.5}, {:.5} {}", degrees.0, degrees.1, map_url(degrees))
        }
        (None, false) => "Position: unknown".to_owned(),
        (None, true) => "Posición: desconocida".to_owned(),
    }
}
