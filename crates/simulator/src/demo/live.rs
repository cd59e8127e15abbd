//! The running demo: the fleet reports in real time, and from time to time an alert is sent.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use anyhow::Result;
use perigee_core::time::{Clock, SystemClock, Timestamp};
use serde_json::json;

use super::fleet::DemoFleet;
use super::server::DemoServer;
use crate::fleet::SmoothTrack;

/// Interval between two alerts.
const ALERT_EVERY_MS: i64 = 45_000;
/// The second alert. It is sent once: the console sounds an alarm until somebody acknowledges it.
const SOS: (&str, &str, bool) = ("SOSButton", "Help requested", true);
/// All other alerts, in turn, with their texts.
const ALERTS: [(&str, &str, bool); 4] = [
    ("LowBattery", "Battery at 14 %", false),
    ("HarshBraking", "Braked hard", false),
    ("GPSNoSignal", "No satellites for five minutes", false),
    ("Vibration", "Moved while parked", false),
];

/// Sends the reports of the fleet until the service stops.
pub async fn run_live(server: &dyn DemoServer, fleet: DemoFleet) -> Result<()> {
    let mut devices: Vec<(String, SmoothTrack)> =
        fleet.devices().filter_map(|device| Some((device.identifier(), device.live()?))).collect();
    let mut due = BinaryHeap::new();
    for (index, (_, track)) in devices.iter_mut().enumerate() {
        queue(&mut due, index, track);
    }
    let mut alerts = 0_usize;
    let mut next_alert_ms = fleet.now_ms + ALERT_EVERY_MS / 3;
    while let Some(Reverse((at_ms, index, line))) = due.pop() {
        wait_until(at_ms).await;
        let Some((identifier, track)) = devices.get_mut(index) else { continue };
        server.submit(identifier, line, 1).await?;
        queue(&mut due, index, track);
        if at_ms >= next_alert_ms {
            raise(server, identifier, at_ms, alerts).await?;
            alerts += 1;
            next_alert_ms = at_ms + ALERT_EVERY_MS;
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

async fn raise(server: &dyn DemoServer, identifier: &str, at_ms: i64, count: usize) -> Result<()> {
    let (name, text, critical) = if count == 1 { SOS } else { ALERTS[count % ALERTS.len()] };
    let at = Timestamp::from_millis(at_ms).to_string();
    let body = json!({"dateTime": at, "alertName": name, "text": text, "critical": critical});
    server.post(&["api", "devices", identifier, "alerts"], &body).await?;
    Ok(())
}
