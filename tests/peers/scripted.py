"""What the scripted model says to the questions of the files: sums, of which it gets one wrong."""

import re

from tests.provider import Json, Reply, failure, prompt

WRONG = 3
BROKEN = 5
SYSTEM = "Answer with a number."


def reply(request: Json) -> Reply | str:
    """A sum; for a rubric, promptfoo's verdict; no answer to the sum that breaks the provider."""
    text = prompt(request)
    if "rubric" in text.lower():
        passed = "sorry" not in text
        return f'{{"reason": "It is polite.", "pass": {str(passed).lower()}, "score": 1}}'
    found = re.findall(r"What is (\d+) plus (\d+)\?", text)
    if not found:
        return "I do not know."
    first, second = map(int, found[-1])
    if first == BROKEN:
        return failure(400, "The model is not available for this question.")
    return f"It is {first + second + (first == WRONG)}."
