//! The closed list of error codes: one table, published in the document and the reference.

use http::StatusCode;

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $status:ident, $title:literal;)+) => {
        /// A stable name for why a request failed.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The value of `code` in answers.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The HTTP status of answers with this code.
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$variant => StatusCode::$status,)+ }
            }

            /// A short title, the same every time.
            pub const fn title(self) -> &'static str {
                match self { $(Self::$variant => $title,)+ }
            }
        }
    };
}

codes! {
    /// The body is not JSON, or uses a form of JSON that is not accepted, such as a repeated member.
    MalformedJson = "malformed-json", BAD_REQUEST, "The body is not valid JSON";
    /// The body is JSON but not valid for this operation. `errors` lists every problem.
    InvalidBody = "invalid-body", BAD_REQUEST, "The body is not valid";
    /// A query or path parameter is unknown or not valid.
    InvalidParameter = "invalid-parameter", BAD_REQUEST, "A parameter is not valid";
    /// A header is not valid.
    InvalidHeader = "invalid-header", BAD_REQUEST, "A header is not valid";
    /// The request is not valid HTTP.
    MalformedRequest = "malformed-request", BAD_REQUEST, "The request cannot be read";
    /// The cursor does not belong to this list.
    InvalidCursor = "invalid-cursor", BAD_REQUEST, "The cursor is not valid";
    /// The patch is malformed, or names a path that the resource does not have.
    InvalidPatch = "invalid-patch", BAD_REQUEST, "The patch is not valid";
    /// The request has neither a token nor a valid session.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, "Authentication is required";
    /// The token was not issued by this server, or its API key was replaced or revoked.
    InvalidToken = "invalid-token", UNAUTHORIZED, "The token is not valid";
    /// The token has expired.
    TokenExpired = "token-expired", UNAUTHORIZED, "The token has expired";
    /// The user name, API key, e-mail address, password, code or link is not valid.
    InvalidCredentials = "invalid-credentials", UNAUTHORIZED, "The credentials are not valid";
    /// The password is right, and a code of the second factor is required as well.
    TotpRequired = "totp-required", UNAUTHORIZED, "A code of the second factor is required";
    /// The caller may see the resource but may not perform this operation.
    Forbidden = "forbidden", FORBIDDEN, "The operation is not permitted";
    /// The user is disabled.
    UserDisabled = "user-disabled", FORBIDDEN, "The user is disabled";
    /// The user is not active yet, or has expired.
    UserExpired = "user-expired", FORBIDDEN, "The user is not active at this time";
    /// An operator of the server suspended the account.
    AccountSuspended = "account-suspended", FORBIDDEN, "The account is suspended";
    /// An operator of the server is deleting the account.
    AccountDeleted = "account-deleted", FORBIDDEN, "The account is being deleted";
    /// A page of another origin sent the request with a session cookie.
    ForeignOrigin = "foreign-origin", FORBIDDEN, "The request came from another origin";
    /// The operation requires a console session. A token is not sufficient.
    SessionRequired = "session-required", FORBIDDEN, "A console session is required";
    /// The resource does not exist, or the caller may not see it.
    NotFound = "not-found", NOT_FOUND, "Not found";
    /// The device has no location yet.
    NoLocation = "no-location", NOT_FOUND, "The device has no location yet";
    /// The path exists but does not support this method.
    MethodNotAllowed = "method-not-allowed", METHOD_NOT_ALLOWED, "The method is not supported by this path";
    /// None of the media types in `Accept` is available.
    NotAcceptable = "not-acceptable", NOT_ACCEPTABLE, "No acceptable media type";
    /// The body was not received in time.
    RequestTimeout = "request-timeout", REQUEST_TIMEOUT, "The request took too long";
    /// Every licence of the account is in use.
    LicenseExhausted = "license-exhausted", CONFLICT, "No licence is free";
    /// Another device of the account has this identifier.
    IdentifierTaken = "identifier-taken", CONFLICT, "The identifier is taken";
    /// Another driver has this key tag.
    TagTaken = "tag-taken", CONFLICT, "The key tag is taken";
    /// The device is assigned to a driver at that time.
    DriverAssigned = "driver-assigned", CONFLICT, "The device has another driver at that time";
    /// Another user has this e-mail address.
    EmailTaken = "email-taken", CONFLICT, "The e-mail address is taken";
    /// The device has expired and accepts no data.
    DeviceExpired = "device-expired", CONFLICT, "The device has expired";
    /// The device moves too fast for its engine to be stopped.
    DeviceMoving = "device-moving", CONFLICT, "The device moves too fast";
    /// The account has claims on identifiers of the device, and none of them is proven.
    ClaimUnproven = "claim-unproven", CONFLICT, "No identifier of the device is proven to belong to the account";
    /// The user has created as many devices as `adminDevices` allows.
    DeviceQuotaReached = "device-quota-reached", CONFLICT, "The user's device quota is reached";
    /// The account would have no active owner.
    LastOwner = "last-owner", CONFLICT, "The account needs an active owner";
    /// Another map is being copied by this node.
    MapBusy = "map-busy", CONFLICT, "Another map is being copied";
    /// The maximum number of these objects is reached.
    TooMany = "too-many", CONFLICT, "The maximum number of these resources is reached";
    /// A user is limited to the resource, or a rule, an alert routing or a stored message refers to it.
    InUse = "in-use", CONFLICT, "The resource is in use";
    /// The gateway has no URL, because the server fetches its feed.
    NoAddress = "no-address", CONFLICT, "The gateway has no URL, because the server fetches its feed";
    /// The number of licences cannot be less than the number in use.
    LicensesInUse = "licenses-in-use", CONFLICT, "More licences are in use than requested";
    /// A user of the account is an operator of the server, so the account cannot be suspended or deleted.
    AccountHasOperator = "account-has-operator", CONFLICT, "A user of the account is an operator";
    /// The account is being purged, so its deletion cannot be undone.
    AccountPurging = "account-purging", CONFLICT, "The account is being purged";
    /// A `test` operation of the JSON Patch failed.
    PatchTestFailed = "patch-test-failed", CONFLICT, "A test operation of the patch failed";
    /// The first request with this idempotency key is still running.
    IdempotencyInProgress = "idempotency-in-progress", CONFLICT, "The first request is still running";
    /// The second factor is already on, was not begun, or was begun again in the meantime.
    TotpConflict = "totp-conflict", CONFLICT, "The second factor is not in the right state";
    /// The notification was sent and cannot be sent again, or the command was sent and cannot be cancelled.
    AlreadySent = "already-sent", CONFLICT, "The notification or command was already sent";
    /// The command has failed, was cancelled or has expired, so it cannot be cancelled.
    AlreadyEnded = "already-ended", CONFLICT, "The command has already ended";
    /// The state of the plan does not permit the action.
    PlanState = "plan-state", CONFLICT, "The state of the plan does not permit the action";
    /// The cursor points to events or locations that are no longer stored.
    CursorExpired = "cursor-expired", GONE, "The cursor has expired";
    /// `If-Match` does not match the current revision of the resource.
    PreconditionFailed = "precondition-failed", PRECONDITION_FAILED, "The resource was changed in the meantime";
    /// The body is larger than this operation accepts.
    BodyTooLarge = "body-too-large", PAYLOAD_TOO_LARGE, "The body is too large";
    /// The URL is longer than 8192 bytes.
    AddressTooLong = "address-too-long", URI_TOO_LONG, "The URL is too long";
    /// The media type or encoding of the body is not supported.
    UnsupportedMediaType = "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "The media type is not supported";
    /// The idempotency key was used with another body.
    IdempotencyMismatch = "idempotency-mismatch", UNPROCESSABLE_ENTITY, "The idempotency key was used with another body";
    /// Applying the patch would take more work than its size allows.
    PatchTooCostly = "patch-too-costly", UNPROCESSABLE_ENTITY, "The patch is too costly to apply";
    /// The rate limit of the account, the client address or the operation is exceeded.
    RateLimited = "rate-limited", TOO_MANY_REQUESTS, "Too many requests";
    /// The user or the account has the maximum number of streams open.
    TooManyStreams = "too-many-streams", TOO_MANY_REQUESTS, "Too many streams are open";
    /// The request line and headers are larger than 64 KiB.
    HeadTooLarge = "head-too-large", REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too large";
    /// An error of the server. The log of the server has the cause under the request ID.
    Internal = "internal", INTERNAL_SERVER_ERROR, "Something went wrong on our side";
    /// The service is overloaded or cannot reach its database.
    Unavailable = "unavailable", SERVICE_UNAVAILABLE, "The service is busy";
}
