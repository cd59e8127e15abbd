//! The unsubscribe footer of every e-mail, and the mail that asks a recipient to confirm. Accounts cannot change
//! these texts.

use perigee_core::notifications::notification::{Channel, Composed, Content, Message};

use crate::plain::one_line;

/// Characters of an account's name that are shown.
const NAME_SHOWN: usize = 60;

/// The texts of one language, with the placeholders `{account}` and `{link}`.
struct Texts {
    footer: &'static str,
    subject: &'static str,
    question: &'static str,
}

const ENGLISH: Texts = Texts {
    footer: "Unsubscribe from e-mails of {account}, or resume them",
    subject: "Do you want e-mails from {account}?",
    question: "{account} wants to send you e-mails about its devices. If you want them, open this link and confirm:\n\n\
               {link}\n\nIf you do not want them, ignore this e-mail: no others will be sent.\n",
};
const SPANISH: Texts = Texts {
    footer: "Dejar de recibir correos de {account}, o reanudarlos",
    subject: "¿Quiere recibir correos de {account}?",
    question: "{account} quiere enviarle correos sobre sus dispositivos. Si los quiere, abra este enlace y confirme:\n\n\
               {link}\n\nSi no los quiere, ignore este correo: no recibirá ningún otro.\n",
};

fn texts(content: &Content) -> &'static Texts {
    let language = content.preferences.language.as_str();
    let primary = language.split(['-', '_']).next().unwrap_or_default();
    if primary.eq_ignore_ascii_case("es") { &SPANISH } else { &ENGLISH }
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
    let label = texts(content).footer.replace("{account}", &shown_name(content));
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
    let message = Message {
        id: content.id,
        channel: Channel::EMAIL,
        to: content.to.clone(),
        subject: texts.subject.replace("{account}", &name),
        text: texts.question.replace("{link}", link).replace("{account}", &name),
        html: None,
        mail_link: content.mail_link.clone(),
        attachment: None,
    };
    Composed { message, segments: 0 }
}
