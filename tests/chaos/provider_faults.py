"""Providers that refuse, hang, break off or cannot be trusted, for a while in the middle."""

from __future__ import annotations

import ssl
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests import provider
from tests.provider import Reply

if TYPE_CHECKING:
    from tests.chaos.site import Site

FAULT_S = 20
WAIT_8_S = provider.failure(429, "Rate limit reached.", "rate_limit_exceeded", retry_after="8")


def failing(reply: Reply) -> Callable[[Site], None]:
    def make(site: Site) -> None:
        with site.provider_fails(reply):
            time.sleep(FAULT_S)
            site.expect_unfinished()

    return make


def start_with_tls(site: Site) -> None:
    """A provider behind TLS, with a certificate that the workers trust; each call connects anew."""
    trusted, key = certificate(site.folder / "trusted")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted, key)
    site.provider.tls = context
    site.headers = {"Connection": "close"}
    site.environment["SSL_CERT_FILE"] = str(trusted)
    site.start()


def untrusted(site: Site) -> None:
    context = site.provider.tls
    assert context is not None
    context.load_cert_chain(*certificate(site.folder / "untrusted"))
    time.sleep(FAULT_S)
    context.load_cert_chain(site.folder / "trusted.pem", site.folder / "trusted.key")


def certificate(place: Path) -> tuple[Path, Path]:
    """A new certificate for this machine, signed by itself, and its key."""
    found, key = place.with_suffix(".pem"), place.with_suffix(".key")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(key), "-out", str(found)]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return found, key
