//! SPOT's shared pages: 50 messages per request, newest first, of the last seven days. While old pages are fetched,
//! every other request is for the newest page, so that an SOS does not wait for the end of a catch-up.

use perigee_core::time::Timestamp;
use perigee_gateways::setting::SettingError;
use perigee_gateways::{FeedDecoded, Options};
use serde::{Deserialize, Serialize};
use url::Url;

use super::options;
use super::provider::{Context, Provider, Request, Step, newest};
use crate::webhook::{Credentials, Guard};

/// Base URL of the pages; the setting `url` replaces it.
const BASE: &str = "https://api.findmespot.com/spot-main-web/consumer/rest-api/2.0/public/feed";
/// SPOT blocks clients that fetch a page more often than every 2.5 minutes.
const WAIT_S: i64 = 150;
/// Messages of one answer.
const PAGE: usize = 50;
/// SPOT keeps messages for seven days.
const KEPT_S: i64 = 7 * 86_400;
/// Overlap with the newest known message, in seconds.
const OVERLAP_S: i64 = 2 * 3_600;

pub(super) const SPOT: Provider = Provider {
    feed: "spot-feed",
    spacing_s: 2,
    refused_s: 3_600,
    retry_s: WAIT_S,
    check,
    request,
    step,
    shorter: |_context| None,
};

/// The cursor of the poller. A pass reads all pages since the last pass, newest first, and fetches the newest page
/// again after each old page. Messages that arrive during a pass move the others to later pages, so that none is
/// skipped. The next pass reads from the newest message on the first page of this pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Cursor {
    /// The newest message of the last pass, in Unix milliseconds: it and all before it are stored.
    since: i64,
    /// The newest message of the first page of this pass.
    newest: i64,
    /// When this pass began.
    began: i64,
    /// Messages of this pass that are stored.
    done: usize,
    /// Whether the next request is for the newest page, between two old pages.
    #[serde(default)]
    look: bool,
}

fn read(context: &Context<'_>) -> Cursor {
    let begin = context.gateway.creation.plus_seconds(-KEPT_S).as_millis();
    let cursor = serde_json::from_str(context.cursor());
    let mut cursor: Cursor = cursor.unwrap_or(Cursor { since: begin, newest: begin, ..Cursor::default() });
    if cursor.done == 0 {
        cursor.began = context.now.as_millis();
    }
    cursor
}

fn address(options: &Options, guard: &Guard) -> Result<Url, SettingError> {
    let id = options::text(options, "feedId")?;
    if !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        let problem = "must have only letters, digits and hyphens, as in the URL of the shared page";
        return Err(options::invalid("feedId", problem));
    }
    let base = options.text("url").unwrap_or(BASE).trim_end_matches('/');
    options::url(&format!("{base}/{id}/message.json"), guard)
}

fn check(options: &Options, guard: &Guard) -> Result<(), SettingError> {
    address(options, guard).map(drop)
}

/// A date as SPOT writes it.
fn date(instant: Timestamp) -> String {
    let text = Timestamp::from_millis(instant.as_seconds() * 1000).to_string();
    format!("{}-0000", text.trim_end_matches('Z'))
}

fn request(context: &Context<'_>) -> Result<Request, SettingError> {
    let cursor = read(context);
    let mut url = address(context.options, context.guard)?;
    let from = Timestamp::from_millis(cursor.since).plus_seconds(-OVERLAP_S);
    // A minute less than SPOT keeps messages: it refuses an earlier start.
    let from = from.max(context.now.plus_seconds(60 - KEPT_S));
    url.query_pairs_mut().append_pair("startDate", &date(from));
    if cursor.done > 0 && !cursor.look {
        url.query_pairs_mut().append_pair("start", &(cursor.done + 1).to_string());
    }
    if let Some(password) = context.options.text("password") {
        url.query_pairs_mut().append_pair("feedPassword", password);
    }
    Ok(Request { url, credentials: Credentials::None })
}

fn step(context: &Context<'_>, decoded: &FeedDecoded) -> Step {
    let mut cursor = read(context);
    let mut complete_to = None;
    if cursor.look {
        cursor.look = false;
    } else {
        if cursor.done == 0 {
            cursor.newest = cursor.newest.max(newest(decoded).map_or(0, Timestamp::as_millis));
        }
        if decoded.messages.len() < PAGE {
            complete_to = Some(Timestamp::from_millis(cursor.began));
            (cursor.since, cursor.done) = (cursor.newest, 0);
        } else {
            // After the first page, which is the newest one, an old page follows immediately.
            cursor.look = cursor.done > 0;
            cursor.done += decoded.messages.len();
        }
    }
    Step { cursor: serde_json::to_string(&cursor).unwrap_or_default(), complete_to, wait_s: WAIT_S }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_spot_reads_them() {
        let instant: Timestamp = "2026-05-01T12:00:00.25Z".parse().unwrap();
        assert_eq!(date(instant), "2026-05-01T12:00:00-0000");
    }

    #[test]
    fn an_id_cannot_lead_elsewhere() {
        let options = |id: &str| Options::new(serde_json::json!({"feedId": id}).as_object().unwrap().clone());
        let url = address(&options("0Vb-1"), &Guard::default()).unwrap();
        assert_eq!(url.as_str(), format!("{BASE}/0Vb-1/message.json"));
        for wrong in ["", "../x", "a/b", "a?b", "a#b"] {
            assert!(address(&options(wrong), &Guard::default()).is_err(), "{wrong}");
        }
    }
}
