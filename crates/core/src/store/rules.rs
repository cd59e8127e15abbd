//! Reads and changes of rules and geofences.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::{Actor, Scope};
use crate::id::{GeofenceId, RuleId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::locations::geofence::{Geofence, GeofenceSettings};
use crate::page::{Page, PageRequest};
use crate::revision::Revision;
use crate::rules::rule::{Rule, RuleSettings};

/// Geofences of an account. A scope below the account contains the geofences created in it and those its rules use.
#[async_trait]
pub trait Geofences: Send + Sync {
    /// Creates a geofence in the scope.
    async fn create_geofence(
        &self,
        actor: &Actor,
        settings: GeofenceSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Geofence>>;

    /// Finds a geofence in the scope.
    async fn find_geofence(&self, scope: Scope, id: GeofenceId) -> Result<Option<Geofence>>;

    /// Lists geofences in the scope whose name or description contains a text, by id.
    async fn list_geofences(
        &self,
        scope: Scope,
        text: Option<&str>,
        page: PageRequest,
    ) -> Result<Page<Geofence>>;

    /// Replaces the settings. If the shape changes, rules that use it start again.
    async fn replace_geofence(
        &self,
        actor: &Actor,
        id: GeofenceId,
        seen: Revision,
        settings: GeofenceSettings,
    ) -> Result<Geofence>;

    /// Deletes a geofence. Refused if a rule uses it.
    async fn delete_geofence(&self, actor: &Actor, id: GeofenceId, seen: Option<Revision>) -> Result<()>;
}

/// Rules of an account. A scope below the account contains the rules that apply to a device in it, and can change
/// those that apply to nothing else.
#[async_trait]
pub trait Rules: Send + Sync {
    /// Creates a rule. Its devices, groups and geofences must be in the scope.
    async fn create_rule(
        &self,
        actor: &Actor,
        settings: RuleSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Rule>>;

    /// Finds a rule in the scope.
    async fn find_rule(&self, scope: Scope, id: RuleId) -> Result<Option<Rule>>;

    /// Lists rules in the scope whose name or description contains a text, by id.
    async fn list_rules(&self, scope: Scope, text: Option<&str>, page: PageRequest) -> Result<Page<Rule>>;

    /// Replaces the settings. If the evaluation changes, the rule starts again and its open episodes end.
    async fn replace_rule(
        &self,
        actor: &Actor,
        id: RuleId,
        seen: Revision,
        settings: RuleSettings,
    ) -> Result<Rule>;

    /// Deletes a rule. Its alerts stay; open ones end.
    async fn delete_rule(&self, actor: &Actor, id: RuleId, seen: Option<Revision>) -> Result<()>;
}
