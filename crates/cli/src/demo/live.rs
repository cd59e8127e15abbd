//! The running demo: the fleet reports in real time, and from time to time an alert is sent.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use anyhow::Result;
use perigee_cli::fleet::SmoothTrack;
use perigee_core::time::{Clock, SystemClock, Timestamp};
use reqwest::Method;
use serde_json::json;

use super::fleet::DemoFleet;
use crate::api::{Api, Submission};

/// Interval between two alerts.
const MISHAP_EVERY_MS: i64 = 45_000;
/// The second alert. It is sent once: the console sounds an alarm until somebody acknowledges it.
const SOS: (&str, &str, bool) = ("SOSButton", "Help requested", true);
/// All other alerts, in turn, with their texts.
const MISHAPS: [(&str, &str, bool); 4] = [
    ("LowBattery", "Battery at 14 %", false),
    ("HarshBraking", "Braked hard", false),
    ("GPSNoSignal", "No satellites for five minutes", false),
    ("Vibration", "Moved while parked", false),
];

/// Sends the reports of the fleet until the service stops.
pub(crate) async fn run_live(api: &Api, fleet: DemoFleet) -> Result<()> {
    let mut devices: Vec<(String, SmoothTrack)> =
        fleet.devices().filter_map(|device| Some((device.identifier(), device.live()?))).collect();
    let mut due = BinaryHeap::new();
    for (index, (_, track)) in devices.iter_mut().enumerate() {
        queue(&mut due, index, track);
    }
    let mut mishaps = 0_usize;
    let mut next_mishap_ms = fleet.now_ms + MISHAP_EVERY_MS / 3;
    while let Some(Reverse((at_ms, index, line))) = due.pop() {
        wait_until(at_ms).await;
        let Some((identifier, track)) = devices.get_mut(index) else { continue };
        api.submit(identifier, &Submission::new(line, 1)?).await?;
        queue(&mut due, index, track);
        if at_ms >= next_mishap_ms {
            raise(api, identifier, at_ms, mishaps).await?;
            mishaps += 1;
            next_mishap_ms = at_ms + MISHAP_EVERY_MS;
        }
    }
    Ok(())
}

/// A due report, as the line to send.
type Due = BinaryHeap<Reverse<(i64, usize, Vec<u8>)>>;

fn queue(due: &mut Due, index: usize, track: &mut SmoothTrack) {
    if let Some(fix) = track.next() {
        let mut line = Vec::new();
        fix.write_json(&mut line);
        line.push(b'\n');
        due.push(Reverse((fix.time_ms, index, line)));
    }
}

async fn wait_until(at_ms: i64) {
    let left = at_ms - SystemClock.now().as_millis();
    tokio::time::sleep(Duration::from_millis(u64::try_from(left).unwrap_or(0))).await;
}

async fn raise(api: &Api, identifier: &str, at_ms: i64, count: usize) -> Result<()> {
    let (name, text, critical) = if count == 1 { SOS } else { MISHAPS[count % MISHAPS.len()] };
    let at = Timestamp::from_millis(at_ms).to_string();
    let body = json!({"dateTime": at, "alertName": name, "text": text, "critical": critical});
    let url = api.url(&["api", "devices", identifier, "alerts"])?;
    api.call(Method::POST, url, |request| request.json(&body)).await?;
    Ok(())
}
