//! Rules and geofences.

use async_trait::async_trait;

use super::Result;
use crate::actor::{Actor, Scope};
use crate::geofence::{Geofence, GeofenceSettings};
use crate::id::{GeofenceId, RuleId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::rule::{Rule, RuleSettings};

/// Geofences of an account. Who sees a part of it sees those made there and those its rules look at.
#[async_trait]
pub trait Geofences: Send + Sync {
    /// Adds a geofence.
    async fn create_geofence(
        &self,
        actor: &Actor,
        settings: GeofenceSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Geofence>>;

    /// One geofence in sight.
    async fn find_geofence(&self, scope: Scope, id: GeofenceId) -> Result<Option<Geofence>>;

    /// Geofences in sight whose name or description has this text, by id.
    async fn list_geofences(
        &self,
        scope: Scope,
        text: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<Geofence>>;

    /// Replaces what a client sets. Rules that look at it begin anew when it is elsewhere.
    async fn replace_geofence(
        &self,
        actor: &Actor,
        id: GeofenceId,
        seen: Revision,
        settings: GeofenceSettings,
    ) -> Result<Geofence>;

    /// Deletes a geofence, unless a rule looks at it.
    async fn delete_geofence(&self, actor: &Actor, id: GeofenceId, seen: Option<Revision>) -> Result<()>;
}

/// Rules of an account. Who sees a part of it sees those that judge a device there, and may change those that judge
/// nothing else.
#[async_trait]
pub trait Rules: Send + Sync {
    /// Adds a rule. Its devices, groups and geofences must be in sight.
    async fn create_rule(
        &self,
        actor: &Actor,
        settings: RuleSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Rule>>;

    /// One rule in sight.
    async fn find_rule(&self, scope: Scope, id: RuleId) -> Result<Option<Rule>>;

    /// Rules in sight whose name or description has this text, by id.
    async fn list_rules(&self, scope: Scope, text: Option<&str>, page: PageRequest) -> Result<Page<Rule>>;

    /// Replaces what a client sets. When it judges otherwise then, it begins anew, and what was under way ends.
    async fn replace_rule(
        &self,
        actor: &Actor,
        id: RuleId,
        seen: Revision,
        settings: RuleSettings,
    ) -> Result<Rule>;

    /// Deletes a rule; the alerts it raised stay, those under way end.
    async fn delete_rule(&self, actor: &Actor, id: RuleId, seen: Option<Revision>) -> Result<()>;
}
