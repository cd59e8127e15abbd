//! The second factor (TOTP): starting, confirming and removing it.

use std::time::Duration;

use http::header;
use perigee_core::access::actor::Via;
use perigee_core::access::credential::{Totp, VerifiedTotp};
use perigee_core::id::UserId;
use perigee_core::text::Line;
use perigee_core::time::Timestamp;

use crate::auth::totp::TotpSecret;
use crate::http::attempt::Attempt;
use crate::http::authenticate::CHALLENGE;
use crate::http::context::RequestContext;
use crate::http::prelude::*;
use crate::http::routes::access::session::{find_self, refused};
use crate::http::routes::access::session_password::{GivenPassword, confirm_password};

/// Maximum number of characters of a code as sent, with blanks.
const CODE_MAX: usize = 20;
/// The issuer that authenticator apps show.
const ISSUER: &str = "Perigee";

/// A second factor that is not confirmed yet.
#[derive(Serialize, ToSchema)]
pub struct TotpBegun {
    /// Secret of the second factor in Base32, to type into an authenticator app.
    #[schema(example = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")]
    secret: String,
    /// The secret as an `otpauth` URI, to show as a QR code.
    #[schema(
        example = "otpauth://totp/Perigee:ana%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Perigee"
    )]
    uri: String,
}

/// A code of the second factor, as a client sends it.
pub(in crate::http::routes) type CodeText = Line<1, CODE_MAX>;

input! {
    /// A code that confirms the second factor.
    struct TotpCode {
        /// Current six-digit code of the authenticator app.
        code: CodeText, required, example "123456";
    }
}

input! {
    /// The password of the user, required to begin a second factor.
    struct PasswordProof {
        /// Current password of the user.
        password: GivenPassword, required, example "correct horse battery staple";
    }
}

input! {
    /// Password and code of the user, required to remove the second factor.
    struct TotpRemoval {
        /// Current password of the user.
        password: GivenPassword, required, example "correct horse battery staple";
        /// Current six-digit code of the authenticator app. Not required for a second factor that was never confirmed.
        code: CodeText, nullable, example "123456";
    }
}

/// The time step of a code, if the code is right and no later one was used. Refused while the user has to wait after
/// wrong codes.
fn check_code(app: &App, user: UserId, totp: &Totp, code: &str, now: Timestamp) -> ApiResult<Option<i64>> {
    app.access.code_backoff.begin(user, app.clock.monotonic()).map_err(too_many_codes)?;
    let secret = totp.secret.as_slice().try_into().map(TotpSecret::from_bytes).map_err(internal)?;
    let last_used = u64::try_from(totp.last_step).ok().filter(|step| *step > 0);
    Ok(secret.check(code, now, last_used).and_then(|step| i64::try_from(step).ok()))
}

/// Consumes a code of a confirmed second factor; false if the code is wrong or was used before.
pub(in crate::http::routes) async fn use_code(
    app: &App,
    user: UserId,
    totp: &Totp,
    code: &str,
    now: Timestamp,
) -> ApiResult<bool> {
    let Some(step) = check_code(app, user, totp, code, now)? else { return Ok(false) };
    let is_fresh = app.store.use_totp_step(user, step).await?;
    if is_fresh {
        app.access.code_backoff.succeed(user);
    }
    Ok(is_fresh)
}

fn too_many_codes(wait: Duration) -> ApiError {
    let wait_s = wait.as_millis().div_ceil(1_000);
    let message = format!("Too many codes of the second factor were wrong. Wait {wait_s} s and try again.");
    ApiError::new(ErrorCode::RateLimited, message).with_header(header::RETRY_AFTER, &wait_s.to_string())
}

fn conflict(message: &str) -> ApiError {
    ApiError::new(ErrorCode::TotpConflict, message)
}

fn already_on() -> ApiError {
    conflict("The second factor is already on. Remove it with DELETE /api/session/totp first.")
}

fn totp_begun_again() -> ApiError {
    conflict("The second factor was started again in the meantime. Send a code of the newest secret.")
}

fn not_begun() -> ApiError {
    conflict("There is no second factor to confirm. Begin one with POST /api/session/totp first.")
}

/// Begin a second factor
///
/// Creates the secret of a time-based one-time password (TOTP). Requires a console session and the current password.
/// The second factor is off until it is confirmed with `PUT /api/session/totp`. Calling this again creates a new secret.
/// Fails with `totp-conflict` if the second factor is already on.
#[utoipa::path(post, path = "/api/session/totp", tag = "authentication", request_body = PasswordProof,
    security(("session" = [])), responses((status = 200, description = "The secret. It is shown only once.", body = TotpBegun)))]
pub async fn begin_totp(
    State(app): State<App>,
    context: RequestContext,
    signed_in: SessionCaller,
    body: JsonBody,
) -> ApiReply<TotpBegun> {
    let caller = signed_in.caller;
    let password = read_body(&body.value, &[], |proof: PasswordProof, _| proof.password)?;
    confirm_password(&app, &context, &caller, password, "totp.create").await?;
    let secret = TotpSecret::generate();
    match app.store.begin_totp(caller.user_id(), secret.as_bytes().to_vec()).await {
        Err(StoreError::RevisionMismatch(Kind::Credential)) => return Err(already_on()),
        outcome => outcome?,
    }
    let uri = secret.otpauth_uri(ISSUER, caller.user().profile.email.as_str());
    Ok(caller.reply(TotpBegun { secret: secret.to_base32(), uri }))
}

/// Confirm the second factor
///
/// Switches the second factor on, if the code is right. This session continues; every other session of the user ends,
/// because it began without the second factor. Fails with `totp-conflict` if no second factor was begun or if it is
/// already on. Repeated wrong codes are rate limited.
#[utoipa::path(put, path = "/api/session/totp", tag = "authentication", request_body = TotpCode,
    security(("session" = [])), responses((status = 200, description = "The second factor was switched on.", body = Done)))]
pub async fn confirm_totp(
    State(app): State<App>,
    context: RequestContext,
    signed_in: SessionCaller,
    body: JsonBody,
) -> ApiReply<Done> {
    let SessionCaller { caller, session } = signed_in;
    let code = read_body(&body.value, &[], |proof: TotpCode, _| proof.code)?;
    let mut attempt = Attempt::begin(&app, &context, caller.user().profile.email.as_str()).await?;
    let login = attempt.check(find_self(&app, caller.user_id())).await?;
    let totp = match &login.totp {
        Some(totp) if totp.confirmed => return Err(already_on()),
        Some(totp) => totp,
        None => return Err(not_begun()),
    };
    let Some(step) = check_code(&app, caller.user_id(), totp, &code, caller.now())? else {
        attempt
            .fail(Via::Session, "totp.create", Some(login), "the code of the second factor is wrong")
            .await;
        return Err(wrong_code());
    };
    let proved = VerifiedTotp { secret: totp.secret.clone(), step };
    match app.store.confirm_totp(&caller.origin(), caller.user_id(), proved, Some(session.id)).await {
        Err(StoreError::NotFound(Kind::Credential)) => return Err(totp_begun_again()),
        outcome => outcome?,
    }
    app.access.code_backoff.succeed(caller.user_id());
    app.access.identities.invalidate_user(caller.user_id());
    Ok(caller.reply(Done {}))
}

/// Remove the second factor
///
/// Switches the second factor off. Requires a console session, the current password and a current code of the
/// authenticator app. A user without the app can ask the operator of the server. Fails with `totp-conflict` if there is
/// no second factor.
#[utoipa::path(delete, path = "/api/session/totp", tag = "authentication", request_body = TotpRemoval,
    security(("session" = [])), responses((status = 200, description = "The second factor was removed.", body = Done)))]
pub async fn delete_totp(
    State(app): State<App>,
    context: RequestContext,
    signed_in: SessionCaller,
    body: JsonBody,
) -> ApiReply<Done> {
    let caller = signed_in.caller;
    let (password, code) =
        read_body(&body.value, &[], |proof: TotpRemoval, _| Some((proof.password?, proof.code)))?;
    let login = confirm_password(&app, &context, &caller, password, "totp.delete").await?;
    let Some(totp) = &login.totp else {
        return Err(conflict("There is no second factor to remove: it is off already."));
    };
    if totp.confirmed {
        let Some(code) = code else { return Err(code_required()) };
        let mut attempt = Attempt::begin(&app, &context, caller.user().profile.email.as_str()).await?;
        let code = use_code(&app, caller.user_id(), totp, &code, caller.now());
        if !attempt.check(code).await? {
            let reason = "the code of the second factor is wrong";
            attempt.fail(Via::Session, "totp.delete", Some(login), reason).await;
            return Err(wrong_code());
        }
    }
    app.store.delete_totp(&caller.origin(), caller.user_id()).await?;
    Ok(caller.reply(Done {}))
}

fn code_required() -> ApiError {
    ApiError::new(
        ErrorCode::TotpRequired,
        "Send the current code of your authenticator app as \"code\" as well.",
    )
    .with_header(header::WWW_AUTHENTICATE, CHALLENGE)
}

fn wrong_code() -> ApiError {
    refused("The code is wrong. Check the clock of your device and send a new code.")
}
