"""A temporary server, and for each page an account of its own with the objects that the page names."""

import gzip
import http.client
import json
import os
import re
import signal
import socket
import struct
import subprocess
import time
import urllib.parse

IDENTIFIER = re.compile(r"\b(acc|alr|cmd|ctg|dev|geo|grp|gtw|msg|rul|usr|whk)_(?:[0-9a-z]{13}|\.\.\.)")


class Failure(Exception):
    """Why a block of a page does not work."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def tiles():
    """The smallest PMTiles file: one empty raster tile."""
    directory = gzip.compress(bytes([1, 0, 1, 1, 1]), mtime=0)
    metadata = gzip.compress(b"{}", mtime=0)
    begin = 127 + len(directory) + len(metadata)
    places = (127, len(directory), 127 + len(directory), len(metadata), begin, 0, begin, 1, 1, 1, 1)
    kinds = bytes([1, 2, 1, 2, 0, 0])
    bounds = struct.pack("<iiii", -1800000000, -850000000, 1800000000, 850000000) + struct.pack("<Bii", 0, 0, 0)
    return b"PMTiles\x03" + struct.pack("<11Q", *places) + kinds + bounds + directory + metadata + b"\x00"


class Server:
    """The program on a database and ports of its own; it can be stopped and started as a system service is."""

    def __init__(self, program, work):
        self.program, self.work, self.process = program, work, None
        self.port, self.tracker_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("PERIGEE_")},
            "PERIGEE_STORE__DATA": str(work / "data"),
            "PERIGEE_LIMITS__REQUESTS_PER_SECOND": "100000",
            "PERIGEE_LIMITS__BURST": "100000",
            "PERIGEE_WEBHOOKS__ALLOW_HTTP": "true",
            "PERIGEE_WEBHOOKS__ALLOW_PRIVATE": "true",
        }
        (work / "server.toml").write_text(f'[gateways.listen]\ngt06 = "127.0.0.1:{self.tracker_port}"\n')

    def start(self):
        log = (self.work / "server.log").open("ab")
        self.process = subprocess.Popen(
            [self.program, "serve", "--config", self.work / "server.toml", "--listen", f"127.0.0.1:{self.port}"],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.work,
        )
        for _ in range(600):
            if self.process.poll() is not None:
                raise Failure(f"the server ended: {(self.work / 'server.log').read_text()[-2000:]}")
            try:
                if self.call("GET", "/readyz")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.1)
        raise Failure("the server did not become ready")

    def stop(self):
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(60)

    def call(self, method, path, body=None, headers=None):
        """Sends a request; gives the status and the answer, as JSON if it is."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        content = {"Content-Type": "application/json"} if body is not None else {}
        data = body.encode() if isinstance(body, str) else body
        connection.request(method, path, data, {**content, **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text.decode("utf-8", "replace")

    def sign_in(self, email, password):
        """The cookie of a new session."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        body = json.dumps({"email": email, "password": password})
        connection.request("POST", "/api/session", body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        if answer.status != 200:
            raise Failure(f"nobody could sign in: {text}")
        return answer.headers["Set-Cookie"].split(";")[0]

    def command(self, *arguments):
        """Runs a command of the program that prints JSON."""
        done = subprocess.run(
            [self.program, *arguments, "--json"], env=self.environment, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise Failure(f"perigee {' '.join(arguments)}: {done.stderr}")
        return json.loads(done.stdout)


class Account:
    """The account of a page: its owner, and one resource for each ID that the page has in its examples."""

    def __init__(self, server, number):
        self.server, self.ids = server, {}
        self.email = f"owner{number}@example.com"
        made = server.command("account", "create", "--name", "My fleet", "--licenses", "1000", "--owner-email", self.email)
        self.account, self.password = made["accountId"], made["password"]
        self.key = server.command("key", "issue", "--email", self.email)["apiKey"]
        status, answer = server.call("POST", "/api/Auth/Token", {"userName": self.email, "apiKey": self.key})
        if status != 200:
            raise Failure(f"no token: {answer}")
        self.token = answer["token"]

    def session(self):
        """The headers of a console session of the owner, who becomes an operator of the server."""
        self.server.command("user", "set", "--email", self.email, "--operator")
        cookie = self.server.sign_in(self.email, self.password)
        return {"Cookie": cookie, "Authorization": None}

    def call(self, method, path, body=None, headers=None):
        headers = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        return self.server.call(method, path, body, {name: value for name, value in headers.items() if value})

    def make(self, path, body):
        status, answer = self.call("POST", path, body)
        if status not in (200, 201):
            raise Failure(f"POST {path}: {answer}")
        return answer.get("device", answer)

    def resource(self, prefix):
        """The ID of a new resource of this kind."""
        if prefix == "acc":
            return self.account
        if prefix == "dev":
            return self.make("/api/devices", {"name": f"Example {len(self.ids)}"})["id"]
        if prefix == "msg":
            gateway = self.make("/api/gateways", {"feed": "osmand"})
            path = urllib.parse.urlsplit(gateway["url"]).path
            self.server.call("GET", f"{path}?id=unknown&lat=42.2&lon=-8.7&timestamp={int(time.time())}")
            return self.call("GET", "/api/rawMessages")[1]["rawMessages"][0]["id"]
        bodies = {
            "ctg": ("/api/contactGroups", {"name": "Night watch", "contacts": []}),
            "geo": ("/api/geofences", {"type": "Feature", "geometry": {"type": "Point", "coordinates": [1, 1]},
                                       "properties": {"name": "Harbour", "radius": 100}}),
            "rpt": ("/api/reports", {"name": "Trips", "report": {"kind": "trips"}}),
            "grp": ("/api/groups", {"name": "Boats"}),
            "gtw": ("/api/gateways", {"feed": "cloudloop"}),
            "rul": ("/api/rules", {"name": "Fast", "allDevices": True, "conditions": [{"type": "speed", "above": 90}]}),
            "usr": ("/api/users", {"name": "Leo", "email": f"leo{len(self.ids)}-{self.email}", "country": "ES",
                                   "timeZone": "UTC"}),
            "whk": ("/api/webhooks", {"url": "https://example.com/hook"}),
        }
        return self.make(*bodies[prefix])["id"]

    def fill(self, text):
        """The text with this server and account in place of the example's."""
        def real(match):
            if match[0] not in self.ids:
                self.ids[match[0]] = self.resource(match[1])
            return self.ids[match[0]]

        for example, own in {
            "https://track.example.com": self.server.url,
            "http://127.0.0.1:8080": self.server.url,
            "127.0.0.1:5023": f"127.0.0.1:{self.server.tracker_port}",
            "PERIGEE_API_KEY=...": f"PERIGEE_API_KEY={self.key}",
            "pgk_...": self.key,
            "Bearer eyJ...": f"Bearer {self.token}",
            "owner@localhost": self.email,
            "ana@example.com": self.email,
            "you@example.com": self.email,
            "{deviceId}": "dev_01jc2m8k4n5p7",
        }.items():
            text = text.replace(example, own)
        return IDENTIFIER.sub(real, text)
