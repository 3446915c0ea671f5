"""Exact judge prompts for a test and a made-up answer."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser

from evalhub.access.models import User
from issues.conversation import filled, turns_to_generate
from issues.judge_templates.example_selection import ExampleQuery, ShownExample
from issues.judge_templates.examples import examples_of, hidden_of
from issues.judge_templates.prompts import PromptError, conversation_text, render
from issues.models import JudgeTemplate, Test
from issues.revisions import content_of
from issues.rubrics.scales import Scale, from_json
from issues.rubrics.scoring import WHOLE_TEST

UNSAID = "(the model's turn)"
SAMPLE_ANSWER = "(the model's answer)"
ASKED = "(asked)"
"""Mark of the criterion in question in the built-in templates' rubric."""


def judge_prompt(
    text: str,
    scale: Scale,
    content: dict[str, Any],
    *,
    said: str,
    output: str,
    key: str = WHOLE_TEST,
    examples: Sequence[ShownExample] = (),
) -> str:
    """Return the user message for a judge.

    Args:
        text: Text of the template.
        scale: Scale of the template.
        content: A frozen test, or one from `content_of`.
        said: The conversation up to the last generated turn, as text.
        output: Answer of the candidate.
        key: Key of the criterion; "" is the test as a whole.
        examples: Labelled examples for this case.

    Raises:
        PromptError: The template has problems.
    """
    values = {
        "input": said,
        "output": output,
        "reference": content["reference"],
        "guidelines": content["guidelines"],
        "context": content["context"],
        "criterion": next((c["text"] for c in content["criteria"] if c["key"] == key), ""),
        "criteria": [_shown(criterion, key) for criterion in content["criteria"]],
        "scale": scale.as_text(),
    }
    return render(text, values, examples)


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
    test: Test,
    answer: str,
    key: str = WHOLE_TEST,
    *,
    reader: User | AnonymousUser = NOBODY,
    text: str | None = None,
) -> str:
    """Return the prompt for the current test, or for one criterion of it.

    Args:
        reader: User who will read it.
        text: A prompt variant in place of the template's text.

    Raises:
        PromptError: The template has problems, or the reader may not read an example.
        ScaleError: The scale is invalid.
    """
    content = content_of(test)
    return preview_of(template, content, answer, key, test_id=test.pk, reader=reader, text=text)


def preview_of(
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

    Raises:
        PromptError: The template has problems, or the reader may not read an example.
        ScaleError: The scale is invalid.
    """
    messages = content["messages"]
    holes = turns_to_generate(messages)[:-1]
    unsaid = [UNSAID] * len(holes)
    said = conversation_text(filled(messages, unsaid), generated=holes)
    output = "\n\n".join([*unsaid, answer])
    matter = ExampleQuery(test_id, said, output, bool(key))
    examples = examples_of(template).for_query(matter).examples
    if hidden_of(examples, reader):
        raise PromptError([WITHHELD])
    return judge_prompt(
        template.text if text is None else text,
        from_json(template.scale),
        content,
        said=said,
        output=output,
        key=key,
        examples=examples,
    )


def sample_answer(test: Test) -> str:
    """Return the initial answer of a preview: the flagged answer, else the reference."""
    return test.flagged_answer or test.reference or SAMPLE_ANSWER
