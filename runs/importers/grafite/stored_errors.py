"""Recognition of provider errors stored as a judge's reasons or an answer. Pure.

GRAFITE stores the text of an exception as an answer, or as the reasons of a vote of 0. Only texts
that no person or model would write so are taken for errors: a judge may well write "SyntaxError:
the code does not run".
"""

import re

STARTS = re.compile(
    r"Max number of retries\b"
    r"|Parsing error in the judge response\b"
    r"|Failed to generate model response\b"
    r"|Error code: \d{3}\b"
    r"|Traceback \(most recent call last\)"
    r"|\d+ validation errors? for \w+"
    r"|(?:openai|httpx|httpcore|requests|urllib3|pydantic_core)(?:\.\w+)+: "
    r"|(?:API(?:Connection|Timeout|Status)|RateLimit|BadRequest|Authentication|PermissionDenied"
    r"|InternalServer|NotFound|UnprocessableEntity)Error\b[:(]"
)
WHOLE = re.compile(
    r"(?:Connection error|Request timed out)\.?"
    r"|'\w+' object has no attribute '\w+'"
    r"|'[a-z_]+'"  # a KeyError's text
    r"|[\w :'\"-]+: line \d+ column \d+ \(char \d+\)"
)


def is_error(text: str) -> bool:
    """Return whether the text is an exception's message and nothing else."""
    text = text.strip()
    return bool(STARTS.match(text) or WHOLE.fullmatch(text))
