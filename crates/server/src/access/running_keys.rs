//! Idempotency keys of the requests that are being answered now.

use std::collections::HashSet;
use std::sync::Arc;

use parking_lot::Mutex;
use perigee_core::id::UserId;
use perigee_core::idempotency::IdempotencyKey;

/// User, endpoint and the client's key.
type Name = (UserId, String, String);

/// The keys in use on this node. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct RunningKeys(Arc<Mutex<HashSet<Name>>>);

/// Keeps a key in use until it is dropped.
#[derive(Debug)]
pub struct RunningKey {
    name: Name,
    running: RunningKeys,
}

impl RunningKeys {
    /// Takes a key; none while another request with it is being answered.
    pub fn hold(&self, key: &IdempotencyKey) -> Option<RunningKey> {
        let name = (key.user, key.endpoint.clone(), key.key.clone());
        let is_free = self.0.lock().insert(name.clone());
        is_free.then(|| RunningKey { name, running: self.clone() })
    }
}

impl Drop for RunningKey {
    fn drop(&mut self) {
        self.running.0.lock().remove(&self.name);
    }
}
