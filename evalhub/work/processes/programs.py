import socket
from http.client import HTTPConnection, HTTPException
from itertools import count

from django.conf import settings

from evalhub.llm import local_model
from evalhub.llm.security.address_policy import joined
from evalhub.work.processes.supervisor import Program

QUIETLY = {"EVALHUB_LOG_LEVEL": "WARNING"}
MANAGE = ("-m", "evalhub.command_line")
SOURCE = {"PYTHONPATH": str(settings.BASE_DIR)}
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Addresses at which to reach a server that listens on all addresses."""


def web(bind: str, port: int, environment: dict[str, str]) -> Program:
    options = ("-c", "python:evalhub.work.processes.web", "--bind", joined(bind, port))
    return Program(
        "web",
        ("-m", "gunicorn", *options, "evalhub.wsgi:application"),
        SOURCE | environment,
        lambda: is_answering(EVERYWHERE.get(bind, bind), port),
    )


def address(bind: str, port: int) -> str:
    """Return the URL on this machine of a server that listens at `bind`."""
    return f"http://{joined(EVERYWHERE.get(bind, bind), port)}"


def model(port: int, environment: dict[str, str]) -> Program:
    command = (*MANAGE, "local_model", "--port", str(port))
    return Program("model", command, SOURCE | environment, lambda: local_model.is_ready(port))


def is_answering(host: str, port: int) -> bool:
    """Return True if a web server answers there, with any status."""
    connection = HTTPConnection(host, port, timeout=2)
    try:
        connection.request("GET", "/admin/login/")
        connection.getresponse()
    except (HTTPException, OSError):
        return False
    finally:
        connection.close()
    return True


def is_free(host: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def next_free(host: str, port: int) -> int:
    return next(candidate for candidate in count(port) if is_free(host, candidate))
