//! Openings of share links, counted in memory and saved every few seconds, so that a viewer does not wait for a write
//! to the store.

use std::collections::HashMap;

use parking_lot::Mutex;
use perigee_core::id::{AccountId, ShareId};
use perigee_core::shares::share::Share;
use perigee_core::store::{Result, Shares, ViewReport};
use perigee_core::time::Timestamp;

/// The openings that are not saved yet.
#[derive(Debug, Default)]
pub struct ShareViewCounter(Mutex<HashMap<(AccountId, ShareId), (u64, Timestamp)>>);

impl ShareViewCounter {
    /// Counts an opening of this link.
    pub fn count(&self, share: &Share, now: Timestamp) {
        self.add((share.account, share.id), 1, now);
    }

    fn add(&self, link: (AccountId, ShareId), views: u64, at: Timestamp) {
        let mut views_by_link = self.0.lock();
        let (count, last) = views_by_link.entry(link).or_insert((0, at));
        *count += views;
        *last = at.max(*last);
    }

    /// Saves the new openings. After a failure they are kept for the next time.
    pub async fn save(&self, store: &dyn Shares) -> Result<()> {
        let fresh = std::mem::take(&mut *self.0.lock());
        if fresh.is_empty() {
            return Ok(());
        }
        let report =
            |((account, share), (views, last_viewed))| ViewReport { account, share, views, last_viewed };
        let reports: Vec<ViewReport> = fresh.into_iter().map(report).collect();
        let saved = store.add_share_views(&reports).await;
        if saved.is_err() {
            for report in reports {
                self.add((report.account, report.share), report.views, report.last_viewed);
            }
        }
        saved
    }
}
