//! The store's `Rules` trait, implemented by SQL.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::id::RuleId;
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::rules::rule::{Rule, RuleSettings};
use perigee_core::store::Rules;

use super::{change, read};
use crate::forward::forward;

forward! {
    impl Rules for Database {
        write create_rule(&self, &actor: Actor, settings: RuleSettings, once: Option<IdempotencyKey>)
            -> Created<Rule> = change::create;
        read find_rule(&self, scope: Scope, id: RuleId) -> Option<Rule> = read::find;
        read list_rules(&self, scope: Scope, text: Option<&str>, page: PageRequest)
            -> Page<Rule> = read::list with text = text.map(str::to_owned);
        write replace_rule(&self, &actor: Actor, id: RuleId, seen: Revision, settings: RuleSettings)
            -> Rule = change::replace;
        write delete_rule(&self, &actor: Actor, id: RuleId, seen: Option<Revision>) -> () = change::delete;
    }
}
