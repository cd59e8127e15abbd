//! The text of a test notification, in every language. Accounts cannot change it.

use perigee_core::notifications::notification::{Channel, Composed, Content, Message};

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
    let is_spanish = supported_language(content.preferences.language.as_str()) == "es";
    let (subject, mut text) = if content.channel == Channel::PUSH && content.device.is_none() {
        of_browser(&account, is_spanish)
    } else if is_spanish {
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
        push: None,
    };
    Composed { message, segments: count }
}

/// The test that a user sends to their own browser.
fn of_browser(account: &str, is_spanish: bool) -> (String, String) {
    if is_spanish {
        (
            "Prueba: notificaciones".to_owned(),
            format!("Las alertas de {account} aparecerán así en este navegador. No tiene que hacer nada."),
        )
    } else {
        (
            "Test: notifications".to_owned(),
            format!("Alerts of {account} will appear like this in this browser. No action is needed."),
        )
    }
}
