//! Console sessions: signing in, signing out, and reading the signed-in user.

use axum::extract::FromRequestParts;
use http::header;
use http::request::Parts;
use perigee_core::access::actor::{Reach, Via};
use perigee_core::access::credential::{Login, NewSession};
use perigee_core::access::user::UserStatus;
use perigee_core::id::UserId;
use perigee_core::text::{EMAIL_MAX, Line};
use perigee_core::time::Timestamp;
use secrecy::SecretString;

use crate::auth::{Secret, session};
use crate::budget::Payer;
use crate::http::attempt::{Attempt, AttemptContext};
use crate::http::authenticate::{CHALLENGE, refuse_foreign_origin, session_over};
use crate::http::context::RequestContext;
use crate::http::extract::{Credentials, require_open_account};
use crate::http::prelude::*;
use crate::http::routes::access::session_cookie::{Reached, end_session_before, session_cookie};
use crate::http::routes::access::session_password::GivenPassword;
use crate::http::routes::access::session_preferences::PreferencesView;
use crate::http::routes::access::session_totp::{CodeText, use_code};
use crate::http::routes::access::token::find_login;
use crate::http::routes::access::users_view::UserView;
use crate::http::routes::accounts::account::LicensesView;
use crate::http::routes::accounts::operator::BrandingView;

input! {
    /// Credentials with which a user signs in.
    struct SignIn {
        /// E-mail address of the user.
        email: Line<1, EMAIL_MAX>, required, example "ana@example.com";
        /// Password of the user.
        password: GivenPassword, required, example "correct horse battery staple";
        /// Current code of the second factor. Required if the second factor of the user is on.
        totp: CodeText, nullable, example "123456";
    }
}

/// The signed-in user, their account and their preferences.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Session)]
pub struct SessionView {
    /// The signed-in user.
    user: UserView,
    /// The account that the user belongs to.
    account: SessionAccount,
    /// Privileges in effect: those of the user, and those that `owner` and `admin` imply.
    #[schema(value_type = Vec<String>, example = json!(["devices.write", "api"]), max_items = 10)]
    privileges: Vec<&'static str>,
    /// Whether the user is an operator of the server.
    #[schema(example = false)]
    operator: bool,
    /// Whether the second factor of the user is on.
    #[schema(example = false)]
    totp: bool,
    /// Preferences of the user for the console.
    preferences: PreferencesView,
    /// Time at which the session expires. Null if the request was made with a token.
    #[schema(example = "2026-05-01T20:00:00Z", format = DateTime)]
    expires: Option<String>,
}

/// The account of the signed-in user.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionAccount {
    /// Unique identifier of the account, assigned by the server. Never changes.
    #[schema(example = "acc_01jc2m8k4n5p5")]
    id: String,
    /// Name of the account, shown in the console.
    #[schema(example = "Castro Fishing")]
    name: String,
    /// How the account presents itself.
    branding: BrandingView,
    /// Time zone of the account, as an IANA identifier. Daily limits and counts reset at midnight of this zone.
    #[schema(example = "Europe/Madrid")]
    time_zone: String,
    /// Licences of the account. Null if the user does not see the whole account.
    licenses: Option<LicensesView>,
    /// Telephone numbers and instructions for critical alerts, from the settings of the account. Null for none.
    #[schema(example = "MRCC Finisterre: +34 900 202 202")]
    emergency_procedure: Option<String>,
    /// Texts that the console offers as quick replies to devices, from the settings of the account. Null for those of the
    /// console.
    #[schema(example = json!(["Received, thank you."]))]
    quick_replies: Option<Vec<String>>,
}

impl SessionView {
    async fn new(app: &App, login: Login, expires: Option<Timestamp>) -> ApiResult<Self> {
        let held = login.user.profile.privileges;
        let licenses = match login.user.profile.reach() {
            Reach::Account => Some(LicensesView::from(app.store.license_use(login.account.id).await?)),
            Reach::Group(_) | Reach::Device(_) => None,
        };
        Ok(Self {
            account: SessionAccount {
                licenses,
                id: login.account.id.to_string(),
                branding: login.account.branding.into(),
                name: login.account.settings.name,
                time_zone: login.account.settings.time_zone.to_string(),
                emergency_procedure: login.account.settings.emergency_procedure,
                quick_replies: login.account.settings.quick_replies,
            },
            privileges: Privilege::ALL
                .into_iter()
                .filter(|one| held.allows(*one))
                .map(Privilege::name)
                .collect(),
            operator: login.user.operator,
            totp: login.totp.is_some_and(|totp| totp.confirmed),
            preferences: PreferencesView::from(login.preferences),
            user: UserView::from(login.user),
            expires: expires.map(|expires| expires.to_string()),
        })
    }
}

/// Proof that the request was not sent by a page of another origin.
#[derive(Debug)]
pub struct OwnPage;

impl FromRequestParts<App> for OwnPage {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        refuse_foreign_origin(app, parts).map(|()| Self)
    }
}

struct Presented {
    email: String,
    password: SecretString,
    code: Option<String>,
}

/// Why a sign-in was refused; the text is for the audit log.
enum Denial {
    Refused(&'static str),
    /// The password was right; a code of the second factor is required.
    NeedsCode,
}

fn read_sign_in(body: &Value) -> ApiResult<Presented> {
    read_body(body, &[], |SignIn { email, password, totp }, _| {
        Some(Presented { email: email?, password: SecretString::from(password?), code: totp })
    })
}

/// Whether this is the password of the user. Takes as long for a user who does not exist or has no password.
pub(in crate::http::routes) async fn password_is_right(
    app: &App,
    payer: Payer,
    login: Option<&Login>,
    password: SecretString,
) -> ApiResult<bool> {
    match login.and_then(|login| login.password_hash.clone()) {
        Some(stored) => Ok(app.access.passwords.verify(payer, password, stored).await?),
        None => Ok(app.access.passwords.verify_dummy(payer, password).await.map(|()| false)?),
    }
}

/// Checks the password, the user's validity and the second factor.
async fn prove(
    app: &App,
    payer: Payer,
    login: Option<&Login>,
    given: &Presented,
) -> ApiResult<Result<(), Denial>> {
    let right = password_is_right(app, payer, login, given.password.clone()).await?;
    let now = app.clock.now();
    let Some(login) = login.filter(|_| right) else {
        return Ok(Err(Denial::Refused("the password is wrong")));
    };
    if login.user.profile.status(now) != UserStatus::Active {
        return Ok(Err(Denial::Refused("the user is disabled or not valid at this time")));
    }
    let Some(totp) = login.totp.as_ref().filter(|totp| totp.confirmed) else { return Ok(Ok(())) };
    let Some(code) = &given.code else { return Ok(Err(Denial::NeedsCode)) };
    let fits = use_code(app, login.user.id, totp, code, now).await?;
    Ok(if fits { Ok(()) } else { Err(Denial::Refused("the code of the second factor is wrong")) })
}

/// The error for refused credentials, the same for every cause.
pub(in crate::http::routes) fn refused(message: &str) -> ApiError {
    ApiError::new(ErrorCode::InvalidCredentials, message).with_header(header::WWW_AUTHENTICATE, CHALLENGE)
}

/// Hashes the password again after the answer if the stored hash was made with other parameters than the current ones.
fn renew_hash(app: &App, login: &Login, password: SecretString) {
    let Some(stored) = login.password_hash.clone().filter(|stored| app.access.passwords.needs_rehash(stored))
    else {
        return;
    };
    let (inner, user, payer) = (app.clone(), login.user.id, Payer::account(login.account.id));
    app.tasks.background.spawn(async move {
        let Ok(hash) = inner.access.passwords.hash_for(payer, password).await else { return };
        if let Err(error) = inner.store.rehash_password(user, &stored, hash).await {
            tracing::warn!(%error, "could not store a stronger hash of a password");
        }
    });
}

pub(in crate::http::routes) async fn find_self(app: &App, id: UserId) -> ApiResult<Login> {
    app.store.find_login_by_id(id).await?.ok_or_else(session_over)
}

/// Sign in to the console
///
/// Begins a session and sets its cookie. A session that the same browser had before ends. A wrong e-mail address, a
/// wrong password, a wrong code and a user who is disabled or expired get the same answer, `invalid-credentials`. If the
/// password is right and the account is suspended or being deleted, the answer is `account-suspended` or
/// `account-deleted`. If the password is right and the second factor is on, a request without `totp` is answered with `totp-required`: repeat it
/// with the code. Repeated failures are rate limited.
#[utoipa::path(post, path = "/api/session", tag = "authentication", request_body = SignIn, security(()),
    responses((status = 200, description = "The session was started.", body = SessionView)))]
pub async fn create_session(
    State(app): State<App>,
    AttemptContext(context): AttemptContext,
    _own: OwnPage,
    reached: Reached,
    Credentials(body): Credentials,
) -> ApiReply<SessionView> {
    let given = read_sign_in(&body.value)?;
    let mut attempt = Attempt::begin(&app, &context, &given.email).await?;
    let payer = attempt.payer();
    let (login, proof) = attempt
        .check(async {
            let login = find_login(&app, &given.email).await?;
            let proof = prove(&app, payer, login.as_ref(), &given).await?;
            Ok((login, proof))
        })
        .await?;
    match (proof, login) {
        (Ok(()), Some(login)) => {
            attempt.succeed(login.account.id);
            require_open_account(&login.account)?;
            renew_hash(&app, &login, given.password);
            end_session_before(&app, &context, &reached).await?;
            open_session(&app, &context, &reached, login.user.id).await
        }
        (Err(Denial::NeedsCode), login) => {
            login.inspect(|login| attempt.succeed(login.account.id));
            Err(ApiError::new(
                ErrorCode::TotpRequired,
                "The second factor is on. Send the current code of your authenticator app as \"totp\" as well.",
            )
            .with_header(header::WWW_AUTHENTICATE, CHALLENGE))
        }
        (proof, login) => {
            let reason =
                if let Err(Denial::Refused(reason)) = proof { reason } else { "nobody has this name" };
            attempt.fail(Via::Session, "session.create", login, reason).await;
            Err(refused(
                "The e-mail address, the password or the code is wrong, or the user may not sign in at present. Check them and try again, or request a new password.",
            ))
        }
    }
}

/// Begins a session and returns its cookie and its expiry.
pub(in crate::http::routes) async fn begin_session(
    app: &App,
    context: &RequestContext,
    reached: &Reached,
    user: UserId,
) -> ApiResult<(String, Timestamp)> {
    let secret = Secret::generate();
    let seconds = app.config.auth.session_seconds;
    let expires = app.clock.now().plus_seconds(i64::from(seconds));
    let new = NewSession { user, hash: *session::hash(&secret).as_bytes(), expires };
    app.store.create_session(&context.origin(Via::Session, Some(user)), new).await?;
    app.access.identities.invalidate_user(user);
    Ok((session_cookie(app, reached, secret.expose(), seconds), expires))
}

async fn open_session(
    app: &App,
    context: &RequestContext,
    reached: &Reached,
    user: UserId,
) -> ApiReply<SessionView> {
    let (cookie, expires) = begin_session(app, context, reached, user).await?;
    let view = SessionView::new(app, find_self(app, user).await?, Some(expires)).await?;
    Ok(Reply::new(None, view).header(header::SET_COOKIE, cookie))
}

/// Retrieve the session
///
/// Returns the user who makes the request, their account, privileges and preferences. Works with a session and with a
/// token.
#[utoipa::path(get, path = "/api/session", tag = "authentication",
    responses((status = 200, description = "The session of the caller.", body = SessionView)))]
pub async fn get_session(Call(app, caller): Call, params: Params) -> ApiReply<SessionView> {
    params.finish()?;
    let login = find_self(&app, caller.user_id()).await?;
    let expires = caller.session().map(|session| session.expires);
    Ok(caller.reply(SessionView::new(&app, login, expires).await?))
}

/// Sign out of the console
///
/// Ends the session of the request and deletes its cookie. Other sessions of the user continue.
#[utoipa::path(delete, path = "/api/session", tag = "authentication", security(("session" = [])),
    responses((status = 200, description = "The session was ended.", body = Done)))]
pub async fn delete_session(
    State(app): State<App>,
    signed_in: SessionCaller,
    reached: Reached,
) -> ApiReply<Done> {
    let SessionCaller { caller, session } = signed_in;
    app.store.delete_session(&caller.origin(), session.id).await?;
    app.access.identities.invalidate_user(caller.user_id());
    Ok(caller.reply(Done {}).header(header::SET_COOKIE, session_cookie(&app, &reached, "", 0)))
}
