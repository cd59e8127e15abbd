//! A store that counts messages after they were sent. The fault harness must notice it; in every other use it stays
//! off, also in builds that have it.

use std::sync::atomic::{AtomicBool, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Makes this process count messages after they were sent: limits can be exceeded.
pub fn count_after_sending() {
    ON.store(true, Ordering::Relaxed);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}
