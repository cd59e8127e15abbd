//! The text of a test notification, in every language. Accounts cannot change it.

use perigee_core::notifications::notification::{Composed, Content, Message};

use super::consent::{add_footer, shown_name};
use super::count::{segment_count, subject_of};
use super::words::supported_language;
use crate::plain::excerpt;

/// Characters of a device's name that are shown.
const NAME_SHOWN: usize = 40;

/// Composes a test notification, which shows its recipient that alerts will arrive.
pub(super) fn message(content: &Content) -> Composed {
    let device = content.device.as_ref().map(|device| excerpt(&device.name, NAME_SHOWN)).unwrap_or_default();
    let account = shown_name(content);
    let (subject, mut text) = if supported_language(content.preferences.language.as_str()) == "es" {
        (
            format!("Prueba: alertas de {device}"),
            format!("Prueba de {account}: las alertas de {device} le llegarán así. No tiene que hacer nada."),
        )
    } else {
        (
            format!("Test: alerts of {device}"),
            format!(
                "Test by {account}: you will be notified of alerts of {device} like this. No action is needed."
            ),
        )
    };
    let count = segment_count(content.channel, &text);
    add_footer(content, &mut text, None);
    let subject = subject_of(content.channel, subject);
    let message = Message {
        id: content.id,
        channel: content.channel,
        to: content.to.clone(),
        subject,
        text,
        html: None,
        mail_link: content.mail_link.clone(),
        attachment: None,
    };
    Composed { message, segments: count }
}
