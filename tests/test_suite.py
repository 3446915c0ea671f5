"""The test command: that every test runs somewhere, and that nothing missing goes unsaid."""

import itertools
import os
import socket
import subprocess
import sys
from urllib.parse import urlsplit

import pytest
from _pytest.mark.expression import Expression

from tests import environment, suite
from tests.engines import BOTH_ENGINES, TESTS
from tests.suite import GROUPS, POSTGRES, SQLITE, Outcome

GOOD = Outcome("pure", "no database", passed=3)
MISSING = Outcome("browser", POSTGRES, missing="no Chromium")


def engines(*markers: str) -> list[str]:
    """What a test with these markers runs on."""
    selected = (
        g.engine for g in GROUPS if Expression.compile(g.markers).evaluate(markers.__contains__)
    )
    return sorted(selected)


def test_a_test_runs_on_sqlite():
    assert engines() == [SQLITE]


@pytest.mark.parametrize("marker", [(), ("kill",), ("load",)])
def test_a_test_runs_on_both_engines_where_the_engine_matters(marker):
    assert engines("both_engines", *marker) == [POSTGRES, SQLITE]


def test_a_journey_runs_on_both_engines():
    assert engines("browser", "journey") == [POSTGRES, SQLITE]


@pytest.mark.parametrize("marker", ["browser", "kill", "load"])
def test_a_test_that_lives_with_processes_runs_on_postgres(marker):
    assert engines(marker) == [POSTGRES]


def test_every_name_in_the_list_for_both_engines_is_a_file_or_a_folder():
    assert [name for name in BOTH_ENGINES if not (TESTS / name).exists()] == []


def test_only_files_that_can_hold_a_groups_tests_are_read():
    named = {str(TESTS / name) for name in ("site/test_pages.py", "test_words.py")}

    assert named & set(suite.files(("browser", "kill"))) == {str(TESTS / "site/test_pages.py")}
    assert str(TESTS / BOTH_ENGINES[0]) in suite.files(("both_engines",))
    assert suite.files(()) == []


def test_no_mixture_of_markers_is_left_out():
    names = ["both_engines", "browser", "journey", "kill", "load"]
    mixtures = itertools.product([False, True], repeat=len(names))

    assert all(engines(*itertools.compress(names, mixture)) for mixture in mixtures)


def test_a_missing_group_is_named_in_the_last_lines(capsys, monkeypatch):
    monkeypatch.delenv("CI", raising=False)

    status = suite.report([GOOD, MISSING])

    last = capsys.readouterr().out.splitlines()[-2:]
    assert status == 0
    assert last == [
        "COULD NOT RUN HERE: browser on PostgreSQL: no Chromium",
        "3 passed, 0 failed, 0 skipped",
    ]


def test_a_missing_group_fails_in_ci(capsys, monkeypatch):
    monkeypatch.setenv("CI", "true")

    status = suite.report([GOOD, MISSING])

    assert status == 1
    assert capsys.readouterr().out.endswith("3 passed, 1 failed, 0 skipped\n")


def test_a_group_that_died_counts_as_failed(tmp_path):
    assert suite.count(tmp_path / "never-written.xml") == (0, 1, 0, 0)


def test_a_test_that_fails_and_cannot_clear_up_is_counted_once(tmp_path):
    results = tmp_path / "results.xml"
    results.write_text(
        "<testsuites><testsuite>"
        "<testcase classname='a' name='good'/>"
        "<testcase classname='a' name='bad'><failure/></testcase>"
        "<testcase classname='a' name='bad'><error/></testcase>"
        "<testcase classname='a' name='not now'><skipped/></testcase>"
        "</testsuite></testsuites>"
    )

    assert suite.count(results) == (1, 1, 1, 0)


def test_a_test_that_passes_at_the_second_try_is_counted_as_such(tmp_path):
    results = tmp_path / "results.xml"
    results.write_text(
        "<testsuites><testsuite>"
        "<testcase classname='a' name='unsteady'/>"
        "<testcase classname='a' name='unsteady'/>"
        "<testcase classname='a' name='bad'/>"
        "<testcase classname='a' name='bad'><failure/></testcase>"
        "</testsuite></testsuites>"
    )

    assert suite.count(results) == (1, 1, 0, 1)


def test_a_failed_check_shows_its_output(capsys, tmp_path):
    command = [sys.executable, "-c", "import sys; sys.exit('line too long')"]

    assert not suite.run_check("lint", command, str(tmp_path))
    assert "lint: FAILED\nline too long" in capsys.readouterr().out


def test_the_server_ends_when_nobody_listens():
    with suite.postgres() as (url, why_not):
        assert url, why_not
        if "TEST_DATABASE_URL" in os.environ:
            pytest.skip("the server that runs these tests goes on")
        address = "127.0.0.1", urlsplit(url).port
        socket.create_connection(address, timeout=5).close()

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, timeout=5)


def test_a_developers_database_and_keys_are_not_seen(monkeypatch):
    code = "import os, tests.environment; print(os.environ.get('DATABASE_URL'), *os.environ)"
    monkeypatch.setenv("DATABASE_URL", "postgres://precious")
    monkeypatch.setenv("SOME_API_KEY", "costs money")
    monkeypatch.delenv("TEST_DATABASE_URL", raising=False)

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    first, *names = done.stdout.split()
    assert first == "None"
    assert "SOME_API_KEY" not in names


def test_no_other_host_is_reached():
    with pytest.raises(OSError, match=r"tests call no other host: 192\.0\.2\.1"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


def test_no_other_host_is_looked_up():
    with pytest.raises(socket.gaierror, match=r"tests look up no other host: example\.org"):
        socket.getaddrinfo("example.org", 80)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "localhost", "127.8.9.1"])
def test_this_machine_is(host):
    assert environment.is_local(host)
