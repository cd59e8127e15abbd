//! Links for setting a password: invitations for new users, and password resets.

use http::StatusCode;
use perigee_core::access::credential::LinkPurpose as StoredPurpose;
use perigee_core::access::user::User;
use perigee_core::id::UserId;

use crate::http::prelude::*;
use crate::http::routes::access::user_bounds::require_within_bounds;
use crate::http::routes::access::users::{find, require_power_over};
use crate::http::routes::accounts::operator::InvitationView;

/// Creates a link with which a new user sets a password.
pub(in crate::http::routes) async fn make_invitation(
    app: &App,
    caller: &Caller,
    user: &User,
) -> ApiResult<InvitationView> {
    make_link(app, caller, user, StoredPurpose::Invitation).await
}

async fn make_link(
    app: &App,
    caller: &Caller,
    user: &User,
    purpose: StoredPurpose,
) -> ApiResult<InvitationView> {
    let (secret, new) = app.new_password_link(user.id, purpose);
    let (expires, language) = (new.expires, page_language(user));
    app.store.create_link(&caller.origin(), new).await?;
    Ok(InvitationView {
        email: user.profile.email.as_str().to_owned(),
        url: app.base_url.join(&format!("/password{language}#token={}", secret.expose())),
        expires: expires.to_string(),
    })
}

/// The query of the link that sets the language of its page; empty to use the browser's.
fn page_language(user: &User) -> String {
    let profile = &user.profile;
    let is_known = profile.language.is_some() || profile.country.is_some();
    if is_known { format!("?language={}", profile.mail_language().name()) } else { String::new() }
}

/// Refuses a link for the caller: it would set a new password without the current one, and an open session does not
/// prove that the user makes the request.
fn refuse_own_link(caller: &Caller, user: &User) -> ApiResult<()> {
    if user.id != caller.user_id() {
        return Ok(());
    }
    Err(forbidden(
        "You cannot create a link for your own password. Use PUT /api/session/password, which also requires the \
         current password.",
    ))
}

/// An invitation if the user has no password yet, else a reset.
async fn purpose_for(app: &App, user: &User) -> ApiResult<StoredPurpose> {
    let login = app.store.find_login_by_id(user.id).await?;
    let has_password = login.is_some_and(|login| login.password_hash.is_some());
    Ok(if has_password { StoredPurpose::Reset } else { StoredPurpose::Invitation })
}

/// Result of mailing a password link.
#[derive(Serialize, ToSchema)]
#[schema(as = MailedLink)]
pub struct MailedLinkView {
    /// E-mail address of the user.
    #[schema(example = "leo@example.com")]
    email: String,
    /// Whether the e-mail was queued. False if the server sends no e-mail, if the user cannot sign in at present, or if
    /// the user has received three such e-mails within an hour.
    #[schema(example = true)]
    mailed: bool,
}

/// Mail a password link
///
/// Sends the user an e-mail, in the user's language, with a link to set a password: an invitation if the user has no
/// password yet, else a link to reset it. The link works once. The requirements of
/// `POST /api/users/{userId}/passwordLink` apply. At most three such e-mails are sent to a user within an hour.
#[utoipa::path(post, path = "/api/users/{userId}/passwordLink/mail", tag = "users", security(("session" = [])),
    responses((status = 200, description = "The result: whether the e-mail was queued.", body = MailedLinkView)))]
pub async fn mail_password_link(
    State(app): State<App>,
    SessionCaller { caller, .. }: SessionCaller,
    IdPath(id): IdPath<UserId>,
    params: Params,
) -> ApiReply<MailedLinkView> {
    params.finish()?;
    let user = find(&app, &caller, id).await?;
    require_power_over(&caller, &user)?;
    refuse_own_link(&caller, &user)?;
    require_within_bounds(&caller, &user)?;
    let purpose = purpose_for(&app, &user).await?;
    let mailed =
        app.sends_email() && app.store.mail_password_link(&caller.origin(), user.id, purpose).await?;
    Ok(caller.reply(MailedLinkView { email: user.profile.email.as_str().to_owned(), mailed }))
}

/// Create a password link
///
/// Creates a link with which the user sets a password: an invitation if the user has no password yet, else a link to
/// reset it. The link works once, and earlier links of the user no longer work. Nothing is sent: pass the link on
/// yourself, or use `POST /api/users/{userId}/passwordLink/mail`.
///
/// Requires a console session, the privilege `users.write` and every privilege that the user holds. Callers cannot
/// create a link for themselves, nor for a user whose `from`, `expires` or `adminDevices` allow more than their own.
#[utoipa::path(post, path = "/api/users/{userId}/passwordLink", tag = "users", security(("session" = [])),
    responses((status = 201, description = "The link was created.", body = InvitationView)))]
pub async fn create_password_link(
    State(app): State<App>,
    SessionCaller { caller, .. }: SessionCaller,
    IdPath(id): IdPath<UserId>,
    params: Params,
) -> ApiReply<InvitationView> {
    params.finish()?;
    let user = find(&app, &caller, id).await?;
    require_power_over(&caller, &user)?;
    refuse_own_link(&caller, &user)?;
    require_within_bounds(&caller, &user)?;
    let purpose = purpose_for(&app, &user).await?;
    let link = make_link(&app, &caller, &user, purpose).await?;
    Ok(caller.reply(link).status(StatusCode::CREATED))
}
