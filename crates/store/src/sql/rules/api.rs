//! The store's `Rules` trait, implemented by SQL.

use async_trait::async_trait;
use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::id::RuleId;
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::rules::rule::{Rule, RuleSettings};
use perigee_core::store::{Result, Rules};

use super::{change, read};
use crate::Database;

#[async_trait]
impl Rules for Database {
    async fn create_rule(
        &self,
        actor: &Actor,
        settings: RuleSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Rule>> {
        let actor = actor.clone();
        self.write(move |tx| change::create(tx, actor, settings, once).boxed()).await
    }

    async fn find_rule(&self, scope: Scope, id: RuleId) -> Result<Option<Rule>> {
        self.read(move |tx| read::find(tx, scope, id).boxed()).await
    }

    async fn list_rules(&self, scope: Scope, text: Option<&str>, page: PageRequest) -> Result<Page<Rule>> {
        let text = text.map(str::to_owned);
        self.read(move |tx| read::list(tx, scope, text, page).boxed()).await
    }

    async fn replace_rule(
        &self,
        actor: &Actor,
        id: RuleId,
        seen: Revision,
        settings: RuleSettings,
    ) -> Result<Rule> {
        let actor = actor.clone();
        self.write(move |tx| change::replace(tx, actor, id, seen, settings).boxed()).await
    }

    async fn delete_rule(&self, actor: &Actor, id: RuleId, seen: Option<Revision>) -> Result<()> {
        let actor = actor.clone();
        self.write(move |tx| change::delete(tx, actor, id, seen).boxed()).await
    }
}
