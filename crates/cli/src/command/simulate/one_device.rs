//! `perigee simulate --device`: reports for one existing device, which moves from the first report on, so that a new
//! user sees it move on the map.

use std::time::Duration;

use anyhow::{Context, Result};
use perigee_core::time::{Clock, SystemClock};
use perigee_simulator::fleet::{SimulatedDevice, SmoothTrack};
use serde::Serialize;

use crate::api::{Api, Submission};
use crate::args::{Common, Simulate};
use crate::output::{Answer, print};

/// Interval between two reports.
const STEP_MS: i64 = 3_000;
/// Minimum speed to be seen moving, in tenths of a km/h.
const MOVING_DKMH: i32 = 200;
/// Reports that must all be at that speed: the first minute.
const MOVING_REPORTS: usize = 20;
/// Interval between the start times that are tried.
const START_INTERVAL_MS: i64 = 300_000;
/// Start times that are tried: those of one day.
const STARTS_MAX: i64 = 288;

/// Reports for one device until interrupted or until the time is up.
pub(crate) async fn run(common: &Common, options: &Simulate, device: &str) -> Result<()> {
    let api = Api::new(&options.remote)?;
    let now_ms = SystemClock.now().as_millis();
    let track = find_moving_track(options.seed, now_ms)
        .context("none of the devices of this --seed moves; choose another seed")?;
    let end_ms = now_ms.saturating_add(i64::from(options.seconds) * 1_000);
    eprintln!("simulating the device {device}, which reports to {}; Ctrl-C ends it", options.remote.url);
    let mut sent = 0;
    let reporting = async {
        for fix in track.take_while(|fix| fix.time_ms < end_ms) {
            let wait_ms = fix.time_ms - SystemClock.now().as_millis();
            tokio::time::sleep(Duration::from_millis(u64::try_from(wait_ms).unwrap_or(0))).await;
            let mut line = Vec::new();
            fix.write_json(&mut line);
            line.push(b'\n');
            api.submit(device, &Submission::new(line, 1)?).await?;
            sent += 1;
        }
        anyhow::Ok(())
    };
    tokio::select! {
        done = reporting => done?,
        _interrupted = tokio::signal::ctrl_c() => {}
    }
    print(&Summary { device: device.to_owned(), sent }, common.json)
}

/// The track of a vehicle that is moving now. A simulated vehicle also rests, so earlier and earlier start times are
/// tried until it is on a trip.
fn find_moving_track(seed: u64, now_ms: i64) -> Option<SmoothTrack> {
    (1..=STARTS_MAX).find_map(|start| {
        let track = SimulatedDevice::new(seed, 0).track(now_ms - start * START_INTERVAL_MS);
        // The first fix is one step after the given instant, which makes it due now.
        let smooth = SmoothTrack::new(track, now_ms - STEP_MS, STEP_MS)?;
        let is_moving = smooth.clone().take(MOVING_REPORTS).all(|fix| fix.speed_dkmh > MOVING_DKMH);
        is_moving.then_some(smooth)
    })
}

#[derive(Serialize)]
struct Summary {
    device: String,
    sent: u64,
}

impl Answer for Summary {
    fn in_words(&self) -> String {
        format!("sent {} locations of {}", self.sent, self.device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_moves_from_the_first_report_for_any_seed() {
        for seed in 1..=5 {
            let first =
                find_moving_track(seed, 1_700_000_000_000).and_then(|mut track| track.next()).unwrap();
            assert_eq!(first.time_ms, 1_700_000_000_000, "the first report is due now");
            assert!(first.speed_dkmh > MOVING_DKMH);
        }
    }
}
