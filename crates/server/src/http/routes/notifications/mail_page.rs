//! The page on which a recipient ends, resumes or confirms e-mail of an account: plain HTML and two forms, no script.

use http::{HeaderMap, header};
use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::notifications::notification::MailedAccount;

use crate::http::routes::page_words::{MailWords, page_words};

/// The language that the browser prefers; English if there are no texts in any that it accepts.
pub(in crate::http::routes) fn accepted_language(headers: &HeaderMap) -> ConsoleLanguage {
    let accepted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
    ConsoleLanguage::accepted(accepted.unwrap_or_default())
}

/// Writes the page.
pub struct MailPage;

impl MailPage {
    /// The state of the subscription, and the buttons that change it.
    pub fn of(language: ConsoleLanguage, account: &MailedAccount, requires_confirmation: bool) -> String {
        let texts = &page_words(language).mail;
        let name = escape(&account.name);
        let fill = |text: &str| text.replace("{account}", &name);
        let (state, buttons) = if account.consent.unsubscribed_at.is_some() {
            (&texts.ended, button("subscribe", &texts.resume))
        } else if requires_confirmation && !account.consent.is_confirmed() {
            (&texts.asked, button("subscribe", &texts.confirm) + &button("unsubscribe", &texts.end))
        } else {
            (&texts.active, button("unsubscribe", &texts.end))
        };
        let body = format!("<p role=\"status\">{}</p>\n{buttons}", fill(state));
        page(language, &fill(&texts.title), &body)
    }

    /// A page that shows a problem.
    pub fn problem(language: ConsoleLanguage, problem: fn(&MailWords) -> &str) -> String {
        let problem = problem(&page_words(language).mail);
        page(language, "Perigee", &format!("<p class=\"message problem\">{problem}</p>"))
    }
}

fn button(choice: &str, label: &str) -> String {
    format!(
        "<form method=\"post\"><input type=\"hidden\" name=\"say\" value=\"{choice}\">\
         <button type=\"submit\">{label}</button></form>\n"
    )
}

/// A page of one heading and this body, both HTML.
pub(in crate::http::routes) fn page(language: ConsoleLanguage, title: &str, body: &str) -> String {
    branded_page(language, title, body, ("", ""))
}

/// The same with further elements in its head, and with this HTML above the heading.
pub(in crate::http::routes) fn branded_page(
    language: ConsoleLanguage,
    title: &str,
    body: &str,
    (head, brand): (&str, &str),
) -> String {
    let language = language.name();
    format!(
        "<!doctype html>\n<html lang=\"{language}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"robots\" content=\"noindex\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"../pages/icon.svg\" type=\"image/svg+xml\">\n\
         <link rel=\"stylesheet\" href=\"../pages/page.css\">\n{head}</head>\n<body>\n<main class=\"narrow\">\n\
         {brand}<h1>{title}</h1>\n{body}</main>\n</body>\n</html>\n"
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
        let page = MailPage::of(ConsoleLanguage::English, &account(EmailConsent::default()), false);
        assert!(
            page.contains("E-mails from &lt;script&gt;&quot;&amp;") && !page.contains("<script"),
            "{page}"
        );
        assert!(page.contains("value=\"unsubscribe\"") && !page.contains("value=\"subscribe\""), "{page}");
        let ended = EmailConsent { unsubscribed_at: Some(Timestamp::MIN), ..EmailConsent::default() };
        let page = MailPage::of(ConsoleLanguage::Spanish, &account(ended), true);
        assert!(page.contains("value=\"subscribe\"") && !page.contains("value=\"unsubscribe\""), "{page}");
        let page = MailPage::of(ConsoleLanguage::English, &account(EmailConsent::default()), true);
        assert!(page.contains("Confirm") && page.contains("value=\"unsubscribe\""), "{page}");
    }
}
