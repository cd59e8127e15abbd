//! Counts what arrives at gateways, in memory; a background job saves the counts every few seconds.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use perigee_core::error::StoreError;
use perigee_core::gateways::account_gateway::Gateway;
use perigee_core::gateways::feed_health::GatewayReport;
use perigee_core::id::{AccountId, GatewayId};
use perigee_core::time::Timestamp;

use super::path::Ingest;

/// Gateways that are remembered until the next save; more are not counted.
const GATEWAYS_MAX: usize = 20_000;

/// Reports of gateways that are not saved yet.
#[derive(Debug, Default)]
pub(super) struct FeedReports(Mutex<HashMap<(AccountId, GatewayId), GatewayReport>>);

impl FeedReports {
    fn all(&self) -> MutexGuard<'_, HashMap<(AccountId, GatewayId), GatewayReport>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, gateway: &Gateway, change: impl FnOnce(&mut GatewayReport)) {
        let mut all = self.all();
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

    /// Counts a request that was refused.
    fn note_refused(&self, gateway: &Gateway, reason: String) {
        self.change(gateway, |report| {
            report.refused += 1;
            report.last_error = Some(reason);
        });
    }

    fn take(&self) -> Vec<GatewayReport> {
        // In the order in which all transactions lock accounts.
        let mut reports: Vec<GatewayReport> = self.all().drain().map(|(_, report)| report).collect();
        reports.sort_by_key(|report| (report.account.as_i64(), report.gateway.as_i64()));
        reports
    }
}

impl Ingest {
    /// Notes that a request with the right secret was refused.
    pub fn note_refused(&self, gateway: &Gateway, reason: String) {
        self.feeds.note_refused(gateway, reason);
    }

    /// Saves what came by gateways, and announces refusals. What could not be saved is lost; messages are not.
    pub async fn save_feed_reports(&self) -> Result<(), StoreError> {
        let reports = self.feeds.take();
        let accounts: Vec<AccountId> =
            reports.iter().filter(|report| report.refused > 0).map(|report| report.account).collect();
        if reports.is_empty() {
            return Ok(());
        }
        let announced = self.store.save_gateway_reports(reports).await?;
        metrics::counter!("perigee_feed_events_total", "type" => "feed.refused").increment(announced);
        for account in accounts {
            self.announce(account);
        }
        Ok(())
    }

    /// Announces gateways that are late by their usual interval.
    pub async fn announce_late_feeds(&self) -> Result<u64, StoreError> {
        let announced = self.store.announce_late_gateways().await?;
        metrics::counter!("perigee_feed_events_total", "type" => "feed.late").increment(announced);
        Ok(announced)
    }
}
