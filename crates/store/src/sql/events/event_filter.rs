//! Event filters, with the members of their groups resolved.

use std::collections::{BTreeSet, HashSet};

use perigee_core::events::event::{Event, EventFilter, EventKind};
use perigee_core::id::{AccountId, DeviceId, GroupId, WebhookId};
use perigee_core::store::Result;

use crate::sql::query::for_ids;
use crate::{Tx, params};

/// A resolved event filter.
#[derive(Debug)]
pub(crate) struct Wanted<'f> {
    filter: &'f EventFilter,
    /// The wanted devices, including those of wanted groups; `None` for all.
    devices: Option<HashSet<DeviceId>>,
    /// The wanted groups, as subjects of events.
    groups: HashSet<String>,
}

impl<'f> Wanted<'f> {
    /// Resolves the current members of the filter's groups.
    pub(in crate::sql) async fn of(tx: &Tx, account: AccountId, filter: &'f EventFilter) -> Result<Self> {
        let mut devices = None;
        if filter.is_about_some() {
            let mut some: HashSet<DeviceId> = filter.devices.iter().copied().collect();
            let groups: Vec<i64> = filter.groups.iter().map(|group| group.as_i64()).collect();
            let sql =
                "SELECT DISTINCT device_id FROM group_member WHERE account_id = ?1 AND group_id IN ({ids})";
            for row in for_ids(tx, sql, params![account], &groups).await? {
                some.insert(DeviceId::from_i64(row.i64("device_id")?));
            }
            devices = Some(some);
        }
        let groups = filter.groups.iter().map(GroupId::to_string).collect();
        Ok(Self { filter, devices, groups })
    }

    /// Whether locations are wanted at all.
    pub(in crate::sql) fn has_locations(&self) -> bool {
        self.filter.wants_kind(EventKind::LocationCreated)
    }

    /// Whether only some devices are wanted.
    pub(crate) fn is_narrow(&self) -> bool {
        self.devices.is_some()
    }

    /// Whether events about this device are wanted.
    pub(crate) fn has_device(&self, device: DeviceId) -> bool {
        self.devices.as_ref().is_none_or(|devices| devices.contains(&device))
    }

    /// Whether this event is wanted; `routed_to` are the webhooks that an alert routing names for it.
    pub(in crate::sql) fn has(&self, event: &Event, routed_to: &[WebhookId]) -> bool {
        if self.filter.reader.is_some_and(|reader| routed_to.contains(&reader)) {
            return true;
        }
        let is_left_to_routing = self.filter.alerts_by_routing && event.kind == EventKind::AlertCreated;
        !is_left_to_routing && self.filter.wants_kind(event.kind) && self.is_about(event)
    }

    fn is_about(&self, event: &Event) -> bool {
        match event.device {
            Some(device) => self.has_device(device),
            None => self.devices.is_none() || self.groups.contains(&event.subject),
        }
    }

    /// The condition on the column `kind`. The names of kinds need no escaping.
    pub(in crate::sql) fn kinds_sql(&self) -> String {
        if self.filter.kinds.is_empty() {
            return String::new();
        }
        let routed = self.filter.reader.map(|_| EventKind::AlertCreated);
        let kinds: BTreeSet<EventKind> = self.filter.kinds.iter().copied().chain(routed).collect();
        let names: Vec<String> = kinds.iter().map(|kind| format!("'{}'", kind.name())).collect();
        format!("AND kind IN ({})", names.join(", "))
    }
}
