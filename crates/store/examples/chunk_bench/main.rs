//! Measures chunks: bytes a point and points a second, on simulated tracks and on real ones, beside a row for each
//! location in SQLite.
//!
//! `cargo run --release -p perigee-store --example chunk_bench [folder with tracks]`

mod rows;
mod sample;
mod simulate;

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use perigee_core::locations::location::{StoredLocation, TimeRange};
use perigee_store::codec::{ChunkReader, CodecError, pack_chunk, unpack_chunk};

/// How long each figure is measured at the least.
const MEASURE_FOR: Duration = Duration::from_millis(400);
const CHUNK_SIZES: [usize; 5] = [256, 512, 1_024, 2_048, 4_096];

/// The track of each device of a fleet.
struct Fleet {
    name: String,
    tracks: Vec<Vec<StoredLocation>>,
}

impl Fleet {
    fn count(&self) -> usize {
        self.tracks.iter().map(Vec::len).sum()
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder =
        std::env::args().nth(1).map_or_else(|| PathBuf::from("../shared/data/tracks"), PathBuf::from);
    let mut fleets = sample::read_all(&folder)?;
    if fleets.is_empty() {
        println!("no real tracks in {}", folder.display());
    }
    fleets.extend(simulate::all());
    println!("| track | points | chunk | bytes/point | pack M/s | rows M/s | unpack M/s | positions M/s |");
    println!("|---|---:|---:|---:|---:|---:|---:|---:|");
    for fleet in &fleets {
        let longest = fleet.tracks.iter().map(Vec::len).max().unwrap_or_default();
        for size in CHUNK_SIZES {
            measure_chunks(fleet, size)?;
            if size >= longest {
                break;
            }
        }
    }
    println!();
    println!("| track | points | SQLite rows, bytes/point | insert M/s | read M/s |");
    println!("|---|---:|---:|---:|---:|");
    for fleet in &fleets {
        let found = rows::measure(&fleet.tracks)?;
        println!(
            "| {} | {} | {:.1} | {:.2} | {:.2} |",
            fleet.name,
            fleet.count(),
            per_point(found.bytes, fleet.count()),
            found.inserted_per_s / 1e6,
            found.read_per_s / 1e6,
        );
    }
    Ok(())
}

fn measure_chunks(fleet: &Fleet, size: usize) -> Result<(), CodecError> {
    let parts: Vec<&[StoredLocation]> = fleet.tracks.iter().flat_map(|track| track.chunks(size)).collect();
    let packed: Vec<Vec<u8>> = parts.iter().map(|part| pack_chunk(part)).collect();
    for (part, bytes) in parts.iter().zip(&packed) {
        assert!(unpack_chunk(bytes)? == *part, "a chunk of {} did not come back as it was", fleet.name);
    }
    let pack = points_per_s(fleet.count(), &parts, |part| {
        black_box(pack_chunk(part));
        Ok::<_, CodecError>(())
    })?;
    let rows = points_per_s(fleet.count(), &packed, |bytes| {
        let mut rows = ChunkReader::open(bytes)?.rows(TimeRange::ALL)?;
        while let Some(row) = rows.next()? {
            black_box(row);
        }
        Ok::<_, CodecError>(())
    })?;
    let unpack =
        points_per_s(fleet.count(), &packed, |bytes| unpack_chunk(bytes).map(|all| drop(black_box(all))))?;
    let positions = points_per_s(fleet.count(), &packed, |bytes| {
        for position in ChunkReader::open(bytes)?.positions(TimeRange::ALL)? {
            black_box(position?);
        }
        Ok::<_, CodecError>(())
    })?;
    let bytes = packed.iter().map(Vec::len).sum();
    println!(
        "| {} | {} | {size} | {:.2} | {:.1} | {:.1} | {:.1} | {:.1} |",
        fleet.name,
        fleet.count(),
        per_point(bytes, fleet.count()),
        pack / 1e6,
        rows / 1e6,
        unpack / 1e6,
        positions / 1e6,
    );
    Ok(())
}

/// How fast the work goes on parts with this many points in all. Each part counts with its best time, so that what else
/// the machine does is left out.
#[expect(clippy::cast_precision_loss, reason = "a count of points is far below 2^53")]
fn points_per_s<T, E>(
    points: usize,
    parts: &[T],
    mut work: impl FnMut(&T) -> Result<(), E>,
) -> Result<f64, E> {
    let begin = Instant::now();
    let mut best = vec![Duration::MAX; parts.len()];
    while begin.elapsed() < MEASURE_FOR {
        for (part, best) in parts.iter().zip(&mut best) {
            let start = Instant::now();
            work(part)?;
            *best = start.elapsed().min(*best);
        }
    }
    Ok(points as f64 / best.iter().sum::<Duration>().as_secs_f64())
}

#[expect(clippy::cast_precision_loss, reason = "a count of bytes is far below 2^53")]
fn per_point(bytes: usize, points: usize) -> f64 {
    bytes as f64 / points as f64
}
