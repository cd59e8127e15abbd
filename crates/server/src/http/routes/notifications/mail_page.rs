//! The page on which a recipient ends, resumes or confirms e-mail of an account: plain HTML and two forms, no script.

use http::{HeaderMap, header};
use perigee_core::notifications::notification::MailedAccount;

/// The texts of the page in one language; `{account}` is replaced.
#[derive(Clone, Copy)]
pub struct PageText {
    language: &'static str,
    title: &'static str,
    active: &'static str,
    ended: &'static str,
    asked: &'static str,
    end: &'static str,
    resume: &'static str,
    confirm: &'static str,
    /// Shown for a link that this server did not create.
    pub no_link: &'static str,
    /// Shown if the form has no known value.
    pub unclear: &'static str,
}

const ENGLISH: PageText = PageText {
    language: "en",
    title: "E-mails from {account}",
    active: "You receive e-mails from {account}, including alerts.",
    ended: "You no longer receive e-mails from {account}, not even about critical alerts.",
    asked: "{account} wants to send you e-mails. No e-mails are sent until you confirm.",
    end: "Unsubscribe",
    resume: "Subscribe again",
    confirm: "Confirm",
    no_link: "This link is not valid. Open the complete link from an e-mail that you received.",
    unclear: "The request is incomplete. Open the link again and use a button of the page.",
};
const SPANISH: PageText = PageText {
    language: "es",
    title: "Correos de {account}",
    active: "Recibe correos de {account}, entre ellos alertas.",
    ended: "Ya no recibe correos de {account}, ni siquiera de alertas críticas.",
    asked: "{account} quiere enviarle correos. No recibirá ninguno hasta que confirme.",
    end: "Darse de baja",
    resume: "Volver a recibirlos",
    confirm: "Confirmar",
    no_link: "Este enlace no es válido. Abra el enlace completo de un correo que haya recibido.",
    unclear: "La petición está incompleta. Abra de nuevo el enlace y use un botón de la página.",
};

impl PageText {
    /// The texts in the language that the browser prefers; English if it is not available.
    pub fn of(headers: &HeaderMap) -> Self {
        let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        if wanted.is_some_and(|wanted| wanted.trim_start().to_ascii_lowercase().starts_with("es")) {
            SPANISH
        } else {
            ENGLISH
        }
    }
}

impl PageText {
    /// Whether it is in Spanish.
    pub fn is_spanish(self) -> bool {
        self.language == SPANISH.language
    }
}

/// Writes the page.
pub struct MailPage;

impl MailPage {
    /// The state of the subscription, and the buttons that change it.
    pub fn of(texts: PageText, account: &MailedAccount, requires_confirmation: bool) -> String {
        let name = escape(&account.name);
        let fill = |text: &str| text.replace("{account}", &name);
        let (state, buttons) = if account.consent.unsubscribed_at.is_some() {
            (texts.ended, button("subscribe", texts.resume))
        } else if requires_confirmation && !account.consent.is_confirmed() {
            (texts.asked, button("subscribe", texts.confirm) + &button("unsubscribe", texts.end))
        } else {
            (texts.active, button("unsubscribe", texts.end))
        };
        whole(texts, &fill(texts.title), &format!("<p role=\"status\">{}</p>\n{buttons}", fill(state)))
    }

    /// A page that shows a problem.
    pub fn problem(texts: PageText, problem: &str) -> String {
        whole(texts, "Perigee", &format!("<p class=\"message problem\">{problem}</p>"))
    }
}

fn button(choice: &str, label: &str) -> String {
    format!(
        "<form method=\"post\"><input type=\"hidden\" name=\"say\" value=\"{choice}\">\
         <button type=\"submit\">{label}</button></form>\n"
    )
}

fn whole(texts: PageText, title: &str, body: &str) -> String {
    page(texts.language, title, body)
}

/// A page of one heading and this body, both HTML.
pub(in crate::http::routes) fn page(language: &str, title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"robots\" content=\"noindex\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"../pages/icon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"../pages/page.css\">\n</head>\n<body>\n<main class=\"narrow\">\n\
         <h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
    )
}

pub(in crate::http::routes) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use perigee_core::notifications::notification::EmailConsent;
    use perigee_core::time::Timestamp;

    use super::*;

    #[test]
    fn a_name_is_text_and_the_buttons_fit_the_state() {
        let account = |consent| MailedAccount { name: "<script>\"&".to_owned(), consent };
        let page = MailPage::of(ENGLISH, &account(EmailConsent::default()), false);
        assert!(
            page.contains("E-mails from &lt;script&gt;&quot;&amp;") && !page.contains("<script"),
            "{page}"
        );
        assert!(page.contains("value=\"unsubscribe\"") && !page.contains("value=\"subscribe\""), "{page}");
        let ended = EmailConsent { unsubscribed_at: Some(Timestamp::MIN), ..EmailConsent::default() };
        let page = MailPage::of(SPANISH, &account(ended), true);
        assert!(page.contains("value=\"subscribe\"") && !page.contains("value=\"unsubscribe\""), "{page}");
        let page = MailPage::of(ENGLISH, &account(EmailConsent::default()), true);
        assert!(page.contains("Confirm") && page.contains("value=\"unsubscribe\""), "{page}");
    }
}
