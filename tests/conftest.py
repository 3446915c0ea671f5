"""What every test stands on: quick hashing, no lockout, a database file of its own."""

import gc
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
from django.conf import settings
from django.contrib import admin
from django.core.cache import cache
from django.db import connections
from django.test import TransactionTestCase

from tests.clearing import clear
from tests.engines import BOTH_ENGINES, TESTS
from tests.migrated import Migrated, migrated
from tests.slow import reason_of

if TYPE_CHECKING:
    from pytest_django import DjangoDbBlocker

pytest_plugins = ["tests.browser"]

DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}


def pytest_configure() -> None:
    # Neither a deadline nor a complaint about slow data may depend on how busy the machine is.
    too_slow = [hypothesis.HealthCheck.too_slow]
    hypothesis.settings.register_profile(
        "suite", max_examples=50, deadline=None, suppress_health_check=too_slow
    )
    hypothesis.settings.load_profile("suite")
    settings.AXES_ENABLED = False
    # Each test's client would list every static file anew, which takes longer than most requests.
    settings.WHITENOISE_AUTOREFRESH = True
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    TransactionTestCase._fixture_teardown = clear
    admin.autodiscover()  # as for a server: tests ask for all its pages


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what runs on both engines, and what `dev.py test` leaves out."""
    both = {TESTS / name for name in BOTH_ENGINES}
    for item in items:
        if reason_of(item.nodeid.removeprefix("tests/")):
            item.add_marker("slow")
        is_listed = both & {item.path, *item.path.parents}
        if is_listed and uses_database(item) and not item.get_closest_marker("kill"):
            item.add_marker("both_engines")


def pytest_collection_finish() -> None:
    """Search for garbage seldom, and never in what was imported: a tenth of the time goes there."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)


def uses_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or bool(fixtures & DATABASE_FIXTURES)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """SQLite in a file: an in-memory database locks differently and other processes miss it."""
    database = connections["default"]
    if database.vendor == "sqlite":
        file = tmp_path_factory.mktemp("database") / "test.sqlite3"
        database.settings_dict["TEST"]["NAME"] = str(file)


@pytest.fixture(scope="session")
def copied(django_db_modify_db_settings: None) -> Migrated | None:
    """The migrated database that another process has left, if any; the others wait for ours."""
    found = migrated()
    if found:
        found.find()
    return found


@pytest.fixture(scope="session")
def django_db_keepdb(django_db_keepdb: bool, copied: Migrated | None) -> bool:
    """On SQLite what was copied is there already, and must not be made anew."""
    return django_db_keepdb or is_copied_file(copied)


@pytest.fixture(scope="session")
def django_db_createdb(django_db_createdb: bool, copied: Migrated | None) -> bool:
    return django_db_createdb and not is_copied_file(copied)


def is_copied_file(copied: Migrated | None) -> bool:
    return copied is not None and copied.is_there and connections["default"].vendor == "sqlite"


@pytest.fixture(scope="session")
def django_db_setup(
    copied: Migrated | None, django_db_setup: None, django_db_blocker: "DjangoDbBlocker"
) -> None:
    if copied:
        with django_db_blocker.unblock():
            copied.leave()


@pytest.fixture(autouse=True)
def _clear_cache() -> Iterator[None]:
    yield
    cache.clear()


class NamedSubtests:
    """Subtests with plain words as names: processes of a test run send each other no enums."""

    def __init__(self, subtests: pytest.Subtests) -> None:
        self._subtests = subtests

    def test(self, name: object = "", **values: object) -> AbstractContextManager[None]:
        return self._subtests.test(f"{name}", **{key: f"{value}" for key, value in values.items()})


@pytest.fixture
def subtests(subtests: pytest.Subtests) -> NamedSubtests:
    return NamedSubtests(subtests)


@pytest.fixture
def database_url(transactional_db: None) -> str:
    """The test database's address, for the environment of a process that a test starts."""
    database: dict[str, Any] = connections["default"].settings_dict
    if connections["default"].vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    place = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
    return f"postgres://{database['USER']}:{database['PASSWORD']}@{place}"
