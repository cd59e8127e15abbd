//! A growing database: speed and memory during growth, then reads and start-up time.

use std::time::Duration;

use anyhow::Result;

use super::grown;
use crate::bench::{Bench, Engine, settle};
use crate::body::INTERVAL_MS;
use crate::fill::{Filled, Filling, fill, send_first_locations};
use crate::load::number;
use crate::report::Topic;

/// Samples per dot of a plot.
const SAMPLES_A_DOT: usize = 20;

pub(super) async fn measure(bench: &mut Bench, engine: &Engine) -> Result<()> {
    let mut server = bench.start(engine, bench.options.devices(10_000)).await?;
    let filling = Filling {
        points: bench.options.points(engine),
        batch: 1000,
        interval_ms: INTERVAL_MS,
        longest: bench.options.longest_fill(),
    };
    send_first_locations(&server).await?;
    let filled = fill(&server, &server.devices, filling).await?;
    report_size(bench, engine, &filled, filling, server.devices.len());
    let caught_up = settle(&server).await?;
    let after = format!("{:.1} s", caught_up.as_secs_f64());
    bench.report.add(Topic::Size, engine.name(), "until the compactor has caught up", after);
    grown::measure(bench, engine, &mut server, filled.points()).await?;
    server.end()
}

fn report_size(bench: &mut Bench, engine: &Engine, filled: &Filled, filling: Filling, devices: usize) {
    let (name, reached, wanted) = (engine.name(), filled.points(), number(filling.points));
    let first = (wanted / 5.0).min(1e6);
    let first_rate = filled.rate(0.0, first).unwrap_or_default();
    let figure = format!("{first_rate:.0} points/s");
    let what = format!("ingest, the first {} points, {devices} devices", millions(first));
    bench.report.add(Topic::Size, name, &what, figure);
    let middle = Some(1e7).filter(|size| *size < wanted);
    for size in [first].into_iter().chain(middle).chain([wanted]) {
        // Longer than the interval of compaction.
        let window = first.max(size / 10.0);
        if let Some(rate) = filled.rate(size - window, size).filter(|_| size > first) {
            let what = format!("ingest from {} to {} points", millions(size - window), millions(size));
            let share = rate / first_rate;
            let figure = format!("{rate:.0} points/s, {:.0} % of the first", share * 100.0);
            bench.report.add_with_target(Topic::Size, name, &what, figure, ("at least 85 %", share >= 0.85));
        }
        if let Some(resident) = filled.resident_at(size) {
            let what = format!("memory at {} points", millions(size));
            bench.report.add(Topic::Size, name, &what, format!("{:.0} MB", resident / 1e6));
        }
    }
    if reached < number(filling.points) {
        bench.report.note(
            Topic::Size,
            format!(
                "{name}: {} of {} points were stored in the {} s that filling may take.",
                millions(reached),
                millions(number(filling.points)),
                filling.longest.as_secs()
            ),
        );
    }
    let most = filled.most_resident() / 1e6;
    let what = format!("most memory while ingesting at full speed, {devices} devices");
    bench.report.add_with_target(
        Topic::Start,
        name,
        &what,
        format!("{most:.0} MB"),
        ("under 200 MB", most < 200.0),
    );
    bench.report.growth(name, &dots(filled));
    if engine.url().is_some() {
        bench.report.note(
            Topic::Size,
            "PostgreSQL is filled with a tenth of the points of SQLite: it takes them more slowly, and the run has to end.",
        );
    }
}

/// The dots of the plots of growth: points, points a second, bytes.
fn dots(filled: &Filled) -> Vec<(f64, f64, f64)> {
    let dot = |samples: &[crate::fill::Sample]| {
        let (first, last) = (samples.first()?, samples.last()?);
        let seconds = (last.after_s - first.after_s).max(Duration::from_millis(1).as_secs_f64());
        Some((last.points, (last.points - first.points) / seconds, last.resident))
    };
    filled.0.windows(SAMPLES_A_DOT + 1).step_by(SAMPLES_A_DOT).filter_map(dot).collect()
}

/// A count of points in words.
pub(super) fn millions(points: f64) -> String {
    if points >= 1e6 { format!("{:.0} M", points / 1e6) } else { format!("{:.0} k", points / 1e3) }
}
