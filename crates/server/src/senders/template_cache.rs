//! Caches the templates of accounts, which are needed for every message.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use perigee_core::access::actor::Scope;
use perigee_core::id::AccountId;
use perigee_core::store::Store;
use perigee_core::time::Clock;
use perigee_notify::template::{AccountTemplates, CustomTemplates};

use crate::cache::TtlCache;

/// How long cached templates are used: a changed template applies after this time at the latest.
const TTL: Duration = Duration::from_secs(2);
/// Accounts in the cache at most.
const ACCOUNTS_MAX: usize = 1_000;

/// The templates of accounts, read from the store and cached.
pub struct TemplateCache {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    accounts: TtlCache<AccountId, AccountTemplates>,
}

impl TemplateCache {
    /// An empty cache of this store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, accounts: TtlCache::new(ACCOUNTS_MAX, TTL) }
    }
}

#[async_trait]
impl CustomTemplates for TemplateCache {
    async fn custom_templates(&self, account: AccountId) -> AccountTemplates {
        let now = self.clock.monotonic();
        if let Some(customs) = self.accounts.get(&account, now) {
            return customs;
        }
        let all = match self.store.templates(Scope::for_background_job(account)).await {
            Ok(all) => all,
            Err(error) => {
                tracing::warn!(%account, %error, "templates cannot be read; the built-in ones are used");
                return AccountTemplates::default();
            }
        };
        let own = all.into_iter().filter_map(|(kind, stored)| Some((kind.parse().ok()?, stored.source?)));
        let customs: AccountTemplates = Arc::new(own.collect());
        self.accounts.insert(account, Arc::clone(&customs), now);
        customs
    }
}
