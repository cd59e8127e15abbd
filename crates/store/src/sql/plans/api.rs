//! The traits of plans.

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::devices::conversation::NewOutgoing;
use perigee_core::id::{AccountId, PlanId, PlanLinkId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::plans::{
    NewPlanLink, OpenPlan, Plan, PlanAction, PlanEvent, PlanFilter, PlanLink, PlanNudge, PlanSettings,
};
use perigee_core::revision::Revision;
use perigee_core::store::{PlanLinks, PlanWork, Plans, PlansEvaluated};

use super::{act, change, evaluate, links, nudges, read};
use crate::forward::forward;

forward! {
    impl Plans for Database {
        write create_plan(&self, &actor: Actor, settings: PlanSettings, once: Option<IdempotencyKey>)
            -> Created<Plan> = change::create;
        read find_plan(&self, scope: Scope, id: PlanId) -> Option<Plan> = read::find;
        read list_plans(&self, scope: Scope, &filter: PlanFilter, page: PageRequest) -> Page<Plan> = read::list;
        write replace_plan(&self, &actor: Actor, id: PlanId, seen: Revision, settings: PlanSettings)
            -> Plan = change::replace;
        write delete_plan(&self, &actor: Actor, id: PlanId, seen: Option<Revision>) -> () = change::delete;
        write act_on_plan(
            &self, &actor: Actor, id: PlanId, action: PlanAction, note: Option<String>, once: Option<IdempotencyKey>
        ) -> Created<Plan> = act::act;
        read list_plan_events(&self, scope: Scope, id: PlanId, page: PageRequest)
            -> Page<PlanEvent> = read::list_events;
    }
}

forward! {
    impl PlanLinks for Database {
        write create_plan_link(
            &self, &actor: Actor, id: PlanId, new: NewPlanLink, once: Option<IdempotencyKey>
        ) -> Created<PlanLink> = links::create;
        read list_plan_links(&self, scope: Scope, id: PlanId) -> Vec<PlanLink> = links::list;
        write delete_plan_link(&self, &actor: Actor, id: PlanId, link: PlanLinkId) -> () = links::delete;
        read open_plan_link(&self, &secret: str) -> Option<OpenPlan> = links::open;
        write act_by_plan_link(&self, &origin: Origin, &secret: str, action: PlanAction)
            -> Option<OpenPlan> = links::act;
    }
}

forward! {
    impl PlanWork for Database {
        read accounts_with_due_plans(&self, limit: u32) -> Vec<AccountId> = evaluate::accounts;
        write evaluate_plans(&self, account: AccountId, limit: u32) -> PlansEvaluated = evaluate::evaluate;
        read list_plan_nudges(&self, limit: u32) -> Vec<PlanNudge> = nudges::list;
        write send_plan_nudge(&self, &nudge: PlanNudge, message: Option<NewOutgoing>) -> bool = nudges::send;
    }
}
