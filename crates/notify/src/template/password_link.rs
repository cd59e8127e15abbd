//! The mail with a link for setting a password: an invitation, or a reset. Accounts cannot change it.

use perigee_core::access::credential::LinkPurpose;
use perigee_core::notifications::notification::{Channel, Composed, Content, LINK_SECRET, Message};

use super::consent::shown_name;
use super::words::{fill, supported_language, words};

/// The mail, with a placeholder for the secret of the link.
pub(super) fn message(content: &Content, purpose: LinkPurpose) -> Composed {
    let account = shown_name(content);
    let language = supported_language(content.preferences.language.as_str());
    let link = format!("{}/password?language={language}#token={LINK_SECRET}", content.base_url);
    let texts = &words(language).mail;
    let (subject, text) = match purpose {
        LinkPurpose::Invitation => (&texts.invitation_subject, &texts.invitation_text),
        LinkPurpose::Reset => (&texts.reset_subject, &texts.reset_text),
    };
    let values = [("account", account.as_str()), ("link", link.as_str())];
    let (subject, text) = (fill(subject, &values), fill(text, &values));
    let message = Message {
        id: content.id,
        channel: Channel::EMAIL,
        to: content.to.clone(),
        subject,
        text,
        html: None,
        mail_link: None,
        push: None,
        attachment: None,
        pictures: Vec::new(),
    };
    Composed { message, segments: 0 }
}
