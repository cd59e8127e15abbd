//! What operators of the server should look at, and whose contested identifiers are.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Origin, Scope};
use crate::accounts::operator_notice::OperatorNotice;
use crate::gateways::claim::{Claim, OpenClaim};
use crate::id::{DeviceId, NoticeId};
use crate::time::Timestamp;

/// Notices to operators.
#[async_trait]
pub trait OperatorNotices: Send + Sync {
    /// Lists the notices that were not dismissed, newest first, 1,000 at the most.
    async fn list_notices(&self) -> Result<Vec<OperatorNotice>>;

    /// Dismisses a notice. Gives whether it was there.
    async fn dismiss_notice(&self, id: NoticeId) -> Result<bool>;
}

/// Claims of identifiers on shared listeners.
#[async_trait]
pub trait Claims: Send + Sync {
    /// Lists the claims of a device in the scope, by identifier.
    async fn list_claims(&self, scope: Scope, device: DeviceId) -> Result<Vec<Claim>>;

    /// States the interval, from `from` on, in which an identifier must report to prove a claim. `None` if the account had too
    /// many stated; fails with `NotFound` if the device does not have the identifier. A claim that is proven, by this device
    /// or another, stays as it is.
    async fn begin_proof(
        &self,
        actor: &Actor,
        device: DeviceId,
        identifier: &str,
        from: Timestamp,
    ) -> Result<Option<Claim>>;

    /// Lists identifiers that are not proven or that several accounts registered, 1,000 at the most.
    async fn list_open_claims(&self) -> Result<Vec<OpenClaim>>;

    /// Gives an identifier to a device, which then counts as proven. Fails with `NotFound` if the device does not have it.
    async fn assign_claim(&self, origin: &Origin, identifier: &str, device: DeviceId) -> Result<()>;
}
