//! Locations sent: one by one and in batches, beside the floor of the same server and of the JSON parser.

use std::hint::black_box;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Deserialize;

use crate::Options;
use crate::body::Body;
use crate::load::{Load, Work, number, run};
use crate::server::Server;

/// What one core does without a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Floor {
    /// Locations a second that `serde_json` reads into a struct.
    pub(crate) typed: f64,
    /// The same into its generic value.
    pub(crate) generic: f64,
}

/// A durable load and the floor measured right before it.
pub(crate) struct Pair {
    pub(crate) points: usize,
    pub(crate) floor: Load,
    pub(crate) durable: Load,
    /// What the JSON parser alone does, in locations a second.
    pub(crate) parser: f64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "what is parsed is not used")]
struct Parsed<'b> {
    #[serde(borrow)]
    date_time: &'b str,
    latitude: f64,
    longitude: f64,
    altitude: f64,
    speed: f64,
    course: f64,
    accuracy: f64,
    satellites: u32,
    ignition: bool,
    mileage: f64,
}

/// Measures the parser on one core.
pub(crate) fn parser_floor() -> Floor {
    let body = Body::new(0, 1000).bytes;
    let rate = |parse: &dyn Fn() -> usize| {
        let (mut points, began) = (0, Instant::now());
        while began.elapsed() < Duration::from_secs(1) {
            points += parse();
        }
        number(points as u64) / began.elapsed().as_secs_f64()
    };
    Floor {
        typed: rate(&|| {
            black_box(serde_json::from_slice::<Vec<Parsed<'_>>>(black_box(&body)).map_or(0, |all| all.len()))
        }),
        generic: rate(&|| {
            let all = serde_json::from_slice::<serde_json::Value>(black_box(&body));
            black_box(all.ok().and_then(|all| all.as_array().map(Vec::len)).unwrap_or(0))
        }),
    }
}

/// Measures singles at 64 and 256 connections, then batches.
pub(crate) async fn measure(options: &Options, server: &Server, floor: &Floor) -> Result<Vec<Pair>> {
    let mut pairs = Vec::new();
    for (points, connections) in [(1, 64), (1, 256), (100, 16), (1000, 8)] {
        eprintln!("  {points} at once on {connections} connections");
        let work = |is_floor| Work::Post { points, is_floor };
        // Each load has days of its own: a location sent twice would be a duplicate and cost less.
        let first_day = pairs.len() * 580;
        pairs.push(Pair {
            points,
            floor: run(server, connections, options.duration(), work(true), first_day).await?,
            durable: run(server, connections, options.duration(), work(false), first_day).await?,
            parser: floor.typed,
        });
    }
    Ok(pairs)
}
