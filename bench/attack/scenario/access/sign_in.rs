//! Thousands of wrong passwords over a few HTTP/2 connections, and invalid requests to create users, each with a
//! password to be hashed.

use anyhow::Result;
use serde_json::json;
use tokio::task::JoinSet;

use crate::scenario::count_by_status;
use crate::scenario::http2::{Http2, Sent};
use crate::stage::Stage;

const CONNECTIONS: usize = 8;
const STREAMS: usize = 127;
/// Requests to create users with an e-mail address that is taken.
const USERS: usize = 200;

pub(crate) async fn run(stage: &Stage) -> Result<String> {
    stage.make_user("taken@localhost", &["api"]).await?;
    let mut signing_in = JoinSet::new();
    let wrong = json!({"email": "taken@localhost", "password": "not the password"}).to_string();
    for _ in 0..CONNECTIONS {
        let connection = Http2::open(&stage.server.address).await?;
        for _ in 0..STREAMS {
            let (connection, wrong) = (connection.clone(), wrong.clone());
            signing_in
                .spawn(async move { connection.send("/api/session", "", Sent::Whole(wrong.into())).await });
        }
    }
    let mut making = JoinSet::new();
    let user = json!({
        "name": "Taken", "email": "taken@localhost", "country": "ES", "timeZone": "UTC",
        "password": "correct horse battery",
    });
    for _ in 0..CONNECTIONS {
        let (mut connection, token) = (stage.connect().await?, stage.server.token.clone());
        let user = user.to_string();
        making.spawn(async move {
            let mut statuses = Vec::new();
            for _ in 0..USERS / CONNECTIONS {
                statuses.push(connection.call("POST /api/users", &token, user.as_bytes()).await?.status);
            }
            anyhow::Ok(statuses)
        });
    }
    let (mut sign_ins, mut users) = (Vec::new(), Vec::new());
    while let Some(done) = signing_in.join_next().await {
        sign_ins.extend(done??);
    }
    while let Some(done) = making.join_next().await {
        users.extend(done??);
    }
    Ok(format!(
        "wrong passwords: {}; users: {}",
        count_by_status(sign_ins, &[401, 429, 503])?,
        count_by_status(users, &[409, 429])?
    ))
}
