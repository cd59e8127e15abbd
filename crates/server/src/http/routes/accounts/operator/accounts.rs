//! Accounts of the server: listing, creating and changing them.

use perigee_core::access::actor::Actor;
use perigee_core::access::credential::LinkPurpose;
use perigee_core::access::user::User;
use perigee_core::accounts::account::{AccountSettings, NewAccount};
use perigee_core::error::Unique;
use perigee_core::id::AccountId;
use perigee_core::page::PageRequest;
use perigee_core::store::{AccountOrder, AccountOverview};

use super::view::{
    InvitationView, OperatorAccountAnswer, OperatorAccountInput, OperatorAccountList, OperatorAccountMade,
    OperatorAccountNew, OperatorAccountView, OwnerInvitationView, read_account, read_new,
};
use crate::auth::password;
use crate::http::extract::OperatorCaller;
use crate::http::prelude::*;
use crate::http::routes::access::user_links::make_invitation;
use crate::http::routes::access::user_password::is_taken;

pub(in crate::http::routes) async fn find(app: &App, id: Option<AccountId>) -> ApiResult<AccountOverview> {
    let missing = || not_found(Kind::Account);
    app.store.find_account_overview(id.ok_or_else(missing)?).await?.ok_or_else(missing)
}

pub(in crate::http::routes) fn answer(
    caller: &Caller,
    overview: AccountOverview,
) -> Reply<OperatorAccountAnswer> {
    let revision = overview.account.revision;
    caller.reply(OperatorAccountAnswer { account: OperatorAccountView::from(overview) }).revision(revision)
}

/// The orders of the list: the value of `sort`, and the name of the list in cursors.
const SORTS: [(&str, &str, AccountOrder); 8] = [
    ("creation", "operator-accounts", AccountOrder::Creation),
    ("-creation", "operator-accounts-newest", AccountOrder::NewestFirst),
    ("name", "operator-accounts-name", AccountOrder::Name),
    ("licenses", "operator-accounts-licenses", AccountOrder::Licenses),
    ("devices", "operator-accounts-devices", AccountOrder::Devices),
    ("users", "operator-accounts-users", AccountOrder::Users),
    ("-lastActivity", "operator-accounts-active", AccountOrder::Activity),
    ("lastActivity", "operator-accounts-inactive", AccountOrder::Inactivity),
];

/// List accounts
///
/// Returns all accounts of the server. Requires an operator of the server with a console session.
/// The list is complete unless `limit` or `cursor` is given; with either, it is returned in pages.
#[utoipa::path(get, path = "/api/operator/accounts", tag = "operator", security(("session" = [])), params(
    ("limit" = Option<u32>, Query, description = "Maximum number of items in a page. Default: 1000 with `cursor`, no limit without.", minimum = 1, maximum = 1000),
    ("cursor" = Option<String>, Query, description = "Cursor of the page: `nextCursor` of the previous page."),
    ("q" = Option<String>, Query, description = "Only accounts whose name contains this text, in any letter case."),
    ("sort" = Option<String>, Query, description = "Order of the accounts. `creation`: oldest first. `-creation`: newest first. `name`: by name. `licenses`: most licences in use first. `devices`: most devices first. `users`: most users first. `-lastActivity`: most recently active first. `lastActivity`: longest inactive first. Default: `creation`. Pages of other orders than `creation` may repeat or leave out an account that changes meanwhile.", example = "name"),
), responses((status = 200, description = "The accounts, in the order of `sort`.", body = OperatorAccountList)))]
pub async fn list_operator_accounts(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    mut params: Params,
) -> ApiResult<Response> {
    let text = params.text("q");
    let sorts = SORTS.map(|(word, _, order)| (word, (word, order)));
    let (sort, order) = params.word("sort", &sorts).unwrap_or(("creation", AccountOrder::Creation));
    // A cursor belongs to the order in which it was made.
    let list =
        SORTS.iter().find(|(word, _, _)| *word == sort).map_or("operator-accounts", |&(_, list, _)| list);
    let part = params.finish_list(list)?;
    let inner = app.clone();
    let fetch = move |page: PageRequest| {
        let (app, text) = (inner.clone(), text.clone());
        async move { app.store.search_accounts(text.as_deref(), order, page).await }
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
/// owner has no usable password yet and sets one with an invitation: with `mailOwner` the server mails it to them,
/// otherwise send them the link in `invitation`, which is returned only once. The request fails if another user of the
/// server has the e-mail address.
#[utoipa::path(post, path = "/api/operator/accounts", tag = "operator", security(("session" = [])),
    request_body = OperatorAccountNew,
    responses((status = 201, description = "The account was created.", body = OperatorAccountMade)))]
pub async fn create_operator_account(
    State(app): State<App>,
    OperatorCaller(caller): OperatorCaller,
    body: JsonBody,
) -> ApiReply<OperatorAccountMade> {
    let (wanted, owner) = read_new(&body.value)?;
    let mail_owner = owner.mail;
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
    let invitation = invite(&app, &caller, &owner, mail_owner).await?;
    let overview = find(&app, Some(account.id)).await?;
    let address = app.base_url.join(&format!("/api/operator/accounts/{}", account.id));
    let made = OperatorAccountMade { account: OperatorAccountView::from(overview), invitation };
    Ok(caller.reply(made).created(address).revision(account.revision))
}

/// Mails the invitation of an owner if that is wanted and possible, and returns its link otherwise: a later link of a user
/// invalidates the previous one.
async fn invite(app: &App, caller: &Caller, owner: &User, mail: bool) -> ApiResult<OwnerInvitationView> {
    let mailed = mail
        && app.sends_email()
        && app.store.mail_password_link(&caller.origin(), owner.id, LinkPurpose::Invitation).await?;
    if mailed {
        let email = owner.profile.email.as_str().to_owned();
        return Ok(OwnerInvitationView { email, mailed, url: None, expires: None });
    }
    let InvitationView { email, url, expires } = make_invitation(app, caller, owner).await?;
    Ok(OwnerInvitationView { email, mailed, url: Some(url), expires: Some(expires) })
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
        let branding = present.account.branding.clone();
        let wanted = read_account(&change.apply(&OperatorAccountView::from(present)).await?)
            .map_err(|error| change.rebase(error))?;
        let wanted_ceiling = wanted.email_ceiling;
        let actor = Actor::for_operator(id, caller.origin());
        let settings = AccountSettings { name: wanted.name, time_zone: wanted.time_zone, ..settings };
        let changed = app.store.replace_account_and_licenses(&actor, seen, settings, wanted.licenses).await;
        if changed.is_ok() && wanted_ceiling != ceiling {
            app.store.set_email_ceiling(&caller.origin(), id, wanted_ceiling).await?;
        }
        let (name, colour) = wanted.branding;
        if changed.is_ok() && (&name, colour) != (&branding.name, branding.colour) {
            app.store.set_branding(&caller.origin(), id, name, colour).await?;
        }
        Ok(changed.map(|account| account.id))
    })
    .await?;
    app.access.identities.invalidate_account(id);
    Ok(answer(&caller, find(&app, Some(id)).await?))
}
