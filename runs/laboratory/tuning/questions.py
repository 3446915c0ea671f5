"""Questions to a judge about its own prompt: how it reads it, and what parts good from poor. Pure.

The answers are material for the descriptions of a scale. They change nothing by themselves.
"""

from typing import NamedTuple

MAX_EXAMPLE = 20_000

_OPENING = """\
You judge texts with the prompt between the lines. Judge nothing now: answer the question below it
about how you use the prompt, in plain sentences, in at most 300 words.
----
{prompt}
----
"""

_READING = """\
How do you read this prompt? Name what you look at first. For each score say in your own words what
a text must have to get it. Name the words of the prompt that leave you in doubt."""

_DIFFERENCE = """\
Below are two texts. A person finds the first one ideal and the second one poor. What makes the
difference? Name each property in the words that you would find clearest in a description of the
scores, and say which scores it separates.

Ideal text:
{ideal}
----
Poor text:
{poor}"""


class Question(NamedTuple):
    """A question, "reading" or "difference", and the message to the judge."""

    key: str
    message: str


def question_about(prompt: str, *, ideal: str, poor: str) -> Question:
    """Return the question on the difference of two texts, or without any on the prompt itself.

    Raises:
        ValueError: Only one text is given, or one is too long.
    """
    opening = _OPENING.format(prompt=prompt)
    if bool(ideal.strip()) != bool(poor.strip()):
        raise ValueError("Enter both an ideal and a poor text, or neither.")
    longest = max(len(ideal), len(poor))
    if longest > MAX_EXAMPLE:
        raise ValueError(f"A text has {longest:,} characters: at most {MAX_EXAMPLE:,}.")
    if not ideal.strip():
        return Question("reading", f"{opening}\n{_READING}")
    asked = _DIFFERENCE.format(ideal=ideal, poor=poor)
    return Question("difference", f"{opening}\n{asked}")
