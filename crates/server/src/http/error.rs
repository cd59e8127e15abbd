//! The only error type with an HTTP status. [`super::middleware`] writes its body.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue};
use perigee_core::devices::command::CommandState;
use perigee_core::devices::conversation::TextState;
use perigee_core::error::{Cause, Kind, Overlap, StoreError, Unique};
use perigee_core::plans::RefusedAction;

use super::error_code::ErrorCode;
use super::json::{PatchProblem, Pointer, Problem};
use crate::auth::password::PasswordError;
use crate::budget::{Bound, Exhausted, RunError};
use crate::ingest::IngestError;

/// Why a request failed: code and message for the client, and the cause for the log.
#[derive(Clone, Debug)]
pub struct ApiError {
    /// Decides the status, and is sent as `code`.
    pub code: ErrorCode,
    /// Message for the client: what is wrong, and what to do next.
    pub message: String,
    /// Problems found by validation, each with the JSON pointer of a member or the name of a parameter.
    pub problems: Vec<Problem>,
    /// Further headers of the answer, such as `Retry-After`.
    pub headers: Vec<(HeaderName, HeaderValue)>,
    /// The cause, logged and never sent.
    pub cause: Option<Arc<Cause>>,
}

/// The result of every handler.
pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    /// An error with this code and sentence.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), problems: Vec::new(), headers: Vec::new(), cause: None }
    }

    /// The same error with a header.
    #[must_use]
    pub fn with_header(mut self, name: HeaderName, value: &str) -> Self {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((name, value));
        }
        self
    }

    /// The same error, with problems without a pointer attributed to this member.
    #[must_use]
    pub fn at_member(mut self, name: &str) -> Self {
        for problem in self.problems.iter_mut().filter(|problem| problem.pointer == Pointer::root()) {
            problem.pointer = Pointer::root().member(name);
        }
        self
    }

    /// Points the problems at members of this object.
    #[must_use]
    pub fn within(mut self, name: &str) -> Self {
        for problem in &mut self.problems {
            problem.pointer = problem.pointer.below(&Pointer::root().member(name));
        }
        self
    }

    /// The same error with a cause for the log.
    #[must_use]
    pub fn with_cause(mut self, cause: impl Into<Cause>) -> Self {
        self.cause = Some(Arc::new(cause.into()));
        self
    }
}

/// The resource does not exist or is not visible to the caller; the two get the same answer.
pub fn not_found(kind: Kind) -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        if kind.is_plural() {
            format!("The {kind} do not exist, or you may not see them. Check the ID.")
        } else {
            format!("The {kind} does not exist, or you may not see it. Check the ID.")
        },
    )
}

/// The user may not do this.
pub fn forbidden(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::Forbidden, message)
}

/// The body is JSON but not valid here; all problems are listed.
pub fn invalid_body(problems: Vec<Problem>) -> ApiError {
    invalid(ErrorCode::InvalidBody, problems)
}

/// The body is not JSON.
pub fn malformed_json(problem: Problem) -> ApiError {
    invalid(ErrorCode::MalformedJson, vec![problem])
}

/// Parameters are not valid; all problems are listed.
pub fn invalid_parameters(problems: Vec<Problem>) -> ApiError {
    invalid(ErrorCode::InvalidParameter, problems)
}

fn invalid(code: ErrorCode, problems: Vec<Problem>) -> ApiError {
    let details: Vec<&str> = problems.iter().map(|problem| problem.detail.as_str()).collect();
    let message = details.join(" ");
    ApiError { problems, ..ApiError::new(code, message) }
}

/// A header is not valid.
pub fn invalid_header(message: impl Into<String>) -> ApiError {
    ApiError::new(ErrorCode::InvalidHeader, message)
}

/// A server fault, with the cause for the log.
pub fn internal(cause: impl Into<Cause>) -> ApiError {
    ApiError::new(
        ErrorCode::Internal,
        "Something went wrong on our side. Sending the request again is safe; if it goes on, report the request id.",
    )
    .with_header(http::header::RETRY_AFTER, "1")
    .with_cause(cause)
}

/// The server is overloaded; the client may retry.
pub fn unavailable(cause: impl Into<Cause>) -> ApiError {
    ApiError::new(
        ErrorCode::Unavailable,
        "The service is busy or cannot reach its database. Send the request again in a moment; this is safe.",
    )
    .with_header(http::header::RETRY_AFTER, "1")
    .with_cause(cause)
}

/// The outcome of a change is unknown: the commit was not confirmed.
pub fn unknown(cause: impl Into<Cause>) -> ApiError {
    ApiError::new(
        ErrorCode::Unavailable,
        "The database did not confirm the change, so it may or may not have been made. Check before you send it again, or \
         send it with the same Idempotency-Key. Locations can always be sent again.",
    )
    .with_header(http::header::RETRY_AFTER, "5")
    .with_cause(cause)
}

/// A parameter is not valid.
pub fn invalid_parameter(name: &str, detail: impl Into<String>) -> ApiError {
    invalid_parameters(vec![Problem { pointer: Pointer::root().member(name), detail: detail.into() }])
}

impl From<PatchProblem> for ApiError {
    fn from(problem: PatchProblem) -> Self {
        let code = match &problem {
            PatchProblem::TestFailed(_) => ErrorCode::PatchTestFailed,
            PatchProblem::Malformed(_) | PatchProblem::MissingPath(_) => ErrorCode::InvalidPatch,
            PatchProblem::TooCostly(_) => ErrorCode::PatchTooCostly,
        };
        invalid(code, vec![problem.problem().clone()])
    }
}

impl From<Exhausted> for ApiError {
    fn from(exhausted: Exhausted) -> Self {
        let wait = Exhausted::RETRY_AFTER_S;
        let error = match exhausted.bound {
            Bound::Total => Self::new(
                ErrorCode::Unavailable,
                format!("The service is busy with other requests, and nothing was stored. Wait {wait} s and send the request again."),
            )
            .with_cause(exhausted),
            Bound::Address => Self::new(
                ErrorCode::RateLimited,
                format!("Too many requests from this IP address are running. Wait {wait} s, or send fewer at the same time."),
            ),
            Bound::Account => Self::new(
                ErrorCode::RateLimited,
                format!("Too many requests of this account are running. Wait {wait} s, or send fewer at the same time."),
            ),
        };
        error.with_header(http::header::RETRY_AFTER, &wait.to_string())
    }
}

impl From<PasswordError> for ApiError {
    fn from(error: PasswordError) -> Self {
        match error {
            PasswordError::NotRun(not_run) => not_run.into(),
            other => internal(other),
        }
    }
}

impl From<RunError> for ApiError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Exhausted(exhausted) => exhausted.into(),
            lost => internal(lost),
        }
    }
}

/// An error and its sources in one line, for the log.
pub(super) fn chain(cause: &dyn std::error::Error) -> String {
    let mut text = cause.to_string();
    let mut source = cause.source();
    while let Some(deeper) = source {
        text = format!("{text}: {deeper}");
        source = deeper.source();
    }
    text
}

impl From<IngestError> for ApiError {
    fn from(error: IngestError) -> Self {
        match error {
            IngestError::Store(error) => error.into(),
            IngestError::Busy(error) => error.into(),
        }
    }
}

/// Why another object of this kind is not created.
fn too_many(kind: Kind, most: u32) -> String {
    match kind {
        Kind::Command => format!(
            "The device has {most} queued commands, the maximum. Wait until the device connects, or cancel one."
        ),
        Kind::ConversationMessage => format!(
            "{most} messages to the device wait to be sent, the maximum. Wait until they are sent, or cancel one."
        ),
        Kind::AlertNote => format!(
            "The alert has {most} notes, the maximum. No more can be added, because notes cannot be deleted."
        ),
        Kind::TimelineEdit => format!(
            "The timeline of the device has {most} edits, the maximum. Delete one that is no longer needed."
        ),
        Kind::PushSubscription => format!(
            "You are notified in {most} browsers, the maximum. Delete the push subscription of one that you no longer use."
        ),
        Kind::PlanLink => {
            format!("The plan has {most} links, the maximum. Revoke one that is no longer needed.")
        }
        Kind::MaintenanceRecord => format!(
            "The maintenance plan has {most} records, the maximum. Create another plan for what is done next."
        ),
        kind => format!("The account has {most} {kind}s, the maximum. Delete one that is no longer needed."),
    }
}

/// What uses an object that was to be deleted.
fn in_use(kind: Kind) -> String {
    let text = match kind {
        Kind::Geofence => "A rule uses this geofence. Change or delete that rule first.",
        Kind::Webhook => {
            "An alert routing or a rule sends alerts to this webhook. Remove the webhook from it first."
        }
        Kind::ContactGroup => {
            "An alert routing or a rule notifies this contact group. Remove the group from it first."
        }
        Kind::TimelineEdit => {
            "The time is inside of trips that were merged. To split them there, delete the edit that merged them first."
        }
        Kind::Gateway => {
            "Raw messages that this gateway received are still stored. To correct its name, device or options, update the gateway instead. To delete the gateway, add messages=keep to the query: its raw messages stay and can still be reprocessed."
        }
        kind => {
            return format!(
                "A user is limited to this {kind}. Change that user's \"group\" or \"deviceId\", or delete the user, first."
            );
        }
    };
    text.to_owned()
}

/// Why a command cannot be cancelled.
fn command_not_queued(state: CommandState) -> ApiError {
    if matches!(state, CommandState::Sent | CommandState::Answered) {
        let text = "The command was sent to the device and can no longer be cancelled.";
        return ApiError::new(ErrorCode::AlreadySent, text);
    }
    let text = format!("The command is {}: it will not be sent, so it cannot be cancelled.", state.name());
    ApiError::new(ErrorCode::AlreadyEnded, text)
}

/// Why a message of a conversation cannot be cancelled.
fn text_not_queued(state: TextState) -> ApiError {
    if !matches!(state, TextState::Failed | TextState::Expired | TextState::Cancelled) {
        let text = "The message was handed over, or is being handed over, and can no longer be cancelled.";
        return ApiError::new(ErrorCode::AlreadySent, text);
    }
    let text = format!("The message is {}: it will not be sent, so it cannot be cancelled.", state.name());
    ApiError::new(ErrorCode::AlreadyEnded, text)
}

/// Why an action on a plan is refused.
fn plan_refused(refused: RefusedAction) -> String {
    match refused {
        RefusedAction::State(state) => format!(
            "The plan is {}, and this action is not permitted in that state. Read the plan for its present state.",
            state.name()
        ),
        RefusedAction::Template => "The plan is a template. Copy it, and start the copy.".to_owned(),
        RefusedAction::ArrivalPassed => {
            "The \"expectedArrival\" of the plan is in the past. Change it before the plan is started."
                .to_owned()
        }
        RefusedAction::TooManyOfDevice(most) => format!(
            "{most} plans of a device of this plan are running or start by themselves, the maximum. End one of them first."
        ),
    }
}

fn assigned(other: &Overlap) -> String {
    let Overlap { assignment, driver_name, from, to } = other;
    let until = to.map_or_else(|| "without an end".to_owned(), |to| format!("until {to}"));
    format!(
        "The device is assigned to \"{driver_name}\" from {from} {until} ({assignment}). Choose another time, or end that \
         assignment first."
    )
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound(kind) => not_found(kind),
            StoreError::RevisionMismatch(kind) => Self::new(
                ErrorCode::PreconditionFailed,
                if kind.is_plural() {
                    format!("The {kind} were changed in the meantime. Read them again and repeat the change.")
                } else {
                    format!("The {kind} was changed in the meantime. Read it again and repeat the change.")
                },
            ),
            StoreError::Taken(Unique::Email) => {
                Self::new(ErrorCode::EmailTaken, "Another user has this e-mail address. Use another address.")
            }
            StoreError::Taken(Unique::Identifier) => Self::new(
                ErrorCode::IdentifierTaken,
                "Another device of the account has this identifier. Use another one, or change that device.",
            ),
            StoreError::LicenseExhausted(_) => Self::new(
                ErrorCode::LicenseExhausted,
                "Every licence of the account is in use. Let a device expire, delete one, or ask the operator for more licences.",
            ),
            StoreError::LicensesInUse { used } => Self::new(
                ErrorCode::LicensesInUse,
                format!(
                    "{used} licences are in use. Set at least {used}, or let devices expire or delete them first."
                ),
            ),
            StoreError::HasOperator => Self::new(
                ErrorCode::AccountHasOperator,
                "A user of the account is an operator of the server. Revoke that with \"perigee user set --operator false\" first.",
            ),
            StoreError::AccountPurging => Self::new(
                ErrorCode::AccountPurging,
                "The data of the account are being deleted, which cannot be undone. Restore a backup if you need them.",
            ),
            StoreError::DeviceExpired(_) => Self::new(
                ErrorCode::DeviceExpired,
                "The device has expired and accepts no data. To reactivate it, set a later expiration date, or set \"expires\" to false.",
            ),
            StoreError::AdminDevicesExhausted(limit) => Self::new(
                ErrorCode::DeviceQuotaReached,
                format!(
                    "You have created {limit} devices, the maximum that your \"adminDevices\" allows. Delete one, or ask an administrator for a higher number."
                ),
            ),
            StoreError::LastOwner => Self::new(
                ErrorCode::LastOwner,
                "The account would have no active owner. Make another user an owner first.",
            ),
            StoreError::InUse(kind) => Self::new(ErrorCode::InUse, in_use(kind)),
            StoreError::OutOfReach(Kind::Geofence) => forbidden(
                "This geofence was created by a user who sees other devices than you, so you cannot change it. Ask a user who sees the whole account.",
            ),
            StoreError::OutOfReach(kind) => forbidden(format!(
                "This {kind} also concerns devices that you may not see. Ask a user who sees the whole account."
            )),
            StoreError::TooMany { kind, most } => Self::new(ErrorCode::TooMany, too_many(kind, most)),
            StoreError::TooManyPositions(most) => Self::new(
                ErrorCode::TooMany,
                format!(
                    "The geofences of an account have at most {most} positions in total. Delete a geofence, or use fewer positions."
                ),
            ),
            StoreError::UnknownReference { kind, id } => invalid_body(vec![Problem {
                pointer: Pointer::root(),
                detail: format!("The account has no {kind} with the ID {id}. Check the ID."),
            }]),
            StoreError::TagTaken { tag, driver_name } => Self::new(
                ErrorCode::TagTaken,
                format!(
                    "The driver \"{driver_name}\" has the key tag {tag}. Remove it from that driver first."
                ),
            ),
            StoreError::Assigned(other) => Self::new(ErrorCode::DriverAssigned, assigned(&other)),
            StoreError::IdempotencyMismatch => Self::new(
                ErrorCode::IdempotencyMismatch,
                "This Idempotency-Key was used with another body. Use a new key for a new request.",
            ),
            StoreError::AlreadySent => Self::new(
                ErrorCode::AlreadySent,
                "The notification was sent. Only a notification that was suppressed, has failed or is unclear can be sent again.",
            ),
            StoreError::NotQueued(state) => command_not_queued(state),
            StoreError::TextNotQueued(state) => text_not_queued(state),
            StoreError::PlanRefused(refused) => Self::new(ErrorCode::PlanState, plan_refused(refused)),
            StoreError::TooManyBilled { kind, most } => Self::new(
                ErrorCode::TooMany,
                format!(
                    "{most} messages that a provider bills were sent within 24 hours, the maximum of one {kind}. Send the message later."
                ),
            ),
            StoreError::CursorExpired => Self::new(
                ErrorCode::CursorExpired,
                "What follows this cursor is no longer stored completely. Load all data again and continue with the new cursor.",
            ),
            StoreError::Unavailable(cause) => unavailable(cause),
            StoreError::Unknown(cause) => unknown(cause),
            StoreError::Internal(cause) => internal(cause),
        }
    }
}

impl IntoResponse for ApiError {
    /// Puts the error into the response's extensions; the outermost layer writes the body, which needs the request's
    /// id and usage.
    fn into_response(self) -> Response {
        let mut response = self.code.status().into_response();
        response.headers_mut().extend(self.headers.iter().cloned());
        response.extensions_mut().insert(self);
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_name_what_they_are_about() {
        let check = |error: StoreError, expect: &str| assert_eq!(ApiError::from(error).message, expect);
        check(
            StoreError::RevisionMismatch(Kind::Messaging),
            "The notification settings were changed in the meantime. Read them again and repeat the change.",
        );
        check(
            StoreError::RevisionMismatch(Kind::Rule),
            "The rule was changed in the meantime. Read it again and repeat the change.",
        );
        check(
            StoreError::NotFound(Kind::TimelineSettings),
            "The timeline settings do not exist, or you may not see them. Check the ID.",
        );
        check(
            StoreError::OutOfReach(Kind::Geofence),
            "This geofence was created by a user who sees other devices than you, so you cannot change it. Ask a user who sees the whole account.",
        );
        check(
            StoreError::CursorExpired,
            "What follows this cursor is no longer stored completely. Load all data again and continue with the new cursor.",
        );
    }
}
