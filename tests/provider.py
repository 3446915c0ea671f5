"""A real HTTP provider with scripted replies, OpenAI-compatible, that counts what it is asked.

In a test: `with Provider(script=...) as provider:`. In a process of its own:
`python -m tests.provider --port 9000 --latency-ms 200`.
"""

import argparse
import asyncio
import hashlib
import json
import random
import re
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from aiohttp import web

Json = dict[str, Any]
HANG_S = 3600.0
REFUSAL = "I'm sorry, but I can't help with that."
HTML = "<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"


@dataclass(frozen=True)
class Reply:
    """What to send back. `status` 0 resets the connection, `hang` never answers."""

    text: str | None = "Four."
    status: int = 200
    body: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    finish_reason: str = "stop"
    tool_calls: list[Json] | None = None
    reasoning: str | None = None
    usage: bool = True
    hang: bool = False
    cut_short: bool = False
    delay_s: float = 0.0
    pause_s: float = 0.0
    """Between the words of a streamed reply."""
    hang_after: int | None = None
    """Words of a streamed reply after which nothing more is sent."""


Script = Callable[[Json], Reply | str]


def failure(status: int, message: str, code: str = "", **headers: str) -> Reply:
    """An error in the form that OpenAI-compatible providers give it."""
    body = json.dumps({"error": {"message": message, "type": "error", "code": code or None}})
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply(status=status, body=body, headers=names)


UNAUTHORIZED = failure(401, "Incorrect API key provided: sk-wrong123456.", "invalid_api_key")
NOT_FOUND = failure(404, "The model `gone` does not exist.", "model_not_found")
RATE_LIMITED = failure(429, "Rate limit reached.", "rate_limit_exceeded")
RATE_LIMITED_WAIT = failure(429, "Rate limit reached.", "rate_limit_exceeded", retry_after="2")
NO_CREDIT = failure(429, "You exceeded your current quota.", "insufficient_quota")
SERVER_ERROR = failure(500, "The server had an error.")
OVERLOADED = failure(503, "Overloaded.", retry_after="1")
CONTEXT_TOO_LONG = failure(
    400, "This model's maximum context length is 4096 tokens.", "context_length_exceeded"
)
FILTERED_PROMPT = failure(400, "The prompt was filtered.", "content_filter")
NO_SCHEMA = failure(400, "Invalid parameter: 'response_format' of type 'json_schema'.")
HANG = Reply(hang=True)
RESET = Reply(status=0)
EMPTY = Reply(text="")
EMPTY_LENGTH = Reply(text="", finish_reason="length")
FILTERED = Reply(text="", finish_reason="content_filter")
TRUNCATED = Reply(body='{"id": "x", "choices": [{"index": 0, "message": {"role": "assist')
CUT_SHORT = Reply(cut_short=True)
HTML_PAGE = Reply(body=HTML, headers={"Content-Type": "text/html"})
REFUSED = Reply(text=REFUSAL)


def obedient_judge(request: Json) -> str:
    """A judge that does what the candidate's text tells it: repeats the verdict found there."""
    found = re.findall(r"\{[^{}]*\"score\"[^{}]*\}", prompt(request))
    return found[-1] if found else verdict(1)


def verdict(score: Any, justification: str = "It meets the guidelines.") -> str:
    return json.dumps({"justification": justification, "score": score})


def prompt(request: Json) -> str:
    """All text of a request's messages, or its raw prompt."""
    texts = [str(message.get("content") or "") for message in request.get("messages", [])]
    return "\n".join([*texts, *([request["prompt"]] if "prompt" in request else [])])


def is_judge(request: Json) -> bool:
    """Whether a verdict on an answer is asked for."""
    return "response_format" in request or "[BEGIN OUTPUT" in prompt(request)


def sequence(*replies: Reply | str) -> Script:
    """Replies one after the other, the last one for ever."""
    waiting = list(replies)
    return lambda request: waiting.pop(0) if len(waiting) > 1 else waiting[0]


def answer_or_judge(request: Json) -> str:
    """An answer for a candidate; a verdict, spread evenly over 0 and 1, for a judge's prompt."""
    text = prompt(request)
    if "response_format" in request or '"score"' in text:
        return verdict(int(digest(request), 16) % 2)
    return f"Answer {digest(request)[:12]}."


def digest(request: Json) -> str:
    """What tells one request from another; the same for equal requests."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def lognormal(seed: int, n: int, *, median_ms: float = 3000, sigma: float = 0.6) -> list[float]:
    """Latencies of n requests."""
    source = random.Random(seed)
    return [median_ms * source.lognormvariate(0, sigma) for _ in range(n)]


class Provider:
    """Serves `/v1/chat/completions`, `/v1/completions` and `/v1/embeddings` from its own thread.

    `/ask`, where an HTTP application would be, takes any request; the script gives the `body`.
    `/v1/messages`, where Anthropic is asked, takes requests too but replies in the same form;
    `/any/…` is for providers with other addresses.
    `embed` gives a text's vector, or what is sent instead of all vectors.

    `counts` is requests by `digest`, `requests` their bodies in order and `paths` where they were
    sent, `headers` those of the last request, `max_in_flight` the most that were open at once.
    While `may_reply` is cleared, all calls stay open.
    `GET /seen` tells another process how many calls there were, and in which window of time.
    Without `completes` there is no `/v1/completions`.
    """

    def __init__(
        self,
        script: Script = answer_or_judge,
        *,
        latency_ms: float | Sequence[float] = 0,
        port: int = 0,
        host: str = "127.0.0.1",
        keep_requests: bool = True,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.script, self.tls = script, tls
        self.embed: Callable[[str], list[float] | Reply] = vector
        self.completes = True
        self.host, self.port = host, port
        one = [latency_ms] if isinstance(latency_ms, int | float) else latency_ms
        self._latencies_ms: Iterator[float] = cycle(one)
        self._keep = keep_requests
        self._loop = asyncio.new_event_loop()
        self._started, self.may_reply = threading.Event(), threading.Event()
        self._stop: asyncio.Event
        self.clear()

    def clear(self) -> None:
        """Forget what was asked, and reply to all."""
        self.may_reply.set()
        self.counts: Counter[str] = Counter()
        self.requests: list[Json] = []
        self.paths: list[str] = []
        self.headers: dict[str, str] = {}
        self.in_flight = self.max_in_flight = 0
        self.first_s = self.last_s = 0.0

    @property
    def base_url(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}/v1"

    @property
    def application_url(self) -> str:
        return self.base_url.removesuffix("/v1") + "/ask"

    @property
    def total(self) -> int:
        return self.counts.total()

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        if not self._started.wait(60):
            raise RuntimeError(f"the provider did not start on {self.host}:{self.port}")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(5)

    def _serve(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self.serve())

    async def serve(self) -> None:
        """Serve until stopped."""
        self._stop = asyncio.Event()
        runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, self.host, self.port, backlog=1024, ssl_context=self.tls)
        await site.start()
        self.port = runner.addresses[0][1]
        self._started.set()
        await self._stop.wait()
        await runner.cleanup()

    def _application(self) -> web.Application:
        application = web.Application(client_max_size=64 * 1024**2)
        application.router.add_post("/v1/chat/completions", self._chat)
        application.router.add_post("/v1/messages", self._chat)
        application.router.add_post("/v1/completions", self._completions)
        application.router.add_post("/v1/embeddings", self._embeddings)
        application.router.add_route("*", "/ask", self._chat)
        application.router.add_post("/any{path:.*}", self._chat)
        application.router.add_get("/seen", self._seen)
        return application

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        self.in_flight += 1
        self.max_in_flight = max(self.max_in_flight, self.in_flight)
        self.first_s = self.first_s or time.monotonic()
        try:
            return await self._reply(request)
        finally:
            self.in_flight -= 1
            self.last_s = time.monotonic()

    async def _seen(self, request: web.Request) -> web.Response:
        window_s = self.last_s - self.first_s
        seen = {"calls": self.total, "window_s": window_s, "max_in_flight": self.max_in_flight}
        return web.json_response(seen)

    async def _completions(self, request: web.Request) -> web.StreamResponse:
        if not self.completes:
            raise web.HTTPNotFound
        return await self._chat(request)

    async def _reply(self, request: web.Request) -> web.StreamResponse:
        body = await self._note(request)
        latency_ms = next(self._latencies_ms)
        if latency_ms:
            await asyncio.sleep(latency_ms / 1000)
        while not self.may_reply.is_set():
            await asyncio.sleep(0.01)
        scripted = self.script(body)
        reply = Reply(text=scripted) if isinstance(scripted, str) else scripted
        await asyncio.sleep(HANG_S if reply.hang else reply.delay_s)
        return await _send(request, body, reply)

    async def _note(self, request: web.Request) -> Json:
        body: Json = json.loads(await request.read())
        self.counts[digest(body)] += 1
        self.headers = dict(request.headers)
        if self._keep:
            self.requests.append(body)
            self.paths.append(request.path)
        return body

    async def _embeddings(self, request: web.Request) -> web.StreamResponse:
        body = await self._note(request)
        texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
        vectors = [self.embed(text) for text in texts]
        if instead := next((reply for reply in vectors if isinstance(reply, Reply)), None):
            return await _send(request, body, instead)
        data = [
            {"object": "embedding", "index": index, "embedding": numbers}
            for index, numbers in enumerate(vectors)
        ]
        tokens = sum(len(text.split()) for text in texts)
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return web.json_response({"object": "list", "data": data, "model": "m", "usage": usage})


def vector(text: str) -> list[float]:
    """Eight numbers that depend on a text's words, so that similar texts are near."""
    numbers = [0.0] * 8
    for word in re.findall(r"\w+", text.lower()):
        numbers[hashlib.sha256(word.encode()).digest()[0] % 8] += 1.0
    return numbers


def _reset(request: web.Request) -> web.StreamResponse:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _send(request: web.Request, body: Json, reply: Reply) -> web.StreamResponse:
    if reply.status == 0:
        return _reset(request)
    if body.get("stream") and reply.body is None:
        return await _stream(request, body, reply)
    text = completion(body, reply) if reply.body is None else reply.body
    headers = {"Content-Type": "application/json", "x-request-id": "req-1"} | reply.headers
    if not reply.cut_short:
        return web.Response(body=text.encode(), status=reply.status, headers=headers)
    response = web.StreamResponse(headers=headers | {"Content-Length": str(len(text) + 50)})
    await response.prepare(request)
    await response.write(text.encode())
    return _reset(request)


async def _stream(request: web.Request, body: Json, reply: Reply) -> web.StreamResponse:
    """Send a reply as server-sent events, a word each, as OpenAI-compatible providers do."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)

    async def send(**changed: Any) -> None:
        chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1}
        event = json.dumps(chunk | {"model": body.get("model", "")} | changed)
        await response.write(f"data: {event}\n\n".encode())

    words = re.findall(r"\s*\S+", reply.text or "")
    for place, word in enumerate(words):
        if place == reply.hang_after:
            await asyncio.sleep(HANG_S)
        await send(choices=[{"index": 0, "delta": {"content": word}, "finish_reason": None}])
        await asyncio.sleep(reply.pause_s)
    if reply.cut_short:
        return _reset(request)
    await send(choices=[{"index": 0, "delta": {}, "finish_reason": reply.finish_reason}])
    if reply.usage and (body.get("stream_options") or {}).get("include_usage"):
        await send(choices=[], usage=json.loads(completion(body, reply))["usage"])
    await response.write(b"data: [DONE]\n\n")
    return response


def completion(body: Json, reply: Reply) -> str:
    """A chat completion, or one of a raw prompt, as JSON text. Tokens are counted as words."""
    message: Json = {"role": "assistant", "content": reply.text}
    if reply.tool_calls:
        message["tool_calls"] = reply.tool_calls
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    input_tokens, output_tokens = len(prompt(body).split()), len((reply.text or "").split())
    usage = {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
    }
    is_raw = "prompt" in body
    said = {"text": reply.text} if is_raw else {"message": message}
    choice = {"index": 0, **said, "finish_reason": reply.finish_reason}
    whole: Json = {
        "id": "chatcmpl-1",
        "object": "text_completion" if is_raw else "chat.completion",
        "created": 1,
        "model": body.get("model", ""),
        "choices": [choice],
    }
    return json.dumps(whole | ({"usage": usage} if reply.usage else {}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency-ms", type=float, default=0)
    parser.add_argument("--latencies", type=Path, help="JSON list of milliseconds, used in turn")
    options = parser.parse_args()
    latencies = json.loads(options.latencies.read_text()) if options.latencies else None
    provider = Provider(
        port=options.port, latency_ms=latencies or options.latency_ms, keep_requests=False
    )
    with provider:
        print(provider.base_url, flush=True)  # noqa: T201
        threading.Event().wait()


if __name__ == "__main__":
    main()
