//! The results of the attacks as a table.

use std::fmt::Write as _;

use crate::bystander::Report;

/// The longest allowed wait of another tenant, in milliseconds.
const WORST_WAIT_MS: f64 = 1000.0;
/// The largest allowed peak memory of the server, in bytes.
const MOST_MEMORY: f64 = 300.0 * MIB;
const MIB: f64 = 1024.0 * 1024.0;

/// One scenario on one engine.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) engine: &'static str,
    pub(crate) name: &'static str,
    /// A short summary of what the attacker sent and got.
    pub(crate) did: String,
    /// Whether the attack could not be run, or its own check failed.
    pub(crate) failed: bool,
    pub(crate) noticed: Report,
    /// The longest wait of the control, in milliseconds.
    pub(crate) machine_ms: f64,
    /// The peak of the server's resident memory, in bytes.
    pub(crate) peak: f64,
}

impl Outcome {
    /// Whether all waits and the peak are within limits and no other tenant was refused.
    pub(crate) fn is_within_bounds(&self) -> bool {
        let calls_are =
            self.noticed.values().all(|kind| kind.worst_ms() <= WORST_WAIT_MS && kind.refused == 0);
        calls_are && !self.failed && self.peak <= MOST_MEMORY
    }
}

/// A table with one row per scenario: for each kind of call the longest wait in milliseconds, with refusals in
/// brackets; and the longest wait of the control, which does not use the server.
pub(crate) fn table(outcomes: &[Outcome]) -> String {
    let mut table = String::from(
        "| engine | attack | health | read | history | submit (p99) | sign-in | machine | memory | within bounds | what was sent |\n\
         |---|---|--:|--:|--:|--:|--:|--:|--:|---|---|\n",
    );
    for outcome in outcomes {
        let worst = |kind: &str| match outcome.noticed.get(kind) {
            Some(kind) if kind.refused > 0 => format!("{:.0} ({} refused)", kind.worst_ms(), kind.refused),
            Some(kind) => format!("{:.0}", kind.worst_ms()),
            None => "-".to_owned(),
        };
        let p99 = outcome.noticed.get("submit").map_or(0.0, crate::bystander::Noticed::p99_ms);
        let _ = writeln!(
            table,
            "| {} | {} | {} | {} | {} | {} ({p99:.0}) | {} | {:.0} | {:.0} MiB | {} | {} |",
            outcome.engine,
            outcome.name,
            worst("health"),
            worst("read"),
            worst("history"),
            worst("submit"),
            worst("sign-in"),
            outcome.machine_ms,
            outcome.peak / MIB,
            if outcome.is_within_bounds() { "yes" } else { "**no**" },
            outcome.did,
        );
    }
    table
}
