//! Methods of the store for drivers and their assignments to devices. Both belong to the whole account: a user who sees
//! only a part of it sees none of them, apart from the names on trips.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::drivers::{Assignment, AssignmentSettings, Driver, DriverFilter, DriverSettings};
use crate::id::{AssignmentId, DeviceId, DriverId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;

/// Reads and changes of drivers. After a change that concerns who drove, the trips in question are resolved again in the
/// background; until then their timelines are pending.
#[async_trait]
pub trait Drivers: Send + Sync {
    /// Creates a driver. Refused if the account has [`Driver::COUNT_MAX`], or if another driver has one of the tags.
    async fn create_driver(
        &self,
        actor: &Actor,
        settings: DriverSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Driver>>;

    /// Finds a driver of the account.
    async fn find_driver(&self, scope: Scope, id: DriverId) -> Result<Option<Driver>>;

    /// Lists the drivers of the account that fulfil a filter, by id.
    async fn list_drivers(
        &self,
        scope: Scope,
        filter: &DriverFilter,
        page: PageRequest,
    ) -> Result<Page<Driver>>;

    /// Replaces the settings. Refused if another driver has one of the tags.
    async fn replace_driver(
        &self,
        actor: &Actor,
        id: DriverId,
        seen: Revision,
        settings: DriverSettings,
    ) -> Result<Driver>;

    /// Deletes a driver with its assignments. Trips keep its name.
    async fn delete_driver(&self, actor: &Actor, id: DriverId, seen: Option<Revision>) -> Result<()>;
}

/// Reads and changes of assignments of drivers to devices.
#[async_trait]
pub trait Assignments: Send + Sync {
    /// Assigns a driver to a device. Refused if another assignment of the device overlaps it, or if the account has
    /// [`Assignment::COUNT_MAX`].
    async fn create_assignment(
        &self,
        actor: &Actor,
        driver: DriverId,
        settings: AssignmentSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Assignment>>;

    /// Finds an assignment of the account.
    async fn find_assignment(&self, scope: Scope, id: AssignmentId) -> Result<Option<Assignment>>;

    /// Lists the assignments of a driver, by id.
    async fn list_driver_assignments(
        &self,
        scope: Scope,
        driver: DriverId,
        page: PageRequest,
    ) -> Result<Page<Assignment>>;

    /// Lists the assignments to a device, by id.
    async fn list_device_assignments(
        &self,
        scope: Scope,
        device: DeviceId,
        page: PageRequest,
    ) -> Result<Page<Assignment>>;

    /// Replaces the settings. Refused if another assignment of the device overlaps them.
    async fn replace_assignment(
        &self,
        actor: &Actor,
        id: AssignmentId,
        seen: Revision,
        settings: AssignmentSettings,
    ) -> Result<Assignment>;

    /// Deletes an assignment.
    async fn delete_assignment(&self, actor: &Actor, id: AssignmentId, seen: Option<Revision>) -> Result<()>;
}
