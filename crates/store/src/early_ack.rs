//! A store that lies: locations are answered before they are committed. The fault harness must notice it; in every
//! other use it stays off, also in builds that have it.

use std::sync::atomic::{AtomicBool, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Makes this process answer locations before they are committed: what it acknowledges can be lost.
pub fn acknowledge_before_commit() {
    ON.store(true, Ordering::Relaxed);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}
