//! The mail with a link for setting a password: an invitation, or a reset. Accounts cannot change it.

use perigee_core::access::credential::LinkPurpose;
use perigee_core::notifications::notification::{Channel, Composed, Content, LINK_SECRET, Message};

use super::consent::shown_name;
use super::words::supported_language;

/// The mail, with a placeholder for the secret of the link.
pub(super) fn message(content: &Content, purpose: LinkPurpose) -> Composed {
    let account = shown_name(content);
    let language = supported_language(content.preferences.language.as_str());
    let link = format!("{}/password?language={language}#token={LINK_SECRET}", content.base_url);
    let (subject, text) = match (purpose, language) {
        (LinkPurpose::Invitation, "es") => (
            format!("Invitación a {account}"),
            format!(
                "{account} le ha invitado a Perigee. Abra este enlace y elija una contraseña:\n\n{link}\n\n\
                 El enlace funciona una sola vez. Si no esperaba este correo, ignórelo.\n"
            ),
        ),
        (LinkPurpose::Invitation, _) => (
            format!("Invitation to {account}"),
            format!(
                "{account} invited you to Perigee. Open this link and choose a password:\n\n{link}\n\n\
                 The link works once. If you did not expect this e-mail, ignore it.\n"
            ),
        ),
        (LinkPurpose::Reset, "es") => (
            "Contraseña nueva".to_owned(),
            format!(
                "Alguien ha pedido una contraseña nueva para su usuario de {account}. Si ha sido usted, abra este \
                 enlace:\n\n{link}\n\nEl enlace funciona una sola vez. Si no lo ha pedido, ignore este correo: su \
                 contraseña no cambia.\n"
            ),
        ),
        (LinkPurpose::Reset, _) => (
            "New password".to_owned(),
            format!(
                "Somebody requested a new password for your user of {account}. If it was you, open this link:\n\n\
                 {link}\n\nThe link works once. If it was not you, ignore this e-mail: your password does not change.\n"
            ),
        ),
    };
    let message = Message {
        id: content.id,
        channel: Channel::EMAIL,
        to: content.to.clone(),
        subject,
        text,
        html: None,
        mail_link: None,
        attachment: None,
    };
    Composed { message, segments: 0 }
}
