"""Checks an example that verifies the signature of webhooks with a real delivery."""

import http.server
import threading

from world import Failure


def check(account, is_genuine):
    """Receives a test message of a new webhook; the example accepts it, and refuses it when it was changed."""
    received = []
    arrived = threading.Event()

    class Receiver(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(204)
            self.end_headers()
            arrived.set()

        def log_message(self, *_arguments):
            """Says nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as receiver:
        threading.Thread(target=receiver.serve_forever, daemon=True).start()
        webhook = account.make("/api/webhooks", {"url": f"http://127.0.0.1:{receiver.server_port}/hook"})
        account.make(f"/api/webhooks/{webhook['id']}/test", None)
        came = arrived.wait(60)
        receiver.shutdown()
    if not came:
        raise Failure("no test message came")
    headers, body = received[0]
    if not is_genuine(webhook["secret"], headers, body) or is_genuine(webhook["secret"], headers, body + b" "):
        raise Failure("the example does not tell a genuine message from a changed one")
