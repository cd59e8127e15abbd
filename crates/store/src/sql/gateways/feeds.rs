//! Health and polls of gateways: implements `GatewayHealth` and `Polls` of the store by SQL.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::gateways::feed_health::GatewayReport;
use perigee_core::id::AccountId;
use perigee_core::store::{GatewayHealth, LeasedPoll, PollSettlement, Polls, Result};

use crate::Database;
use crate::sql::{gateways::gateway_polls, gateways::gateway_reports};

#[async_trait]
impl GatewayHealth for Database {
    async fn save_gateway_reports(&self, reports: Vec<GatewayReport>) -> Result<u64> {
        let mut announced = 0;
        // One transaction each, so that an account is locked only while its own state is written.
        for report in reports {
            let is_announced =
                self.write(move |tx| async move { gateway_reports::add(tx, &report).await }.boxed());
            announced += u64::from(is_announced.await?);
        }
        Ok(announced)
    }

    async fn announce_late_gateways(&self) -> Result<u64> {
        // Mostly no gateway is late, and a read finds that out without using the writer.
        if !self.read(|tx| gateway_reports::is_one_late(tx).boxed()).await? {
            return Ok(0);
        }
        self.write(|tx| gateway_reports::announce_late(tx).boxed()).await
    }
}

#[async_trait]
impl Polls for Database {
    async fn lease_poll(
        &self,
        feeds: &[&'static str],
        lease_ms: i64,
        after: AccountId,
    ) -> Result<Option<LeasedPoll>> {
        // Mostly no poll is due, and a read finds that out without using the writer.
        if feeds.is_empty() || !self.read(|tx| gateway_polls::is_one_due(tx).boxed()).await? {
            return Ok(None);
        }
        let feeds = feeds.to_vec();
        self.write(move |tx| gateway_polls::lease(tx, feeds, lease_ms, after).boxed()).await
    }

    async fn settle_poll(&self, poll: &LeasedPoll, settlement: PollSettlement) -> Result<bool> {
        let poll = poll.clone();
        self.write(move |tx| async move { gateway_polls::settle(tx, &poll, settlement).await }.boxed()).await
    }
}
