//! No attack: the baseline on an idle server.

use std::time::Duration;

use anyhow::Result;

use crate::stage::Stage;

pub(super) async fn run(_stage: &Stage) -> Result<String> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    Ok("nothing for 5 s".to_owned())
}
