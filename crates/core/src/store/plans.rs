//! Plans of voyages, shifts and hikes: changes and reads, travellers' links, and the examination of plans that are due.

use async_trait::async_trait;

use super::{PlansEvaluated, Result};
use crate::access::actor::{Actor, Origin, Scope};
use crate::devices::conversation::NewOutgoing;
use crate::id::{AccountId, PlanId, PlanLinkId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::page::{Page, PageRequest};
use crate::plans::{
    NewPlanLink, OpenPlan, Plan, PlanAction, PlanEvent, PlanFilter, PlanLink, PlanNudge, PlanSettings,
};
use crate::revision::Revision;

/// Plans. A plan is visible if all of its devices are.
#[async_trait]
pub trait Plans: Send + Sync {
    /// Creates a plan for visible devices. Refused beyond the maximum of the account.
    async fn create_plan(
        &self,
        actor: &Actor,
        settings: PlanSettings,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Plan>>;

    /// Finds a visible plan.
    async fn find_plan(&self, scope: Scope, id: PlanId) -> Result<Option<Plan>>;

    /// Lists visible plans, by id.
    async fn list_plans(&self, scope: Scope, filter: &PlanFilter, page: PageRequest) -> Result<Page<Plan>>;

    /// Replaces the settings of a plan. A running plan uses them at once.
    async fn replace_plan(
        &self,
        actor: &Actor,
        id: PlanId,
        seen: Revision,
        settings: PlanSettings,
    ) -> Result<Plan>;

    /// Deletes a plan with its links and its timeline. Its alerts end.
    async fn delete_plan(&self, actor: &Actor, id: PlanId, seen: Option<Revision>) -> Result<()>;

    /// Starts, pauses, extends or ends a plan, or records a check-in. Refused with `PlanRefused` if its state does not
    /// permit it.
    async fn act_on_plan(
        &self,
        actor: &Actor,
        id: PlanId,
        action: PlanAction,
        note: Option<String>,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<Plan>>;

    /// Lists the timeline of a visible plan, oldest first.
    async fn list_plan_events(&self, scope: Scope, id: PlanId, page: PageRequest) -> Result<Page<PlanEvent>>;
}

/// Travellers' links to plans.
#[async_trait]
pub trait PlanLinks: Send + Sync {
    /// Creates a link to a visible plan. Refused beyond the maximum of the plan.
    async fn create_plan_link(
        &self,
        actor: &Actor,
        id: PlanId,
        new: NewPlanLink,
        once: Option<IdempotencyKey>,
    ) -> Result<Created<PlanLink>>;

    /// Lists the links of a visible plan, by id.
    async fn list_plan_links(&self, scope: Scope, id: PlanId) -> Result<Vec<PlanLink>>;

    /// Revokes a link.
    async fn delete_plan_link(&self, actor: &Actor, id: PlanId, link: PlanLinkId) -> Result<()>;

    /// The plan of a link with this secret; `None` if there is none, or if the link has expired.
    async fn open_plan_link(&self, secret: &str) -> Result<Option<OpenPlan>>;

    /// Does what a traveller asks by a link.
    async fn act_by_plan_link(
        &self,
        origin: &Origin,
        secret: &str,
        action: PlanAction,
    ) -> Result<Option<OpenPlan>>;
}

/// Background work on plans.
#[async_trait]
pub trait PlanWork: Send + Sync {
    /// Lists up to `limit` accounts with plans that have to be examined now.
    async fn accounts_with_due_plans(&self, limit: u32) -> Result<Vec<AccountId>>;

    /// Examines up to `limit` plans of an account: reads what their devices sent, and takes the steps that are due. Plan,
    /// timeline, alerts, messages and events are committed together, so that each step is taken once.
    async fn evaluate_plans(&self, account: AccountId, limit: u32) -> Result<PlansEvaluated>;

    /// Lists up to `limit` messages to devices that wait to be sent, oldest first.
    async fn list_plan_nudges(&self, limit: u32) -> Result<Vec<PlanNudge>>;

    /// Queues a message to a device and forgets that it waits, in one transaction; without a message it is only forgotten.
    /// False if another worker was first.
    async fn send_plan_nudge(&self, nudge: &PlanNudge, message: Option<NewOutgoing>) -> Result<bool>;
}
