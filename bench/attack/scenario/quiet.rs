//! No attack: what the other tenant notices on a quiet server, to compare with.

use std::time::Duration;

use anyhow::Result;

use crate::stage::Stage;

pub(super) async fn run(_stage: &Stage) -> Result<String> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    Ok("nothing for 5 s".to_owned())
}
