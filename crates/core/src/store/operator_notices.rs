//! Notices to operators of the server, and contested identifiers.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Origin, Scope};
use crate::accounts::operator_notice::OperatorNotice;
use crate::gateways::claim::{Claim, OpenClaim};
use crate::gateways::network::NetworkFinding;
use crate::id::{DeviceId, NoticeId};
use crate::time::Timestamp;

/// Notices to operators: at most one for each account, kind and subject.
#[async_trait]
pub trait OperatorNotices: Send + Sync {
    /// Lists the notices that were not dismissed, newest first, at most 1,000.
    async fn list_notices(&self) -> Result<Vec<OperatorNotice>>;

    /// Dismisses a notice. Returns whether it was there.
    async fn dismiss_notice(&self, id: NoticeId) -> Result<bool>;
}

/// Claims of identifiers on shared listeners.
#[async_trait]
pub trait Claims: Send + Sync {
    /// Lists the claims of a device in the scope, by identifier.
    async fn list_claims(&self, scope: Scope, device: DeviceId) -> Result<Vec<Claim>>;

    /// Sets the interval, from `from` on, in which an identifier must report to prove a claim. `None` if the account
    /// started too many proofs; fails with `NotFound` if the device does not have the identifier. A claim that is
    /// proven, by this device or another, stays as it is.
    async fn begin_proof(
        &self,
        actor: &Actor,
        device: DeviceId,
        identifier: &str,
        from: Timestamp,
    ) -> Result<Option<Claim>>;

    /// Saves that a claimed identifier reports from two networks, and writes a notice to operators. Returns whether
    /// this is new: there is one open finding for an identifier, and none for networks about which an operator decided.
    async fn save_network_finding(&self, identifier: &str, finding: NetworkFinding) -> Result<bool>;

    /// Lists up to 1,000 identifiers that report from two networks, that are not proven or that several accounts
    /// registered.
    async fn list_open_claims(&self) -> Result<Vec<OpenClaim>>;

    /// Assigns an identifier to a device, whose claim then counts as proven. An open finding of two networks is closed.
    /// Fails with `NotFound` if the device does not have the identifier.
    async fn assign_claim(&self, origin: &Origin, identifier: &str, device: DeviceId) -> Result<()>;
}
