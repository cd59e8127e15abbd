//! `perigee reprocess`: decodes stored messages again through the API of a running server.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use perigee_core::time::Timestamp;
use reqwest::Method;
use serde::Serialize;
use serde_json::Value;

use crate::api::Api;
use crate::args::{Common, Reprocess};
use crate::output::{Answer, print};
use crate::progress;

/// Messages that one request lists.
const PAGE: &str = "1000";

pub(crate) async fn run(common: &Common, options: Reprocess) -> Result<()> {
    let filters = [
        options.device.is_some(),
        options.source.is_some(),
        options.result.is_some(),
        options.from.is_some(),
    ];
    if options.messages.is_empty() && !options.all && !filters.contains(&true) {
        bail!("select messages by their IDs, --device, --source, --result or --from, or give --all");
    }
    let api = Api::new(&options.remote)?;
    // Listed first, because decoding changes what the list would show.
    let ids = if options.messages.is_empty() { list(&api, &options).await? } else { options.messages };
    let bar = progress::bar("messages");
    let mut done = Done::default();
    for id in ids {
        let url = api.url(&["api", "rawMessages", &id, "reprocess"])?;
        let answer = api.call(Method::POST, url, |request| request).await;
        let answer: Value = answer.with_context(|| format!("message {id}"))?.json().await?;
        let result = answer["result"].as_str().unwrap_or_default().to_owned();
        *done.results.entry(result).or_default() += 1;
        done.messages += 1;
        bar.set_position(done.messages);
    }
    print(&done, common.json)
}

/// The ids of the messages that match, oldest first.
async fn list(api: &Api, options: &Reprocess) -> Result<Vec<String>> {
    let mut ids = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let mut url = api.url(&["api", "rawMessages"])?;
        let filters = [
            ("device", &options.device),
            ("source", &options.source),
            ("result", &options.result),
            ("cursor", &cursor),
        ];
        url.query_pairs_mut().append_pair("limit", PAGE);
        for (name, value) in filters {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        let page: Value = api.call(Method::GET, url, |request| request).await?.json().await?;
        let received = |message: &Value| message["receivedAt"].as_str()?.parse::<Timestamp>().ok();
        let mut is_past = false;
        for message in page["rawMessages"].as_array().into_iter().flatten() {
            let is_early = options.from.is_some_and(|from| received(message).is_some_and(|at| at < from));
            is_past |= is_early;
            if !is_early {
                ids.extend(message["id"].as_str().map(str::to_owned));
            }
        }
        cursor = page["nextCursor"].as_str().map(str::to_owned);
        // Newest first: everything after the first that is too early is too early as well.
        if cursor.is_none() || is_past {
            ids.reverse();
            return Ok(ids);
        }
    }
}

#[derive(Default, Serialize)]
struct Done {
    messages: u64,
    /// How many messages have each result now.
    results: BTreeMap<String, u64>,
}

impl Answer for Done {
    fn in_words(&self) -> String {
        let results: Vec<String> =
            self.results.iter().map(|(name, count)| format!("{count} {name}")).collect();
        match results.as_slice() {
            [] => "no message matches".to_owned(),
            _ => format!("decoded {} messages again: {}", self.messages, results.join(", ")),
        }
    }
}
