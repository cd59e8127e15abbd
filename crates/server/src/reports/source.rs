//! Reads what a report needs from the store, batch by batch.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use perigee_core::access::actor::{Reach, Scope};
use perigee_core::alerts::alert::StoredAlert;
use perigee_core::error::StoreError;
use perigee_core::id::{GroupId, UserId};
use perigee_core::locations::location::{History, HistoryCursor, HistoryRequest, Order, TimeRange};
use perigee_core::maintenance::{MaintenanceFilter, MaintenancePlan};
use perigee_core::page::PageRequest;
use perigee_core::store::{DeviceTotals, Result, Store};
use perigee_core::time::Timestamp;
use perigee_core::timeline::Totals;
use perigee_reports::{Grouping, RowsOf};

use super::batch::{Batch, NamedTotals};
use super::devices::{DevicePages, ReportDevice};
use super::drivers::{DriverSums, add_drivers, driver_names};
use super::plan::{Plan, Selection};

/// Segments of a batch.
const SEGMENTS: u32 = 1_000;
/// Devices that are read for a batch, however few segments they have.
const DEVICES: usize = 50;

/// Totals by group (`None` for the whole account) and interval.
pub(crate) type GroupTotals = BTreeMap<(Option<GroupId>, usize), Totals>;

/// Reads the segments or totals of a plan.
pub(super) struct Source {
    store: Arc<dyn Store>,
    plan: Arc<Plan>,
    pages: DevicePages,
    devices: VecDeque<ReportDevice>,
    /// Where the next read of the first of `devices` begins.
    continue_at: Option<Timestamp>,
    /// The position in the alerts of the first of `devices`.
    after: Option<HistoryCursor>,
    /// The names of users who acknowledged alerts.
    users: HashMap<UserId, Option<Arc<str>>>,
    by_group: GroupTotals,
    by_driver: DriverSums,
    is_done: bool,
}

impl Source {
    pub(super) fn new(store: Arc<dyn Store>, plan: Arc<Plan>) -> Self {
        let pages = DevicePages::new(plan.scope, &plan.selection);
        Self {
            store,
            plan,
            pages,
            devices: VecDeque::new(),
            continue_at: None,
            after: None,
            users: HashMap::new(),
            by_group: GroupTotals::new(),
            by_driver: DriverSums::new(),
            is_done: false,
        }
    }

    /// The next batch, which may be empty; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Batch>> {
        if self.is_done {
            return Ok(None);
        }
        match self.plan.kind.rows_of() {
            RowsOf::Segments => self.next_segments().await,
            RowsOf::Totals => self.next_totals().await.map(Some),
            RowsOf::Alerts => self.next_alerts().await,
            RowsOf::Devices => self.next_devices().await,
            RowsOf::Messages => self.next_messages().await,
            RowsOf::Maintenance => self.next_maintenance().await,
            // Read with the budget of the report, because their work is in the histories.
            RowsOf::Visits => Ok(None),
        }
    }

    /// The device that is read next; `None` if there are no more.
    async fn device(&mut self) -> Result<Option<ReportDevice>> {
        if self.devices.is_empty() {
            self.devices = self.pages.next(self.store.as_ref()).await?.into();
        }
        self.is_done = self.devices.is_empty();
        Ok(self.devices.front().cloned())
    }

    async fn next_devices(&mut self) -> Result<Option<Batch>> {
        let devices = self.pages.next_whole(self.store.as_ref()).await?;
        if devices.is_empty() {
            self.is_done = true;
            return Ok(None);
        }
        let ids = devices.iter().map(|device| device.id).collect();
        let mut last = self.store.last_locations_of(self.plan.scope, ids).await?;
        let known = devices.into_iter().map(|device| {
            let last = last.remove(&device.id);
            (device, last)
        });
        Ok(Some(Batch::Devices(known.collect())))
    }

    /// Counts of a page of devices; at last those of no device, if the report is about all.
    async fn next_messages(&mut self) -> Result<Option<Batch>> {
        let (scope, from, to) = (self.plan.scope, self.plan.from(), self.plan.to());
        let devices = self.pages.next(self.store.as_ref()).await?;
        if devices.is_empty() {
            self.is_done = true;
            if self.plan.selection != Selection::All {
                return Ok(None);
            }
            let counts = self.store.count_messages(scope, None, from, to).await?;
            return Ok(Some(Batch::Messages(counts.into_iter().map(|counts| (None, counts)).collect())));
        }
        let ids = devices.iter().map(|device| device.id).collect();
        let mut counts: HashMap<_, Vec<_>> = HashMap::new();
        for one in self.store.count_messages(scope, Some(ids), from, to).await? {
            counts.entry(one.device).or_default().push(one);
        }
        let of_device = |device: ReportDevice| {
            let own = counts.remove(&Some(device.id)).unwrap_or_default();
            own.into_iter().map(move |counts| (Some(Arc::clone(&device.name)), counts))
        };
        Ok(Some(Batch::Messages(devices.into_iter().flat_map(of_device).collect())))
    }

    async fn next_maintenance(&mut self) -> Result<Option<Batch>> {
        let mut plans = Vec::new();
        for _ in 0..DEVICES {
            let Some(device) = self.device().await? else { break };
            let filter = MaintenanceFilter { device: Some(device.id), group: None };
            // A device has no more plans than a page.
            let page = PageRequest::first(MaintenancePlan::PER_DEVICE_MAX);
            let found = self.store.list_maintenance_plans(self.plan.scope, &filter, page).await?;
            self.devices.pop_front();
            plans.extend(found.items.into_iter().map(|status| (Arc::clone(&device.name), status)));
        }
        Ok((!self.is_done || !plans.is_empty()).then_some(Batch::Maintenance(plans)))
    }

    /// The next device of a report; `None` if there are no more.
    pub(super) async fn next_device(&mut self) -> Result<Option<ReportDevice>> {
        let device = self.device().await?;
        self.devices.pop_front();
        Ok(device)
    }

    async fn next_alerts(&mut self) -> Result<Option<Batch>> {
        let mut alerts = Vec::new();
        for _ in 0..DEVICES {
            let Some(device) = self.device().await? else { break };
            // The end of a history belongs to it.
            let range = TimeRange { from: self.plan.from(), to: self.plan.to().plus_millis(-1) };
            let request =
                HistoryRequest { range, order: Order::Ascending, after: self.after, limit: SEGMENTS };
            let found = match self.store.list_alerts(self.plan.scope, device.id, None, request).await {
                // It was deleted meanwhile.
                Err(StoreError::NotFound(_)) => History { items: Vec::new(), next: None },
                read => read?,
            };
            self.after = found.next;
            if found.next.is_none() {
                self.devices.pop_front();
            }
            for stored in found.items {
                let by = self.acknowledged_by(&stored).await?;
                alerts.push((Arc::clone(&device.name), stored, by));
            }
            if alerts.len() >= usize::try_from(SEGMENTS).unwrap_or(usize::MAX) {
                break;
            }
        }
        Ok((!self.is_done || !alerts.is_empty()).then_some(Batch::Alerts(alerts)))
    }

    /// The name of who acknowledged an alert. Users whom the reader may not see have none.
    async fn acknowledged_by(&mut self, stored: &StoredAlert) -> Result<Option<Arc<str>>> {
        if let Some(name) = &stored.acknowledged_name {
            return Ok(Some(name.as_str().into()));
        }
        let Some((_, Some(user))) = stored.acknowledged else { return Ok(None) };
        if let Some(known) = self.users.get(&user) {
            return Ok(known.clone());
        }
        let found = self.store.find_user(self.plan.scope, user).await?;
        let name: Option<Arc<str>> = found.map(|user| user.profile.name.into());
        self.users.insert(user, name.clone());
        Ok(name)
    }

    async fn next_segments(&mut self) -> Result<Option<Batch>> {
        let mut segments = Vec::new();
        let limit = usize::try_from(SEGMENTS).unwrap_or(usize::MAX);
        for _ in 0..DEVICES {
            let Some(device) = self.device().await? else {
                return Ok((!segments.is_empty()).then_some(Batch::Segments(segments)));
            };
            let from = self.continue_at.take().unwrap_or_else(|| self.plan.from());
            let period = TimeRange { from, to: self.plan.to() };
            let kind = self.plan.segment_kind();
            let read = self.store.list_segments(self.plan.scope, device.id, period, kind, SEGMENTS).await;
            let page = match read {
                // It was deleted meanwhile.
                Err(StoreError::NotFound(_)) => None,
                read => Some(read?),
            };
            let more = page.as_ref().is_some_and(|page| page.more);
            let found = page.map(|page| page.segments).unwrap_or_default();
            self.continue_at = found.last().map(|last| last.segment.to).filter(|_| more);
            if self.continue_at.is_none() {
                self.devices.pop_front();
            }
            segments.extend(found.into_iter().map(|stored| (Arc::clone(&device.name), stored)));
            if segments.len() >= limit {
                break;
            }
        }
        Ok(Some(Batch::Segments(segments)))
    }

    async fn next_totals(&mut self) -> Result<Batch> {
        let devices = self.pages.next(self.store.as_ref()).await?;
        if devices.is_empty() {
            self.is_done = true;
            if self.plan.grouping == Grouping::Driver {
                let by_driver = std::mem::take(&mut self.by_driver);
                let named = named_drivers(self.store.as_ref(), self.plan.scope, by_driver).await?;
                return Ok(Batch::Totals(named));
            }
            let by_group = std::mem::take(&mut self.by_group);
            return Ok(Batch::Totals(named(self.store.as_ref(), self.plan.scope, by_group).await?));
        }
        let ids = devices.iter().map(|device| device.id).collect();
        let limits = self.plan.limits.clone();
        if self.plan.grouping == Grouping::Driver {
            let sums = self.store.sum_driver_trips(self.plan.scope, ids, limits).await?;
            add_drivers(&mut self.by_driver, sums);
            return Ok(Batch::Totals(Vec::new()));
        }
        let sums = self.store.sum_segments(self.plan.scope, ids, limits).await?;
        if self.plan.grouping != Grouping::Device {
            sum_by_group(&mut self.by_group, self.plan.grouping, self.plan.scope, &devices, &sums);
            return Ok(Batch::Totals(Vec::new()));
        }
        let names: HashMap<_, _> = devices.into_iter().map(|device| (device.id, device.name)).collect();
        let batch = sums.into_iter().filter_map(|DeviceTotals { device, interval, totals }| {
            let device = Some((device, names.get(&device)?.clone()));
            Some(NamedTotals { device, group: None, driver: None, interval, totals })
        });
        Ok(Batch::Totals(batch.collect()))
    }
}

/// Adds totals of devices to those of their visible groups, or to those of the account.
pub fn sum_by_group(
    into: &mut GroupTotals,
    grouping: Grouping,
    scope: Scope,
    devices: &[ReportDevice],
    sums: &[DeviceTotals],
) {
    let groups: HashMap<_, _> = devices.iter().map(|device| (device.id, &device.groups)).collect();
    for sum in sums {
        if grouping == Grouping::Account {
            into.entry((None, sum.interval)).or_default().merge(&sum.totals);
            continue;
        }
        let Some(groups) = groups.get(&sum.device) else { continue };
        for group in groups.iter().filter(|group| sees(scope, **group)) {
            into.entry((Some(*group), sum.interval)).or_default().merge(&sum.totals);
        }
    }
}

fn sees(scope: Scope, group: GroupId) -> bool {
    match scope.reach {
        Reach::Account => true,
        Reach::Group(own) => own == group,
        Reach::Device(_) => false,
    }
}

async fn named(store: &dyn Store, scope: Scope, totals: GroupTotals) -> Result<Vec<NamedTotals>> {
    let mut ids: Vec<GroupId> = totals.keys().filter_map(|(group, _)| *group).collect();
    ids.dedup();
    let names = store.group_names(scope.account, ids).await?;
    let names: HashMap<GroupId, Arc<str>> = names.into_iter().map(|(id, name)| (id, name.into())).collect();
    let rows = totals.into_iter().filter_map(|((group, interval), totals)| {
        let group = match group {
            // A group that was deleted meanwhile is left out.
            Some(id) => Some((id, names.get(&id)?.clone())),
            None => None,
        };
        Some(NamedTotals { device: None, group, driver: None, interval, totals })
    });
    Ok(rows.collect())
}

async fn named_drivers(store: &dyn Store, scope: Scope, totals: DriverSums) -> Result<Vec<NamedTotals>> {
    let names = driver_names(store, scope, &totals).await?;
    let rows = totals.into_iter().map(|((driver, interval), totals)| {
        let name = names.of(&driver).unwrap_or_default();
        NamedTotals { device: None, group: None, driver: Some((driver, name)), interval, totals }
    });
    Ok(rows.collect())
}
