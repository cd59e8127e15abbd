//! Caches the templates of accounts, which are needed for every message.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use perigee_core::actor::Scope;
use perigee_core::id::AccountId;
use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic};
use perigee_notify::template::{CustomTemplates, Customs};

/// How long cached templates are used.
const TTL: Duration = Duration::from_secs(2);
/// Accounts in the cache at most.
const ACCOUNTS_MAX: usize = 1_000;

/// The templates of accounts, read from the store and cached.
pub struct TemplateCache {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    remembered: Mutex<HashMap<AccountId, (Monotonic, Customs)>>,
}

impl TemplateCache {
    /// An empty cache of this store.
    pub fn new(store: Arc<dyn Store>, clock: Arc<dyn Clock>) -> Self {
        Self { store, clock, remembered: Mutex::default() }
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, HashMap<AccountId, (Monotonic, Customs)>> {
        self.remembered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl CustomTemplates for TemplateCache {
    async fn custom_templates(&self, account: AccountId) -> Customs {
        let now = self.clock.monotonic();
        let is_fresh = |read: Monotonic| now.since(read) < TTL;
        if let Some((read, customs)) = self.remembered().get(&account)
            && is_fresh(*read)
        {
            return Arc::clone(customs);
        }
        let all = match self.store.templates(Scope::whole(account)).await {
            Ok(all) => all,
            Err(error) => {
                tracing::warn!(%account, %error, "templates cannot be read; the built-in ones are used");
                return Customs::default();
            }
        };
        let own = all.into_iter().filter_map(|(kind, stored)| Some((kind.parse().ok()?, stored.source?)));
        let customs: Customs = Arc::new(own.collect());
        let mut remembered = self.remembered();
        if remembered.len() >= ACCOUNTS_MAX {
            remembered.clear();
        }
        remembered.insert(account, (now, Arc::clone(&customs)));
        customs
    }
}
