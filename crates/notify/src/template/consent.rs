//! The unsubscribe footer of every e-mail, and the mail that asks a recipient to confirm. Accounts cannot change
//! these texts.

use perigee_core::notifications::notification::{Channel, Composed, Content, Message};

use super::words::{MailWords, fill, words};
use crate::plain::one_line;

/// Characters of an account's name that are shown.
const NAME_SHOWN: usize = 60;

fn texts(content: &Content) -> &'static MailWords {
    &words(content.preferences.language.as_str()).mail
}

pub(super) fn shown_name(content: &Content) -> String {
    one_line(&content.account_name).chars().take(NAME_SHOWN).collect()
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Adds the unsubscribe footer to text and HTML of an e-mail.
pub(super) fn add_footer(content: &Content, text: &mut String, html: Option<&mut String>) {
    let Some(link) = &content.mail_link else { return };
    let label = fill(&texts(content).footer, &[("account", &shown_name(content))]);
    let line_end = if text.ends_with('\n') { "" } else { "\n" };
    for part in [line_end, "\n-- \n", &label, ": ", link, "\n"] {
        text.push_str(part);
    }
    if let Some(html) = html {
        let footer = format!("<p><a href=\"{}\">{}</a></p>\n", escape(link), escape(&label));
        let index = html.to_ascii_lowercase().rfind("</body>").unwrap_or(html.len());
        html.insert_str(index, &footer);
    }
}

/// The mail that asks a recipient to confirm.
pub(super) fn question(content: &Content) -> Composed {
    let (texts, name) = (texts(content), shown_name(content));
    let link = content.mail_link.as_deref().unwrap_or_default();
    let values = [("account", name.as_str()), ("link", link)];
    let message = Message {
        id: content.id,
        channel: Channel::EMAIL,
        to: content.to.clone(),
        subject: fill(&texts.confirm_subject, &values),
        text: fill(&texts.confirm_text, &values),
        html: None,
        mail_link: content.mail_link.clone(),
        push: None,
        attachment: None,
        pictures: Vec::new(),
    };
    Composed { message, segments: 0 }
}
