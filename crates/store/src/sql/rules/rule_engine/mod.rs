//! The store side of the rule engine: which node follows which account's log, the rule state of devices, and saving a
//! round: alerts, occurrences, trails, statuses and the cursor in one transaction.

mod api;
pub(in crate::sql::rules) mod finish;
mod lease;
pub(in crate::sql::rules) mod occurrence;
mod trail;
mod watch;

pub(crate) use lease::{evaluated_to, wake};
pub(in crate::sql) use occurrence::{end_alerts, end_occurrences};
pub(crate) use trail::checked as checked_trail;
pub(in crate::sql::rules) use watch::check_all;
