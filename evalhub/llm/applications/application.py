"""HTTP applications as candidates: the form of their request. Pure.

The body is a JSON template. A text that is one placeholder becomes its value, so that a
conversation stays a list; placeholders within a text are replaced by text. Nothing is executed.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from evalhub.llm.applications.reply_paths import path_problem
from evalhub.llm.parameters import SECRET

METHODS = ("POST", "PUT", "PATCH")
TEXTS = ("prompt", "session_id", "system_prompt", "documents")
VALUES = ("messages", "tools", "params")
PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}")
HEADER_VALUE = re.compile(r"[\x20-\x7e]{0,2000}")
SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|password|credential", re.IGNORECASE)
OWN_HEADERS = {
    *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "upgrade"),
    *("te", "trailer", "expect", "accept-encoding", "proxy-authorization", "proxy-connection"),
}
"""Headers about the connection, which EvalHub sets."""
MAX_BODY = 20_000
MAX_HEADERS = 30


@dataclass(frozen=True, kw_only=True)
class Application:
    """The settings of an HTTP application; its URL is the endpoint's `api_base`.

    `headers` name environment variables as `{{ SUPPORT_KEY }}`. The paths are JSONPaths into the
    reply; "" is not read.
    """

    method: str = "POST"
    headers: dict[str, str] = field(default_factory=dict)
    body: dict[str, Any] = field(default_factory=dict)
    answer_path: str = ""
    documents_path: str = ""
    tool_calls_path: str = ""
    input_tokens_path: str = ""
    output_tokens_path: str = ""
    cost_path: str = ""
    session_path: str = ""

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def variables(self) -> list[str]:
        """Return the environment variables that its headers name, sorted."""
        named = (name for text in self.headers.values() for name in PLACEHOLDER.findall(text))
        return sorted({name for name in named if VARIABLE.fullmatch(name)})

    @property
    def placeholders(self) -> set[str]:
        """Return the names of the placeholders in its body."""
        return {name for text in _texts(self.body) for name in PLACEHOLDER.findall(text)}

    @property
    def keeps_conversation(self) -> bool:
        """Return whether it gets the last message only, and remembers those before."""
        return "messages" not in self.placeholders

    def filled_body(self, values: Mapping[str, Any]) -> Any:
        """Return the body; `values` has a value for each of `TEXTS` and `VALUES`."""
        return _filled(self.body, values)

    def filled_headers(self, values: Mapping[str, str]) -> dict[str, str]:
        """Return the headers; `values` has the session id and each of `variables`."""
        return {name: _filled_text(text, values) for name, text in self.headers.items()}

    def problems(self) -> dict[str, list[str]]:
        """Return the problems by field, a sentence for each."""
        found = {
            "method": [] if self.method in METHODS else [f"Choose one of {', '.join(METHODS)}."],
            "headers": list(_header_problems(self.headers)),
            "body": list(_body_problems(self.body)),
        }
        for name, path in asdict(self).items():
            if name.endswith("_path") and path and (problem := path_problem(path)):
                found[name] = [problem]
        if not self.answer_path:
            found["answer_path"] = ["Enter the path of the answer, such as $.answer."]
        return {name: problems for name, problems in found.items() if problems}


def _filled(value: Any, values: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {name: _filled(inner, values) for name, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, values) for inner in value]
    if not isinstance(value, str):
        return value
    whole = PLACEHOLDER.fullmatch(value.strip())
    return values[whole[1]] if whole else _filled_text(value, values)


def _filled_text(text: str, values: Mapping[str, Any]) -> str:
    return PLACEHOLDER.sub(lambda found: str(values[found[1]]), text)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _body_problems(body: Any) -> Iterator[str]:
    if not isinstance(body, dict) or not body:
        yield 'Enter a JSON object, such as {"messages": "{{ messages }}"}.'
        return
    if len(json.dumps(body)) > MAX_BODY:
        yield f"The body has more than {MAX_BODY:,} characters."
    yield from _secret_entries(body)
    named: set[str] = set()
    for text in _texts(body):
        for name in PLACEHOLDER.findall(text):
            named.add(name)
            if name not in (*TEXTS, *VALUES):
                yield f"Unknown placeholder {name!r}: use {', '.join((*VALUES, *TEXTS))}."
            elif name in VALUES and not PLACEHOLDER.fullmatch(text.strip()):
                yield f"“{text[:60]}”: {{{{ {name} }}}} is no text: leave it alone in its quotes."
        if "{{" in PLACEHOLDER.sub("", text):
            yield f"“{text[:60]}” has a placeholder that cannot be read: write {{{{ prompt }}}}."
    if not named & {"messages", "prompt"}:
        yield "Place the conversation: use {{ messages }}, or {{ prompt }} for the last message."


def _secret_entries(value: Any) -> Iterator[str]:
    """Yield a problem for each literal secret in the body."""
    for name, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, dict | list):
            yield from _secret_entries(inner)
        elif (
            isinstance(name, str)
            and any(part in name.lower() for part in SECRET)
            and isinstance(inner, str)
            and not PLACEHOLDER.search(inner)
        ):
            yield f"{name!r} looks like a secret, which would be stored: send it in a header."


def _header_problems(headers: Any) -> Iterator[str]:
    if not isinstance(headers, dict):
        yield "Enter an object of headers, each with its text."
        return
    if len(headers) > MAX_HEADERS:
        yield f"There are {len(headers)} headers; the maximum is {MAX_HEADERS}."
    if len({name.lower() for name in headers}) < len(headers):
        yield "A header is named twice."
    for name, text in headers.items():
        yield from _problems_of_header(name, text)


def _problems_of_header(name: str, text: Any) -> Iterator[str]:
    if not HEADER_NAME.fullmatch(name):
        yield f"{name[:100]!r} is not the name of a header."
        return
    if name.lower() in OWN_HEADERS:
        yield f"{name} is set by EvalHub and cannot be entered."
    if not isinstance(text, str) or not HEADER_VALUE.fullmatch(text):
        yield f"{name} needs one line of plain ASCII text, up to 2,000 characters."
        return
    named = PLACEHOLDER.findall(text)
    for word in named:
        if word != "session_id" and not VARIABLE.fullmatch(word):
            yield f"{name}: {word!r} is neither session_id nor a variable such as SUPPORT_KEY."
    if "{{" in PLACEHOLDER.sub("", text):
        yield f"{name} has a placeholder that cannot be read: write {{{{ SUPPORT_KEY }}}}."
    if SECRET_HEADER.search(name) and text.strip() and not named:
        yield (
            f"{name} looks like a secret, which would be stored. Enter the name of the environment "
            "variable that holds it, such as {{ SUPPORT_KEY }}."
        )
