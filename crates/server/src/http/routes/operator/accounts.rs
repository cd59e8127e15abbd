//! Accounts of the server: listing, making and changing them.

use axum::extract::State;
use axum::response::Response;
use perigee_core::account::{AccountSettings, NewAccount};
use perigee_core::actor::Actor;
use perigee_core::error::{Kind, StoreError, Unique};
use perigee_core::id::AccountId;
use perigee_core::page::PageRequest;
use perigee_core::store::AccountOverview;

use super::view::{
    OperatorAccountAnswer, OperatorAccountInput, OperatorAccountList, OperatorAccountMade,
    OperatorAccountNew, OperatorAccountView, read_account, read_new,
};
use crate::app::App;
use crate::auth::password;
use crate::http::edit::retry_changed;
use crate::http::error::{ApiError, ApiResult, invalid_body, not_found};
use crate::http::extract::{Caller, Change, IdPath, JsonBody, OperatorCaller, Params};
use crate::http::json::{Pointer, Problem};
use crate::http::list::answer_list;
use crate::http::reply::Reply;
use crate::http::routes::user_links::make_invitation;
use crate::http::routes::user_password::is_taken;

async fn find(app: &App, id: Option<AccountId>) -> ApiResult<AccountOverview> {
    let missing = || not_found(Kind::Account);
    app.store.find_account_overview(id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

fn answer(caller: &Caller, overview: AccountOverview) -> Reply<OperatorAccountAnswer> {
    let revision = overview.account.revision;
    caller.reply(OperatorAccountAnswer { account: OperatorAccountView::from(overview) }).revision(revision)
}

/// List every account of the server.
///
/// For operators of the server. Complete unless `limit` or `cursor` is given.
#[utoipa::path(get, path = "/api/operator/accounts", tag = "operator", security(("session" = [])), params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items; the list is then paged.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Where to continue: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Part of the name, in any case."),
), responses((status = 200, description = "The accounts.", body = OperatorAccountList)))]
pub async fn list_operator_accounts(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    mut params: Params,
) -> ApiResult<Response> {
    let text = params.text("q");
    let part = params.finish_list("operator-accounts")?;
    let inner = app.clone();
    let fetch = move |page: PageRequest| {
        let (app, text) = (inner.clone(), text.clone());
        async move { app.store.search_accounts(text.as_deref(), page).await }
    };
    answer_list(&app, &caller, "accounts", part, fetch, OperatorAccountView::from).await
}

/// Read an account of the server.
#[utoipa::path(get, path = "/api/operator/accounts/{accountId}", tag = "operator", security(("session" = [])),
    params(("accountId" = String, Path, description = "The account's id.", example = "acc_01jc2m8k4n5p5")),
    responses((status = 200, description = "The account.", body = OperatorAccountAnswer)))]
pub async fn get_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    params: Params,
) -> ApiResult<Reply<OperatorAccountAnswer>> {
    params.finish()?;
    Ok(answer(&caller, find(&app, id).await?))
}

/// Create an account.
///
/// Its owner has no password that anybody knows: give them the link of the answer, with which they set one.
#[utoipa::path(post, path = "/api/operator/accounts", tag = "operator", security(("session" = [])),
    request_body = OperatorAccountNew,
    responses((status = 201, description = "The account that was made.", body = OperatorAccountMade)))]
pub async fn create_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    body: JsonBody,
) -> ApiResult<Reply<OperatorAccountMade>> {
    let (wanted, owner) = read_new(&body.value)?;
    if is_taken(&app, &owner.email, None).await? {
        return Err(at_the_address(StoreError::Taken(Unique::Email)));
    }
    let unknown = app.passwords.hash_for(caller.payer(), password::generate()).await?;
    let new = NewAccount {
        settings: wanted.first_settings(),
        licenses: wanted.licenses,
        owner_email: owner.email,
        owner_language: owner.language,
        owner_country: owner.country,
        owner_password_hash: unknown,
    };
    let (account, owner) = app.store.create_account(&caller.origin(), new).await.map_err(at_the_address)?;
    let invitation = make_invitation(&app, &caller, &owner).await?;
    let overview = find(&app, Some(account.id)).await?;
    let address = app.base_url.join(&format!("/api/operator/accounts/{}", account.id));
    let made = OperatorAccountMade { account: OperatorAccountView::from(overview), invitation };
    Ok(caller.reply(made).created(address).revision(account.revision))
}

/// Names the member that holds an address which somebody else has.
fn at_the_address(error: StoreError) -> ApiError {
    match error {
        StoreError::Taken(_) => {
            let detail = "Another user of the server has this address. Choose another one.".to_owned();
            invalid_body(vec![Problem { pointer: Pointer::root().member("ownerEmail"), detail }])
        }
        other => other.into(),
    }
}

/// Change part of an account.
///
/// Takes the members of `account`, or what was read as it is.
#[utoipa::path(patch, path = "/api/operator/accounts/{accountId}", tag = "operator",
    security(("session" = [])), request_body = OperatorAccountInput,
    params(("accountId" = String, Path, description = "The account's id.", example = "acc_01jc2m8k4n5p5")),
    responses((status = 200, description = "The account as it is now.", body = OperatorAccountAnswer)))]
pub async fn update_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    change: Change,
) -> ApiResult<Reply<OperatorAccountAnswer>> {
    let change = change.nested("account");
    let id = retry_changed(&change.preconditions, || async {
        let present = find(&app, id).await?;
        change.preconditions.check(Kind::Account, present.account.revision)?;
        let (id, seen, settings) =
            (present.account.id, present.account.revision, present.account.settings.clone());
        let ceiling = present.email_ceiling;
        let wanted = read_account(&change.apply(&OperatorAccountView::from(present)).await?)
            .map_err(|error| change.place(error))?;
        let wanted_ceiling = wanted.email_ceiling;
        let actor = Actor::for_operator(id, caller.origin());
        let settings = AccountSettings { name: wanted.name, time_zone: wanted.time_zone, ..settings };
        let changed = app.store.replace_account_and_licenses(&actor, seen, settings, wanted.licenses).await;
        if changed.is_ok() && wanted_ceiling != ceiling {
            app.store.set_email_ceiling(&caller.origin(), id, wanted_ceiling).await?;
        }
        Ok(changed.map(|account| account.id))
    })
    .await?;
    app.identities.forget_account(id);
    Ok(answer(&caller, find(&app, Some(id)).await?))
}
