//! The memory that exporting and importing take, of the command and of the server.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use perigee_bench::machine;
use perigee_bench::server::Server;

use super::growth::millions;
use crate::bench::{Bench, Engine, settle};
use crate::fill::{Filling, fill};
use crate::report::Topic;

/// An hour with a location each second.
const BATCH: usize = 3600;
const SAMPLE_EVERY: Duration = Duration::from_millis(20);
const FORMATS: [&str; 6] = ["ndjson", "csv", "geojson", "json", "gpx", "kml"];
const TARGET: &str = "under 100 MB";

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let mut server = bench.start(engine, 1).await?;
    let giant = server.devices[0].clone();
    let points = bench.options.points(engine);
    let longest = bench.options.longest_fill();
    let filling = Filling { points, batch: BATCH, interval_ms: 1000, longest };
    let stored = fill(&server, std::slice::from_ref(&giant), filling).await?.points();
    settle(&server).await?;
    // Memory used for storing does not count.
    server.end()?;
    server.start_again()?;
    let mut command = server.command();
    command.args(["export", "--device", &giant, "--format", "ndjson"]);
    let (peak, seconds) = watch(command).await?;
    let what = format!("export of {} points of one device as NDJSON", millions(stored));
    report_memory(bench, engine, &what, peak, server.usage()?.peak, seconds);
    import(bench, engine, &mut server, &giant, stored).await?;
    server.end()
}

/// Imports a part of the device in every format.
async fn import(
    bench: &mut Bench,
    engine: &Engine,
    server: &mut Server,
    giant: &str,
    stored: f64,
) -> Result<()> {
    let wanted = if bench.options.quick { 50_000.0 } else { 1e6 };
    // The device has 86,400 points a day, on 28 days of each month.
    let days = (f64::min(wanted, stored) / 86_400.0).ceil().clamp(1.0, 28.0);
    let until = format!("2019-01-{days:02.0}T23:59:59Z");
    server.make_devices("import", FORMATS.len()).await?;
    let targets = server.devices[1..].to_vec();
    for (format, device) in FORMATS.into_iter().zip(targets) {
        let file = server.folder().join(format!("track.{format}"));
        let mut command = server.command();
        command.args(["export", "--device", giant, "--to", &until, "--format", format]).arg("-o").arg(&file);
        watch(command).await?;
        server.end()?;
        server.start_again()?;
        let mut command = server.command();
        command.args(["import", "--fresh", "--device", &device]).arg(&file);
        let (peak, seconds) = watch(command).await?;
        let points = (days * 86_400.0).min(stored);
        let what = format!("import of {} points as {format}", millions(points));
        report_memory(bench, engine, &what, peak, server.usage()?.peak, seconds);
        std::fs::remove_file(file)?;
    }
    Ok(())
}

/// Runs a command. Returns its peak memory and its duration in seconds.
async fn watch(mut command: Command) -> Result<(f64, f64)> {
    let began = Instant::now();
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
    let mut peak: f64 = 0.0;
    let status = loop {
        // The kernel keeps the peak of a process, so that only a peak after the last sample is missed.
        if let Ok(usage) = machine::usage(child.id()) {
            peak = peak.max(usage.peak);
        }
        if let Some(status) = child.try_wait()? {
            break status;
        }
        tokio::time::sleep(SAMPLE_EVERY).await;
    };
    if !status.success() {
        let output = child.wait_with_output()?;
        bail!("{command:?}: {status}: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok((peak, began.elapsed().as_secs_f64()))
}

fn report_memory(bench: &mut Bench, engine: &Engine, what: &str, command: f64, server: f64, seconds: f64) {
    let (command, server) = (command / 1e6, server / 1e6);
    let figure = format!("{command:.0} / {server:.0} MB ({seconds:.0} s)");
    let what = format!("{what}: most memory of the command / of the server");
    let met = command < 100.0 && server < 100.0;
    bench.report.add_with_target(Topic::Memory, engine.name(), &what, figure, (TARGET, met));
}
