"""A web server and a mail server that keep what they are sent."""

import base64
import hmac
import socketserver
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread


@dataclass
class ReceivedRequest:
    """A request with its headers and body."""

    headers: dict[str, str]
    body: bytes


@dataclass
class Listener:
    """A web server. It answers with `statuses` in turn, and with 200 after these."""

    url: str = ""
    statuses: list[int] = field(default_factory=list)
    heard: list[ReceivedRequest] = field(default_factory=list)
    location: str = ""


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            listener.heard.append(ReceivedRequest(dict(self.headers), body))
            self.send_response(listener.statuses.pop(0) if listener.statuses else 200)
            if listener.location:
                self.send_header("Location", listener.location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *args: object) -> None:
            """Keep the tests' output clean."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    with _served(server):
        yield listener


@contextmanager
def mailbox() -> Iterator[tuple[int, list[str]]]:
    """A mail server's port, and the messages that it was given."""
    letters: list[str] = []

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self._say("220 here")
            for line in self.rfile:
                verb = line[:4].upper()
                if verb == b"DATA":
                    self._say("354 go on")
                    letters.append(self._letter())
                self._say("221 bye" if verb == b"QUIT" else "250 fine")
                if verb == b"QUIT":
                    return

        def _letter(self) -> str:
            lines = iter(self.rfile.readline, b".\r\n")
            return b"".join(lines).decode()

        def _say(self, line: str) -> None:
            self.wfile.write(f"{line}\r\n".encode())

    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with _served(server):
        yield server.server_address[1], letters


@contextmanager
def _served(server: socketserver.BaseServer) -> Iterator[None]:
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


TOLERANCE_S = 300
"""Older signatures may be replays."""


def is_genuine(headers: Mapping[str, str], key: bytes, body: bytes, *, now: int) -> bool:
    """Return whether headers sign this body within `TOLERANCE_S`, as a receiver checks it."""
    sent = headers.get("webhook-timestamp", "")
    if not (sent.isascii() and sent.isdecimal()) or abs(now - int(sent)) > TOLERANCE_S:
        return False
    content = f"{headers['webhook-id']}.{sent}.".encode() + body
    signed = base64.b64encode(hmac.digest(key, content, "sha256")).decode()
    found = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(one, f"v1,{signed}") for one in found)
