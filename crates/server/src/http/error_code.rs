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
    /// The body is not JSON, or holds what JSON allows and we do not, such as a member twice.
    MalformedJson = "malformed-json", BAD_REQUEST, "The body is not valid JSON";
    /// The body is JSON but not what is wanted here; `errors` says where.
    InvalidBody = "invalid-body", BAD_REQUEST, "The body is not valid";
    /// A query or path parameter is unknown or not valid.
    InvalidParameter = "invalid-parameter", BAD_REQUEST, "A parameter is not valid";
    /// A header is not valid.
    InvalidHeader = "invalid-header", BAD_REQUEST, "A header is not valid";
    /// The request is not HTTP.
    MalformedRequest = "malformed-request", BAD_REQUEST, "The request cannot be read";
    /// The cursor was not made by this list.
    InvalidCursor = "invalid-cursor", BAD_REQUEST, "The cursor is not valid";
    /// The patch is malformed or does not fit the thing.
    InvalidPatch = "invalid-patch", BAD_REQUEST, "The patch is not valid";
    /// No token and no session came with the request.
    Unauthenticated = "unauthenticated", UNAUTHORIZED, "Authentication is needed";
    /// The token is not one of ours, or its key was replaced or deleted.
    InvalidToken = "invalid-token", UNAUTHORIZED, "The token is not valid";
    /// The token is past its time.
    TokenExpired = "token-expired", UNAUTHORIZED, "The token is expired";
    /// User name, key, e-mail, password or link was refused.
    InvalidCredentials = "invalid-credentials", UNAUTHORIZED, "The credentials are not valid";
    /// The password was right and a code of the second factor is wanted too.
    TotpRequired = "totp-required", UNAUTHORIZED, "A second factor is needed";
    /// The user may see the thing but not do this.
    Forbidden = "forbidden", FORBIDDEN, "This is not allowed";
    /// The user was disabled.
    UserDisabled = "user-disabled", FORBIDDEN, "The user is disabled";
    /// The user's validity has not begun or is over.
    UserExpired = "user-expired", FORBIDDEN, "The user is not valid at this time";
    /// The change came from a page of another origin.
    ForeignOrigin = "foreign-origin", FORBIDDEN, "The request came from another origin";
    /// Only a console session may do this, not a token.
    SessionRequired = "session-required", FORBIDDEN, "A console session is needed";
    /// The resource does not exist, or the caller may not see it.
    NotFound = "not-found", NOT_FOUND, "Not found";
    /// The device has no location yet.
    NoLocation = "no-location", NOT_FOUND, "There is no location yet";
    /// The path exists, not with this method.
    MethodNotAllowed = "method-not-allowed", METHOD_NOT_ALLOWED, "The method is not allowed here";
    /// None of the accepted media types can be answered.
    NotAcceptable = "not-acceptable", NOT_ACCEPTABLE, "No acceptable media type";
    /// The body came too slowly.
    RequestTimeout = "request-timeout", REQUEST_TIMEOUT, "The request took too long";
    /// Every licence of the account is used.
    LicenseExhausted = "license-exhausted", CONFLICT, "No licence is free";
    /// Another device of the account has this identifier.
    IdentifierTaken = "identifier-taken", CONFLICT, "The identifier is taken";
    /// Another user has this e-mail address.
    EmailTaken = "email-taken", CONFLICT, "The e-mail address is taken";
    /// The device is expired and takes no data.
    DeviceExpired = "device-expired", CONFLICT, "The device is expired";
    /// The device moves too fast for its engine to be stopped.
    DeviceMoving = "device-moving", CONFLICT, "The device moves too fast";
    /// The device has no identifier that is proven to be its own.
    ClaimUnproven = "claim-unproven", CONFLICT, "The claim on the device is not proven";
    /// The user has made as many devices as it may.
    DeviceQuotaReached = "device-quota-reached", CONFLICT, "The user's device quota is reached";
    /// The account would be left without an owner.
    LastOwner = "last-owner", CONFLICT, "The last owner must stay";
    /// The account has as many of these as it may.
    TooMany = "too-many", CONFLICT, "The maximum number is reached";
    /// Some user is bound to the thing, or some rule looks at it.
    InUse = "in-use", CONFLICT, "The resource is in use";
    /// The service fetches the feed of the gateway, which has no address.
    NoAddress = "no-address", CONFLICT, "The gateway has no address";
    /// The licences cannot be fewer than are used.
    LicensesInUse = "licenses-in-use", CONFLICT, "The licences are in use";
    /// A `test` operation of a JSON Patch failed.
    PatchTestFailed = "patch-test-failed", CONFLICT, "A test of the patch failed";
    /// The first request with this idempotency key is still running.
    IdempotencyInProgress = "idempotency-in-progress", CONFLICT, "The first request is still running";
    /// The second factor is on already, or not begun.
    TotpConflict = "totp-conflict", CONFLICT, "The second factor is not in the right state";
    /// The message was sent, so that it cannot be sent again; or the command was sent, so that it cannot be cancelled.
    AlreadySent = "already-sent", CONFLICT, "It was sent already";
    /// The command has failed, was cancelled or is expired, so that it cannot be cancelled.
    AlreadyEnded = "already-ended", CONFLICT, "It has ended already";
    /// The cursor points before what is still kept.
    CursorExpired = "cursor-expired", GONE, "The cursor is expired";
    /// `If-Match` names another revision.
    PreconditionFailed = "precondition-failed", PRECONDITION_FAILED, "The resource was changed in the meantime";
    /// The body is larger than is taken here.
    BodyTooLarge = "body-too-large", PAYLOAD_TOO_LARGE, "The body is too large";
    /// The address is longer than is taken.
    AddressTooLong = "address-too-long", URI_TOO_LONG, "The address is too long";
    /// The body's media type or encoding is not taken here.
    UnsupportedMediaType = "unsupported-media-type", UNSUPPORTED_MEDIA_TYPE, "The media type is not supported";
    /// The idempotency key was used with another body.
    IdempotencyMismatch = "idempotency-mismatch", UNPROCESSABLE_ENTITY, "The idempotency key was used with another body";
    /// The patch would take more work than its size explains.
    PatchTooCostly = "patch-too-costly", UNPROCESSABLE_ENTITY, "The patch takes too much work";
    /// The rate limit of the account, the address or the operation is reached.
    RateLimited = "rate-limited", TOO_MANY_REQUESTS, "Too many requests";
    /// The user or the account has as many streams open as it may.
    TooManyStreams = "too-many-streams", TOO_MANY_REQUESTS, "Too many streams are open";
    /// The request line and headers are larger than is taken.
    HeadTooLarge = "head-too-large", REQUEST_HEADER_FIELDS_TOO_LARGE, "The headers are too large";
    /// A server fault; the log has the cause under the request id.
    Internal = "internal", INTERNAL_SERVER_ERROR, "Something went wrong on our side";
    /// Overloaded, or the store cannot be reached.
    Unavailable = "unavailable", SERVICE_UNAVAILABLE, "The service is busy";
}
