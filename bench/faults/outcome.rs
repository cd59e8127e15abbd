//! Compares the record of messages with what the simulated provider got.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use perigee_bench::http::Connection;
use serde_json::Value;

use crate::sink::Sink;

/// Counts and violations found.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    /// Number of messages in each delivery state.
    pub(crate) states: BTreeMap<String, usize>,
    /// Messages that the provider got.
    pub(crate) received: u64,
    /// Devices for which more was received than the limit allows.
    pub(crate) above_limit: usize,
    /// Devices for which more was received than was counted.
    pub(crate) below_sink: usize,
    /// Messages that are missing, or suppressed without a reason.
    pub(crate) unaccounted: usize,
}

impl Outcome {
    /// Whether nothing is wrong.
    pub(crate) fn is_clean(&self) -> bool {
        self.above_limit == 0 && self.below_sink == 0 && self.unaccounted == 0
    }

    /// A short summary for people.
    pub(crate) fn describe(&self, engine: &str, kills: u32) -> String {
        format!(
            "{engine}: {kills} kills, {:?}, {} received; devices above their limit: {}, counted below what was \
             received: {}; messages unaccounted for: {}",
            self.states, self.received, self.above_limit, self.below_sink, self.unaccounted
        )
    }
}

/// Checks every device and every message.
pub(crate) async fn examine(
    connection: &mut Connection,
    token: &str,
    sink: &Sink,
    devices: &[(String, String)],
    (limit, messages): (u32, usize),
) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for (device, number) in devices {
        let line = format!("GET /api/devices/{device}");
        let counters = connection.call(&line, token, b"").await?.json()?["device"]["counters"].clone();
        let counted = counters["smsSent"].as_u64().context("a device without counters")?;
        let received = u64::from(sink.of(number));
        outcome.received += received;
        outcome.above_limit += usize::from(received > u64::from(limit) || counted > u64::from(limit));
        outcome.below_sink += usize::from(received > counted);
    }
    let mut seen = 0;
    let mut cursor = String::new();
    loop {
        let line = format!("GET /api/notifications?channel=sms&limit=1000{cursor}");
        let answer = connection.call(&line, token, b"").await?;
        if answer.status != 200 {
            bail!("{line}: {}", answer.text());
        }
        let page = answer.json()?;
        for message in page["notifications"].as_array().into_iter().flatten() {
            seen += 1;
            let state = message["state"].as_str().unwrap_or_default();
            *outcome.states.entry(state.to_owned()).or_default() += 1;
            let is_explained = state != "suppressed" || message["reason"].is_string();
            outcome.unaccounted += usize::from(!is_explained);
        }
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    outcome.unaccounted += messages.abs_diff(seen);
    Ok(outcome)
}

/// Whether nothing is left to be sent now.
pub(crate) async fn is_drained(connection: &mut Connection, token: &str) -> Result<bool> {
    let line = "GET /api/notifications?channel=sms&state=waiting&limit=1";
    let page: Value = connection.call(line, token, b"").await?.json()?;
    Ok(page["notifications"].as_array().is_some_and(Vec::is_empty))
}
