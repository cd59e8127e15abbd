//! Passwords: changing the caller's own, and setting one with a single-use link.

use http::header;
use perigee_core::access::actor::{Origin, Via};
use perigee_core::access::credential::{LinkPurpose as StoredPurpose, Login, NewPassword};
use perigee_core::access::user::{User, UserStatus};
use perigee_core::id::UserId;
use perigee_core::text::{EMAIL_MAX, Email, Line};
use utoipa::openapi::{RefOr, Schema};

use crate::auth::link::LinkPurpose;
use crate::auth::password::{LEAST_CHARS, MOST_CHARS, check_policy};
use crate::auth::{Secret, SecretHash};
use crate::http::attempt::Attempt;
use crate::http::context::RequestContext;
use crate::http::extract::{Credentials, require_open_account};
use crate::http::input::{Member, line};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;
use crate::http::routes::access::session::{OwnPage, begin_session, find_self, password_is_right, refused};
use crate::http::routes::access::session_cookie::{Reached, end_session_before};

const TOKEN_MAX: usize = 200;
/// The name under which failed attempts with links are counted for the rate limit.
const LINKS: &str = "(link)";
/// The name under which requests for password mails are counted for the rate limit.
const FORGOTTEN: &str = "(forgotten)";

/// The secret of a link, as a client sends it.
type LinkToken = Line<1, TOKEN_MAX>;

input! {
    /// A change of the caller's own password.
    struct PasswordChange {
        /// Current password of the user.
        current_password as "currentPassword": GivenPassword, required, example "correct horse battery staple";
        /// New password of the user.
        new_password as "newPassword": NewPasswordText, required, example "nine lives of a harbour cat";
        /// Whether to revoke the user's API key and every token issued for it as well.
        end_api_key as "endApiKey": bool, or(false), example true;
    }
}

input! {
    /// A new password, and the secret of the link that allows setting it.
    struct PasswordReset {
        /// Secret of the link: the value of `token` in its URL.
        token: LinkToken, required, example "q0Jm9nB3kRtYw6ZcLd2FhGs8Pa4uE1xK";
        /// New password of the user.
        new_password as "newPassword": NewPasswordText, required, example "nine lives of a harbour cat";
        /// Whether to revoke the user's API key and every token issued for it as well.
        end_api_key as "endApiKey": bool, or(false), example true;
    }
}

/// A password that proves the identity of a user.
pub(in crate::http::routes) type GivenPassword = Line<1, MOST_CHARS>;

/// A password to be set. Its length is checked with the rest of the policy, once the user is known.
pub(in crate::http::routes) enum NewPasswordText {}

impl Member for NewPasswordText {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        fields.text(name)
    }

    fn schema() -> RefOr<Schema> {
        let mut schema = line(LEAST_CHARS, MOST_CHARS);
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.write_only = Some(true);
        }
        schema
    }
}

/// A password to be set, as a client requests it.
struct Wanted {
    /// The current password, or the secret of a link.
    proof: String,
    password: String,
    end_api_key: bool,
}

/// Refuses a password that breaks the policy, at the member that holds it.
pub(in crate::http::routes) fn check_new_password(
    member: &str,
    password: &str,
    email: &str,
) -> ApiResult<()> {
    check_policy(password, email).map_err(|problem| {
        invalid_body(vec![Problem { pointer: Pointer::root().member(member), detail: problem.to_string() }])
    })
}

fn read_change(body: &Value) -> ApiResult<Wanted> {
    read_body(body, &[], |input: PasswordChange, _| {
        let PasswordChange { current_password, new_password, end_api_key } = input;
        Some(Wanted { proof: current_password?, password: new_password?, end_api_key })
    })
}

fn read_reset(body: &Value) -> ApiResult<Wanted> {
    read_body(body, &[], |input: PasswordReset, _| {
        let PasswordReset { token, new_password, end_api_key } = input;
        Some(Wanted { proof: token?, password: new_password?, end_api_key })
    })
}

async fn hash(app: &App, context: &RequestContext, wanted: Wanted) -> ApiResult<NewPassword> {
    let hash = app.access.passwords.hash_for(context.payer(), wanted.password.into()).await?;
    Ok(NewPassword { hash, end_api_key: wanted.end_api_key })
}

/// Checks the password of a signed-in caller once more.
pub(in crate::http::routes) async fn confirm_password(
    app: &App,
    context: &RequestContext,
    caller: &Caller,
    password: String,
    action: &'static str,
) -> ApiResult<Login> {
    let mut attempt = Attempt::begin(app, context, caller.user().profile.email.as_str()).await?;
    let (login, right) = attempt
        .check(async {
            let login = find_self(app, caller.user_id()).await?;
            let right = password_is_right(app, context.payer(), Some(&login), password.into()).await?;
            Ok((login, right))
        })
        .await?;
    if right {
        return Ok(login);
    }
    attempt.fail(Via::Session, action, Some(login), "the password is wrong").await;
    Err(refused("The password is wrong. Send the password with which you sign in."))
}

/// Change your password
///
/// Replaces the password of the signed-in user. Requires a console session and the current password. This session
/// continues; every other session and password link of the user ends. The API key stays valid unless `endApiKey` is
/// true. Repeated wrong passwords are rate limited.
#[utoipa::path(put, path = "/api/session/password", tag = "authentication", request_body = PasswordChange,
    security(("session" = [])), responses((status = 200, description = "The password was changed.", body = Done)))]
pub async fn replace_password(
    State(app): State<App>,
    context: RequestContext,
    signed_in: SessionCaller,
    body: JsonBody,
) -> ApiReply<Done> {
    let SessionCaller { caller, session } = signed_in;
    let wanted = read_change(&body.value)?;
    check_new_password("newPassword", &wanted.password, caller.user().profile.email.as_str())?;
    confirm_password(&app, &context, &caller, wanted.proof.clone(), "password.set").await?;
    let new = hash(&app, &context, wanted).await?;
    app.store.set_password(&caller.origin(), caller.user_id(), new, Some(session.id)).await?;
    app.access.identities.invalidate_user(caller.user_id());
    Ok(caller.reply(Done {}))
}

/// Begins a session for a user who has just set a password, unless the user needs a second factor or is not active.
async fn sign_in(
    app: &App,
    context: &RequestContext,
    reached: &Reached,
    user: UserId,
) -> ApiReply<PasswordSetView> {
    let login = app.store.find_login_by_id(user).await?;
    let may_sign_in = login.is_some_and(|login| {
        login.user.profile.status(app.clock.now()) == UserStatus::Active
            && require_open_account(&login.account).is_ok()
            && !login.totp.is_some_and(|totp| totp.confirmed)
    });
    let reply = Reply::new(None, PasswordSetView { signed_in: may_sign_in });
    if !may_sign_in {
        return Ok(reply);
    }
    end_session_before(app, context, reached).await?;
    let (cookie, _expires) = begin_session(app, context, reached, user).await?;
    Ok(reply.header(header::SET_COOKIE, cookie))
}

/// The user of a link, and the hash under which the link is stored.
async fn find_link(app: &App, token: &str) -> ApiResult<Option<(User, SecretHash)>> {
    let Some(secret) = Secret::parse(token) else { return Ok(None) };
    for purpose in [LinkPurpose::PasswordReset, LinkPurpose::Invitation] {
        let hash = purpose.hash(&secret);
        if let Some(user) = app.store.find_link(hash.as_bytes()).await? {
            return Ok(Some((user, hash)));
        }
    }
    Ok(None)
}

input! {
    /// A request for an e-mail with a password link.
    struct ForgottenPassword {
        /// E-mail address with which the user signs in.
        email: Line<1, EMAIL_MAX>, required, example "ana@example.com";
    }
}

/// Request a password mail
///
/// Sends the user an e-mail with a link to set a new password. The answer is the same whether or not a user has the
/// address. Each call counts as a failed sign-in of the client for the rate limit, and a user gets at most three such
/// e-mails per hour.
#[utoipa::path(post, path = "/api/session/forgottenPassword", tag = "authentication", request_body = ForgottenPassword,
    security(()), responses((status = 200, description = "The request was accepted. An e-mail is sent if a user has the address and the server sends e-mail.", body = Done)))]
pub async fn ask_for_password_mail(
    State(app): State<App>,
    context: RequestContext,
    _own: OwnPage,
    Credentials(body): Credentials,
) -> ApiReply<Done> {
    let email = read_body(&body.value, &[], |input: ForgottenPassword, _| input.email)?;
    let attempt = Attempt::begin_without_hash(&app, &context, FORGOTTEN).await?;
    if let Ok(email) = email.parse::<Email>()
        && app.sends_email()
    {
        let (inner, origin) = (app.clone(), context.origin(Via::Link, None));
        // Runs after the answer, whose time then does not show whether the user exists.
        app.tasks
            .background
            .spawn_on(async move { mail_link(&inner, &origin, &email).await }, &app.tasks.runtime);
    }
    attempt.fail(Via::Link, "link.mail", None, "requested without signing in").await;
    Ok(Reply::new(None, Done {}))
}

async fn mail_link(app: &App, origin: &Origin, email: &Email) {
    let mailed = async {
        let Some(login) = app.store.find_login(email).await? else { return Ok(false) };
        let purpose = match login.password_hash {
            Some(_) => StoredPurpose::Reset,
            None => StoredPurpose::Invitation,
        };
        app.store.mail_password_link(origin, login.user.id, purpose).await
    };
    let mailed: Result<bool, StoreError> = mailed.await;
    if let Err(error) = mailed {
        tracing::warn!(
            error = &error as &dyn std::error::Error,
            "could not queue the e-mail with a password link"
        );
    }
}

/// Result of setting a password with a link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasswordSet)]
pub struct PasswordSetView {
    /// Whether the response began a session and set its cookie. False if the second factor is on or if the user cannot
    /// sign in at present.
    #[schema(example = true)]
    signed_in: bool,
}

/// Set a password with a link
///
/// Sets the password of the user for whom a reset or invitation link was created. The link works once. Every session of
/// the user ends. A new session begins unless the second factor is on or the user is disabled or expired. The API key
/// stays valid unless `endApiKey` is true. An invalid, used or expired link is refused with `invalid-credentials`.
#[utoipa::path(post, path = "/api/session/passwordReset", tag = "authentication", request_body = PasswordReset,
    security(()), responses((status = 200, description = "The password was set.", body = PasswordSetView)))]
pub async fn reset_password(
    State(app): State<App>,
    context: RequestContext,
    _own: OwnPage,
    reached: Reached,
    Credentials(body): Credentials,
) -> ApiReply<PasswordSetView> {
    let wanted = read_reset(&body.value)?;
    let mut attempt = Attempt::begin(&app, &context, LINKS).await?;
    let found = attempt.check(find_link(&app, &wanted.proof)).await?;
    if let Some((user, hash)) = found {
        check_new_password("newPassword", &wanted.password, user.profile.email.as_str())?;
        let new = self::hash(&app, &context, wanted).await?;
        let origin = context.origin(Via::Link, Some(user.id));
        if let Some(user) = app.store.redeem_link(&origin, hash.as_bytes(), new).await? {
            app.access.identities.invalidate_user(user);
            return sign_in(&app, &context, &reached, user).await;
        }
    }
    attempt.fail(Via::Link, "link.redeem", None, "the link is invalid, used or expired").await;
    Err(refused("The link is invalid, already used or expired. Request a new one."))
}
