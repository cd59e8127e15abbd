//! Where alerts go, and what an account allows to be sent.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::id::DeviceId;
use crate::notification::{MessagingSettings, StoredMessaging};
use crate::revision::Revision;
use crate::routing::{AlertRouting, RoutingHolder, StoredRouting};

/// Where the alerts of devices go.
#[async_trait]
pub trait Routing: Send + Sync {
    /// What is set in a place in sight.
    async fn find_routing(&self, scope: Scope, holder: RoutingHolder) -> Result<StoredRouting>;

    /// Sets it in a place in sight, or takes it back so that the next place decides.
    async fn replace_routing(
        &self,
        actor: &Actor,
        holder: RoutingHolder,
        seen: Revision,
        routing: Option<AlertRouting>,
    ) -> Result<StoredRouting>;

    /// Whom the alerts of a device in sight go to, and where that is set.
    async fn routing_in_force(
        &self,
        scope: Scope,
        device: DeviceId,
    ) -> Result<Option<(RoutingHolder, AlertRouting)>>;

    /// What an account allows to be sent.
    async fn find_messaging(&self, scope: Scope) -> Result<StoredMessaging>;

    /// Sets what an account allows to be sent.
    async fn replace_messaging(
        &self,
        actor: &Actor,
        seen: Revision,
        settings: MessagingSettings,
    ) -> Result<StoredMessaging>;
}
