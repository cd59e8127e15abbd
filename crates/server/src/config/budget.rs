//! `[budget]`: memory and work of requests that run at the same time.

use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::check::refuse;

/// Limits on bytes of request bodies and on work that waits.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// MiB of request bodies in memory at the same time.
    pub body_mib: usize,
    /// MiB of these from one client address.
    pub body_mib_per_address: usize,
    /// MiB of these from one account.
    pub body_mib_per_account: usize,
    /// MiB of large answers in memory at the same time; one address and one account may hold half of it.
    pub answer_mib: usize,
    /// MiB that decompression and reading of bodies may need at the same time.
    pub work_mib: usize,
    /// Threads for that work; 0 for one more than there are cores.
    pub work_threads: usize,
    /// Pieces of work that may wait for a thread.
    pub waiting: usize,
    /// Pieces of work of one account, or of one address without one, that may wait.
    pub waiting_per_client: usize,
}

impl Budget {
    /// The largest accepted body, in MiB. A smaller share would refuse bodies that the API allows.
    const LARGEST_BODY_MIB: usize = 8;
    /// Memory for reading the largest body, in MiB.
    const LARGEST_WORK_MIB: usize = 80;

    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let shares = [
            ("budget.body_mib_per_address", self.body_mib_per_address),
            ("budget.body_mib_per_account", self.body_mib_per_account),
        ];
        for (key, share) in shares {
            if !(Self::LARGEST_BODY_MIB..=self.body_mib).contains(&share) {
                return refuse(
                    key,
                    "must be at least 8, the size of the largest accepted body, and at most body_mib",
                );
            }
        }
        // Large bodies may use three quarters of it.
        if self.body_mib < 2 * Self::LARGEST_BODY_MIB {
            return refuse("budget.body_mib", "must be at least 16");
        }
        if self.answer_mib < 16 {
            return refuse(
                "budget.answer_mib",
                "must be at least 16, so that an account can hold a few large pages",
            );
        }
        if self.work_mib < Self::LARGEST_WORK_MIB {
            return refuse(
                "budget.work_mib",
                "must be at least 80, the memory that reading the largest body needs",
            );
        }
        if self.work_threads > 1_000 {
            return refuse(
                "budget.work_threads",
                "must be at most 1000; 0 means the number of cores plus one",
            );
        }
        if self.waiting == 0 || !(1..=self.waiting).contains(&self.waiting_per_client) {
            return refuse(
                "budget.waiting_per_client",
                "must be at least 1 and at most the setting \"waiting\"",
            );
        }
        Ok(())
    }
}
