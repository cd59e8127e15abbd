//! Quotas of raw messages: how many bytes of a device, a gateway and an account are stored per day. The content of a
//! message is always stored. Beyond a quota its bytes are not stored, which is counted and shown to operators.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::MessageResult;
use perigee_core::gateways::raw_usage::{Keep, RawUsage};
use perigee_core::id::{AccountId, DeviceId, GatewayId};
use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic};

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
pub(super) struct RawSender {
    pub(super) account: AccountId,
    pub(super) gateway: Option<GatewayId>,
    pub(super) device: Option<DeviceId>,
}

#[derive(Debug)]
struct Buckets {
    device: Option<TokenBuckets<DeviceId>>,
    gateway: Option<TokenBuckets<GatewayId>>,
    account: Option<TokenBuckets<AccountId>>,
}

/// The rest of every quota, and the counts since the last save.
pub struct RawQuota {
    clock: Arc<dyn Clock>,
    all: Buckets,
    unused: Buckets,
    disk_is_full: AtomicBool,
    limit_is_near: AtomicBool,
    counted: Mutex<HashMap<RawSender, RawUsage>>,
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
}

impl RawQuota {
    pub(super) fn new(clock: Arc<dyn Clock>, limits: RawLimits) -> Self {
        Self {
            clock,
            all: Buckets::new(limits, 1),
            unused: Buckets::new(limits, UNUSED_PART),
            disk_is_full: AtomicBool::new(false),
            limit_is_near: AtomicBool::new(false),
            counted: Mutex::default(),
        }
    }

    /// Whether neither the disk nor the size limit of the database is nearly used up.
    fn has_room(&self) -> bool {
        !self.disk_is_full.load(Ordering::Relaxed) && !self.limit_is_near.load(Ordering::Relaxed)
    }

    /// Decides whether a message of this many bytes is stored, before its result is known.
    pub(super) fn keep(&self, sender: RawSender, bytes: usize) -> Keep {
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
    pub(super) fn note(&self, sender: RawSender, bytes: usize, keep: Keep, result: MessageResult) {
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

    /// Saves the storage used by raw messages. Counts that could not be saved are lost.
    pub async fn save(&self, store: &dyn Store) -> Result<(), StoreError> {
        let usage = self.take();
        if usage.is_empty() { Ok(()) } else { store.save_raw_usage(usage).await }
    }

    fn take(&self) -> Vec<RawUsage> {
        let mut usage: Vec<RawUsage> = self.counted.lock().drain().map(|(_, usage)| usage).collect();
        // In the order in which all transactions lock accounts.
        usage.sort_by_key(|usage| usage.account.as_i64());
        usage
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
