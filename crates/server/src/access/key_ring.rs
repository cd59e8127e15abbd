//! The signing keys of this node. They are replaced at run time when an operator rotates them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;
use perigee_core::access::credential::SigningKey as StoredKey;
use perigee_core::error::StoreError;
use perigee_core::store::Store;
use tokio::sync::Mutex;

use crate::auth::signing::{SigningKey, SigningKeyError, SigningKeys};
use crate::auth::token::Tokens;

/// Issuer and audience are names, not URLs: a token stays valid when the URL changes or another node answers.
const ISSUER: &str = "perigee";
const AUDIENCE: &str = "perigee-api";

/// The keys in use, loaded again from the store on demand.
#[derive(Debug)]
pub(super) struct KeyRing {
    tokens: RwLock<Arc<Tokens>>,
    /// Counts the loads that have begun.
    loads: AtomicU64,
    /// Held while keys are loaded, so that concurrent callers share one load.
    loading: Mutex<()>,
}

/// Why the keys of the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyLoadError {
    /// The store could not be read.
    #[error("cannot read the keys that sign tokens")]
    Store(#[from] StoreError),
    /// The stored keys are damaged, or there are none.
    #[error("the keys that sign tokens cannot be used")]
    Keys(#[from] SigningKeyError),
}

impl KeyRing {
    pub(super) fn new(keys: SigningKeys) -> Self {
        let tokens = RwLock::new(Arc::new(Tokens::new(keys, ISSUER, AUDIENCE)));
        Self { tokens, loads: AtomicU64::new(0), loading: Mutex::new(()) }
    }

    /// Issues and verifies tokens with the keys in use.
    pub(super) fn tokens(&self) -> Arc<Tokens> {
        Arc::clone(&self.tokens.read())
    }

    /// Loads the keys of the store; true if they differ from those in use. A load that another caller began after this
    /// call serves this call too.
    pub(super) async fn load(&self, store: &dyn Store) -> Result<bool, KeyLoadError> {
        let seen = self.loads.load(Ordering::SeqCst);
        let _one_at_a_time = self.loading.lock().await;
        if self.loads.load(Ordering::SeqCst) > seen {
            return Ok(false);
        }
        self.loads.fetch_add(1, Ordering::SeqCst);
        let keys = read_keys(&store.list_signing_keys().await?)?;
        if *self.tokens().keys() == keys {
            return Ok(false);
        }
        let tokens = Arc::new(Tokens::new(keys, ISSUER, AUDIENCE));
        *self.tokens.write() = tokens;
        Ok(true)
    }
}

/// Decodes the keys of the store; the first one signs.
pub(crate) fn read_keys(stored: &[StoredKey]) -> Result<SigningKeys, SigningKeyError> {
    let read = |key: &StoredKey| Ok(SigningKey::from_pkcs8(&key.pkcs8)?.expiring(key.expires));
    let mut keys = stored.iter().map(read);
    let current = keys.next().unwrap_or(Err(SigningKeyError::NotMade))?;
    Ok(SigningKeys::new(current, keys.collect::<Result<_, _>>()?))
}
