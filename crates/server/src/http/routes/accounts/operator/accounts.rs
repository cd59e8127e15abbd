//! Accounts of the server: listing, creating and changing them.

use perigee_core::access::actor::Actor;
use perigee_core::accounts::account::{AccountSettings, NewAccount};
use perigee_core::error::Unique;
use perigee_core::id::AccountId;
use perigee_core::page::PageRequest;
use perigee_core::store::AccountOverview;

use super::view::{
    OperatorAccountAnswer, OperatorAccountInput, OperatorAccountList, OperatorAccountMade,
    OperatorAccountNew, OperatorAccountView, read_account, read_new,
};
use crate::auth::password;
use crate::http::extract::OperatorCaller;
use crate::http::prelude::*;
use crate::http::routes::access::user_links::make_invitation;
use crate::http::routes::access::user_password::is_taken;

async fn find(app: &App, id: Option<AccountId>) -> ApiResult<AccountOverview> {
    let missing = || not_found(Kind::Account);
    app.store.find_account_overview(id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

fn answer(caller: &Caller, overview: AccountOverview) -> Reply<OperatorAccountAnswer> {
    let revision = overview.account.revision;
    caller.reply(OperatorAccountAnswer { account: OperatorAccountView::from(overview) }).revision(revision)
}

/// List accounts
///
/// Returns all accounts of the server, sorted by creation. Requires an operator of the server with a console session.
/// The list is complete unless `limit` or `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/operator/accounts", tag = "operator", security(("session" = [])), params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Only accounts whose name contains this text, in any letter case."),
), responses((status = 200, description = "The accounts, sorted by creation.", body = OperatorAccountList)))]
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

/// Retrieve an account
///
/// Returns one account of the server with its licences and its numbers of devices and users. Requires an operator of
/// the server with a console session.
#[utoipa::path(get, path = "/api/operator/accounts/{accountId}", tag = "operator", security(("session" = [])),
    responses((status = 200, description = "The account with this ID.", body = OperatorAccountAnswer)))]
pub async fn get_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    params: Params,
) -> ApiReply<OperatorAccountAnswer> {
    params.finish()?;
    Ok(answer(&caller, find(&app, id).await?))
}

/// Create an account
///
/// Creates an account and its first user, an owner. Requires an operator of the server with a console session. The
/// owner has no usable password yet: send them the link in `invitation`, with which they set one. The link is returned
/// only once. The request fails if another user of the server has the e-mail address.
#[utoipa::path(post, path = "/api/operator/accounts", tag = "operator", security(("session" = [])),
    request_body = OperatorAccountNew,
    responses((status = 201, description = "The account was created.", body = OperatorAccountMade)))]
pub async fn create_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    body: JsonBody,
) -> ApiReply<OperatorAccountMade> {
    let (wanted, owner) = read_new(&body.value)?;
    if is_taken(&app, &owner.email, None).await? {
        return Err(email_problem(StoreError::Taken(Unique::Email)));
    }
    // Nobody knows this password: the owner sets one with the invitation.
    let random_hash = app.access.passwords.hash_for(caller.payer(), password::generate()).await?;
    let new = NewAccount {
        settings: wanted.first_settings(),
        licenses: wanted.licenses,
        owner_email: owner.email,
        owner_language: owner.language,
        owner_country: owner.country,
        owner_password_hash: random_hash,
    };
    let (account, owner) = app.store.create_account(&caller.origin(), new).await.map_err(email_problem)?;
    let invitation = make_invitation(&app, &caller, &owner).await?;
    let overview = find(&app, Some(account.id)).await?;
    let address = app.base_url.join(&format!("/api/operator/accounts/{}", account.id));
    let made = OperatorAccountMade { account: OperatorAccountView::from(overview), invitation };
    Ok(caller.reply(made).created(address).revision(account.revision))
}

/// Reports an e-mail address that is taken as a problem of the member `ownerEmail`.
fn email_problem(error: StoreError) -> ApiError {
    match error {
        StoreError::Taken(_) => {
            let detail =
                "Another user of the server has this e-mail address. Give a different one.".to_owned();
            invalid_body(vec![Problem { pointer: Pointer::root().member("ownerEmail"), detail }])
        }
        other => other.into(),
    }
}

/// Update an account
///
/// Changes the members that the body contains and keeps the others. Requires an operator of the server with a console
/// session. The body has the members of `account`; an answer of `GET` can be sent back as it is. The number of licences
/// must not be lower than the number in use.
#[utoipa::path(patch, path = "/api/operator/accounts/{accountId}", tag = "operator",
    security(("session" = [])), request_body = OperatorAccountInput,
    responses((status = 200, description = "The updated account.", body = OperatorAccountAnswer)))]
pub async fn update_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    IdPath(id): IdPath<AccountId>,
    change: Change,
) -> ApiReply<OperatorAccountAnswer> {
    let change = change.nested("account");
    let id = retry_changed(&change.preconditions, || async {
        let present = find(&app, id).await?;
        change.preconditions.check(Kind::Account, present.account.revision)?;
        let (id, seen, settings) =
            (present.account.id, present.account.revision, present.account.settings.clone());
        let ceiling = present.email_ceiling;
        let wanted = read_account(&change.apply(&OperatorAccountView::from(present)).await?)
            .map_err(|error| change.rebase(error))?;
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
    app.access.identities.invalidate_account(id);
    Ok(answer(&caller, find(&app, Some(id)).await?))
}
