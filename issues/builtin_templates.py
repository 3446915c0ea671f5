"""The judge templates that every ledger starts with: what an answer is held against, in words.

Each asks for reasons before a verdict on a scale of 0 and 1, as JSON. They differ in what a judge
is shown: where many answers are right, a reference or even the question may only mislead.
"""

from dataclasses import dataclass

from issues.scales import Option, PassRule, Scale

_TASK = """\
You are an impartial judge. Decide whether the output of an AI model is acceptable.
"""

_INPUT = """\
## Input that the model was given
{{ input }}
{% if context %}

## Documents that the model was given
{{ context }}
{% endif %}

"""

_OUTPUT = """\
## Output to judge
{{ output }}

"""

_REFERENCE = """\
{% if reference %}
## Reference answer
One good answer. The output may say the same in other words.
{{ reference }}

{% endif %}
"""

_GUIDELINES = """\
{% if guidelines %}
## Guidelines
The output must keep to all of these:
{{ guidelines }}

{% endif %}
"""

_REPLY = """\
## Scores
{{ scale }}

Length and style do not matter unless the guidelines say so. First state your reasons, then decide.
Reply with one JSON object and nothing else. It has two keys: "justification", your reasons in two
or three sentences, and then "score", which is 0 or 1.
"""


@dataclass(frozen=True)
class BuiltinTemplate:
    """One template as a ledger is given it: wording, what it shows, scale and pass rule."""

    key: str
    name: str
    text: str
    scale: Scale
    shows_input: bool
    shows_reference: bool
    shows_guidelines: bool = True
    shows_whole_rubric: bool = False


def _scale(failing: str, passing: str) -> Scale:
    return Scale((Option("0", failing, 0.0), Option("1", passing, 1.0)), 0.5, PassRule.STRICT)


BUILTIN = (
    BuiltinTemplate(
        key="input-output-reference-guidelines",
        name="Input, output, reference and guidelines",
        text=f"{_TASK}\n{_INPUT}{_OUTPUT}{_REFERENCE}{_GUIDELINES}{_REPLY}",
        scale=_scale(
            "The output breaks a guideline, contradicts the reference answer, or does not do what "
            "the input asks for.",
            "The output keeps to every guideline, agrees with the reference answer, and does what "
            "the input asks for.",
        ),
        shows_input=True,
        shows_reference=True,
    ),
    BuiltinTemplate(
        key="output-reference-guidelines",
        name="Output, reference and guidelines",
        text=f"{_TASK}\n{_OUTPUT}{_REFERENCE}{_GUIDELINES}{_REPLY}",
        scale=_scale(
            "The output breaks a guideline or contradicts the reference answer.",
            "The output keeps to every guideline and agrees with the reference answer.",
        ),
        shows_input=False,
        shows_reference=True,
    ),
    BuiltinTemplate(
        key="input-output-guidelines",
        name="Input, output and guidelines",
        text=f"{_TASK}\n{_INPUT}{_OUTPUT}{_GUIDELINES}{_REPLY}",
        scale=_scale(
            "The output breaks a guideline or does not do what the input asks for.",
            "The output keeps to every guideline and does what the input asks for.",
        ),
        shows_input=True,
        shows_reference=False,
    ),
)
