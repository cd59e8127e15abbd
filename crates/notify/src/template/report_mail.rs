//! The text of the mail with a scheduled report, in every language. Accounts cannot change it.

use perigee_core::notifications::notification::{Channel, Composed, Content, Message};
use perigee_core::reports::ReportNotice;
use perigee_core::time::Timestamp;

use super::composer::SERVICE;
use super::consent::{add_footer, shown_name};
use super::words::{fill, words};
use crate::plain::excerpt;

/// Characters of the name of the report that are shown.
const SHOWN: usize = 100;
const KILOBYTE: u64 = 1_024;

pub(super) fn message(content: &Content, notice: &ReportNotice) -> Composed {
    let name = excerpt(&notice.name, SHOWN);
    // E-mail to people who did not ask for it shows whose it is.
    let prefix = if content.is_stranger { format!("{SERVICE} ") } else { String::new() };
    let subject = format!("{prefix}{name} ({})", notice.date);
    let mut text = body(content, notice, &name);
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
        pictures: Vec::new(),
        push: None,
    };
    Composed { message, segments: 0 }
}

fn body(content: &Content, notice: &ReportNotice, name: &str) -> String {
    let local = |at: Timestamp| {
        let local = notice.time_zone.as_jiff().to_datetime(at.to_jiff());
        local.strftime("%Y-%m-%d %H:%M").to_string()
    };
    let (from, to, zone) = (local(notice.from), local(notice.to), notice.time_zone.id());
    let (account, rows, file) = (shown_name(content), notice.rows, &notice.file.name);
    let size = size_text(notice.size);
    let link = format!("{}/reports/{}", content.base_url, notice.report);
    let words = words(content.preferences.language.as_str());
    let texts = &words.report;
    let label = words.label.get("account").map_or("", String::as_str);
    let period = fill(&texts.period, &[("from", &from), ("to", &to), ("zone", zone)]);
    let file_text = if notice.attached { &texts.attached } else { &texts.too_large };
    let file_text = fill(file_text, &[("file", file), ("size", &size)]);
    let (row_label, page) = (&texts.rows, &texts.page);
    format!("{name}\n\n{label}: {account}\n{period}\n{row_label}: {rows}\n\n{file_text}\n\n{page}: {link}\n")
}

fn size_text(bytes: u64) -> String {
    match bytes.div_ceil(KILOBYTE) {
        kilobytes if kilobytes < KILOBYTE => format!("{kilobytes} KB"),
        kilobytes => format!("{} MB", kilobytes.div_ceil(KILOBYTE)),
    }
}
