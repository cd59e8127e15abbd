//! Alert routing and the notification settings of accounts.

use async_trait::async_trait;

use crate::access::actor::{Actor, Scope};
use crate::id::{DeviceId, RuleId};
use crate::notifications::notification::{Audience, MessagingSettings, StoredMessaging};
use crate::notifications::routing::{AlertRouting, RoutingHolder, StoredRouting};
use crate::revision::Revision;
use crate::store::Result;

/// Maximum number of test messages that an account may send within an hour.
pub const TEST_MESSAGES_AN_HOUR: i64 = 200;

/// Alert routing and the notification settings of accounts.
#[async_trait]
pub trait Routing: Send + Sync {
    /// Finds the routing set on a device, group or account in the scope.
    async fn get_routing(&self, scope: Scope, holder: RoutingHolder) -> Result<StoredRouting>;

    /// Sets the routing, or removes it so that the less specific one applies.
    async fn replace_routing(
        &self,
        actor: &Actor,
        holder: RoutingHolder,
        seen: Revision,
        routing: Option<AlertRouting>,
    ) -> Result<StoredRouting>;

    /// The routing that applies to a device, and the resource on which it is set.
    async fn routing_in_force(
        &self,
        scope: Scope,
        device: DeviceId,
    ) -> Result<Option<(RoutingHolder, AlertRouting)>>;

    /// Everybody who may be notified of an alert of this device, raised by this rule if one is given.
    async fn find_audience(&self, scope: Scope, device: DeviceId, rule: Option<RuleId>) -> Result<Audience>;

    /// Writes a test message to everybody who may be notified of an alert of this device, and of this rule if given.
    /// Returns how many were written; `None` if the account would have more than [`TEST_MESSAGES_AN_HOUR`] within an
    /// hour.
    async fn send_test_messages(
        &self,
        actor: &Actor,
        device: DeviceId,
        rule: Option<RuleId>,
    ) -> Result<Option<usize>>;

    /// Finds the notification settings of an account.
    async fn get_notification_settings(&self, scope: Scope) -> Result<StoredMessaging>;

    /// Replaces the notification settings of an account.
    async fn replace_messaging(
        &self,
        actor: &Actor,
        seen: Revision,
        settings: MessagingSettings,
    ) -> Result<StoredMessaging>;
}
