"""The exact prompt with which a judge would be asked about a test, for an answer made up."""

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

UNSAID = "(what the model says in this turn)"
SAMPLE_ANSWER = "(the model's answer)"
ASKED = "(asked)"
"""How the built-in template marks, in the whole rubric, the criterion in question."""


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
    """What a judge is sent as a user's message.

    Args:
        text: The template's wording.
        scale: The template's.
        content: A frozen test, or one as `content_of` gives it.
        said: The conversation up to the last generated turn, as text.
        output: What the candidate said.
        key: That of the criterion that is asked about; "" is the test as a whole.
        examples: Those that are shown with this case.

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
    """A criterion as templates may print it; `asked` is "yes" for the one in question."""
    return {
        "key": criterion["key"],
        "text": _item(criterion["text"] or criterion["check"].replace("_", " ")),
        "polarity": criterion["polarity"].replace("_", " "),
        "weight": f"{criterion['weight']:g}",
        "citation": criterion["citation"],
        "asked": "yes" if criterion["key"] == asked else "",
    }


def _item(text: str) -> str:
    """The text as one item of a list, which cannot pose as the next one, nor as the one asked."""
    return "\n  ".join(text.replace(ASKED, "asked").splitlines())


WITHHELD = (
    "This prompt is withheld: it holds an example of a test that was sealed since, which you may "
    "not read."
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
    """The prompt for a test as it stands now, or for one criterion of it.

    Args:
        reader: Who will read it.
        text: The wording, where it is not the template's own but that for one model.

    Raises:
        PromptError: The template has problems, or an example is not for this reader.
        ScaleError: Its scale has.
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
    """The prompt for a test's content, saved or not. Turns before the answer hold a placeholder.

    Raises:
        PromptError: The template has problems, or an example is not for this reader.
        ScaleError: Its scale has.
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
    """What a preview starts with: the flagged answer, or else the reference."""
    return test.flagged_answer or test.reference or SAMPLE_ANSWER
