//! The `Feeds` trait.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::gateways::feed_health::GatewayReport;
use perigee_core::id::AccountId;
use perigee_core::store::{Feeds, LeasedPoll, PollSettlement, Result};

use crate::Database;
use crate::sql::{gateways::gateway_polls, gateways::gateway_reports};

#[async_trait]
impl Feeds for Database {
    async fn save_gateway_reports(&self, reports: Vec<GatewayReport>) -> Result<u64> {
        let mut announced = 0;
        // One transaction each: an account is locked only while its own state is written.
        for report in reports {
            let told = self.write(move |tx| async move { gateway_reports::add(tx, &report).await }.boxed());
            announced += u64::from(told.await?);
        }
        Ok(announced)
    }

    async fn announce_late_gateways(&self) -> Result<u64> {
        // Most often there is none, which a read finds out without the writer.
        if !self.read(|tx| gateway_reports::is_one_late(tx).boxed()).await? {
            return Ok(0);
        }
        self.write(|tx| gateway_reports::announce_late(tx).boxed()).await
    }

    async fn lease_poll(
        &self,
        feeds: &[&'static str],
        lease_ms: i64,
        after: AccountId,
    ) -> Result<Option<LeasedPoll>> {
        // Most often there is none, which a read finds out without the writer.
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
