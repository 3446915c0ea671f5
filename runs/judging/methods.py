"""Messages of a judge that makes several calls for one judgment.

The conversation goes on from call to call, so that each of them shows the judge the whole prompt
and its own words, and nothing else.
"""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from evalhub.llm.content.content_parts import with_text_after
from evalhub.llm.verdicts.judge_params import params_for
from evalhub.llm.verdicts.judge_replies import ParsedVerdict, verdict_schema
from evalhub.llm.verdicts.option_matching import Offered
from issues.content.conversation import Message
from issues.rubrics.scales import Option
from runs.judging.jury import FrozenJudge
from runs.judging.prompts import JudgePromptTemplate
from runs.models import Method

RATINGS = (
    Option("excellent", "", 1.0),
    Option("acceptable", "", 0.5),
    Option("could be improved", "", 0.25),
    Option("bad", "", 0.0),
)
"""Options of a judge on its own judgment."""

ENOUGH = 0.5
"""Least rating of a judgment that stays."""

NONE = "(none)"
"""Alternative of a judge that is sure; on no scale."""

CRITIQUE = """\
Now review this judgment as a critic. Do its reasons follow from the answer, are they complete, and
does the score follow from the reasons and from what each score means? Rate the judgment, not the
answer:
{options}

Reply with one JSON object and nothing else. It has two keys: "justification", with what is wrong
and how to judge better, and "score", one of the ratings above.
"""

AGAIN = """\
Judge the answer once more from the beginning, and use this feedback where it is right. Reply in the
form of your first judgment: one JSON object with "justification" and "score". The scores:
{options}
"""

ARGUE = """\
Do not give the verdict yet. First argue for each score in turn: make the strongest case that this
answer deserves it, in at most three sentences, with evidence from the answer. The scores:
{options}

Write plain text without JSON.
"""

CHOOSE = """\
Weigh these arguments against each other and choose the score with the best case. Reply with one
JSON object and nothing else. It has three keys: "justification", with your reasons; "score", one of
the scores below; and "alternative": if you are unsure, the other score that could be right, else
"{none}". The scores:
{options}
"""

OPPOSE = """\
You are unsure between these scores. Argue against each of them: make the strongest case that this
answer does not deserve it, in at most three sentences each.
{options}

Write plain text without JSON.
"""

DECIDE = """\
Decide between these scores, by the arguments for and against them:
{options}

Reply with one JSON object and nothing else. It has two keys: "justification", with your reasons,
and "score".
"""


class JudgeCall(NamedTuple):
    """A request to a judge; without a schema it replies in plain text."""

    messages: list[Message]
    params: dict[str, Any]
    schema: dict[str, Any] | None


def first_request(
    judge: FrozenJudge, template: JudgePromptTemplate, messages: Sequence[Message]
) -> JudgeCall:
    """Return the first request for a judgment; `messages` are the prompt."""
    schema = template.schema
    asked = list(messages)
    if judge.method == Method.DEBATE:
        schema = None
        *earlier, last = messages
        argue = as_text(ARGUE, template.scale.options)
        asked = [*earlier, {**last, "content": with_text_after(last["content"], argue)}]
    return JudgeCall(asked, params_for(judge.endpoint, judge.params, schema), schema)


def continued(messages: Sequence[Message], reply: str, question: str) -> list[Message]:
    """Return the messages with the judge's reply and the next question."""
    return [
        *messages,
        {"role": "assistant", "content": reply},
        {"role": "user", "content": question},
    ]


def as_text(question: str, options: Sequence[Offered]) -> str:
    """Return a question about these options."""
    return question.format(options="\n".join(f"- {o.label}" for o in options), none=NONE)


def as_reply(verdict: ParsedVerdict) -> str:
    """Return a verdict as the judge would have written it."""
    fields = {"justification": verdict.justification, "score": verdict.option}
    return json.dumps(fields, ensure_ascii=False)


def choice_schema(options: Sequence[Offered]) -> dict[str, Any]:
    """Return the schema of a verdict with an alternative."""
    schema = verdict_schema(options)
    other = {"type": "string", "enum": [*(option.label for option in options), NONE]}
    return {
        **schema,
        "properties": {**schema["properties"], "alternative": other},
        "required": [*schema["required"], "alternative"],
    }
