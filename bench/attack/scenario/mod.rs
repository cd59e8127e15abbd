//! The attacks, one file each. A new one is a file here and a line in the table.

mod bulk_devices;
mod decode_bombs;
mod endless_bodies;
mod feed_bodies;
mod geofences;
mod groups;
mod histories;
mod http2;
mod json_patch;
mod long_polls;
mod mail_relay;
mod mail_strangers;
mod packed_bodies;
mod raw_messages;
mod refusals;
mod reports;
mod rubbish;
mod rules;
mod share_viewers;
mod sign_in;
mod sign_in_networks;
mod tarpit_feeds;
mod templates;
mod tiles;
mod timelines;
mod trackers;
mod unfinished;

use std::pin::Pin;
use std::time::Duration;

use anyhow::{Result, ensure};

use crate::stage::Stage;

/// The result of an attack: a short summary of what it sent and got.
pub(crate) type Attack<'s> = Pin<Box<dyn Future<Output = Result<String>> + 's>>;

#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Settings other than the defaults, as environment variables.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// Runs the attack; limited in requests and time.
    pub(crate) run: fn(&Stage) -> Attack<'_>,
}

/// Higher rate limits, for attacks that first create thousands of objects.
const RATES: &[(&str, &str)] =
    &[("PERIGEE_LIMITS__REQUESTS_PER_SECOND", "1000000"), ("PERIGEE_LIMITS__BURST", "1000000")];

/// All scenarios in order. The first is not an attack, for comparison.
pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario { name: "nothing", environment: &[], run: |stage| Box::pin(nothing(stage)) },
    Scenario { name: "json-patch", environment: &[], run: |stage| Box::pin(json_patch::run(stage)) },
    Scenario { name: "packed-bodies", environment: &[], run: |stage| Box::pin(packed_bodies::run(stage)) },
    Scenario { name: "sign-in", environment: &[], run: |stage| Box::pin(sign_in::run(stage)) },
    Scenario { name: "endless-bodies", environment: &[], run: |stage| Box::pin(endless_bodies::run(stage)) },
    Scenario { name: "templates", environment: &[], run: |stage| Box::pin(templates::run(stage)) },
    Scenario { name: "rules", environment: RATES, run: |stage| Box::pin(rules::run(stage)) },
    Scenario { name: "geofences", environment: RATES, run: |stage| Box::pin(geofences::run(stage)) },
    Scenario { name: "timelines", environment: RATES, run: |stage| Box::pin(timelines::run(stage)) },
    Scenario { name: "groups", environment: RATES, run: |stage| Box::pin(groups::run(stage)) },
    Scenario { name: "bulk-devices", environment: RATES, run: |stage| Box::pin(bulk_devices::run(stage)) },
    Scenario { name: "histories", environment: &[], run: |stage| Box::pin(histories::run(stage)) },
    Scenario { name: "reports", environment: &[], run: |stage| Box::pin(reports::run(stage)) },
    Scenario { name: "long-polls", environment: &[], run: |stage| Box::pin(long_polls::run(stage)) },
    Scenario {
        name: "share-viewers",
        environment: &[
            ("PERIGEE_FIRST_START__LICENSES", "20000"),
            // The devices are created before the attack; with the default limits that would take two minutes.
            ("PERIGEE_LIMITS__REQUESTS_PER_SECOND", "5000"),
        ],
        run: |stage| Box::pin(share_viewers::run(stage)),
    },
    Scenario {
        name: "mail-relay",
        environment: &[
            ("PERIGEE_EMAIL__HOST", "127.0.0.1"),
            ("PERIGEE_EMAIL__SECURITY", "none"),
            ("PERIGEE_EMAIL__FROM", "Perigee <alerts@example.org>"),
        ],
        run: |stage| Box::pin(mail_relay::run(stage)),
    },
    Scenario {
        name: "mail-strangers",
        environment: &[
            ("PERIGEE_EMAIL__HOST", "127.0.0.1"),
            ("PERIGEE_EMAIL__SECURITY", "none"),
            ("PERIGEE_EMAIL__FROM", "Perigee <alerts@example.org>"),
        ],
        run: |stage| Box::pin(mail_strangers::run(stage)),
    },
    Scenario {
        name: "sign-in-networks",
        environment: &[],
        run: |stage| Box::pin(sign_in_networks::run(stage)),
    },
    Scenario {
        name: "tarpit-feeds",
        environment: &[
            ("PERIGEE_WEBHOOKS__ALLOW_HTTP", "true"),
            ("PERIGEE_WEBHOOKS__ALLOWED_NETWORKS", "127.0.0.0/8"),
        ],
        run: |stage| Box::pin(tarpit_feeds::run(stage)),
    },
    Scenario { name: "feed-bodies", environment: &[], run: |stage| Box::pin(feed_bodies::run(stage)) },
    Scenario { name: "decode-bombs", environment: &[], run: |stage| Box::pin(decode_bombs::run(stage)) },
    Scenario { name: "feed-rubbish", environment: &[], run: |stage| Box::pin(rubbish::run(stage)) },
    Scenario { name: "raw-messages", environment: &[], run: |stage| Box::pin(raw_messages::run(stage)) },
    Scenario {
        name: "tracker-frames",
        environment: &[],
        run: |stage| Box::pin(trackers::long_frames(stage)),
    },
    Scenario { name: "tracker-replay", environment: &[], run: |stage| Box::pin(trackers::one_device(stage)) },
    Scenario {
        name: "unfinished-bodies",
        environment: &[],
        run: |stage| Box::pin(unfinished::bodies(stage)),
    },
    Scenario {
        name: "unread-histories",
        environment: &[],
        run: |stage| Box::pin(unfinished::histories(stage)),
    },
    Scenario { name: "tiles", environment: &[], run: |stage| Box::pin(tiles::run(stage)) },
    Scenario { name: "refusals", environment: &[], run: |stage| Box::pin(refusals::run(stage)) },
];

/// Counts of answers by status, in words such as `3 x 422`. Fails if there was an answer that is not expected.
pub(crate) fn count_by_status(statuses: impl IntoIterator<Item = u16>, expected: &[u16]) -> Result<String> {
    let mut counts = std::collections::BTreeMap::<u16, usize>::new();
    for status in statuses {
        *counts.entry(status).or_default() += 1;
    }
    let words: Vec<_> = counts.iter().map(|(status, count)| format!("{count} x {status}")).collect();
    let words = words.join(", ");
    ensure!(counts.keys().all(|status| expected.contains(status)), "{words}, expected only {expected:?}");
    Ok(words)
}

/// No attack: the baseline on an idle server.
async fn nothing(_stage: &Stage) -> Result<String> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    Ok("nothing for 5 s".to_owned())
}
