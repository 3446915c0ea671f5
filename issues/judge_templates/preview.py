"""The prompt that a judge is sent for a test and an answer, real or made up for a preview."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser

from evalhub.access.models import User
from evalhub.llm.completion import AnswerTurn
from issues.content.conversation import filled, request_messages
from issues.content.message_form import turns_to_generate
from issues.judge_templates.example_selection import ExampleQuery, ShownExample
from issues.judge_templates.examples import examples_of, hidden_of
from issues.judge_templates.prompts import (
    PromptError,
    conversation_text,
    documents_text,
    needs_retrieved_documents,
    output_text,
    prints_context,
    render,
    tools_text,
)
from issues.models import JudgeTemplate, Test
from issues.rubrics.scales import Scale, from_json
from issues.rubrics.scoring import WHOLE_TEST

NOT_REPORTED = (
    "The judge template asks for retrieved documents, and none are known of this answer: nothing "
    "is judged. Choose an application whose path to its documents is set, or another template."
)
NONE_RETRIEVED = (
    "The judge template asks for retrieved documents, and none were retrieved for this answer: "
    "nothing is judged."
)
SAMPLE_DOCUMENTS = ({"title": "", "text": "(the documents that the application retrieved)"},)

ASKED = "(asked)"
"""Mark of the criterion in question in the built-in templates' rubric."""


def judge_prompt(
    text: str,
    scale: Scale,
    content: dict[str, Any],
    *,
    conversation: str,
    output: str,
    key: str = WHOLE_TEST,
    examples: Sequence[ShownExample] = (),
    documents: Sequence[Mapping[str, Any]] | None = None,
) -> str:
    """Return the user message for a judge.

    Args:
        content: A frozen test, or one from `content_of`.
        conversation: The conversation up to the last generated turn (see `shown_conversation`).
        output: Answer of the candidate.
        key: Key of the criterion; "" is the test as a whole.
        examples: Labelled examples for this case.
        documents: Those that the candidate retrieved; None: it reports none.

    Raises:
        PromptError: The template has problems, or needs documents and there are none.
    """
    if not documents and needs_retrieved_documents(text):
        raise PromptError([NOT_REPORTED if documents is None else NONE_RETRIEVED])
    values = {
        "input": conversation,
        "output": output,
        "reference": content["reference"],
        "guidelines": content["guidelines"],
        "context": content["context"],
        "retrieved_documents": documents_text(documents or ()),
        "criterion": next((c["text"] for c in content["criteria"] if c["key"] == key), ""),
        "criteria": [_shown(criterion, key) for criterion in content["criteria"]],
        "scale": scale.as_text(),
    }
    return render(text, values, examples)


def shown_conversation(
    content: dict[str, Any],
    earlier: Sequence[AnswerTurn],
    *,
    text: str | None,
    system_prompt: str = "",
) -> str:
    """Return the request to the candidate, its earlier turns and its tools, as a judge reads them.

    A prompt shows the documents once: as `context` if its text prints that, else in the request.

    Args:
        content: A frozen test, or one from `content_of`.
        earlier: Generated turns before the last one; they are marked.
        text: The judge prompt's template; None leaves the documents out, as labelled examples do.

    Raises:
        PromptError: The text is not a template.
    """
    has_own_block = text is None or prints_context(text)
    context = "" if has_own_block else content["context"]
    messages = request_messages(content["messages"], context, system_prompt)
    holes = turns_to_generate(messages)[: len(earlier)]
    shown = conversation_text(filled(messages, earlier), generated=holes)
    return shown + tools_text(content.get("tools") or ())


def _shown(criterion: dict[str, Any], asked: str) -> dict[str, str]:
    """Return a criterion as templates print it; `asked` is "yes" for the one in question."""
    return {
        "key": criterion["key"],
        "text": _item(criterion["text"] or criterion["check"].replace("_", " ")),
        "polarity": criterion["polarity"].replace("_", " "),
        "weight": f"{criterion['weight']:g}",
        "citation": criterion["citation"],
        "asked": "yes" if criterion["key"] == asked else "",
    }


def _item(text: str) -> str:
    """Return the text as one list item that cannot pose as the next one or as the one asked."""
    return "\n  ".join(text.replace(ASKED, "asked").splitlines())


WITHHELD = (
    "This prompt is hidden: it holds an example of a test that has been sealed, which "
    "you may not read."
)

NOBODY = AnonymousUser()


def preview(
    template: JudgeTemplate,
    content: dict[str, Any],
    answer: str,
    key: str = WHOLE_TEST,
    *,
    test_id: int | None = None,
    reader: User | AnonymousUser = NOBODY,
    text: str | None = None,
) -> str:
    """Return the prompt for a test's content, saved or not, with placeholders for earlier turns.

    Args:
        key: Key of the criterion; "" is the test as a whole.
        reader: User who will read it.
        text: A prompt variant in place of the template's text.

    Raises:
        PromptError: The template has problems, or the reader may not read an example.
        ScaleError: The scale is invalid.
    """
    earlier = placeholders(content["messages"])
    text = template.text if text is None else text
    output = output_text([*earlier, AnswerTurn(text=answer)])
    unseen = shown_conversation(content, earlier, text=None)
    query = ExampleQuery(test_id, unseen, output, bool(key))
    examples = examples_of(template).for_query(query).examples
    if hidden_of(examples, reader):
        raise PromptError([WITHHELD])
    return judge_prompt(
        text,
        from_json(template.scale),
        content,
        conversation=shown_conversation(content, earlier, text=text),
        output=output,
        key=key,
        examples=examples,
        documents=SAMPLE_DOCUMENTS,
    )


def placeholders(messages: list[dict[str, Any]]) -> list[AnswerTurn]:
    """Return what is shown for the generated turns before the last one, before there are any."""
    return [AnswerTurn(text="(the model's turn)")] * len(turns_to_generate(messages)[:-1])


def sample_answer(test: Test) -> str:
    """Return the initial answer of a preview: the flagged answer, else the reference."""
    return test.flagged_answer or test.reference or "(the model's answer)"
