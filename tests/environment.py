"""Cleans the process environment before Django reads it; pytest loads this first (`-p`).

What a developer has exported must not change a test, least of all the address of a real database
or a key that costs money. The one exception is `TEST_DATABASE_URL`: the engine to test on, SQLite
where it is not set. Nothing in the test process may reach beyond this machine.
"""

import atexit
import errno
import ipaddress
import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

OURS = ("EVALHUB_", "DATABASE_URL", "DJANGO_", "LITELLM_", "OPENAI_", "ANTHROPIC_")
PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def clean() -> None:
    for name in list(os.environ):
        if name.startswith(OURS) or name.endswith("_API_KEY") or name.lower() in PROXIES:
            del os.environ[name]
    os.environ["DJANGO_SETTINGS_MODULE"] = "evalhub.settings"
    data = Path(tempfile.mkdtemp(prefix="evalhub-tests-"))  # workers take in what others leave
    atexit.register(shutil.rmtree, data, ignore_errors=True)
    (data / "static").mkdir()  # WhiteNoise warns where it is missing
    os.environ["EVALHUB_DATA_DIR"] = str(data)
    os.environ["EVALHUB_LOG_LEVEL"] = "WARNING"
    os.environ["EVALHUB_SECRET_KEY"] = "known to everyone, for tests only, but long enough"
    names = ("SCRIPTED_API_KEY", "SOME_KEY", "LAB_KEY", "UNSET_KEY", "HOOK_SECRET")
    os.environ["EVALHUB_KEYS"] = ",".join(f"{name}@127.0.0.1" for name in names)
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    if url := os.environ.get("TEST_DATABASE_URL"):
        os.environ["DATABASE_URL"] = url


def is_local(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def refuse_outside(event: str, arguments: tuple[Any, ...]) -> None:
    """Audit hook: a connection to another host fails as it does without a network."""
    if event == "socket.connect":
        address = arguments[1]
        if isinstance(address, tuple) and not is_local(str(address[0])):
            raise OSError(errno.ENETUNREACH, f"tests call no other host: {address[0]}")
    elif event == "socket.getaddrinfo":
        host = arguments[0]
        if isinstance(host, str) and not is_literal(host) and not is_local(host):
            raise socket.gaierror(socket.EAI_NONAME, f"tests look up no other host: {host}")


def is_literal(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


clean()
sys.addaudithook(refuse_outside)
