//! Listing, creating, changing and deleting rules.

use perigee_core::id::RuleId;
use perigee_core::rules::rule::Rule;

use super::view::{NAMES, RuleInput, RuleList, RuleView, read_rule};
use crate::http::edit::Mode;
use crate::http::prelude::*;
use crate::http::routes::notifications::alert_routing::{ask_to_confirm, named_addresses};

/// Attributes an unknown reference to the member that named it.
fn attribute<T>(outcome: Result<T, StoreError>) -> ApiResult<Result<T, StoreError>> {
    let member = match &outcome {
        Err(StoreError::UnknownReference { kind: Kind::Device, .. }) => "devices",
        Err(StoreError::UnknownReference { kind: Kind::Group, .. }) => "groups",
        Err(StoreError::UnknownReference {
            kind: Kind::User | Kind::ContactGroup | Kind::Webhook, ..
        }) => "then",
        _ => "conditions",
    };
    attribute_reference(outcome, member)
}

pub(super) async fn find(app: &App, caller: &Caller, id: Option<RuleId>) -> ApiResult<Rule> {
    let missing = || not_found(Kind::Rule);
    app.store.find_rule(caller.scope(), id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

/// List rules
///
/// Returns the rules that are visible to the caller, sorted by ID. A caller who sees only a group or a device gets the
/// rules that apply to a device in it. The list is complete unless `limit` or `cursor` is given; with either, it is
/// returned in pages.
#[utoipa::path(get, path = "/api/rules", tag = "rules", params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Only rules whose name or description contains this text, in any letter case."),
), responses((status = 200, description = "The rules that are visible to the caller, sorted by ID.", body = RuleList)))]
pub async fn list_rules(Call(app, caller): Call, mut params: Params) -> ApiResult<Response> {
    let text = params.text("q");
    let part = params.finish_list("rules")?;
    let (store, scope) = (app.store.clone(), caller.scope());
    let fetch = move |page| {
        let (store, text) = (store.clone(), text.clone());
        async move { store.list_rules(scope, text.as_deref(), page).await }
    };
    answer_list(&app, &caller, "rules", part, fetch, RuleView::from).await
}

/// Create a rule
///
/// Creates a rule that raises alerts when its conditions are true. Requires the privilege `rules.write`. The rule
/// evaluates locations whose `dateTime` is not before its creation. An account may have up to 1,000 rules. Recipients
/// in `then` who are not users of the account may be asked by e-mail to confirm that they want messages.
#[utoipa::path(post, path = "/api/rules", tag = "rules", request_body = RuleInput,
    responses((status = 201, description = "The rule was created.", body = RuleView)))]
pub async fn create_rule(Call(app, caller): Call, once: Once, mut body: JsonBody) -> ApiReply<RuleView> {
    caller.require(Privilege::RulesWrite)?;
    resolve_names(&app, &caller, &mut body.value, NAMES).await?;
    let settings = read_rule(&body.value, Mode::Create, &caller.account().settings.time_zone)?;
    let held = once.hold(&app, &caller, &body)?;
    let created = app.store.create_rule(&caller.actor(), settings, held.key.clone()).await;
    let rule = attribute(created)??.into_inner();
    ask_to_confirm(&app, &caller, named_addresses(&rule.settings.routing)).await?;
    let address = app.base_url.join(&format!("/api/rules/{}", rule.id));
    Ok(caller.reply_at(rule.revision, RuleView::from(rule)).created(address))
}

/// Retrieve a rule
///
/// Returns one rule. A caller who does not see every device of the rule gets it without the other devices and groups,
/// and with an empty `then`.
#[utoipa::path(get, path = "/api/rules/{ruleId}", tag = "rules",
    responses((status = 200, description = "The rule with this ID.", body = RuleView)))]
pub async fn get_rule(
    Call(app, caller): Call,
    IdPath(id): IdPath<RuleId>,
    preconditions: Preconditions,
    params: Params,
) -> ApiResult<Response> {
    params.finish()?;
    let rule = find(&app, &caller, id).await?;
    Ok(caller.reply_unless_known(&preconditions, rule.revision, RuleView::from(rule)))
}

change_handlers! {
    path: "/api/rules/{ruleId}", tag: "rules", body: RuleInput, answer: RuleView, "The updated rule.";
    /// Replace a rule
    ///
    /// Sets all settings of a rule; members that are left out get their defaults. Requires the privilege `rules.write`.
    /// If the conditions, times or schedule change, or if the rule is disabled, its open alerts end, and the new
    /// settings apply to locations from then on.
    replace_rule,
    /// Update a rule
    ///
    /// Changes the members that the body contains and keeps the others. Requires the privilege `rules.write`. If the
    /// conditions, times or schedule change, or if the rule is disabled, its open alerts end, and the new settings
    /// apply to locations from then on.
    update_rule => change_rule(id: IdPath<RuleId>)
}

async fn change_rule(
    Call(app, caller): Call,
    IdPath(id): IdPath<RuleId>,
    change: Change,
) -> ApiReply<RuleView> {
    let rule = retry_changed(&change.preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::RulesWrite)?;
        change.preconditions.check(Kind::Rule, present.revision)?;
        let (id, seen) = (present.id, present.revision);
        let mut wanted = change.apply(&RuleView::from(present)).await?;
        resolve_names(&app, &caller, &mut wanted, NAMES).await?;
        let settings = read_rule(&wanted, Mode::Replace, &caller.account().settings.time_zone)?;
        attribute(app.store.replace_rule(&caller.actor(), id, seen, settings).await)
    })
    .await?;
    ask_to_confirm(&app, &caller, named_addresses(&rule.settings.routing)).await?;
    Ok(caller.reply_at(rule.revision, RuleView::from(rule)))
}

/// Delete a rule
///
/// Deletes the rule and ends its open alerts. Requires the privilege `rules.write`. Alerts that the rule raised are
/// kept.
#[utoipa::path(delete, path = "/api/rules/{ruleId}", tag = "rules",
    responses((status = 200, description = "The rule was deleted.", body = Done)))]
pub async fn delete_rule(
    Call(app, caller): Call,
    IdPath(id): IdPath<RuleId>,
    preconditions: Preconditions,
) -> ApiReply<Done> {
    retry_changed(&preconditions, || async {
        let present = find(&app, &caller, id).await?;
        caller.require(Privilege::RulesWrite)?;
        preconditions.check(Kind::Rule, present.revision)?;
        Ok(app.store.delete_rule(&caller.actor(), present.id, Some(present.revision)).await)
    })
    .await?;
    Ok(caller.reply(Done {}))
}
