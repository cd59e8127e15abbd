//! The text of the mail with a scheduled report, in every language. Accounts cannot change it.

use perigee_core::notifications::notification::{Channel, Composed, Content, Message};
use perigee_core::reports::ReportNotice;
use perigee_core::time::Timestamp;

use super::composer::SERVICE;
use super::consent::{add_footer, shown_name};
use super::words::supported_language;
use crate::plain::excerpt;

/// Characters of the name of the report that are shown.
const SHOWN: usize = 100;
const KILOBYTE: u64 = 1_024;

pub(super) fn message(content: &Content, notice: &ReportNotice) -> Composed {
    let is_spanish = supported_language(content.preferences.language.as_str()) == "es";
    let name = excerpt(&notice.name, SHOWN);
    // E-mail to people who did not ask for it shows whose it is.
    let prefix = if content.is_stranger { format!("{SERVICE} ") } else { String::new() };
    let subject = format!("{prefix}{name} ({})", notice.date);
    let mut text = body(content, notice, &name, is_spanish);
    add_footer(content, &mut text, None);
    let message = Message {
        id: content.id,
        channel: Channel::EMAIL,
        to: content.to.clone(),
        subject,
        text,
        html: None,
        mail_link: content.mail_link.clone(),
        attachment: None,
    };
    Composed { message, segments: 0 }
}

fn body(content: &Content, notice: &ReportNotice, name: &str, is_spanish: bool) -> String {
    let local = |at: Timestamp| {
        let local = notice.time_zone.as_jiff().to_datetime(at.to_jiff());
        local.strftime("%Y-%m-%d %H:%M").to_string()
    };
    let (from, to, zone) = (local(notice.from), local(notice.to), notice.time_zone.id());
    let (account, rows, file) = (shown_name(content), notice.rows, &notice.file.name);
    let size = size_text(notice.size);
    let link = format!("{}/reports/{}", content.base_url, notice.report);
    if is_spanish {
        let attached = if notice.attached {
            format!("Archivo adjunto: {file} ({size})")
        } else {
            format!(
                "El archivo ({size}) es demasiado grande para adjuntarlo. Ábralo en la página del informe."
            )
        };
        format!(
            "{name}\n\nCuenta: {account}\nPeriodo: de {from} a {to} ({zone})\nFilas: {rows}\n\n{attached}\n\n\
             Página del informe (requiere iniciar sesión): {link}\n"
        )
    } else {
        let attached = if notice.attached {
            format!("Attached file: {file} ({size})")
        } else {
            format!("The file ({size}) is too large to attach. Open it on the page of the report.")
        };
        format!(
            "{name}\n\nAccount: {account}\nPeriod: {from} to {to} ({zone})\nRows: {rows}\n\n{attached}\n\n\
             Page of the report (requires signing in): {link}\n"
        )
    }
}

fn size_text(bytes: u64) -> String {
    match bytes.div_ceil(KILOBYTE) {
        kilobytes if kilobytes < KILOBYTE => format!("{kilobytes} KB"),
        kilobytes => format!("{} MB", kilobytes.div_ceil(KILOBYTE)),
    }
}
