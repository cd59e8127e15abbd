//! Free space on the disk of the embedded store.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};

use perigee_core::time::Timestamp;

use crate::config::{Config, Store};

const MIB: u64 = 1024 * 1024;
/// Free bytes below which the disk counts as full: the next batches would not fit into the store's log.
const FULL_BELOW: u64 = MIB;

/// Free and total space of a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskSpace {
    /// Bytes that the service can still write.
    pub free: u64,
    /// Used and free bytes. The system may reserve a part of the file system, which cannot be filled.
    pub total: u64,
}

impl DiskSpace {
    /// Free space on the disk of the embedded store; none with PostgreSQL or when it cannot be read.
    pub fn of_store(config: &Config) -> Option<Self> {
        let url = config.store.database_url().ok()?;
        let folder = url.sqlite_path()?.parent()?;
        let folder = if folder.as_os_str().is_empty() { PathBuf::from(".") } else { folder.to_owned() };
        Self::of_folder(&folder)
    }

    /// Free space on the disk of a folder; none when it cannot be read.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        let disk = rustix::fs::statvfs(folder).ok()?;
        let usable = disk.f_blocks.saturating_sub(disk.f_bfree).saturating_add(disk.f_bavail);
        Some(Self {
            free: disk.f_bavail.saturating_mul(disk.f_frsize),
            total: usable.saturating_mul(disk.f_frsize),
        })
    }

    /// Whether less is free than the configured warning level.
    pub fn is_low(self, settings: &Store) -> bool {
        let below_size = self.free < settings.warn_free_mib.saturating_mul(MIB);
        let share = u128::from(self.total) * u128::from(settings.warn_free_percent);
        below_size || u128::from(self.free) * 100 < share
    }

    /// Whether more than 90 % is used: raw messages are no longer kept, so that locations still are.
    pub const fn is_nearly_full(self) -> bool {
        self.free < self.total / 10
    }

    /// Whether the next batches would not fit.
    pub const fn is_full(self) -> bool {
        self.free < FULL_BELOW
    }
}

/// Whether a database of this many bytes has reached 90 % of its size limit; false without a limit.
pub fn is_near_limit(bytes: u64, settings: &Store) -> bool {
    let limit = u128::from(settings.size_limit_mib) * u128::from(MIB);
    limit > 0 && u128::from(bytes) * 10 >= limit * 9
}

/// Milliseconds after which a warning that still holds is repeated.
const REPEAT_MS: i64 = 60 * 60 * 1000;

/// When the last warning of a full disk was logged, in milliseconds; 0 while there is room.
#[derive(Debug, Default)]
pub struct DiskWarning(AtomicI64);

impl DiskWarning {
    /// Whether to warn now: when the disk has become low, and every hour while it is.
    pub fn is_due(&self, is_low: bool, now: Timestamp) -> bool {
        let last = self.0.load(Ordering::Relaxed);
        // Also after the clock was set back.
        let is_due = is_low && (last == 0 || !(0..REPEAT_MS).contains(&(now.as_millis() - last)));
        if is_due || !is_low {
            self.0.store(if is_low { now.as_millis() } else { 0 }, Ordering::Relaxed);
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(warn_free_mib: u64, warn_free_percent: u8, size_limit_mib: u64) -> Store {
        Store {
            data: PathBuf::new(),
            database: String::new(),
            replica_url: String::new(),
            replica_lag_ms: 1,
            connections: 1,
            wait_seconds: 0,
            allow_synchronous_commit: Vec::new(),
            warn_free_mib,
            warn_free_percent,
            size_limit_mib,
        }
    }

    #[test]
    fn a_limit_is_near_from_nine_tenths_on() {
        assert!(!is_near_limit(u64::MAX, &settings(0, 0, 0)), "no limit");
        assert!(!is_near_limit(90 * MIB - 1, &settings(0, 0, 100)));
        assert!(is_near_limit(90 * MIB, &settings(0, 0, 100)));
        assert!(!is_near_limit(90 * MIB, &settings(0, 0, u64::MAX)));
    }

    #[test]
    fn either_bound_warns_and_zero_turns_it_off() {
        let check = |warn_free_mib, warn_free_percent, expect| {
            let settings = settings(warn_free_mib, warn_free_percent, 0);
            let disk = DiskSpace { free: 900 * MIB, total: 10_000 * MIB };
            assert_eq!(disk.is_low(&settings), expect, "{warn_free_mib} MiB, {warn_free_percent} %");
        };
        check(0, 0, false);
        check(900, 0, false);
        check(901, 0, true);
        check(0, 9, false);
        check(0, 10, true);
        assert!(!DiskSpace { free: MIB, total: MIB }.is_full());
        assert!(DiskSpace { free: MIB - 1, total: MIB }.is_full());
        assert!(!DiskSpace { free: 10, total: 100 }.is_nearly_full());
        assert!(DiskSpace { free: 9, total: 100 }.is_nearly_full());
    }

    #[test]
    fn a_warning_is_repeated_seldom_and_renewed_when_room_was_made() {
        let warning = DiskWarning::default();
        let at = |minutes: i64| Timestamp::from_millis(1_767_225_600_000 + minutes * 60_000);
        assert!(!warning.is_due(false, at(0)));
        assert!(warning.is_due(true, at(1)));
        assert!(!warning.is_due(true, at(60)));
        assert!(warning.is_due(true, at(61)));
        assert!(warning.is_due(true, at(-100)), "the clock was set back");
        assert!(!warning.is_due(false, at(62)));
        assert!(warning.is_due(true, at(63)));
    }
}
