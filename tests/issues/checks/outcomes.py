"""Asking a check, and saying what should come of it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from issues.checks import Material, Outcome, problems_of, run
from issues.checks.deadline import SECONDS


def outcome_of(name: str, text: str | Material, arguments: dict[str, Any]) -> Outcome:
    return run(name, arguments, text if isinstance(text, Material) else Material(text))


def check_scores(name: str, text: str | Material, value: float, /, **arguments: Any) -> None:
    outcome = outcome_of(name, text, arguments)
    assert outcome.error == ""
    assert outcome.value == pytest.approx(value), outcome.explanation
    assert outcome.explanation


def check_passes(name: str, text: str | Material, /, **arguments: Any) -> None:
    check_scores(name, text, 1, **arguments)


def check_fails(name: str, text: str | Material, /, **arguments: Any) -> None:
    check_scores(name, text, 0, **arguments)


def check_errs(name: str, text: str | Material, says: str = "", /, **arguments: Any) -> None:
    """No value, and a reason that holds these words."""
    outcome = outcome_of(name, text, arguments)
    assert outcome.value is None
    assert outcome.error
    assert says in outcome.error


def problem(name: str, /, **arguments: Any) -> str:
    """The only problem of the arguments; "" without any."""
    problems = problems_of(name, arguments)
    assert len(problems) <= 1
    return problems[0] if problems else ""


@contextmanager
def in_time() -> Iterator[None]:
    """Fail if what runs inside takes much longer than a check may.

    It is this process's own time: on a busy machine the clock on the wall runs ahead.
    """
    started = time.process_time()
    yield
    assert time.process_time() - started < 2 * SECONDS
