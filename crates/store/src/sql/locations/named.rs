//! Submissions that name their device by its identifier.
//!
//! On PostgreSQL the device is taken from [`DeviceNames`](super::device_names::DeviceNames), and the commit checks it:
//! a change of an identifier needs the exclusive lock of the account, and the check runs under the shared lock, so
//! that it sees every change that was confirmed before. If the device has another identifier by then, the device is
//! looked up again. On SQLite the cache of devices is exact, and no check is needed.

use perigee_core::access::actor::Scope;
use perigee_core::devices::device::DeviceRef;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::DeviceId;
use perigee_core::locations::location::Location;
use perigee_core::store::{Devices as _, Result};

use super::submission_queue::Submission;
use crate::Database;

/// The submission of locations for a device given by its id or its identifier.
pub(super) async fn submission(
    database: &Database,
    scope: Scope,
    device: &DeviceRef,
    locations: &[Location],
) -> Result<Submission> {
    let identifier = match device {
        DeviceRef::Id(id) => return Ok(Submission::new(scope, *id, locations)),
        DeviceRef::Identifier(identifier) => identifier,
    };
    let Some(names) = database.log().device_names() else {
        return Ok(Submission::new(scope, look_up(database, scope, device).await?, locations));
    };
    let id = match names.get(scope.account, identifier) {
        Some(id) => id,
        None => look_up(database, scope, device).await?,
    };
    Ok(Submission { identifier: Some(identifier.as_str().into()), ..Submission::new(scope, id, locations) })
}

/// Reads which visible device has this identifier, and remembers it where that is of use.
pub(super) async fn look_up(database: &Database, scope: Scope, device: &DeviceRef) -> Result<DeviceId> {
    let found = Box::pin(database.find_device_id(scope, device)).await?;
    let id = found.ok_or(StoreError::NotFound(Kind::Device))?;
    if let (Some(names), DeviceRef::Identifier(identifier)) = (database.log().device_names(), device) {
        names.put(scope.account, identifier, id);
    }
    Ok(id)
}

/// A deliberately wrong variant without the check, which the tests of changed identifiers must catch.
#[cfg(feature = "testing")]
pub(crate) mod without_check {
    use perigee_core::access::actor::Actor;
    use perigee_core::locations::location::Outcome;

    use super::{Database, DeviceRef, Location, Result, Submission, submission};
    use crate::sql::locations::group_commit;

    /// Stores locations for the device that had the identifier when this node last looked it up.
    pub async fn submit_locations_without_check(
        database: &Database,
        actor: &Actor,
        device: &DeviceRef,
        locations: Vec<Location>,
    ) -> Result<Vec<Outcome>> {
        let named = submission(database, actor.scope, device, &locations).await?;
        let unchecked = Submission { identifier: None, ..named };
        Ok(group_commit::submit(database, unchecked).await?.locations)
    }
}
