"""Rows that the tests of a module share: made once, and found by each test as they were made.

    @shared_data
    def nightly() -> Run:
        return judged([1.0, 0.0])

    def test_its_model_is_named(nightly, client): ...

Each test has a copy of what the function returns, and may change it and the database: both are
undone. The function may ask for other shared data of its module. Rows stay for every later test of
the module, even one that does not name them: where a test counts rows, let all tests have them, by
`pytest.mark.usefixtures("nightly")` in `pytestmark`. Not for a module with `transaction=True`.
"""

from collections.abc import Callable, Iterator
from copy import deepcopy
from inspect import Parameter, Signature, signature
from typing import Any

import pytest
from django.db import transaction


def shared_data(make: Callable[..., Any]) -> Any:
    asked = {f"{name}_once": name for name in signature(make).parameters}
    once = f"{make.__name__}_once"

    def made(django_db_setup: None, django_db_blocker: Any, **given: Any) -> Iterator[Any]:
        with django_db_blocker.unblock(), transaction.atomic():
            yield make(**{asked[name]: value for name, value in given.items()})
            transaction.set_rollback(True)

    def copied(db: None, **given: Any) -> Any:
        return deepcopy(given[once])

    # Pytest finds a fixture by its name in the module, and what it asks for by its signature.
    made.__signature__ = named("django_db_setup", "django_db_blocker", *asked)
    copied.__signature__ = named(once, "db")
    make.__globals__[once] = pytest.fixture(scope="module", name=once)(made)
    return pytest.fixture(name=make.__name__)(copied)


def named(*parameters: str) -> Signature:
    return Signature([Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in parameters])
