//! The status of devices by how long they have been silent: late, offline, or online again.

use perigee_core::devices::device::DeviceStatus;
use perigee_core::id::RuleId;
use perigee_core::rules::rule::{RuleSet, Silence};
use perigee_core::store::{StatusChange, StatusCheck};
use perigee_core::time::Timestamp;

/// Seconds after which an offline device is checked again: it may have reported in a way that is not in the log.
const OFFLINE_CHECK_S: i64 = 15 * 60;

/// The new status of a device, and the rules about silence whose episodes it begins or ends.
pub(super) struct Found {
    pub(super) change: StatusChange,
    /// Rules whose episode begins, and since when.
    pub(super) silent: Vec<(RuleId, Timestamp)>,
    /// Rules whose episode ends.
    pub(super) heard: Vec<RuleId>,
    /// Rules about the time without a trip that are true.
    pub(super) absent: Vec<RuleId>,
}

/// The status of a device at this time.
pub(super) fn check_status(watched: &StatusCheck, set: &RuleSet, now: Timestamp) -> Found {
    let status = DeviceStatus::of(watched.last_seen, watched.interval_s, now);
    let limits = watched.last_seen.map(|seen| DeviceStatus::limits(seen, watched.interval_s));
    let (late, offline) = limits.unwrap_or((now, now));
    let due = match status {
        DeviceStatus::Online => late.plus_millis(1),
        DeviceStatus::Late => offline.plus_millis(1),
        DeviceStatus::Offline | DeviceStatus::Never => now.plus_seconds(OFFLINE_CHECK_S),
    };
    let change = StatusChange { device: watched.device, from: watched.announced, to: status, due };
    let mut found = Found { change, silent: Vec::new(), heard: Vec::new(), absent: Vec::new() };
    let was = |silence: Silence| watched.announced.is_some_and(|announced| silence.covers(announced));
    // Rules that no longer cover the device are included: they may have an open episode.
    for rule in set.silence_rules() {
        if rule.settings.silence().is_some_and(|silence| was(silence) && !silence.covers(status)) {
            found.heard.push(rule.id);
        }
    }
    for rule in set.rules_of(watched.device, &watched.groups) {
        match rule.no_trip_due(watched.last_trip, watched.created) {
            Some(met) if met <= now => found.absent.push(rule.id),
            Some(met) => found.change.due = found.change.due.min(met),
            None => {}
        }
        let Some(silence) = rule.settings.silence() else { continue };
        let since = match silence {
            Silence::Late => late.plus_millis(1),
            Silence::Offline => offline.plus_millis(1),
        };
        // With a schedule an episode may begin later during the silence; the store keeps which rules have begun one.
        let may_begin = silence.covers(status) && (!was(silence) || rule.settings.schedule.is_some());
        match rule.silence_from(since).filter(|_| may_begin) {
            Some(from) if from <= now => found.silent.push((rule.id, from)),
            Some(from) => found.change.due = found.change.due.min(from),
            None => {}
        }
    }
    found
}
