"""Uses the API through the package that openapi-python-client generated from its description."""

import base64
import importlib
import inspect
import io
import json
import os
import pkgutil
import re
import sys
import typing

import perigee_client
import perigee_client.api
from perigee_client import AuthenticatedClient, Client
from perigee_client.models import LocationInput
from perigee_client.types import File

with open(sys.argv[1], encoding="utf-8") as file:
    DOCUMENT = json.load(file)


def operation(method, path):
    """The generated module of an operation. Its place follows from tag and operation id, which may change."""
    name = DOCUMENT["paths"][path][method]["operationId"]
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).lower()
    for module in pkgutil.walk_packages(perigee_client.api.__path__, "perigee_client.api."):
        if module.name.rpartition(".")[2] == name:
            return importlib.import_module(module.name)
    raise SystemExit(f"no code was generated for {method} {path} ({name})")


def body(module, value):
    """The value as the first model that the operation takes as its body."""
    annotation = typing.get_type_hints(module.sync_detailed)["body"]
    models = [kind for kind in typing.get_args(annotation) or [annotation] if hasattr(kind, "from_dict")]
    if not models:
        raise SystemExit(f"{module.__name__} takes no object as its body: {annotation}")
    return models[0].from_dict(value)


def call(client, method, path, value=None, **arguments):
    """Calls an operation and gives back the parsed answer as a plain object."""
    module = operation(method, path)
    assert inspect.isfunction(module.sync_detailed)
    if value is not None:
        arguments["body"] = body(module, value)
    answer = module.sync_detailed(client=client, **arguments)
    if answer.status_code >= 300 or answer.parsed is None:
        raise SystemExit(f"{method} {path}: {answer.status_code} {answer.content!r}")
    return answer.parsed.to_dict()


def check_every_operation():
    """Every operation has a module that can be imported, and those that take an object make a request of it."""
    checked = 0
    for path, item in DOCUMENT["paths"].items():
        for method, described in item.items():
            module = operation(method, path)
            if "application/json" not in described.get("requestBody", {}).get("content", {}):
                continue
            annotation = typing.get_type_hints(module._get_kwargs)["body"]
            models = [kind for kind in typing.get_args(annotation) or [annotation] if hasattr(kind, "from_dict")]
            if method == "patch":
                names = inspect.signature(module._get_kwargs).parameters
                ids = {name: "x" for name, parameter in names.items() if parameter.default is parameter.empty and name != "body"}
                request = module._get_kwargs(body=models[0](), **ids)
                assert request["json"] == {} and request["headers"]["Content-Type"].endswith("json"), request
            checked += 1
    return checked


checked = check_every_operation()
base = os.environ["PERIGEE_URL"]
token = call(
    Client(base_url=base),
    "post",
    "/api/Auth/Token",
    {"userName": os.environ["PERIGEE_USER_NAME"], "apiKey": os.environ["PERIGEE_API_KEY"]},
)["token"]
client = AuthenticatedClient(base_url=base, token=token)

assert call(client, "get", "/api/devices")["devices"] == []
assert call(client, "post", "/api/groups", {"name": "Made by Python"})["name"] == "Made by Python"
patched = call(
    client,
    "patch",
    "/api/users/{userId}",
    {"description": "Patched by Python"},
    user_id=os.environ["PERIGEE_USER_ID"],
)
assert patched["description"] == "Patched by Python"
device = call(client, "post", "/api/devices", {"name": "Made by Python"})["device"]
# An image of one pixel.
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==")
image = File(payload=io.BytesIO(PNG))
photo = operation("put", "/api/devices/{deviceId}/photo").sync_detailed(device["id"], client=client, body=image)
assert photo.status_code == 200 and photo.parsed.to_dict()["device"]["photo"], photo.content
stored = operation("post", "/api/devices/{deviceId}/locations")
location = {"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207}
answer = stored.sync_detailed(device["id"], client=client, body=[LocationInput.from_dict(location)])
assert answer.status_code == 201, answer.content
print(f"openapi-python-client: token, devices, group, user, photo, locations; {checked} operations with a body")
