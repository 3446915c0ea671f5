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
from tests.slow import SLOW
from tests.suite import LONG, POSTGRES, SHORT, SQLITE, Outcome

GOOD = Outcome("pure", "no database", passed=3)
APART = {"browser", "kill", "load"}
MISSING = Outcome("browser", POSTGRES, missing="no Chromium")


def groups(*markers: str, all_=False) -> list[str]:
    """The engines of the groups in which a test with these markers runs."""
    selected = SHORT + LONG if all_ else SHORT
    return sorted(
        group.engine
        for group in selected
        if Expression.compile(group.markers).evaluate(markers.__contains__)
    )


@pytest.mark.parametrize(
    ("markers", "short", "all_"),
    [
        ((), [SQLITE], [POSTGRES, SQLITE]),
        (("both_engines",), [POSTGRES, SQLITE], [POSTGRES, SQLITE]),
        (("slow",), [], [POSTGRES, SQLITE]),
        (("both_engines", "slow"), [], [POSTGRES, SQLITE]),
        (("browser", "journey"), [POSTGRES], [POSTGRES, SQLITE]),
        (("browser",), [], [POSTGRES]),
        (("kill",), [POSTGRES], [POSTGRES]),
        (("kill", "slow"), [], [POSTGRES]),
        (("load",), [], [POSTGRES]),
        (("kill", "both_engines"), [POSTGRES], [POSTGRES, SQLITE]),
    ],
)
def test_a_test_runs_once_on_each_engine_that_its_markers_name(markers, short, all_):
    assert (groups(*markers), groups(*markers, all_=True)) == (short, all_)


def test_every_name_in_the_list_for_both_engines_is_a_file_or_a_folder():
    assert [name for name in BOTH_ENGINES if not (TESTS / name).exists()] == []


def test_every_name_in_the_list_of_slow_tests_is_a_test():
    for name in SLOW:
        file, _, start = name.partition("::")
        assert (TESTS / file).exists(), name
        assert f"def {start}" in (TESTS / file).read_text() if start else True, name


def test_only_files_that_can_hold_a_groups_tests_are_read():
    named = {str(TESTS / name) for name in ("site/test_pages.py", "test_words.py")}

    assert named & set(suite.files(("browser", "kill"))) == {str(TESTS / "site/test_pages.py")}
    assert str(TESTS / BOTH_ENGINES[0]) in suite.files(("both_engines",))
    assert suite.files(()) == []


def test_no_mixture_of_markers_is_left_out_or_runs_twice_on_an_engine():
    names = ["both_engines", "browser", "journey", "kill", "load", "slow"]
    for mixture in itertools.product([False, True], repeat=len(names)):
        markers = set(itertools.compress(names, mixture))
        if ({"journey"} <= markers and "browser" not in markers) or len(markers & APART) > 1:
            continue  # no test has these
        ran_on = groups(*markers, all_=True)
        assert ran_on, markers
        assert len(ran_on) == len(set(ran_on)), markers


def test_a_missing_group_fails_and_is_named_in_the_last_lines(capsys):
    status = suite.report([GOOD, MISSING])

    last = capsys.readouterr().out.splitlines()[-2:]
    assert status == 1
    assert last == [
        "COULD NOT RUN HERE: browser on PostgreSQL: no Chromium",
        "3 passed, 1 failed, 0 skipped",
    ]


def test_a_group_that_died_counts_as_failed(tmp_path):
    assert suite.count(tmp_path / "never-written.xml") == (0, 1, 0)


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

    assert suite.count(results) == (1, 1, 1)


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
