//! Counts what arrives at gateways, in memory; a background job saves the counts every few seconds.

use std::collections::HashMap;

use parking_lot::Mutex;
use perigee_core::error::StoreError;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::gateways::feed_health::GatewayReport;
use perigee_core::id::{AccountId, GatewayId};
use perigee_core::store::Store;
use perigee_core::time::Timestamp;

/// Maximum number of gateways until the next save; further ones are not counted.
const GATEWAYS_MAX: usize = 20_000;

/// Reports of gateways that are not saved yet.
#[derive(Debug, Default)]
pub struct FeedReports(Mutex<HashMap<(AccountId, GatewayId), GatewayReport>>);

impl FeedReports {
    fn change(&self, gateway: &Gateway, change: impl FnOnce(&mut GatewayReport)) {
        let mut all = self.0.lock();
        let (account, id) = (gateway.account, gateway.id);
        if all.len() >= GATEWAYS_MAX && !all.contains_key(&(account, id)) {
            return;
        }
        change(all.entry((account, id)).or_insert(GatewayReport {
            account,
            gateway: id,
            heard: None,
            messages: 0,
            errors: 0,
            refused: 0,
            last_error: None,
        }));
    }

    /// Counts a message that was stored.
    pub(super) fn note_message(&self, gateway: &Gateway, at: Timestamp, error: Option<String>) {
        self.change(gateway, |report| {
            report.messages += 1;
            report.errors += u64::from(error.is_some());
            report.heard = Some(report.heard.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
            report.last_error = error.or_else(|| report.last_error.take());
        });
    }

    /// Records that a request with the correct secret was refused.
    pub fn note_refused(&self, gateway: &Gateway, reason: String) {
        self.change(gateway, |report| {
            report.refused += 1;
            report.last_error = Some(reason);
        });
    }

    /// Saves the counts of gateways, and announces refusals. Counts that could not be saved are lost; messages are not.
    pub async fn save(&self, store: &dyn Store) -> Result<(), StoreError> {
        let reports = self.take();
        if reports.is_empty() {
            return Ok(());
        }
        let announced = store.save_gateway_reports(reports).await?;
        metrics::counter!("perigee_feed_events_total", "type" => "feed.refused").increment(announced);
        Ok(())
    }

    fn take(&self) -> Vec<GatewayReport> {
        // In the order in which all transactions lock accounts.
        let mut reports: Vec<GatewayReport> = self.0.lock().drain().map(|(_, report)| report).collect();
        reports.sort_by_key(|report| (report.account.as_i64(), report.gateway.as_i64()));
        reports
    }
}
