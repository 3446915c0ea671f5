"""Traces of an application, run in an environment of their own: by the SDKs, and from Phoenix.

Arguments: the model's address, a folder. Spans are written as collectors write OTLP to files.
"""

import base64
import json
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from google.protobuf.json_format import MessageToDict
from httpx import HTTPStatusError
from langfuse import Langfuse
from langfuse.api import ObservationsV2Meta, ObservationsV2Response, ObservationV2
from openai import OpenAI, OpenAIError
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from phoenix.client import Client
from phoenix.otel import register

IDS = ("traceId", "spanId", "parentSpanId")
SYSTEM = {"role": "system", "content": "Answer with a number."}
SERVICE = Resource({"service.name": "calculator"})
START_S = 300


def asked(question: str) -> list[dict[str, str]]:
    return [SYSTEM, {"role": "user", "content": question}]


def is_stack(part: Any) -> bool:
    return isinstance(part, dict) and part.get("key") == "exception.stacktrace"


def otlp(spans: Any) -> Any:
    """Spans as OTLP JSON, where ids are hexadecimal; without lines of programs of this machine."""

    def hexadecimal(part: Any) -> Any:
        if isinstance(part, list):
            return [hexadecimal(one) for one in part if not is_stack(one)]
        if not isinstance(part, dict):
            return part
        return {
            name: base64.b64decode(value).hex() if name in IDS else hexadecimal(value)
            for name, value in part.items()
        }

    return hexadecimal(MessageToDict(encode_spans(spans)))


def call(base_url: str, provider: Any, *questions: str) -> None:
    """Ask the model through OpenAI's client while OpenInference traces it."""
    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    client = OpenAI(base_url=base_url, api_key="none", max_retries=0)
    for question in questions:
        with suppress(OpenAIError):  # which is traced as well
            client.chat.completions.create(model="small", messages=asked(question))
    instrumentor.uninstrument()


def openinference(base_url: str) -> Any:
    kept, provider = InMemorySpanExporter(), TracerProvider(resource=SERVICE)
    provider.add_span_processor(SimpleSpanProcessor(kept))
    with provider.get_tracer("calculator").start_as_current_span("request"):
        call(base_url, provider, "What is 1 plus 2?", "What is 5 plus 1?")
    return otlp(kept.get_finished_spans())


def langfuse_spans() -> Any:
    kept = InMemorySpanExporter()
    client = Langfuse(
        public_key="none",
        secret_key="none",
        base_url="http://127.0.0.1:9",
        span_exporter=kept,
        tracer_provider=TracerProvider(resource=SERVICE),
    )
    start = client.start_as_current_observation
    question, answer = "What is 6 plus 1?", {"role": "assistant", "content": "It is 7."}
    with start(name="request", as_type="span", input=question) as request:
        fields = {"model": "small", "input": asked(question)}
        with start(name="answer", as_type="generation", **fields) as generation:
            generation.update(output=answer, usage_details={"input": 9, "output": 3})
        request.update(output=answer["content"])
    client.flush()
    return otlp(kept.get_finished_spans())


def langfuse_observations() -> str:
    """What Langfuse's API answers, as its SDK has it."""
    question, answer = "What is 6 plus 1?", {"role": "assistant", "content": "It is 7."}
    shared = {
        "trace_id": "trace-1",
        "start_time": datetime(2026, 1, 5, 10, tzinfo=UTC),
        "project_id": "project-1",
        "environment": "calculator",
    }
    calls = [
        ObservationV2(id="o1", type="SPAN", input=question, output="It is 7.", **shared),
        ObservationV2(
            **{"id": "o2", "type": "GENERATION", "model": "small", **shared},
            **{"input": asked(question), "output": answer},
        ),
    ]
    return str(ObservationsV2Response(data=calls, meta=ObservationsV2Meta()).json())


# Phoenix -----------------------------------------------------------------------------------------


def free() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def phoenix(base_url: str, folder: Path) -> None:
    """Trace to a Phoenix of our own, annotate there, and take out what it gives."""
    port, data = free(), folder / "phoenix"
    data.mkdir()
    settings = {
        "PHOENIX_WORKING_DIR": str(data),
        "PHOENIX_HOST": "127.0.0.1",
        "PHOENIX_PORT": str(port),
        "PHOENIX_GRPC_PORT": str(free()),
        "PHOENIX_TELEMETRY_ENABLED": "false",
    }
    program = Path(sys.executable).with_name("phoenix")
    with (data / "log").open("wb") as log:
        server = subprocess.Popen(
            [program, "serve"], env={**os.environ, **settings}, stdout=log, stderr=log
        )
        try:
            export(base_url, f"http://127.0.0.1:{port}", folder)
        finally:
            server.terminate()
            server.wait()


def export(base_url: str, address: str, folder: Path) -> None:
    wait_for(address)
    provider = register(
        endpoint=f"{address}/v1/traces",
        project_name="calculator",
        batch=False,
        set_global_tracer_provider=False,
        verbose=False,
    )
    call(base_url, provider, "What is 1 plus 2?", "What is 3 plus 4?")
    spans = Client(base_url=address).spans
    found: list[Any] = []
    while len(found) < 2:
        time.sleep(1)
        with suppress(HTTPStatusError):  # until the first span has arrived
            found = spans.get_spans(project_identifier="calculator")
    (wrong,) = [span for span in found if "It is 8" in json.dumps(span)]
    spans.add_span_annotation(
        span_id=wrong["context"]["span_id"],
        annotation_name="thumbs",
        annotator_kind="HUMAN",
        label="thumbs-down",
        score=0,
        explanation="3 + 4 is 7.",
        sync=True,
    )
    for name, path in {"spans": "spans", "otlp": "spans/otlpv1"}.items():
        with urlopen(f"{address}/v1/projects/calculator/{path}") as answer:
            (folder / f"phoenix_{name}.json").write_bytes(answer.read())
    frame = spans.get_spans_dataframe(project_identifier="calculator")
    frame.to_json(folder / "phoenix_frame.jsonl", orient="records", lines=True, date_format="iso")


def wait_for(address: str) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until:
        try:
            urlopen(f"{address}/healthz").close()
            return
        except OSError:
            time.sleep(1)
    raise SystemExit("Phoenix did not start.")


if __name__ == "__main__":
    base_url, folder = sys.argv[1], Path(sys.argv[2])
    (folder / "openinference.json").write_text(json.dumps(openinference(base_url)))
    (folder / "langfuse_spans.json").write_text(json.dumps(langfuse_spans()))
    (folder / "langfuse_observations.json").write_text(langfuse_observations())
    phoenix(base_url, folder)
