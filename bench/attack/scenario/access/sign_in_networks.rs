//! Wrong passwords from 400 addresses of 400 networks at the same time, ten each: the maximum number of failures of an
//! address in a minute.

use std::net::{IpAddr, Ipv4Addr};

use anyhow::Result;
use perigee_bench::http::Connection;
use serde_json::json;
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::stage::Stage;

const NETWORKS: u16 = 400;
const ATTEMPTS: usize = 10;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    let mut clients = JoinSet::new();
    for network in 1..=NETWORKS {
        let [high, low] = network.to_be_bytes();
        let source = IpAddr::V4(Ipv4Addr::new(127, 1 + high, low, 1));
        let address = stage.server.address.clone();
        let wrong = json!({"email": format!("user{network}@localhost"), "password": "not the password"});
        clients.spawn(async move {
            let mut connection = Connection::open_from(source, &address).await?;
            let mut statuses = Vec::new();
            for _ in 0..ATTEMPTS {
                let body = wrong.to_string();
                statuses.push(connection.call("POST /api/session", "", body.as_bytes()).await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let mut statuses = Vec::new();
    while let Some(done) = clients.join_next().await {
        statuses.extend(done??);
    }
    Ok(format!("wrong passwords of {NETWORKS} networks: {}", count_by_status(statuses, &[401, 429, 503])?))
}
