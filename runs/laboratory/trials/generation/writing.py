"""Writing one step of a generation run; knows nothing of the database."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.parameters import own_params
from evalhub.models import Call, CallRole
from evalhub.work.calls.caller import Caller
from issues.drafting.asking import ask
from issues.drafting.prompts import Message, Request
from runs.laboratory.trials.generation.code_validity import CodeCheck, Parsed, check_code
from runs.laboratory.trials.generation.graph import ArtifactKind
from runs.laboratory.trials.generation.prompts import text_of_reply


@dataclass(frozen=True)
class WrittenFields:
    """The texts of a request for topics or ideas, by field."""

    texts: dict[str, str]


@dataclass(frozen=True)
class WrittenText:
    """An artifact's text, and whether it can be parsed."""

    text: str
    check: CodeCheck
    call: Call


@dataclass(frozen=True)
class NotWritten:
    """Why a step failed: the kind of a call's error or "not_in_form", and a message."""

    kind: str
    message: str


@dataclass
class Writing:
    """The outcome of a step, and the calls to save with it."""

    content: WrittenFields | WrittenText | NotWritten
    calls: Sequence[Call] = field(default_factory=list)


async def write_fields(request: Request, endpoint: Endpoint, caller: Caller) -> Writing:
    """Ask for topics or ideas; raises what `Caller.call` raises except `CallError`."""
    asked = await ask(request, endpoint, caller)
    if asked.texts is None:
        last = asked.failures[-1]
        return Writing(NotWritten(asked.error_kind, last.reason), asked.calls)
    return Writing(WrittenFields(asked.texts), asked.calls)


async def write_text(
    kind: ArtifactKind,
    messages: Sequence[Message],
    endpoint: Endpoint,
    caller: Caller,
    *,
    role: CallRole,
    max_tokens: int,
) -> Writing:
    """Ask for an artifact and parse it; raises what `Caller.call` raises except `CallError`."""
    params = own_params(endpoint.params, {}, temperature=None, tokens=max_tokens)
    try:
        reply = await caller.call(endpoint, messages, params, role=role)
    except CallError as error:
        return Writing(NotWritten(error.kind.value, error.message))
    text = text_of_reply(reply.completion.text, kind)
    check = await asyncio.to_thread(check_of, text, kind)
    return Writing(WrittenText(text, check, reply.call), [reply.call])


def check_of(text: str, kind: ArtifactKind) -> CodeCheck:
    """Return whether an artifact can be parsed. A text is valid unless it is empty."""
    if kind.is_code:
        return check_code(text, kind.language)
    if not text.strip():
        return CodeCheck(Parsed.CORRUPTED, "It is empty.")
    return CodeCheck(Parsed.VALID)
