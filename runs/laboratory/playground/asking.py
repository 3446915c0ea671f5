"""Asking a model a test as typed, and for a draft of its reference answer."""

from typing import Any

from evalhub.llm.applications.application_request import DOCUMENTS, SESSION_ID
from evalhub.llm.completion import Completion, Ending
from evalhub.llm.content.content_parts import all_images, shown_with
from evalhub.llm.content.raw_prompt import raw_prompt_of
from evalhub.llm.endpoint import Endpoint
from evalhub.models import CallRole
from evalhub.work.calls.direct_caller import DirectCaller
from issues.content.conversation import Message, filled, request_messages
from issues.content.message_form import turns_to_generate
from issues.content.revisions import asked_digest
from issues.judge_templates.fences import OPENING, Fenced, nonce_of
from issues.judge_templates.preview import placeholders, shown_conversation
from issues.judge_templates.prompts import turn_text
from issues.rubrics.draft import Draft
from runs.laboratory.event_stream import Emit

REFERENCE = """\
Write the reference answer of a test for language models: the answer to the last message of the
conversation below that a careful expert would give, and that would pass the test. {opening}

{input}

{context}

Guidelines for judges of the answer:
{guidelines}

What is judged:
{criteria}

An answer that is known to be wrong, so avoid its fault:
{flagged}

Reply with the reference answer and nothing else: no introduction, no heading, no quotation marks.
"""


async def ask(draft: Draft, endpoint: Endpoint, caller: DirectCaller, emit: Emit) -> None:
    """Generate the turns of a conversation one by one; raises what the caller does."""
    content = draft.content
    context, params = content["context"], {}
    if endpoint.places_documents:
        context, params = "", {DOCUMENTS: context}
    messages, tools = request_messages(content["messages"], context), content["tools"]
    turns: list[Completion] = []
    for number in range(len(turns_to_generate(messages))):
        emit({"turn": number + 1})
        request = filled(messages, turns)
        # A stream would give the calls of tools in pieces; raw prompts and applications have none.
        if tools or endpoint.application or raw_prompt_of(request) is not None:
            role = CallRole.CANDIDATE
            reply = await caller.call(
                endpoint, request, params, role=role, tools=tools, accepted=list(Ending)
            )
            emit({"text": turn_text(reply.completion)})
        else:
            reply = await _streamed(endpoint, request, caller, emit, role=CallRole.CANDIDATE)
            if beside := turn_text(reply.completion).removeprefix(reply.completion.text):
                emit({"text": beside})
        turns.append(reply.completion)
        params = params | {SESSION_ID: reply.completion.session_id}
    sent = {"turns": [turn.stored() for turn in turns], "asked": asked_digest(content)}
    emit({"reply": sent | _measured(caller)})


async def write_reference(
    draft: Draft, endpoint: Endpoint, caller: DirectCaller, emit: Emit
) -> None:
    """Generate a reference answer; raises what the caller does."""
    reply = await _streamed(
        endpoint, reference_request(draft), caller, emit, role=CallRole.GENERATOR
    )
    emit({"reference": reply.completion.text.strip()})


def reference_request(draft: Draft) -> list[Message]:
    """Return the messages that ask for a reference answer; texts of the test are fenced."""
    content = draft.content
    earlier = placeholders(content["messages"])
    texts = {
        "input": shown_conversation(content, earlier, text=None),
        "context": content["context"].strip() or "(no documents)",
        "output": draft.flagged_answer or "(none is known)",
    }
    nonce = nonce_of(texts)
    fenced = {name: Fenced(text, name=name, nonce=nonce).block() for name, text in texts.items()}
    criteria = [
        f"- {point.get_polarity_display()}: {point.text or point.check_name}"
        for point in draft.points
    ]
    prompt = REFERENCE.format(
        opening=OPENING.format(nonce=nonce),
        input=fenced["input"],
        context=fenced["context"],
        flagged=fenced["output"],
        guidelines=content["guidelines"] or "(none)",
        criteria="\n".join(criteria) or "- The answer as a whole.",
    )
    images = all_images(content["messages"])
    return [{"role": "user", "content": shown_with(prompt, images)}]


async def _streamed(
    endpoint: Endpoint,
    request: list[Message],
    caller: DirectCaller,
    emit: Emit,
    *,
    role: CallRole,
) -> Any:
    return await caller.stream(endpoint, request, role=role, take=lambda text: emit({"text": text}))


def _measured(caller: DirectCaller) -> dict[str, Any]:
    """Return time and cost of all turns, for checks; None if that of one is unknown."""
    answered = [call for call in caller.calls if not call.error_kind]
    latencies = [call.latency_ms for call in answered]
    costs = [call.cost_usd for call in answered]
    return {
        "latency_ms": None if None in latencies else sum(ms for ms in latencies if ms is not None),
        "cost_usd": None if None in costs else float(sum(usd for usd in costs if usd is not None)),
    }
