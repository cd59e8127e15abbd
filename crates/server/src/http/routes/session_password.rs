//! Passwords: changing one's own, and setting one with a single-use link.

use axum::extract::State;
use http::header;
use perigee_core::actor::{Origin, Via};
use perigee_core::credential::{LinkPurpose as KeptPurpose, Login, NewPassword};
use perigee_core::error::StoreError;
use perigee_core::id::UserId;
use perigee_core::text::{EMAIL_MAX, Email, Line};
use perigee_core::user::{User, UserStatus};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::session::{OwnPage, begin_session, find_self, password_is_right, refused};
use super::session_cookie::{Reached, end_session_before};
use crate::app::App;
use crate::auth::link::LinkPurpose;
use crate::auth::password::{LEAST_CHARS, MOST_CHARS, check_policy};
use crate::auth::{Secret, SecretHash};
use crate::http::attempt::Attempt;
use crate::http::context::RequestContext;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::extract::{Caller, Credentials, JsonBody, SessionCaller};
use crate::http::input::{Member, input, line, read_body};
use crate::http::json::{Field, Fields, Pointer, Problem};
use crate::http::reply::{Done, Reply};

const TOKEN_MAX: usize = 200;
/// The name under which failures with links are counted.
const LINKS: &str = "(link)";
/// The name under which requests for password mails are counted.
const FORGOTTEN: &str = "(forgotten)";

/// The secret of a link as it is sent.
type LinkToken = Line<1, TOKEN_MAX>;

input! {
    /// A change of one's own password.
    struct PasswordChange {
        /// The password as it is.
        current_password as "currentPassword": GivenPassword, required, example "correct horse battery staple";
        /// The password as it shall be.
        new_password as "newPassword": NewPasswordText, required, example "nine lives of a harbour cat";
        /// Whether the user's API key ends too, and every token made from it.
        end_api_key as "endApiKey": bool, or(false), example true;
    }
}

input! {
    /// A link to set a password with.
    struct PasswordReset {
        /// The secret of the link.
        token: LinkToken, required, example "q0Jm9nB3kRtYw6ZcLd2FhGs8Pa4uE1xK";
        /// The password as it shall be.
        new_password as "newPassword": NewPasswordText, required, example "nine lives of a harbour cat";
        /// Whether the user's API key ends too, and every token made from it.
        end_api_key as "endApiKey": bool, or(false), example true;
    }
}

/// A password that proves who somebody is.
pub(super) type GivenPassword = Line<1, MOST_CHARS>;

/// A password to be set. Its length is judged with the rest of the policy, once the user is known.
pub(super) enum NewPasswordText {}

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

/// What a client sends to set a password.
struct Wanted {
    /// The present password, or the secret of a link.
    proof: String,
    password: String,
    end_api_key: bool,
}

/// Refuses a password nobody should choose, at the member that holds it.
pub(super) fn check_new_password(member: &str, password: &str, email: &str) -> ApiResult<()> {
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
    let hash = app.passwords.hash_for(context.payer(), wanted.password.into()).await?;
    Ok(NewPassword { hash, end_api_key: wanted.end_api_key })
}

/// Somebody signed in who proves once more who they are, by their password.
pub(super) async fn confirm_password(
    app: &App,
    context: &RequestContext,
    caller: &Caller,
    password: String,
    action: &'static str,
) -> ApiResult<Login> {
    let mut attempt = Attempt::begin(app, context, caller.user().profile.email.as_str()).await?;
    let (login, right) = attempt
        .judge(async {
            let login = find_self(app, caller.user_id()).await?;
            let right = password_is_right(app, context.payer(), Some(&login), password.into()).await?;
            Ok((login, right))
        })
        .await?;
    if right {
        return Ok(login);
    }
    attempt.fail(Via::Session, action, Some(login), "the password is wrong").await;
    Err(refused("The password is wrong. Send the one that you sign in with."))
}

/// Change one's own password.
///
/// This session goes on; every other session and link of the user ends. The API key stays unless `endApiKey` is true.
#[utoipa::path(put, path = "/api/session/password", tag = "authentication", request_body = PasswordChange,
    security(("session" = [])), responses((status = 200, description = "The password is changed.", body = Done)))]
pub async fn replace_password(
    State(app): State<App>,
    context: RequestContext,
    signed_in: SessionCaller,
    body: JsonBody,
) -> ApiResult<Reply<Done>> {
    let SessionCaller { caller, session } = signed_in;
    let wanted = read_change(&body.value)?;
    check_new_password("newPassword", &wanted.password, caller.user().profile.email.as_str())?;
    confirm_password(&app, &context, &caller, wanted.proof.clone(), "password.set").await?;
    let new = hash(&app, &context, wanted).await?;
    app.store.set_password(&caller.origin(), caller.user_id(), new, Some(session.id)).await?;
    app.identities.forget_user(caller.user_id());
    Ok(caller.reply(Done {}))
}

/// Begins a session of somebody who has just set their password, unless that is not enough to sign in.
async fn sign_in(
    app: &App,
    context: &RequestContext,
    reached: &Reached,
    user: UserId,
) -> ApiResult<Reply<PasswordSetView>> {
    let login = app.store.find_login_by_id(user).await?;
    let is_enough = login.is_some_and(|login| {
        login.user.profile.status(app.clock.now()) == UserStatus::Active
            && !login.totp.is_some_and(|totp| totp.confirmed)
    });
    let reply = Reply::new(None, PasswordSetView { signed_in: is_enough });
    if !is_enough {
        return Ok(reply);
    }
    end_session_before(app, context, reached).await?;
    let (cookie, _expires) = begin_session(app, context, reached, user).await?;
    Ok(reply.header(header::SET_COOKIE, cookie))
}

/// The user a link lets in, and the hash it is kept by.
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
    /// Somebody who forgot their password.
    struct ForgottenPassword {
        /// The address they sign in with.
        email: Line<1, EMAIL_MAX>, required, example "ana@example.com";
    }
}

/// Ask for a mail with a link to set a new password.
///
/// The answer is the same whether anybody has the address or not. Each call counts like a failed sign-in from the same
/// client, and a user gets at most three such mails an hour.
#[utoipa::path(post, path = "/api/session/forgottenPassword", tag = "authentication", request_body = ForgottenPassword,
    security(()), responses((status = 200, description = "If a user has the address and the server sends e-mail, a mail is on its way.", body = Done)))]
pub async fn ask_for_password_mail(
    State(app): State<App>,
    context: RequestContext,
    _own: OwnPage,
    Credentials(body): Credentials,
) -> ApiResult<Reply<Done>> {
    let email = read_body(&body.value, &[], |input: ForgottenPassword, _| input.email)?;
    let attempt = Attempt::begin_without_hash(&app, &context, FORGOTTEN).await?;
    if let Ok(email) = email.parse::<Email>()
        && app.sends_email()
    {
        let (inner, origin) = (app.clone(), context.origin(Via::Link, None));
        // After the answer, so that the time does not tell whether the user exists.
        app.background.spawn_on(async move { mail_link(&inner, &origin, &email).await }, &app.runtime);
    }
    attempt.fail(Via::Link, "link.mail", None, "asked for by anybody").await;
    Ok(Reply::new(None, Done {}))
}

async fn mail_link(app: &App, origin: &Origin, email: &Email) {
    let mailed = async {
        let Some(login) = app.store.find_login(email).await? else { return Ok(false) };
        let purpose = match login.password_hash {
            Some(_) => KeptPurpose::Reset,
            None => KeptPurpose::Invitation,
        };
        app.store.mail_password_link(origin, login.user.id, purpose).await
    };
    let mailed: Result<bool, StoreError> = mailed.await;
    if let Err(error) = mailed {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not write the mail for a password");
    }
}

/// What became of setting a password with a link.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = PasswordSet)]
pub struct PasswordSetView {
    /// Whether the answer signs in, by its cookie. Not if the second factor is on or the user cannot sign in now.
    #[schema(example = true)]
    signed_in: bool,
}

/// Set a password with a link.
///
/// Takes the secret of a reset or invitation link, which works once. Every session of the user ends and a new one begins,
/// unless the second factor is on; the API key stays unless `endApiKey` is true.
#[utoipa::path(post, path = "/api/session/passwordReset", tag = "authentication", request_body = PasswordReset,
    security(()), responses((status = 200, description = "The password is set.", body = PasswordSetView)))]
pub async fn reset_password(
    State(app): State<App>,
    context: RequestContext,
    _own: OwnPage,
    reached: Reached,
    Credentials(body): Credentials,
) -> ApiResult<Reply<PasswordSetView>> {
    let wanted = read_reset(&body.value)?;
    let mut attempt = Attempt::begin(&app, &context, LINKS).await?;
    let found = attempt.judge(find_link(&app, &wanted.proof)).await?;
    if let Some((user, hash)) = found {
        check_new_password("newPassword", &wanted.password, user.profile.email.as_str())?;
        let new = self::hash(&app, &context, wanted).await?;
        let origin = context.origin(Via::Link, Some(user.id));
        if let Some(user) = app.store.redeem_link(&origin, hash.as_bytes(), new).await? {
            app.identities.forget_user(user);
            return sign_in(&app, &context, &reached, user).await;
        }
    }
    attempt.fail(Via::Link, "link.redeem", None, "the link is void").await;
    Err(refused("The link is invalid, was used already or is expired. Ask for a new one."))
}
