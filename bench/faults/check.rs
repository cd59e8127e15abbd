//! Compares the server's data with the ledger.

use std::fmt::Debug;

use anyhow::{Context, Result, bail};
use perigee_bench::http::Connection;

use crate::client::{Shared, locked};
use crate::ledger::{Request, State};
use crate::point::{Seen, Slot, recognise};

/// Violations that are printed; more are only counted.
const PRINTED_MAX: u64 = 20;

/// Differences between the ledger of acknowledged locations and the store, in locations.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Acknowledged but not in the history, or shown by the location feed and then missing.
    pub(crate) lost: u64,
    /// More than once in the history.
    pub(crate) twice: u64,
    /// Stored but missing in the location feed.
    pub(crate) missed_by_feed: u64,
    /// More than once in the location feed.
    pub(crate) twice_in_feed: u64,
    /// Never sent, or different from what was sent.
    pub(crate) strangers: u64,
    /// A last location that is not the newest.
    pub(crate) wrong_last: u64,
    /// Answers that contradict the ledger.
    pub(crate) wrong_answers: u64,
}

impl Found {
    /// Whether nothing is wrong.
    pub(crate) fn is_clean(&self) -> bool {
        self.total() == 0
    }

    fn total(&self) -> u64 {
        self.lost
            + self.twice
            + self.missed_by_feed
            + self.twice_in_feed
            + self.strangers
            + self.wrong_last
            + self.wrong_answers
    }

    fn print(&self, what: impl FnOnce() -> String) {
        if self.total() <= PRINTED_MAX {
            eprintln!("  {}", what());
        }
    }

    /// Records a location that was never sent like this.
    pub(crate) fn note_unknown_location(&mut self, source: &str, seen: &impl Debug) {
        self.strangers += 1;
        self.print(|| format!("in the {source}, never sent like this: {seen:?}"));
    }

    /// Records an answer that contradicts the ledger.
    pub(crate) fn note_answer(&mut self, request: &Request, answer: &str) {
        self.wrong_answers += 1;
        self.print(|| format!("{} {:?} locations: {answer}", request.slots.len(), request.purpose));
    }
}

/// Checks the history, the location feed and the last location of these devices. The feed must have been read to its end.
pub(crate) async fn check(shared: &Shared, devices: impl Iterator<Item = usize>) -> Result<()> {
    let mut connection = Connection::open(&shared.address).await?;
    for device in devices {
        let stored = read_history(&mut connection, shared, device).await?;
        compare(shared, device, &stored);
        let newest = stored.iter().rposition(|count| *count > 0);
        check_last(&mut connection, shared, device, newest).await?;
    }
    Ok(())
}

/// How often the history has each second of a device.
async fn read_history(connection: &mut Connection, shared: &Shared, device: usize) -> Result<Vec<u8>> {
    let line = format!("GET /api/devices/{}/locations?format=ndjson", shared.identifiers[device]);
    let answer = connection.call(&line, &shared.token, b"").await?;
    if answer.status != 200 {
        bail!("{line}: {}", answer.text());
    }
    let mut stored = vec![0_u8; locked(&shared.ledger).pages[device].states.len()];
    for line in answer.content().split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let seen: Seen = serde_json::from_slice(line)
            .with_context(|| format!("in the history: {}", String::from_utf8_lossy(line)))?;
        match recognise(device, &seen).and_then(|slot| stored.get_mut(slot as usize)) {
            Some(count) => *count = count.saturating_add(1),
            None => locked(&shared.found).note_unknown_location("history", &seen),
        }
    }
    Ok(stored)
}

fn compare(shared: &Shared, device: usize, stored: &[u8]) {
    let (ledger, mut found) = (locked(&shared.ledger), locked(&shared.found));
    let page = &ledger.pages[device];
    for (slot, ((state, shown), stored)) in page.states.iter().zip(&page.shown).zip(stored).enumerate() {
        let (state, shown, stored) = (*state, *shown, *stored);
        let mut note = |count: fn(&mut Found) -> &mut u64, is_wrong: bool, what: &str| {
            if is_wrong {
                *count(&mut found) += 1;
                found.print(|| format!("device {device}, second {slot}: {what} ({state:?}, {stored} times in the history, {shown} in the feed)"));
            }
        };
        let is_unsent = state == State::Unsent && (stored > 0 || shown > 0);
        note(|found| &mut found.strangers, is_unsent, "never sent");
        let is_owed = state == State::Acknowledged || shown > 0;
        note(|found| &mut found.lost, is_owed && stored == 0, "lost");
        note(|found| &mut found.twice, stored > 1, "twice in the history");
        note(|found| &mut found.missed_by_feed, stored > 0 && shown == 0, "missing in the feed");
        note(|found| &mut found.twice_in_feed, shown > 1, "twice in the feed");
    }
}

async fn check_last(
    connection: &mut Connection,
    shared: &Shared,
    device: usize,
    newest: Option<usize>,
) -> Result<()> {
    let line = format!("GET /api/devices/{}/lastLocation", shared.identifiers[device]);
    let answer = connection.call(&line, &shared.token, b"").await?;
    let last: Option<Slot> = match answer.status {
        404 => None,
        200 => {
            let seen: Seen = serde_json::from_value(answer.json()?["lastLocation"].take())?;
            recognise(device, &seen)
        }
        _ => bail!("{line}: {}", answer.text()),
    };
    if last.map(|slot| slot as usize) != newest {
        let mut found = locked(&shared.found);
        found.wrong_last += 1;
        found.print(|| {
            format!("device {device}: the last location is of second {last:?}, the newest of {newest:?}")
        });
    }
    Ok(())
}
