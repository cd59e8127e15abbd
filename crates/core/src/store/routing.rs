//! Alert routing and the notification settings of accounts.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::id::DeviceId;
use crate::notification::{MessagingSettings, StoredMessaging};
use crate::revision::Revision;
use crate::routing::{AlertRouting, RoutingHolder, StoredRouting};

/// Alert routing and the notification settings of accounts.
#[async_trait]
pub trait Routing: Send + Sync {
    /// Finds the routing set on a device, group or account in the scope.
    async fn find_routing(&self, scope: Scope, holder: RoutingHolder) -> Result<StoredRouting>;

    /// Sets the routing, or removes it so that the less specific one applies.
    async fn replace_routing(
        &self,
        actor: &Actor,
        holder: RoutingHolder,
        seen: Revision,
        routing: Option<AlertRouting>,
    ) -> Result<StoredRouting>;

    /// The routing that applies to a device, and what it is set on.
    async fn routing_in_force(
        &self,
        scope: Scope,
        device: DeviceId,
    ) -> Result<Option<(RoutingHolder, AlertRouting)>>;

    /// Finds the notification settings of an account.
    async fn find_messaging(&self, scope: Scope) -> Result<StoredMessaging>;

    /// Replaces the notification settings of an account.
    async fn replace_messaging(
        &self,
        actor: &Actor,
        seen: Revision,
        settings: MessagingSettings,
    ) -> Result<StoredMessaging>;
}
