//! Templates that accounts use instead of the built-in ones.

use std::collections::BTreeMap;

use async_trait::async_trait;

use crate::access::actor::{Actor, Scope};
use crate::notifications::notification::StoredTemplate;
use crate::revision::Revision;
use crate::store::Result;

/// The templates of accounts.
#[async_trait]
pub trait Templates: Send + Sync {
    /// The templates that the account ever set, by kind.
    async fn templates(&self, scope: Scope) -> Result<BTreeMap<String, StoredTemplate>>;

    /// Sets the account's own template of a kind, or returns to the built-in one.
    async fn replace_template(
        &self,
        actor: &Actor,
        kind: &str,
        seen: Revision,
        source: Option<String>,
    ) -> Result<StoredTemplate>;
}
