//! Push subscriptions of users, and the keys that sign messages to push services.

use async_trait::async_trait;

use crate::access::actor::{Actor, Scope};
use crate::access::credential::SigningKey;
use crate::id::{AccountId, PushSubscriptionId, UserId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::notifications::push::{
    NewPushSubscription, PushEndpoint, PushResult, PushSettings, PushSubscription, PushTarget,
};
use crate::revision::Revision;
use crate::store::Result;
use crate::time::Timestamp;

/// The browsers in which users are notified. A user reaches only their own.
#[async_trait]
pub trait PushSubscriptions: Send + Sync {
    /// Returns the keys that sign messages to push services, the one for new subscriptions first. Stores `fresh` if
    /// there was none.
    async fn push_keys(&self, fresh: SigningKey) -> Result<Vec<SigningKey>>;

    /// Lists the same without storing a new one.
    async fn list_push_keys(&self) -> Result<Vec<SigningKey>>;

    /// Makes `fresh` the key for new subscriptions. Subscriptions with an older key get messages until `old_until`.
    async fn rotate_push_key(&self, fresh: SigningKey, old_until: Timestamp) -> Result<()>;

    /// Subscribes a browser of the user. A subscription of the user with the same URL is renewed and keeps its id; one
    /// of another user is deleted, because a browser notifies the user who subscribed it last. Refused beyond
    /// [`PushSubscription::COUNT_MAX`].
    async fn create_push_subscription(
        &self,
        actor: &Actor,
        user: UserId,
        new: NewPushSubscription,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<PushSubscription>>;

    /// All subscriptions of the user, sorted by id.
    async fn list_push_subscriptions(&self, scope: Scope, user: UserId) -> Result<Vec<PushSubscription>>;

    /// One subscription of the user.
    async fn find_push_subscription(
        &self,
        scope: Scope,
        user: UserId,
        id: PushSubscriptionId,
    ) -> Result<Option<PushSubscription>>;

    /// Changes the settings of a subscription at this revision.
    async fn replace_push_subscription(
        &self,
        actor: &Actor,
        user: UserId,
        id: PushSubscriptionId,
        seen: Revision,
        settings: PushSettings,
    ) -> Result<PushSubscription>;

    /// Deletes a subscription.
    async fn delete_push_subscription(
        &self,
        actor: &Actor,
        user: UserId,
        id: PushSubscriptionId,
        seen: Option<Revision>,
    ) -> Result<()>;

    /// Queues a test message to the browser. Returns false if the account has sent too many test messages lately.
    async fn test_push_subscription(
        &self,
        actor: &Actor,
        user: UserId,
        id: PushSubscriptionId,
    ) -> Result<bool>;

    /// What a message to this browser needs; `None` if there is no such subscription, or its user is not active.
    async fn find_push_target(
        &self,
        account: AccountId,
        id: PushSubscriptionId,
    ) -> Result<Option<PushTarget>>;

    /// Records the result of a message to a browser: when it was last used, or that the subscription ended. Does
    /// nothing if it was deleted or renewed with other keys meanwhile.
    async fn record_push(
        &self,
        account: AccountId,
        id: PushSubscriptionId,
        sent_to: &PushEndpoint,
        result: PushResult,
    ) -> Result<()>;
}
