"""Versions of what EvalHub itself does for a score, and parameters really sent. Pure.

Raise a number of `VERSIONS` by hand when what it names changes for any request or reply: scores
made under different numbers are not compared. `tests/runs/comparison/test_scoring_versions.py`
(readings) and `tests/runs/judging/test_request_bodies.py` (requests) fail where what they store
changed and its number did not.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from evalhub.llm.parameters import LIMITS
from evalhub.values.digest import digest


class Part(StrEnum):
    """What has a version."""

    REQUEST = "request"
    REPLY = "reply"
    REASONING = "reasoning"
    JUDGE_PROMPT = "judge prompt"
    VERDICT = "verdict"
    CHECK = "check"


VERSIONS = {
    Part.REQUEST: 1,  # how a candidate is asked
    Part.REPLY: 1,  # how its reply is read
    Part.REASONING: 1,  # how reasoning is split from its answer
    Part.JUDGE_PROMPT: 1,  # how judges are asked, and shown an answer
    Part.VERDICT: 1,  # how their replies are read, reasoning included
    Part.CHECK: 1,  # how checks read texts and numbers
}

OF_ANSWERS = (Part.REQUEST, Part.REPLY, Part.REASONING)
OF_VERDICTS = (Part.JUDGE_PROMPT, Part.VERDICT)

SENT_TO_CANDIDATE, SENT_TO_JUDGE = "sent to candidate ", "sent to judge "
"""Beginnings of the names of parameters really sent; the rest is who was asked with which."""

Parts = Mapping[str, list[Any]]
"""What took part in something, by name: each version, or each set of parameters, once."""


def of_answer(asked: Any, sent: Mapping[str, Any] | None, refused: Any) -> dict[str, list[Any]]:
    """Return what takes part in an answer made now.

    Args:
        asked: Who is asked with which parameters, as JSON; their change is no change of EvalHub.
        sent, refused: Parameters as the call recorded them; None: it did not.
    """
    return _now(OF_ANSWERS) | _sent(SENT_TO_CANDIDATE, asked, sent, refused)


def of_verdict(asked: Any, sent: Mapping[str, Any] | None, refused: Any) -> dict[str, list[Any]]:
    """Return what takes part in a judge's verdict made now; see `of_answer`."""
    return _now(OF_VERDICTS) | _sent(SENT_TO_JUDGE, asked, sent, refused)


def of_check() -> dict[str, list[Any]]:
    """Return what takes part in a check made now."""
    return _now((Part.CHECK,))


def _now(parts: Iterable[Part]) -> dict[str, list[Any]]:
    return {part.value: [VERSIONS[part]] for part in parts}


def _sent(
    beginning: str, asked: Any, sent: Mapping[str, Any] | None, refused: Mapping[str, Any] | None
) -> dict[str, list[Any]]:
    """Return the parameters really sent; refused ones are null.

    Token limit and form of a reply follow from what is asked, and count only where refused.
    """
    if sent is None:
        return {}
    depending = {*LIMITS, "response_format"}
    found = {name: value for name, value in sent.items() if name not in depending}
    return {beginning + digest(asked)[:12]: [found | dict.fromkeys(refused or ())]}


def merged(found: Iterable[Parts]) -> dict[str, list[Any]]:
    """Return what took part in any of these."""
    values: dict[str, dict[str, Any]] = {}
    for parts in found:
        for name, given in parts.items():
            values.setdefault(name, {}).update((digest(value), value) for value in given)
    return {name: [one[key] for key in sorted(one)] for name, one in sorted(values.items())}


def conflicts(first: Parts, second: Parts) -> set[str]:
    """Return the names of what took part in both, and was not the same.

    Two versions in one score are never the same.
    """
    return {
        name
        for name in first.keys() & second.keys()
        if first[name] != second[name] or (name in VERSIONS and len(first[name]) > 1)
    }


def earlier(parts: Parts) -> set[Part]:
    """Return the parts of which another version than today's took part."""
    return {part for part in Part if parts.get(part, []) not in ([], [VERSIONS[part]])}


def judged_earlier(parts: Parts) -> bool:
    """Tell whether judges were asked, or read, by another version than today's."""
    return not earlier(parts).isdisjoint(OF_VERDICTS)
