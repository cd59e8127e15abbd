//! A deliberate defect for the fault harness, which must catch it: alerts are stored in a separate transaction, after
//! the messages that contained them. It is off unless switched on at run time, also in builds that include it.

use std::sync::atomic::{AtomicBool, Ordering};

static ON: AtomicBool = AtomicBool::new(false);

/// Makes this process store alerts after their messages, so that a crash can leave a stored message without its
/// alert.
pub fn store_alerts_late() {
    ON.store(true, Ordering::Relaxed);
}

pub(crate) fn is_on() -> bool {
    ON.load(Ordering::Relaxed)
}
