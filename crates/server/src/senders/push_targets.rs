//! The browsers of users, as the sender of Web Push reads them from the store.

use std::sync::Arc;

use async_trait::async_trait;
use perigee_core::id::{AccountId, PushSubscriptionId};
use perigee_core::notifications::push::{PushEndpoint, PushResult, PushTarget};
use perigee_core::store::Store;
use perigee_notify::push::PushTargets;

/// The push subscriptions of a store.
pub(super) struct StoredTargets(pub(super) Arc<dyn Store>);

#[async_trait]
impl PushTargets for StoredTargets {
    async fn find(&self, account: AccountId, id: PushSubscriptionId) -> Result<Option<PushTarget>, String> {
        self.0.find_push_target(account, id).await.map_err(|error| error.to_string())
    }

    async fn record(
        &self,
        account: AccountId,
        id: PushSubscriptionId,
        sent_to: &PushEndpoint,
        result: PushResult,
    ) {
        if let Err(error) = self.0.record_push(account, id, sent_to, result).await {
            tracing::warn!(
                subscription = %id,
                error = &error as &dyn std::error::Error,
                "could not record the result of a push"
            );
        }
    }
}
