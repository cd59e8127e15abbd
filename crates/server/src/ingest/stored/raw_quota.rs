//! Quotas of raw messages: how many bytes of a device, a gateway and an account are stored per day. The content of a
//! message is always stored. Beyond a quota its bytes are not stored, which is counted and shown to operators.
//!
//! Each node decides from memory. When it saves its counts, it learns what the other nodes have stored of the same
//! senders and accounts, and charges that to its quotas too.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::MessageResult;
use perigee_core::gateways::raw_usage::{Keep, RawUsage, StoredToday};
use perigee_core::id::{AccountId, DeviceId, GatewayId};
use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic, Timestamp};

use crate::access::{Quota, TokenBuckets};

/// Bytes of one token.
const TOKEN: usize = 64;
/// Storage overhead of a row, in bytes.
const ROW_BYTES: usize = 192;
const TOKENS_PER_MIB: u32 = 1024 * 1024 / 64;
const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;
/// The part of each quota that is available to messages without new content.
const UNUSED_PART: u32 = 4;
/// Maximum number of senders until the next save; further ones are not counted.
const COUNTED_MAX: usize = 20_000;

/// Maximum number of senders and accounts whose messages on other nodes are known; those of further ones are not
/// charged.
const KNOWN_MAX: usize = 50_000;

/// Maximum raw messages per day, in MiB; 0 for no limit.
#[derive(Clone, Copy, Debug)]
pub struct RawLimits {
    /// Quota of each device.
    pub device_mib: u32,
    /// Quota of each gateway.
    pub gateway_mib: u32,
    /// Quota of each account.
    pub account_mib: u32,
}

/// The sender of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::ingest) struct RawSender {
    pub(in crate::ingest) account: AccountId,
    pub(in crate::ingest) gateway: Option<GatewayId>,
    pub(in crate::ingest) device: Option<DeviceId>,
}

#[derive(Debug)]
struct Buckets {
    device: Option<TokenBuckets<DeviceId>>,
    gateway: Option<TokenBuckets<GatewayId>>,
    account: Option<TokenBuckets<AccountId>>,
}

/// A sender, or an account without one.
type Key = (AccountId, Option<(Option<GatewayId>, Option<DeviceId>)>);

/// What all nodes had stored since midnight when this node last saved its counts.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    kept: u64,
    kept_bytes: u64,
    unused_bytes: u64,
}

impl Sums {
    const fn of(stored: &StoredToday) -> Self {
        Self { kept: stored.kept, kept_bytes: stored.kept_bytes, unused_bytes: stored.unused_bytes }
    }

    fn add(&mut self, usage: &RawUsage) {
        self.kept += usage.kept;
        self.kept_bytes += usage.kept_bytes;
        self.unused_bytes += usage.unused_bytes;
    }

    const fn minus(self, other: Self) -> Self {
        Self {
            kept: self.kept.saturating_sub(other.kept),
            kept_bytes: self.kept_bytes.saturating_sub(other.kept_bytes),
            unused_bytes: self.unused_bytes.saturating_sub(other.unused_bytes),
        }
    }
}

/// The rest of every quota, and the counts since the last save.
pub struct RawQuota {
    clock: Arc<dyn Clock>,
    all: Buckets,
    unused: Buckets,
    disk_is_full: AtomicBool,
    limit_is_near: AtomicBool,
    counted: Mutex<HashMap<RawSender, RawUsage>>,
    /// With the midnight since which they count.
    known: Mutex<HashMap<Key, (Timestamp, Sums)>>,
}

fn buckets<K: Eq + std::hash::Hash + Clone>(mib: u32, part: u32) -> Option<TokenBuckets<K>> {
    let tokens = mib.saturating_mul(TOKENS_PER_MIB) / part;
    let interval_us = (DAY_US / i64::from(tokens.max(1))).max(1);
    (mib > 0).then(|| TokenBuckets::new(Quota { burst: tokens.max(1), interval_us }))
}

impl Buckets {
    fn new(limits: RawLimits, part: u32) -> Self {
        Self {
            device: buckets(limits.device_mib, part),
            gateway: buckets(limits.gateway_mib, part),
            account: buckets(limits.account_mib, part),
        }
    }

    fn have(&self, sender: RawSender, tokens: u32, now: Monotonic) -> bool {
        fn has<K: Eq + std::hash::Hash + Clone>(
            buckets: Option<&TokenBuckets<K>>,
            key: Option<K>,
            tokens: u32,
            now: Monotonic,
        ) -> bool {
            buckets.zip(key).is_none_or(|(buckets, key)| buckets.has(&key, tokens, now))
        }
        has(self.device.as_ref(), sender.device, tokens, now)
            && has(self.gateway.as_ref(), sender.gateway, tokens, now)
            && has(self.account.as_ref(), Some(sender.account), tokens, now)
    }

    fn spend(&self, sender: RawSender, tokens: u32, now: Monotonic) {
        if let Some((buckets, key)) = self.device.as_ref().zip(sender.device) {
            buckets.spend(&key, tokens, now);
        }
        if let Some((buckets, key)) = self.gateway.as_ref().zip(sender.gateway) {
            buckets.spend(&key, tokens, now);
        }
        if let Some(buckets) = &self.account {
            buckets.spend(&sender.account, tokens, now);
        }
    }

    /// Charges bytes that other nodes have stored, without what was refilled within this time.
    fn charge(&self, (account, sender): Key, bytes: u64, refilled_us: i64, now: Monotonic) {
        fn spend<K: Eq + std::hash::Hash + Clone>(
            buckets: Option<&TokenBuckets<K>>,
            key: Option<K>,
            (bytes, refilled_us): (u64, i64),
            now: Monotonic,
        ) {
            let Some((buckets, key)) = buckets.zip(key) else { return };
            let refilled = u64::try_from(refilled_us / buckets.quota().interval_us).unwrap_or(0);
            let tokens = (bytes / TOKEN as u64).saturating_sub(refilled);
            // A bucket that is empty for a day is as good as one that is empty for longer.
            buckets.spend(&key, u32::try_from(tokens).unwrap_or(u32::MAX).min(buckets.quota().burst), now);
        }
        let amount = (bytes, refilled_us);
        match sender {
            Some((gateway, device)) => {
                spend(self.gateway.as_ref(), gateway, amount, now);
                spend(self.device.as_ref(), device, amount, now);
            }
            None => spend(self.account.as_ref(), Some(account), amount, now),
        }
    }
}

impl RawQuota {
    pub(in crate::ingest) fn new(clock: Arc<dyn Clock>, limits: RawLimits) -> Self {
        Self {
            clock,
            all: Buckets::new(limits, 1),
            unused: Buckets::new(limits, UNUSED_PART),
            disk_is_full: AtomicBool::new(false),
            limit_is_near: AtomicBool::new(false),
            counted: Mutex::default(),
            known: Mutex::default(),
        }
    }

    /// Whether neither the disk nor the size limit of the database is nearly used up.
    fn has_room(&self) -> bool {
        !self.disk_is_full.load(Ordering::Relaxed) && !self.limit_is_near.load(Ordering::Relaxed)
    }

    /// Decides whether a message of this many bytes is stored, before its result is known.
    pub(in crate::ingest) fn keep(&self, sender: RawSender, bytes: usize) -> Keep {
        let (tokens, now) = (tokens(bytes), self.clock.monotonic());
        if !self.has_room() || !self.all.have(sender, tokens, now) {
            Keep::Never
        } else if self.unused.have(sender, tokens, now) {
            Keep::Always
        } else {
            Keep::IfUsed
        }
    }

    /// Counts a message with this result, and charges it to the quotas if it was stored.
    pub(in crate::ingest) fn note(&self, sender: RawSender, bytes: usize, keep: Keep, result: MessageResult) {
        let is_kept = match keep {
            Keep::Always => true,
            Keep::IfUsed => result.is_used(),
            Keep::Never => false,
        };
        let (tokens, now) = (tokens(bytes), self.clock.monotonic());
        if is_kept {
            self.all.spend(sender, tokens, now);
            if !result.is_used() {
                self.unused.spend(sender, tokens, now);
            }
        }
        let size = u64::try_from(bytes).unwrap_or(u64::MAX);
        let kept = if is_kept { "yes" } else { "no" };
        metrics::counter!("perigee_raw_message_bytes_total", "kept" => kept).increment(size);
        let mut counted = self.counted.lock();
        if counted.len() >= COUNTED_MAX && !counted.contains_key(&sender) {
            return;
        }
        let none = || RawUsage::none(sender.account, sender.gateway, sender.device);
        let usage = counted.entry(sender).or_insert_with(none);
        if is_kept {
            usage.kept += 1;
            usage.kept_bytes += size;
            usage.unused_bytes += if result.is_used() { 0 } else { size };
        } else {
            usage.dropped += 1;
            usage.dropped_bytes += size;
        }
    }

    /// Sets whether the disk is so full that raw messages are not stored. Locations and alerts are still stored.
    pub fn set_disk_full(&self, is_full: bool) {
        if self.disk_is_full.swap(is_full, Ordering::Relaxed) != is_full {
            tracing::warn!(is_full, "raw messages are not kept while the disk is nearly full");
        }
    }

    /// Sets whether the database has reached 90 % of its size limit. Raw messages are then not kept.
    pub fn set_limit_near(&self, is_near: bool) {
        if self.limit_is_near.swap(is_near, Ordering::Relaxed) != is_near {
            tracing::warn!(
                is_near,
                "raw messages are not kept while the database has 90 % of store.size_limit_mib"
            );
        }
    }

    /// Whether the database has reached 90 % of its size limit.
    pub fn is_limit_near(&self) -> bool {
        self.limit_is_near.load(Ordering::Relaxed)
    }

    /// Whether raw messages within their quotas are kept on this node.
    pub fn keeps_messages(&self) -> bool {
        self.has_room()
    }

    /// Saves the storage used by raw messages, and charges what other nodes have stored meanwhile. Counts that could not
    /// be saved are lost.
    pub async fn save(&self, store: &dyn Store) -> Result<(), StoreError> {
        let usage = self.take();
        if !usage.is_empty() {
            let stored = store.save_raw_usage(usage.clone()).await?;
            self.charge_others(&usage, &stored);
        }
        Ok(())
    }

    fn take(&self) -> Vec<RawUsage> {
        let mut usage: Vec<RawUsage> = self.counted.lock().drain().map(|(_, usage)| usage).collect();
        // In the order in which all nodes lock rows.
        let id = |id: Option<i64>| id.unwrap_or(0);
        usage.sort_by_key(|usage| {
            let (gateway, device) =
                (usage.gateway.map(GatewayId::as_i64), usage.device.map(DeviceId::as_i64));
            (usage.account.as_i64(), id(gateway), id(device))
        });
        usage
    }

    /// Charges what other nodes have stored since this node last saved, or since midnight if it did not save today. In the
    /// latter case that includes what this node stored before it was restarted.
    fn charge_others(&self, saved: &[RawUsage], stored: &[StoredToday]) {
        let mut own: HashMap<Key, Sums> = HashMap::new();
        for usage in saved {
            own.entry((usage.account, Some((usage.gateway, usage.device)))).or_default().add(usage);
            own.entry((usage.account, None)).or_default().add(usage);
        }
        let now = self.clock.monotonic();
        let mut known = self.known.lock();
        for one in stored {
            let (key, sums) = ((one.account, one.sender), Sums::of(one));
            if known.len() >= KNOWN_MAX && !known.contains_key(&key) {
                known.retain(|_, (since, _)| *since == one.since);
                if known.len() >= KNOWN_MAX {
                    continue;
                }
            }
            let before = known.insert(key, (one.since, sums)).filter(|(since, _)| *since == one.since);
            let refilled_us = match before {
                Some(_) => 0,
                None => one.at.as_millis().saturating_sub(one.since.as_millis()).saturating_mul(1_000),
            };
            let before = before.map_or_else(Sums::default, |(_, sums)| sums);
            let others = sums.minus(before).minus(own.get(&key).copied().unwrap_or_default());
            let bytes = others.kept_bytes.saturating_add(others.kept.saturating_mul(ROW_BYTES as u64));
            self.all.charge(key, bytes, refilled_us, now);
            self.unused.charge(key, others.unused_bytes, refilled_us, now);
        }
    }
}

fn tokens(bytes: usize) -> u32 {
    u32::try_from((bytes + ROW_BYTES).div_ceil(TOKEN)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use perigee_core::time::{MockClock, Timestamp};

    use super::*;

    const MIB: usize = 1024 * 1024;

    #[test]
    fn messages_without_new_content_have_a_part_of_each_quota() {
        let clock = MockClock::at(Timestamp::from_millis(1_000_000));
        let limits = RawLimits { device_mib: 4, gateway_mib: 8, account_mib: 0 };
        let quota = RawQuota::new(Arc::new(clock.clone()), limits);
        let device = |id| RawSender {
            account: AccountId::from_i64(1),
            gateway: None,
            device: Some(DeviceId::from_i64(id)),
        };
        let store = |sender, result| {
            let keep = quota.keep(sender, MIB / 2);
            quota.note(sender, MIB / 2, keep, result);
            keep
        };
        assert_eq!(store(device(1), MessageResult::Duplicate), Keep::Always);
        assert_eq!(store(device(1), MessageResult::Duplicate), Keep::IfUsed, "a quarter is used up");
        for _ in 0..6 {
            assert_eq!(store(device(1), MessageResult::Decoded), Keep::IfUsed);
        }
        assert_eq!(store(device(1), MessageResult::Decoded), Keep::Never, "all is used up");
        assert_eq!(store(device(2), MessageResult::Decoded), Keep::Always, "another device");
        let mut usage = quota.take();
        usage.sort_by_key(|usage| usage.device.map(DeviceId::as_i64));
        assert_eq!((usage[0].kept, usage[0].dropped, usage[1].kept), (7, 2, 1));
        assert_eq!(usage[0].unused_bytes, u64::try_from(MIB / 2).unwrap());
        assert_eq!(quota.take(), []);
        clock.advance_seconds(24 * 60 * 60);
        assert_eq!(store(device(1), MessageResult::Duplicate), Keep::Always, "a day later");
        quota.disk_is_full.store(true, Ordering::Relaxed);
        assert_eq!(quota.keep(device(2), 1), Keep::Never);
    }
}
