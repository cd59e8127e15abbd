"""Uses the API through the package that openapi-python-client generated from its description."""

import importlib
import inspect
import json
import os
import pkgutil
import re
import sys
import typing

import perigee_client
import perigee_client.api
from perigee_client import AuthenticatedClient, Client

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
print("openapi-python-client: token, devices, group, user")
