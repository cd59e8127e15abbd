//! Calls by account, counted in memory and saved every few seconds.

use std::collections::HashMap;

use parking_lot::Mutex;
use perigee_core::accounts::account::{Account, ApiUsage};
use perigee_core::id::AccountId;
use perigee_core::store::{Accounts, Result, UsageReport};
use perigee_core::time::Timestamp;

/// Calls of an account, as shown in the envelope of answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usage {
    /// Since the API was activated.
    pub total: u64,
    /// On the account's current day.
    pub today: u64,
}

/// The calls of every account seen since the start.
#[derive(Debug, Default)]
pub struct UsageCounter {
    entries: Mutex<HashMap<AccountId, Entry>>,
    /// Held during a save, so that pending calls belong to one save.
    saving: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Entry {
    saved: ApiUsage,
    /// Calls counted since the last save began.
    fresh: Calls,
    /// Calls that are being saved. They are counted until the save ends; without them the shown totals would decrease.
    pending: Calls,
}

/// Calls by the day they were made on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Calls {
    /// On the account's current day.
    today: u64,
    /// On earlier days, not yet saved.
    earlier: u64,
}

impl Calls {
    fn all(self) -> u64 {
        self.today + self.earlier
    }

    fn turn_day(&mut self) {
        self.earlier += std::mem::take(&mut self.today);
    }
}

impl Entry {
    /// Resets the count of today when the account's day is over.
    fn turn_day(&mut self, account: &Account, now: Timestamp) {
        let kept = account.api_usage.day_ends;
        if (now.as_millis()..self.saved.day_ends).contains(&kept) {
            // A change of zone was undone, so the day ends earlier again.
            self.saved.day_ends = kept;
        }
        if now.as_millis() >= self.saved.day_ends {
            let (day, _) = account.day_at(now);
            let (counted, _) = account.day_at(Timestamp::from_millis(self.saved.day_ends - 1));
            self.saved.day_ends = day.ends.as_millis();
            if counted.date == day.date {
                // A change of zone made the day longer.
                return;
            }
            self.saved.today = 0;
            self.fresh.turn_day();
            self.pending.turn_day();
        }
    }

    fn usage(&self) -> Usage {
        Usage {
            total: self.saved.total + self.fresh.all() + self.pending.all(),
            today: self.saved.today + self.fresh.today + self.pending.today,
        }
    }

    /// Moves the new calls to pending; none if there are none.
    fn take_report(&mut self, account: AccountId) -> Option<UsageReport> {
        self.pending = std::mem::take(&mut self.fresh);
        let Calls { today, earlier } = self.pending;
        let day_ends = self.saved.day_ends;
        (self.pending != Calls::default()).then_some(UsageReport { account, today, earlier, day_ends })
    }

    /// Called after a save: the stored sums include the pending calls.
    fn settle(&mut self, sum: ApiUsage) {
        self.pending = Calls::default();
        if sum.day_ends >= self.saved.day_ends {
            self.saved = sum;
        } else {
            // The day ended while the last calls of yesterday were being saved.
            self.saved.total = sum.total;
        }
    }

    /// Called after a failed save: pending calls are saved the next time.
    fn restore(&mut self) {
        let Calls { today, earlier } = std::mem::take(&mut self.pending);
        self.fresh.today += today;
        self.fresh.earlier += earlier;
    }
}

impl UsageCounter {
    /// Counts one call and returns the totals including it.
    pub fn count(&self, account: &Account, now: Timestamp) -> Usage {
        let mut entries = self.entries.lock();
        let entry = entries.entry(account.id).or_insert_with(|| Entry {
            saved: account.api_usage,
            fresh: Calls::default(),
            pending: Calls::default(),
        });
        entry.turn_day(account, now);
        entry.fresh.today += 1;
        entry.usage()
    }

    /// Saves the new calls. After a failure they are kept for the next time.
    pub async fn save(&self, store: &dyn Accounts) -> Result<()> {
        let _alone = self.saving.lock().await;
        let reports = self.take_reports();
        if reports.is_empty() {
            return Ok(());
        }
        let sums = store.add_api_usage(&reports).await;
        self.settle(&reports, sums)
    }

    fn take_reports(&self) -> Vec<UsageReport> {
        self.entries.lock().iter_mut().filter_map(|(account, entry)| entry.take_report(*account)).collect()
    }

    fn settle(&self, reports: &[UsageReport], sums: Result<Vec<ApiUsage>>) -> Result<()> {
        let mut entries = self.entries.lock();
        match sums {
            Ok(sums) => {
                for (report, sum) in reports.iter().zip(sums) {
                    entries.entry(report.account).and_modify(|entry| entry.settle(sum));
                }
                Ok(())
            }
            Err(error) => {
                for report in reports {
                    entries.entry(report.account).and_modify(Entry::restore);
                }
                Err(error)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::accounts::account::AccountSettings;
    use perigee_core::accounts::branding::Branding;
    use perigee_core::accounts::standing::Standing;
    use perigee_core::error::StoreError;
    use perigee_core::revision::Revision;
    use perigee_core::zone::Zone;

    use super::*;

    const DAY_MS: i64 = 86_400_000;
    const MORNING: Timestamp = Timestamp::from_millis(DAY_MS / 4);
    const NEXT_MORNING: Timestamp = Timestamp::from_millis(DAY_MS + DAY_MS / 4);

    fn account() -> Account {
        let settings = AccountSettings {
            name: "acme".to_owned(),
            time_zone: Zone::utc(),
            expiry_notice_days: 7,
            retention_days: None,
            emergency_procedure: None,
            quick_replies: None,
        };
        Account {
            id: AccountId::from_i64(1),
            revision: Revision(1),
            settings,
            licenses: 1,
            standing: Standing::default(),
            branding: Branding::default(),
            day_in_progress: None,
            zone_in_progress: None,
            api_usage: ApiUsage { total: 10, today: 5, day_ends: DAY_MS },
            creation: MORNING,
            last_modified: MORNING,
        }
    }

    #[test]
    fn totals_never_decrease_during_a_save() {
        let (counter, account) = (UsageCounter::default(), account());
        let count = |now| counter.count(&account, now);
        assert_eq!(count(MORNING), Usage { total: 11, today: 6 });
        let reports = counter.take_reports();
        assert_eq!(reports, [UsageReport { account: account.id, today: 1, earlier: 0, day_ends: DAY_MS }]);
        assert_eq!(count(MORNING), Usage { total: 12, today: 7 }, "what is being saved still counts");
        let sum = ApiUsage { total: 11, today: 6, day_ends: DAY_MS };
        counter.settle(&reports, Ok(vec![sum])).unwrap();
        assert_eq!(count(MORNING), Usage { total: 13, today: 8 });

        let reports = counter.take_reports();
        let failed = counter.settle(&reports, Err(StoreError::Unavailable("closed".into())));
        assert!(failed.is_err());
        assert_eq!(count(MORNING), Usage { total: 14, today: 9 }, "what was not saved still counts");
        assert_eq!(counter.take_reports()[0].today, 3);
    }

    #[test]
    fn a_day_that_runs_on_is_the_same_day() {
        let (counter, mut account) = (UsageCounter::default(), account());
        counter.count(&account, MORNING);
        let (day, zone) = account.day_at(MORNING);
        let zone = zone.clone();
        account.day_in_progress = Some(perigee_core::day::Day { ends: NEXT_MORNING.plus_seconds(1), ..day });
        account.zone_in_progress = Some(zone);
        assert_eq!(counter.count(&account, NEXT_MORNING), Usage { total: 12, today: 7 });
        assert_eq!(counter.count(&account, NEXT_MORNING.plus_seconds(1)), Usage { total: 13, today: 1 });
    }

    #[test]
    fn calls_stay_on_the_day_they_were_made() {
        let (counter, account) = (UsageCounter::default(), account());
        counter.count(&account, MORNING);
        let pending = counter.take_reports();
        counter.count(&account, MORNING);
        assert_eq!(counter.count(&account, NEXT_MORNING), Usage { total: 13, today: 1 });
        // The store saved the first before the day changed.
        counter.settle(&pending, Ok(vec![ApiUsage { total: 11, today: 6, day_ends: DAY_MS }])).unwrap();
        assert_eq!(counter.count(&account, NEXT_MORNING), Usage { total: 14, today: 2 });
        assert_eq!(
            counter.take_reports(),
            [UsageReport { account: account.id, today: 2, earlier: 1, day_ends: 2 * DAY_MS }]
        );
    }
}
