//! Totals of trips by driver.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use perigee_core::access::actor::Scope;
use perigee_core::id::DriverId;
use perigee_core::store::{DriverKey, DriverTotals, Result, Store};
use perigee_core::timeline::Totals;

/// Totals by driver and interval.
pub type DriverSums = BTreeMap<(DriverKey, usize), Totals>;

/// The present names of drivers.
#[derive(Debug)]
pub struct DriverNames(HashMap<DriverId, Arc<str>>);

impl DriverNames {
    /// The name of a driver; `None` if nobody is known, or if the driver was deleted meanwhile.
    pub fn of(&self, driver: &DriverKey) -> Option<Arc<str>> {
        match driver {
            DriverKey::Known(id) => self.0.get(id).cloned(),
            DriverKey::Named(name) => Some(name.as_str().into()),
            DriverKey::Unknown => None,
        }
    }
}

/// Adds the totals of more devices.
pub fn add_drivers(into: &mut DriverSums, sums: Vec<DriverTotals>) {
    for DriverTotals { driver, interval, totals } in sums {
        into.entry((driver, interval)).or_default().merge(&totals);
    }
}

/// Reads the names of these drivers, all of whom drove visible devices.
pub async fn driver_names(store: &dyn Store, scope: Scope, sums: &DriverSums) -> Result<DriverNames> {
    let mut ids: Vec<DriverId> = Vec::new();
    for (driver, _) in sums.keys() {
        if let DriverKey::Known(id) = driver {
            ids.push(*id);
        }
    }
    ids.dedup();
    let names = store.driver_names(scope.account, ids).await?;
    Ok(DriverNames(names.into_iter().map(|(id, name)| (id, name.into())).collect()))
}
