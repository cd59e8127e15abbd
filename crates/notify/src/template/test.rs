//! The text of a test notification, in every language. Accounts cannot change it.

use perigee_core::notifications::notification::{Channel, Composed, Content, Message};

use super::consent::{add_footer, shown_name};
use super::count::{segment_count, subject_of};
use super::words::{fill, words};
use crate::plain::excerpt;

/// Characters of a device's name that are shown.
const NAME_SHOWN: usize = 40;

/// Composes a test notification, which shows its recipient that alerts will arrive.
pub(super) fn message(content: &Content) -> Composed {
    let device = content.device.as_ref().map(|device| excerpt(&device.name, NAME_SHOWN)).unwrap_or_default();
    let account = shown_name(content);
    let texts = &words(content.preferences.language.as_str()).test;
    let values = [("account", account.as_str()), ("device", device.as_str())];
    let of_browser = content.channel == Channel::PUSH && content.device.is_none();
    let (subject, text) = if of_browser {
        (&texts.browser_subject, &texts.browser_text)
    } else {
        (&texts.subject, &texts.text)
    };
    let (subject, mut text) = (fill(subject, &values), fill(text, &values));
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
        attachment: None,
        pictures: Vec::new(),
    };
    Composed { message, segments: count }
}
