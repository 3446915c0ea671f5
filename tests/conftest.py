"""What every test stands on: quick hashing, no lockout, a database file of its own."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.db import connections

pytest_plugins = ["tests.browser"]

DATABASE_FIXTURES = {"db", "transactional_db", "live_server"}


def pytest_configure() -> None:
    settings.AXES_ENABLED = False
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as pure what asks for no database: pytest-django refuses it one then."""
    for item in items:
        if not uses_database(item):
            item.add_marker("pure")


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


@pytest.fixture(autouse=True)
def _clear_cache() -> Iterator[None]:
    yield
    cache.clear()


@pytest.fixture
def database_url(transactional_db: None) -> str:
    """The test database's address, for the environment of a process that a test starts."""
    database: dict[str, Any] = connections["default"].settings_dict
    if connections["default"].vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    place = f"{database['HOST']}:{database['PORT']}/{database['NAME']}"
    return f"postgres://{database['USER']}:{database['PASSWORD']}@{place}"
