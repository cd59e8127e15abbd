"""What schemathesis cannot read in the API's description: how to sign in, how to write lines of JSON, which rules
no schema can state, and which objects exist.

The script sets ST_TOKEN, ST_USER_NAME and ST_API_KEY of one account; ST_EMAIL and ST_PASSWORD of another, because
operations of a session (replacing the API key, changing the password) end the tokens of its user; and ST_DEVICE_ID.
"""

import base64
import datetime
import json
import os
import urllib.request

import schemathesis
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import RejectedPositiveData
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

URL = os.environ["ST_URL"]
TOKEN = os.environ["ST_TOKEN"]
EMAIL = os.environ["ST_EMAIL"]
PASSWORD = os.environ["ST_PASSWORD"]
DEVICE_ID = os.environ["ST_DEVICE_ID"]

# A valid request may meet the state of the server: a cursor this list did not give, a revision that is not the
# present one, a key that was used with another body, a patch of what the thing does not have or that costs too much.
STATEFUL_CODES = {"invalid-cursor", "precondition-failed", "idempotency-mismatch", "invalid-patch", "patch-too-costly"}

# Members and parameters whose rule is no matter of form, by the last name of a pointer.
UNSTATED = {
    # A list of the world's, the rules of another language, what passes as an address or a password.
    *("country", "timeZone", "email", "source", "url", "password", "newPassword"),
    # References to resources of the account, which must exist.
    *("device", "deviceId", "devices", "group", "groupId", "groups", "users", "contactGroups", "webhooks", "then", "report", "schedule"),
    *("conditions", "identifiers"),
    # The clock.
    *("expirationDate", "expires", "until", "deadline"),
    # Another member or parameter: exactly one of two, later than, required or left out beside, of the kind it tells.
    *("from", "to", "bbox", "simplify", "fields", "allDevices", "recipients", "steps", "repeatTimes", "address"),
    *("milleage", "confirm", "radius", "width", "text", "command"),
    # Features that this server does not offer.
    "sms",
}

# Members that hold anything to the schema: names of the client's own, or what the `type` or `feed` beside them tells.
FREE_FORM = {"values", "options", "geometry", "attributes", "accessoriesAttributes"}

# Rules of any member: to a schema 5.0 is as whole as 5 however it is written, and null is as good as a position.
UNSTATED_RULES = (
    # A claim is on an identifier that the device has.
    "does not have this identifier",
    "written without a decimal point", "is required beside", "is required if", "which requires the setting",
)

# Values that the description does not offer and the server understands, because existing clients send them.
UNDERSTOOD = {
    # A user without a country, as read before.
    ("update_user", "country", None), ("replace_user", "country", None),
    # No end of the range.
    ("submit_locations", "from", ""), ("submit_locations", "to", ""),
}

# Members that may be empty in any form, of which the description has one.
EMPTY_ITEMS = {
    "submit_locations": {"location", "locations"}, "submit_alerts": {"alert", "alerts"},
}

# Bodies that may hold anything to the schema: whether lines are JSON, or what a patched thing is like, the server sees.
OPAQUE_BODIES = {"application/x-ndjson", "application/json-patch+json"}


def send(method, path, body=None, headers=None):
    request = urllib.request.Request(
        URL + path,
        method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Content-Type": "application/json", **(headers or {})},
    )
    return urllib.request.urlopen(request)


def is_for_sessions(operation):
    return operation.definition.raw.get("security") == [{"session": []}]


class Session:
    """The cookie of a console session."""

    def get(self, case, ctx):
        with send("POST", "/api/session", {"email": EMAIL, "password": PASSWORD}) as answer:
            return answer.headers["Set-Cookie"].split(";")[0]

    def set(self, case, data, ctx):
        name, value = data.split("=", 1)
        case.cookies = {**(case.cookies or {}), name: value}


@schemathesis.auth(refresh_interval=None).apply_to(operation_id="delete_session")
class EndingSession(Session):
    """A session of its own for every request that ends one."""


@schemathesis.auth().apply_to(lambda ctx: is_for_sessions(ctx.operation))
class LastingSession(Session):
    """The session of all other operations that only sessions may do."""


@schemathesis.auth().skip_for(lambda ctx: is_for_sessions(ctx.operation))
class Token:
    """A token, as integrations send it."""

    def get(self, case, ctx):
        return TOKEN

    def set(self, case, data, ctx):
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {data}"}


@schemathesis.serializer("application/x-ndjson")
def write_lines(ctx, value):
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    return json.dumps(value).encode()


# An image of one pixel.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")

# The credentials of each operation.
PROOFS = {
    "create_session": {"email": EMAIL, "password": PASSWORD},
    "create_token": {"userName": os.environ["ST_USER_NAME"], "apiKey": os.environ["ST_API_KEY"]},
    "delete_totp": {"password": PASSWORD},
    "replace_password": {"currentPassword": PASSWORD, "newPassword": PASSWORD},
}


def is_positive(case):
    return case.meta is not None and case.meta.generation.mode.is_positive


def make_share():
    until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    body = {"deviceId": DEVICE_ID, "until": until.isoformat(timespec="seconds")}
    with send("POST", "/api/shares", body, {"Authorization": f"Bearer {TOKEN}"}) as answer:
        return json.load(answer)


@schemathesis.hook
def before_call(ctx, case, kwargs):
    """Asks for what is there: no generator guesses a password, a link's secret, or a date of the coming year."""
    if not is_positive(case):
        return
    # No generator of schemathesis makes an entity tag that fits a pattern; what it falls back to fits none.
    if case.headers and case.headers.get("If-Match") == "0":
        case.headers["If-Match"] = "*"
    # Waiting longer shows nothing more.
    if case.query and case.query.get("wait") in range(2, 31):
        case.query["wait"] = 1
    operation = case.operation.definition.raw.get("operationId")
    if operation in PROOFS:
        case.body = PROOFS[operation]
    elif operation == "delete_device" and case.path_parameters["deviceId"] == DEVICE_ID:
        # Later requests share it.
        case.path_parameters["deviceId"] = "dev_01jc2m8k4n5p7"
    elif operation == "replace_device_photo":
        # To the schema any bytes are a photo.
        case.body = PNG
    elif operation == "get_shared":
        case.path_parameters["secret"] = make_share()["url"].rsplit("/", 1)[1]
    elif operation == "delete_share":
        case.path_parameters["shareId"] = make_share()["id"]
    elif operation == "create_share" and isinstance(case.body, dict):
        until = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=30)
        case.body = {**case.body, "deviceId": DEVICE_ID, "groupId": None, "from": None, "until": until.isoformat()}


def is_unstated(error):
    names = [name for name in error["pointer"].split("/") if name and not name.isdigit()]
    # Which other members a condition of a rule has depends on its type.
    is_condition = "conditions" in names[:-1] and names[-1] != "type"
    return (
        any(rule in error["detail"] for rule in UNSTATED_RULES)
        or is_condition
        or bool(FREE_FORM.intersection(names))
        or bool(names and names[-1] in UNSTATED)
    )


def is_explained(case, response):
    problem = response.json()
    code = problem.get("code")
    if code in STATEFUL_CODES:
        return True
    if case.media_type in OPAQUE_BODIES:
        return code in {"malformed-json", "invalid-body"}
    errors = problem.get("errors", [])
    return bool(errors) and all(is_unstated(error) for error in errors)


@schemathesis.check
def accepts_valid_data(ctx, response, case):
    """What fits the description is accepted, unless the server names a rule that no schema can state."""
    try:
        positive_data_acceptance(ctx, response, case)
    except RejectedPositiveData:
        if not is_explained(case, response):
            raise


@schemathesis.check
def rejects_invalid_data(ctx, response, case):
    """What does not fit the description is refused, unless the server understands it all the same."""
    operation = case.operation.definition.raw.get("operationId")
    # The format of a photo is recognised from its bytes, not from its media type.
    if operation == "replace_device_photo":
        return
    try:
        negative_data_rejection(ctx, response, case)
    except AcceptedNegativeData:
        body = case.body if isinstance(case.body, dict) else {}
        empty = {name: value for name, value in body.items() if value in (None, "", {}, [])}
        understood = any((operation, name, value) in UNDERSTOOD for name, value in empty.items() if value in (None, ""))
        if not understood and not EMPTY_ITEMS.get(operation, set()).intersection(empty):
            raise
