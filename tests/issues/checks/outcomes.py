"""Asking a check, and saying what should come of it."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from issues.checks import Material, Outcome, problems_of, run
from issues.limits import CHECK_TIMEOUT_S


def outcome_of(name: str, text: str | Material, arguments: dict[str, Any]) -> Outcome:
    return run(name, arguments, text if isinstance(text, Material) else Material(text))


def score(name: str, text: str | Material, /, **arguments: Any) -> Any:
    """The value of what was checked without an error, equal to what it is as near as floats are."""
    outcome = outcome_of(name, text, arguments)
    assert outcome.error == ""
    assert outcome.explanation
    return pytest.approx(outcome.value)


def error_of(name: str, text: str | Material, /, **arguments: Any) -> str:
    """Why there is no value."""
    outcome = outcome_of(name, text, arguments)
    assert outcome.value is None
    assert outcome.error
    return outcome.error


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
    assert time.process_time() - started < 2 * CHECK_TIMEOUT_S
