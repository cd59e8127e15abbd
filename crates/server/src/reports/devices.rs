//! The devices of a report, page by page.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use perigee_core::access::actor::Scope;
use perigee_core::devices::device::{Device, DeviceFilter, DeviceRef};
use perigee_core::id::{DeviceId, GroupId};
use perigee_core::page::PageRequest;
use perigee_core::store::{Result, Store};

use super::plan::Selection;

/// Devices of one page.
const PAGE: u32 = 200;

/// What a report says about a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportDevice {
    /// Its id.
    pub id: DeviceId,
    /// Its name.
    pub name: Arc<str>,
    /// The groups that it is in.
    pub groups: Vec<GroupId>,
}

impl From<Device> for ReportDevice {
    fn from(device: Device) -> Self {
        Self { id: device.id, name: device.settings.name.into(), groups: device.settings.groups }
    }
}

/// Reads the devices of a selection, each once.
#[derive(Debug)]
pub struct DevicePages {
    scope: Scope,
    named: VecDeque<DeviceId>,
    /// The lists that were not read to their end: the members of a group, or all devices.
    lists: VecDeque<Option<GroupId>>,
    after: Option<i64>,
    /// The devices that were read, if they can occur again.
    seen: HashSet<DeviceId>,
    is_all: bool,
}

impl DevicePages {
    /// Begins with the first device.
    pub fn new(scope: Scope, selection: &Selection) -> Self {
        let (named, lists) = match selection {
            Selection::All => (VecDeque::new(), VecDeque::from([None])),
            Selection::Some(devices, groups) => {
                (devices.iter().copied().collect(), groups.iter().copied().map(Some).collect())
            }
        };
        let is_all = *selection == Selection::All;
        Self { scope, named, lists, after: None, seen: HashSet::new(), is_all }
    }

    /// The next devices; an empty page if there are no more.
    pub async fn next(&mut self, store: &dyn Store) -> Result<Vec<ReportDevice>> {
        Ok(self.next_whole(store).await?.into_iter().map(ReportDevice::from).collect())
    }

    /// The same with everything that is known of them.
    pub(super) async fn next_whole(&mut self, store: &dyn Store) -> Result<Vec<Device>> {
        loop {
            let page = match self.named.pop_front() {
                Some(id) => store.find_device(self.scope, &DeviceRef::Id(id)).await?.into_iter().collect(),
                None => match self.lists.front().copied() {
                    Some(list) => self.listed(store, list).await?,
                    None => return Ok(Vec::new()),
                },
            };
            let new: Vec<Device> = page
                .into_iter()
                .filter(|device: &Device| self.is_all || self.seen.insert(device.id))
                .collect();
            if !new.is_empty() {
                return Ok(new);
            }
        }
    }

    async fn listed(&mut self, store: &dyn Store, group: Option<GroupId>) -> Result<Vec<Device>> {
        let filter = DeviceFilter { group, ..DeviceFilter::default() };
        let request = PageRequest { after: self.after, limit: PAGE };
        let page = store.list_devices(self.scope, &filter, request).await?;
        self.after = page.next;
        if page.next.is_none() {
            self.lists.pop_front();
        }
        Ok(page.items)
    }
}
