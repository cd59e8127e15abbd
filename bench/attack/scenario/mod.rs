//! The attacks, one file each, by what they attack. A new one is a file and a line in the table.

mod access;
mod account;
mod bodies;
mod feeds;
mod http2;
mod messages;
mod reads;

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

/// The mail server of the stage.
const MAIL: &[(&str, &str)] = &[
    ("PERIGEE_EMAIL__HOST", "127.0.0.1"),
    ("PERIGEE_EMAIL__SECURITY", "none"),
    ("PERIGEE_EMAIL__FROM", "Perigee <alerts@example.org>"),
];

/// Providers on this machine.
const LOCAL_HTTP: &[(&str, &str)] =
    &[("PERIGEE_WEBHOOKS__ALLOW_HTTP", "true"), ("PERIGEE_WEBHOOKS__ALLOWED_NETWORKS", "127.0.0.0/8")];

const LOCAL_HTTP_AND_MAIL: &[(&str, &str)] = &[LOCAL_HTTP[0], LOCAL_HTTP[1], MAIL[0], MAIL[1], MAIL[2]];

/// All scenarios in order. The first is not an attack, for comparison.
pub(crate) const SCENARIOS: &[Scenario] = &[
    Scenario { name: "nothing", environment: &[], run: |stage| Box::pin(nothing(stage)) },
    Scenario { name: "json-patch", environment: &[], run: |stage| Box::pin(bodies::json_patch::run(stage)) },
    Scenario {
        name: "packed-bodies",
        environment: &[],
        run: |stage| Box::pin(bodies::packed_bodies::run(stage)),
    },
    Scenario { name: "sign-in", environment: &[], run: |stage| Box::pin(access::sign_in::run(stage)) },
    Scenario {
        name: "endless-bodies",
        environment: &[],
        run: |stage| Box::pin(bodies::endless_bodies::run(stage)),
    },
    Scenario { name: "templates", environment: &[], run: |stage| Box::pin(bodies::templates::run(stage)) },
    Scenario { name: "rules", environment: RATES, run: |stage| Box::pin(account::rules::run(stage)) },
    Scenario { name: "geofences", environment: RATES, run: |stage| Box::pin(account::geofences::run(stage)) },
    Scenario { name: "timelines", environment: RATES, run: |stage| Box::pin(account::timelines::run(stage)) },
    Scenario { name: "groups", environment: RATES, run: |stage| Box::pin(account::groups::run(stage)) },
    Scenario {
        name: "bulk-devices",
        environment: RATES,
        run: |stage| Box::pin(bodies::bulk_devices::run(stage)),
    },
    Scenario { name: "histories", environment: &[], run: |stage| Box::pin(reads::histories::run(stage)) },
    Scenario { name: "reports", environment: &[], run: |stage| Box::pin(reads::reports::run(stage)) },
    Scenario { name: "long-polls", environment: &[], run: |stage| Box::pin(reads::long_polls::run(stage)) },
    Scenario {
        name: "share-viewers",
        environment: &[
            ("PERIGEE_FIRST_START__LICENSES", "20000"),
            // The devices are created before the attack; with the default limits that would take two minutes.
            ("PERIGEE_LIMITS__REQUESTS_PER_SECOND", "5000"),
        ],
        run: |stage| Box::pin(reads::share_viewers::run(stage)),
    },
    Scenario {
        name: "mail-relay",
        environment: MAIL,
        run: |stage| Box::pin(messages::mail_relay::run(stage)),
    },
    Scenario {
        name: "mail-strangers",
        environment: MAIL,
        run: |stage| Box::pin(messages::mail_strangers::run(stage)),
    },
    Scenario {
        name: "sign-in-networks",
        environment: &[],
        run: |stage| Box::pin(access::sign_in_networks::run(stage)),
    },
    Scenario {
        name: "tarpit-feeds",
        environment: LOCAL_HTTP,
        run: |stage| Box::pin(feeds::tarpit_feeds::run(stage)),
    },
    Scenario { name: "feed-bodies", environment: &[], run: |stage| Box::pin(feeds::feed_bodies::run(stage)) },
    Scenario {
        name: "decode-bombs",
        environment: &[],
        run: |stage| Box::pin(bodies::decode_bombs::run(stage)),
    },
    Scenario { name: "feed-rubbish", environment: &[], run: |stage| Box::pin(feeds::rubbish::run(stage)) },
    Scenario {
        name: "raw-messages",
        environment: &[],
        run: |stage| Box::pin(reads::raw_messages::run(stage)),
    },
    Scenario {
        name: "tracker-frames",
        environment: &[],
        run: |stage| Box::pin(feeds::trackers::long_frames(stage)),
    },
    Scenario {
        name: "tracker-replay",
        environment: &[],
        run: |stage| Box::pin(feeds::trackers::one_device(stage)),
    },
    Scenario {
        name: "unfinished-bodies",
        environment: &[],
        run: |stage| Box::pin(bodies::unfinished::bodies(stage)),
    },
    Scenario {
        name: "unread-histories",
        environment: &[],
        run: |stage| Box::pin(bodies::unfinished::histories(stage)),
    },
    Scenario { name: "tiles", environment: &[], run: |stage| Box::pin(reads::tiles::run(stage)) },
    Scenario { name: "refusals", environment: &[], run: |stage| Box::pin(account::refusals::run(stage)) },
    Scenario { name: "drivers", environment: RATES, run: |stage| Box::pin(account::drivers::run(stage)) },
    Scenario {
        name: "maintenance",
        environment: RATES,
        run: |stage| Box::pin(account::maintenance::run(stage)),
    },
    Scenario { name: "plans", environment: RATES, run: |stage| Box::pin(account::plans::run(stage)) },
    Scenario {
        name: "saved-reports",
        environment: MAIL,
        run: |stage| Box::pin(messages::saved_reports::run(stage)),
    },
    Scenario {
        name: "push",
        environment: LOCAL_HTTP_AND_MAIL,
        run: |stage| Box::pin(messages::push::run(stage)),
    },
    Scenario {
        name: "conversations",
        environment: LOCAL_HTTP,
        run: |stage| Box::pin(messages::conversations::run(stage)),
    },
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
