"""Asking a model for the fields of a draft, with repair and a bounded number of tries."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from evalhub.llm.capabilities import default_temperature
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.parameters import own_params
from evalhub.llm.verdicts.judge_replies import (
    ParsedVerdict,
    Unreadable,
    parse_verdict,
    repair_messages,
    verdict_schema,
    verdict_token_limit,
)
from evalhub.models import Call, CallRole
from evalhub.work.calls.caller import Caller
from issues.drafting.prompts import Message, Request, repair_request
from issues.drafting.replies import Fields, read_fields
from issues.judge_templates.builtin import BUILTIN
from issues.judge_templates.preview import judge_prompt
from issues.judge_templates.prompts import PromptError, turn_text
from issues.limits import DRAFT_TRIES
from issues.rubrics.scales import Scale

KEPT_REPLY = 8_000
"""Characters of a reply that is shown because it could not be used."""
JUDGE_PROMPT = next(one.text for one in BUILTIN if one.key == "rubric-prompt-aware")


class Failure(NamedTuple):
    """A reply that could not be used: what was asked for, why, and the reply itself."""

    asked: str
    reason: str
    reply: str

    def as_json(self) -> dict[str, str]:
        return self._asdict()


@dataclass
class Asked:
    """The outcome of a request. Without `texts` it failed, and the last failure says why."""

    texts: dict[str, str] | None
    failures: list[Failure] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    """Calls that are still to be saved."""
    error_kind: str = ""


async def ask(request: Request, endpoint: Endpoint, caller: Caller) -> Asked:
    """Ask for the fields of a request; raises what `Caller.call` raises except `CallError`."""
    asked, messages, role = Asked(None), request.messages, CallRole.GENERATOR
    refused: list[str] = []
    for _ in range(DRAFT_TRIES):
        try:
            made = await caller.call(
                endpoint,
                messages,
                params_of(endpoint, request),
                role=role,
                schema=request.form.schema(),
            )
        except CallError as error:
            reply = error.completion.text if error.completion else ""
            asked.failures.append(Failure(request.name, error.message, reply[-KEPT_REPLY:]))
            asked.error_kind = error.kind.value
            return asked
        text = made.completion.text
        read = read_fields(text, list(request.form.limits), refused)
        if isinstance(read, Fields):
            asked.texts = read.texts
            asked.calls.append(made.call)
            if read.repaired:
                asked.failures.append(
                    Failure(request.name, "Its JSON had errors.", text[-KEPT_REPLY:])
                )
            return asked
        caller.record(made.call)
        asked.failures.append(Failure(request.name, read.reason, text[-KEPT_REPLY:]))
        if read.is_refusal:
            refused.append(text)
            messages, role = request.messages, CallRole.GENERATOR
        else:
            messages, role = repair_request(request, text, read.reason), CallRole.REPAIR
    asked.error_kind = "not_in_form"
    return asked


def params_of(endpoint: Endpoint, request: Request) -> dict[str, Any]:
    """Return the parameters of a request: variety comes from the temperature alone."""
    temperature = default_temperature(endpoint.litellm_model, 1)
    limit = request.form.max_tokens
    return own_params(endpoint.params, {}, temperature=temperature, tokens=limit, overrides=True)


# Labels ------------------------------------------------------------------------------------------


class Label(NamedTuple):
    """A judge's option for an answer ("": none, for the reason in `error`)."""

    option: str
    reason: str
    error: str
    calls: list[Call]


def label_messages(scale: Scale, content: dict[str, Any], answer: str) -> list[Message]:
    """Return the request to the judge of a draft; `content` is as of a revision."""
    (criterion,) = content["criteria"]
    conversation = content["messages"][-1]["content"]
    prompt = judge_prompt(
        JUDGE_PROMPT,
        scale,
        content,
        conversation=conversation,
        output=answer,
        key=criterion["key"],
    )
    return [{"role": "user", "content": prompt}]


async def label(
    scale: Scale, content: dict[str, Any], answer: str, judge: Endpoint, caller: Caller
) -> Label:
    """Ask a judge which option an answer shows; an unreadable reply is repaired once."""
    schema = verdict_schema(scale.options)
    temperature = default_temperature(judge.litellm_model, 0)
    limit = verdict_token_limit(schema)
    params = own_params(judge.params, {}, temperature=temperature, tokens=limit, overrides=True)
    role, found = CallRole.JUDGE, Unreadable("")
    try:
        messages = label_messages(scale, content, answer)
        for _ in range(2):
            made = await caller.call(judge, messages, params, role=role, schema=schema, accepted=())
            text = turn_text(made.completion)
            read = parse_verdict(text, scale.options)
            if isinstance(read, ParsedVerdict):
                return Label(read.option, read.justification, "", [made.call])
            caller.record(made.call)
            repairs = repair_messages(read.reason, schema, text)
            messages, role, found = [*messages, *repairs], CallRole.REPAIR, read
    except CallError as error:
        return Label("", "", error.message, [])
    except PromptError as error:
        return Label("", "", str(error), [])
    return Label("", "", found.reason, [])
