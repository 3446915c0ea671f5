"""Reading the replies of HTTP applications. Pure."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from evalhub.llm.applications.application import Application
from evalhub.llm.applications.reply_paths import PathError, values_at
from evalhub.llm.completion import Completion
from evalhub.llm.costs.prices import SMALLEST_USD
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError, CallErrorKind
from evalhub.llm.providers.responses import empty_answer, parsed, storable_json
from evalhub.llm.providers.usage import count_of, usd_of
from evalhub.values.storable import storable

DOCUMENT_TEXTS = ("text", "content", "page_content", "passage", "chunk", "snippet", "body")
DOCUMENT_TITLES = ("title", "source", "name", "file", "url", "id")
LABELS = {"documents": "retrieved documents", "session": "session id", "cost": "cost (USD)"}
MAX_DOCUMENTS = 200
MAX_DOCUMENT = 100_000
"""Characters of a document's text that are kept."""


class Finding(NamedTuple):
    """The outcome of one path in a reply. `found` None: nothing."""

    label: str
    path: str
    found: Any


def application_completion(endpoint: Endpoint, reply: str, received: Completion) -> Completion:
    """Return what the reply of an application holds.

    Args:
        reply: Its text, without secrets.
        received: The exchange, for the record; has the session id that was sent.

    Raises:
        CallError: The reply is no JSON, or has no answer where the path points.
    """
    application = endpoint.settings
    raw = parsed(reply)
    try:
        found = {name: values_at(path, raw) for name, path in _paths(application).items() if path}
    except PathError as error:
        raise _unreadable(endpoint, f"sent a reply in which {error}.", received) from error
    if not found["answer"] and not found.get("tool_calls"):
        what = "no JSON" if raw is None else f"JSON without an answer at {application.answer_path}"
        raise _unreadable(endpoint, f"sent {what}: {reply[:200]}", received)
    counts = [count_of(_only(found.get(f"{name}_tokens", []))) for name in ("input", "output")]
    cost_usd = usd_of(_only(found["cost"])) if "cost" in found else endpoint.cost_usd(*counts)
    sessions = [_text(value) for value in found.get("session", []) if value not in (None, "")]
    completion = replace(
        received,
        text=storable("\n".join(_text(value) for value in found["answer"] if value is not None)),
        tool_calls=tuple(_tool_calls(found.get("tool_calls", []))),
        documents=_documents(found["documents"]) if found.get("documents") else None,
        input_tokens=counts[0],
        output_tokens=counts[1],
        cost_usd=None if cost_usd is None else cost_usd.quantize(SMALLEST_USD),
        session_id=storable(sessions[0][:200]) if sessions else received.session_id,
    )
    if completion.is_empty:
        raise empty_answer(endpoint, completion)
    return completion


def findings(application: Application, reply: str) -> list[Finding]:
    """Return what each path of an application finds in a reply."""
    raw = parsed(reply)
    found = []
    for name, path in _paths(application).items():
        if path:
            try:
                values: Any = values_at(path, raw)
            except PathError:
                values = []
            value = values[0] if len(values) == 1 else values or None
            found.append(Finding(LABELS.get(name) or name.replace("_", " "), path, value))
    return found


def _paths(application: Application) -> dict[str, str]:
    settings = application.to_json()
    return {
        name.removesuffix("_path"): path
        for name, path in settings.items()
        if name.endswith("_path")
    }


def _unreadable(endpoint: Endpoint, words: str, received: Completion) -> CallError:
    message = f"{endpoint.name} {words.rstrip('.')}. Check its paths by a test request."
    return CallError(CallErrorKind.UNREADABLE_REPLY, message, can_retry=False, completion=received)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _flat(values: list[Any]) -> list[Any]:
    """Return the values; those of a list in place of the list."""
    flat: list[Any] = []
    for value in values:
        flat += value if isinstance(value, list) else [value]
    return [value for value in flat if value is not None]


def _documents(values: list[Any]) -> tuple[dict[str, str], ...] | None:
    """Return retrieved documents; None where the application gave null: not reported."""
    if all(value is None for value in values):
        return None
    return tuple(document_of(value) for value in _flat(values)[:MAX_DOCUMENTS])


def document_of(value: Any) -> dict[str, str]:
    """Return a document as {"text", "title"}, from a text or an object of any usual form."""
    if not isinstance(value, Mapping):
        return {"text": storable(_text(value))[:MAX_DOCUMENT], "title": ""}
    text = next((v for name in DOCUMENT_TEXTS if isinstance(v := value.get(name), str)), None)
    titles = (value.get(name) for name in DOCUMENT_TITLES)
    title = next((str(t) for t in titles if isinstance(t, str | int) and str(t).strip()), "")
    return {
        "text": storable(_text(dict(value)) if text is None else text)[:MAX_DOCUMENT],
        "title": storable(title)[:300],
    }


def _tool_calls(values: list[Any]) -> list[dict[str, Any]]:
    return [tool_call_of(value) for value in _flat(values)]


def tool_call_of(value: Any) -> dict[str, Any]:
    """Return a tool call in the form of providers, from that, a name, or name and arguments."""
    if isinstance(value, Mapping) and isinstance(value.get("function"), Mapping):
        return dict(storable_json(dict(value)))
    given = value if isinstance(value, Mapping) else {"name": _text(value)}
    names = ("name", "tool", "tool_name", "function")
    name = next((v for n in names if isinstance(v := given.get(n), str)), "unknown")
    keys = ("arguments", "args", "input")
    arguments: Any = next((given[name] for name in keys if name in given), {})
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    function = {"name": storable(name), "arguments": storable(text)}
    return {"type": "function", "function": function}


def _only(values: list[Any]) -> Any:
    return values[0] if len(values) == 1 else None
