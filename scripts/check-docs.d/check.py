"""Runs the blocks of the pages, each page on an account of its own, and checks the names in the text."""

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import names
import pages
import signature
from compare import difference, words
from world import Account, Failure, Server, tiles

# How long a command may take, in seconds.
PATIENCE = 120
# Examples of files that commands read.
FILES = {
    "frames.txt": "78780d01086471700328358100093f040d0a\n",
    "may.gpx": '<gpx xmlns="http://www.topografix.com/GPX/1/1" version="1.1" creator="x"><trk><trkseg>'
    '<trkpt lat="42.2406" lon="-8.7207"><time>2026-05-01T12:00:00Z</time></trkpt></trkseg></trk></gpx>',
    "perigee.toml": '[first_start]\naccount_name = "Fishing"\n',
    "june.csv": "dateTime,latitude,longitude\n2026-06-01T12:00:00Z,42.2391,-8.7533\n",
}
# Programs that stand for those of the reader's machine: a build that is there already, and the service of the system.
STANDINS = {
    "perigee": 'exec "$PERIGEE_PROGRAM" "$@"',
    "cargo": 'if [ "$1" = run ]; then while [ "$1" != -- ]; do shift; done; shift; exec "$PERIGEE_PROGRAM" "$@"; fi',
    "systemctl": 'echo "$1" >"$PERIGEE_CONTROL"; read -r _ <"$PERIGEE_CONTROL.done"',
}


class Page:
    """One page with its account, its folder, and what came last."""

    def __init__(self, server, path, number, work):
        self.server, self.path, self.account = server, path, Account(server, number)
        self.folder = work / f"page{number}"
        self.answer, self.output, self.secret, self.kept = None, "", "SECRET", {}
        for folder in ("bin", "target/release", "target/dist", "etc"):
            (self.folder / folder).mkdir(parents=True)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
        (self.folder / "galicia.pmtiles").write_bytes(tiles())
        for name, text in STANDINS.items():
            program = self.folder / "bin" / name
            program.write_text(f"#!/usr/bin/env bash\n{text}\n")
            program.chmod(0o755)
        for profile in ("release", "dist"):
            (self.folder / "target" / profile / "perigee").symlink_to(server.program)

    def prepare(self, block):
        """Makes what a block needs beforehand: a device with an identifier, a gateway."""
        if "device" in block.attributes:
            identifier = block.attributes["device"]
            self.account.call("POST", "/api/devices", {"name": "Example", "identifier": identifier})
        if "gateway" in block.attributes:
            self.secret = self.account.make("/api/gateways", {"feed": block.attributes["gateway"]})["url"].rsplit("/", 1)[1]

    def run(self, block):
        self.prepare(block)
        runners = {"sh": self.run_shell, "http": self.run_request, "json": self.run_json, "toml": self.run_settings,
                   "python": self.run_python, "text": self.compare_output}
        if block.language not in runners:
            raise Failure(f"name the language of the block, or say why it is not run: {block.language or 'none'} is not known")
        runners[block.language](block)

    def environment(self):
        return {
            **self.server.environment,
            "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}",
            "PERIGEE_PROGRAM": str(self.server.program),
            "PERIGEE_CONTROL": str(self.server.work / "control"),
            "PERIGEE_URL": self.server.url,
            "PERIGEE_USER_NAME": self.account.email,
            "PERIGEE_API_KEY": self.account.key,
            "url": self.server.url,
            "token": self.account.token,
        }

    def shell(self, block):
        """The text as it runs here: paths of the system are in the page's folder."""
        text = self.account.fill(block.text).replace("/SECRET", f"/{self.secret}")
        return re.sub(r"/(?:var/(?:lib/perigee|backups))/", f"{self.folder}/", text)

    def run_shell(self, block):
        if "until" in block.attributes:
            self.run_until(block)
            return
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", self.shell(block)], cwd=self.folder, env=self.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=PATIENCE, check=False,
        )
        self.output = done.stdout
        if done.returncode != 0:
            raise Failure(f"ended with {done.returncode}: {done.stderr.strip()} {done.stdout.strip()[-500:]}")
        answers = [json.loads(line) for line in re.findall(r"^\{.*?\}$", re.sub(r"\}\{", "}\n{", done.stdout), re.M)]
        refused = [answer for answer in answers if answer.get("success") is False]
        if refused and "status" not in block.attributes:
            raise Failure(f"was refused: {refused[0]}")
        for line in re.findall(r"^# (\{.*\})$", block.text, re.M):
            if not any(difference(json.loads(line), answer) is None for answer in answers):
                raise Failure(f"no answer is {line}, but {answers}")

    def run_until(self, block):
        """Runs what does not end by itself, in a terminal, until it has printed a text; then interrupts it."""
        environment = {**self.environment(), "PERIGEE_STORE__DATA": str(self.folder / "data"), "PERIGEE_SERVER__LISTEN": "127.0.0.1:0"}
        terminal, inner = os.openpty()
        process = subprocess.Popen(
            ["bash", "-euo", "pipefail", "-c", self.shell(block)], cwd=self.folder, env=environment,
            stdin=inner, stdout=inner, stderr=inner, start_new_session=True,
            # A shell lets its background jobs ignore interrupts, and programs inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        os.close(inner)
        self.output, deadline, interrupted = "", time.monotonic() + PATIENCE, False
        while time.monotonic() < deadline:
            if not interrupted and block.attributes["until"] in self.output:
                os.killpg(process.pid, signal.SIGINT)
                interrupted = True
            if not select.select([terminal], [], [], 0.1)[0]:
                continue
            try:
                self.output += os.read(terminal, 65536).decode("utf-8", "replace")
            except OSError:
                break
        else:
            os.killpg(process.pid, signal.SIGKILL)
        os.close(terminal)
        status = process.wait()
        if not interrupted or status not in (0, 130, -signal.SIGINT):
            raise Failure(f"ended with {status} and printed: {self.output[-2000:]}")

    def compare_output(self, block):
        if "output" not in block.attributes:
            raise Failure("say whether it is output, or why it is not compared")
        expected, actual = words(self.account.fill(block.text)), words(self.account.fill(self.output))
        missing = [line for line in expected if line not in actual]
        if missing:
            raise Failure(f"the output has no line {missing[0]!r}: {actual}")

    def run_request(self, block):
        head, _, body = self.account.fill(block.text).partition("\n")
        method, _, path = head.strip().partition(" ")
        headers = {}
        while re.match(r"[A-Za-z-]+: ", body):
            line, _, body = body.partition("\n")
            name, _, value = line.partition(": ")
            headers[name] = value
        self.send(block, method, path, body.strip() or None, headers)

    def send(self, block, method, path, body, headers=None):
        status, self.answer = self.account.call(method, path, body, headers)
        wanted = block.attributes.get("status")
        if (str(status) != wanted) if wanted else not 200 <= status < 300:
            raise Failure(f"{method} {path} was answered with {status}: {self.answer}")

    def run_json(self, block):
        text = self.account.fill(block.text)
        if "keep" in block.attributes:
            self.kept[block.attributes["keep"]] = block.text
        elif "answer" in block.attributes:
            found = difference(json.loads(block.text), self.answer)
            if found:
                raise Failure(f"the answer differs: {found}")
        elif "send" in block.attributes:
            method, path = self.account.fill(block.attributes["send"]).split(" ")
            body = json.loads(text)
            for name in reversed(block.attributes.get("in", "").split("/")):
                body = {name: body} if name else body
            if "decodes" in block.attributes:
                body.update(feed=block.attributes["feed"], text=self.kept[block.attributes["decodes"]])
            headers = self.account.session() if "session" in block.attributes else None
            self.send(block, method, path, {**json.loads(block.attributes.get("with", "{}")), **body}, headers)
        elif "like" in block.attributes:
            method, path = self.account.fill(block.attributes["like"]).split(" ")
            path, _, pointer = path.partition("#")
            self.send(block, method, path, None)
            part = self.answer
            for name in pointer.split("/")[1:]:
                part = part[int(name) if name.isdigit() else name]
            found = difference(json.loads(block.text), part)
            if found:
                raise Failure(f"{path} differs: {found}")
        else:
            raise Failure("say what the JSON is: answer, send, like or skip")

    def run_settings(self, block):
        text = block.text
        for name in re.findall(r'"/etc/perigee/([^"]+)"', text):
            (self.folder / "etc" / name).write_text("secret\n")
        for name in re.findall(r'"/var/lib/perigee/([^"]+)"', text):
            (self.folder / name).write_bytes(tiles())
        text = text.replace("/etc/perigee/", f"{self.folder}/etc/").replace("/var/lib/perigee/", f"{self.folder}/")
        (self.folder / "settings.toml").write_text(block.attributes.get("with", "") + "\n" + text)
        done = subprocess.run([self.server.program, "config", "check", "--config", self.folder / "settings.toml"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"perigee config check: {done.stderr.strip()}")

    def run_python(self, block):
        scope = {}
        exec(compile(block.text, block.place, "exec"), scope)  # noqa: S102
        if block.attributes.get("check") != "signature":
            raise Failure("say how the code is checked")
        signature.check(self.account, scope["is_genuine"])


def follow_service(server):
    """Stops and starts the server as the stand-in for systemctl asks, in a process of its own."""
    control = server.work / "control"
    os.mkfifo(control)
    os.mkfifo(f"{control}.done")

    def follow():
        while True:
            word = control.read_text().strip()
            server.stop() if word == "stop" else server.start()
            with open(f"{control}.done", "w", encoding="utf-8") as done:
                done.write("done\n")

    import threading

    threading.Thread(target=follow, daemon=True).start()


def help_of(program, cache, command):
    if command not in cache:
        done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=False)
        cache[command] = done.stdout if done.returncode == 0 else None
    return cache[command]


def unknown_names(program, page, document, cache):
    """Commands, options and operations in the text that the program does not have."""
    known = {(method.upper(), re.sub(r"\{[^}]*\}", "{}", path).lower())
             for path, item in document["paths"].items() for method in item}
    for number, method, path in pages.named_operations(page):
        plain = re.sub(r"\{[^}]*\}", "{}", path).lower()
        if path.startswith("/api/") and "..." not in path and (method, plain) not in known:
            yield f"{page}:{number}: there is no operation {method} {path}"
    for number, code in pages.named_commands(page):
        parts, command = code.split()[1:], ()
        for part in parts:
            text = help_of(program, cache, command)
            listed = re.findall(r"^  ([a-z-]+) ", (text or "").partition("Commands:")[2], re.M)
            if part not in listed:
                break
            command += (part,)
        if not command or help_of(program, cache, command) is None:
            yield f"{page}:{number}: there is no command {code}"
            continue
        for option in re.findall(r"--[a-z][a-z-]*", code):
            if option not in help_of(program, cache, command):
                yield f"{page}:{number}: {' '.join(('perigee', *command))} has no option {option}"


def main():
    program, work = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    given = [Path(name) for name in sys.argv[3:]]
    every = given or [Path("README.md"), *sorted(Path("docs").rglob("*.md"))]
    failures, skipped, ran, cache = [] if given else list(names.problems()), [], 0, {}
    document = json.loads(subprocess.run([program, "openapi"], capture_output=True, check=True).stdout)
    server = Server(program, work)
    server.start()
    follow_service(server)
    try:
        for number, path in enumerate(every):
            failures += names.dead_links(path) if given else []
            failures += unknown_names(program, path, document, cache)
            blocks = pages.blocks(path)
            skipped += [block for block in blocks if "skip" in block.attributes]
            blocks = [block for block in blocks if "skip" not in block.attributes]
            if not blocks:
                continue
            page = Page(server, path, number, work)
            for block in blocks:
                ran += 1
                try:
                    page.run(block)
                except (Failure, OSError, ValueError, LookupError, subprocess.TimeoutExpired) as problem:
                    failures.append(f"{block.place}: {problem}")
    finally:
        server.stop()
    for block in skipped:
        print(f"{block.place}: not run: {block.attributes['skip']}")
    for failure in failures:
        print(failure)
    print(f"{len(every)} pages, {ran} blocks run, {len(skipped)} not run, {len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
