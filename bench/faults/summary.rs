//! The results of a run as a Markdown table. Rows in bold are 0 if the server kept its promise.

use std::fmt::Write as _;
use std::time::Duration;

use crate::check::Found;
use crate::freeze::Silence;
use crate::ledger::Counts;

#[derive(Clone, Debug)]
pub(crate) struct Summary {
    pub(crate) engine: &'static str,
    pub(crate) kills: u32,
    pub(crate) kills_in_packing: u32,
    /// Kills right after an acknowledgement.
    pub(crate) kills_aimed: u32,
    pub(crate) database_kills: u32,
    /// Bits that were flipped in the store.
    pub(crate) flips: u32,
    /// How often a second node was stopped, and how often the first one stalled meanwhile.
    pub(crate) freezes: u32,
    pub(crate) stalls: u32,
    /// The longest silence of the first node and the longest wait of the control, over all of these times.
    pub(crate) silence: Silence,
    pub(crate) counts: Counts,
    pub(crate) found: Found,
    pub(crate) took: Duration,
    pub(crate) slowest_start: Duration,
}

/// A table with one column per run.
pub(crate) fn table(summaries: &[Summary]) -> String {
    type Figure = fn(&Summary) -> String;
    let rows: [(&str, Figure); 24] = [
        ("server killed", |each| each.kills.to_string()),
        ("of these, during compaction", |each| each.kills_in_packing.to_string()),
        ("right after an acknowledgement", |each| each.kills_aimed.to_string()),
        ("database killed", |each| each.database_kills.to_string()),
        ("bits flipped in the store", |each| each.flips.to_string()),
        ("second node stopped for 4 s", |each| each.freezes.to_string()),
        ("longest silence of the first node meanwhile, ms", |each| {
            each.silence.service.as_millis().to_string()
        }),
        ("longest wait of a control commit meanwhile, ms", |each| {
            each.silence.control.as_millis().to_string()
        }),
        ("requests sent", |each| each.counts.requests.to_string()),
        ("of these, resent", |each| each.counts.sent_again.to_string()),
        ("of these, without an answer", |each| each.counts.unanswered.to_string()),
        ("of these, refused with 503", |each| each.counts.refused.to_string()),
        ("locations acknowledged", |each| each.counts.acknowledged.to_string()),
        ("locations sent late", |each| each.counts.late.to_string()),
        ("slowest start, ms", |each| each.slowest_start.as_millis().to_string()),
        ("duration, s", |each| each.took.as_secs().to_string()),
        ("**stalls of the first node meanwhile**", |each| each.stalls.to_string()),
        ("**lost**", |each| each.found.lost.to_string()),
        ("**twice in the history**", |each| each.found.twice.to_string()),
        ("**missing in the feed**", |each| each.found.missed_by_feed.to_string()),
        ("**twice in the feed**", |each| each.found.twice_in_feed.to_string()),
        ("**different from what was sent, or never sent**", |each| each.found.strangers.to_string()),
        ("**wrong last location**", |each| each.found.wrong_last.to_string()),
        ("**wrong answers**", |each| each.found.wrong_answers.to_string()),
    ];
    let mut table = String::from("| |");
    let mut line = String::from("|---|");
    for each in summaries {
        let _ = write!(table, " {} |", each.engine);
        line.push_str("--:|");
    }
    let _ = writeln!(table, "\n{line}");
    for (name, figure) in rows {
        let _ = write!(table, "| {name} |");
        for each in summaries {
            let _ = write!(table, " {} |", figure(each));
        }
        table.push('\n');
    }
    table
}
