//! Star-shaped geofences of 2,000 positions, created as fast as possible: every side reaches from the centre to the
//! edge, so that the bounding boxes of most sides overlap.

use anyhow::Result;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

const CONNECTIONS: usize = 8;
const EACH: usize = 50;
const POSITIONS: u32 = 1_999;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let body = feature(0, &ring(POSITIONS, 5.0, 0.1)).to_string();
    let mut creators = JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (mut connection, token, body) =
            (stage.connect().await?, stage.server.token.clone(), body.clone());
        creators.spawn(async move {
            let mut statuses = Vec::with_capacity(EACH);
            for _ in 0..EACH {
                statuses.push(connection.call("POST /api/geofences", &token, body.as_bytes()).await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = creators.join_next().await {
        statuses.extend(done??);
    }
    Ok(format!("stars of {POSITIONS} positions: {}", count_by_status(statuses, &[201, 409, 429, 503])?))
}

/// A polygon as a geofence.
pub(crate) fn feature(number: usize, ring: &[[f64; 2]]) -> Value {
    json!({
        "type": "Feature",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "properties": {"name": format!("polygon {number}")},
    })
}

/// A closed ring around [-8, 42] of this many positions, alternately at these distances in degrees.
pub(crate) fn ring(positions: u32, outer: f64, inner: f64) -> Vec<[f64; 2]> {
    let position = |index: u32| {
        let angle = f64::from(index) / f64::from(positions) * std::f64::consts::TAU;
        let radius = if index.is_multiple_of(2) { outer } else { inner };
        [-8.0 + radius * angle.cos(), 42.0 + radius * angle.sin()]
    };
    (0..=positions).map(|index| position(index % positions)).collect()
}
