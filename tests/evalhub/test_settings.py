"""Settings come from the environment, and a bad value names itself and what was expected."""

import re
import subprocess
import sys

import pytest
from csp.constants import NONCE
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from evalhub.settings.environment import Environment
from evalhub.work import leases


@pytest.fixture
def given(monkeypatch):
    """Sets a variable and gives a fresh reader."""

    def given(value, name="EVALHUB_X"):
        monkeypatch.setenv(name, value)
        return Environment()

    return given


@pytest.mark.parametrize(
    ("value", "expected"),
    [("true", True), ("1", True), (" Yes ", True), ("off", False), ("0", False)],
)
def test_a_switch_is_read(given, value, expected):
    assert given(value).flag("EVALHUB_X", False, "") is expected


def test_a_bad_switch_names_itself_and_what_was_expected(given):
    with pytest.raises(ImproperlyConfigured, match="EVALHUB_X=maybe is not a switch: use 'true'"):
        given("maybe").flag("EVALHUB_X", False, "")


@pytest.mark.parametrize("value", ["", "0", "-3", "2.5", "two"])
def test_a_bad_number_names_itself_and_the_least(given, value):
    with pytest.raises(ImproperlyConfigured, match=f"EVALHUB_X={value} .* at least 1"):
        given(value).number("EVALHUB_X", 5, "", least=1)


def test_a_number_that_is_not_set_is_the_default(monkeypatch):
    monkeypatch.delenv("EVALHUB_X", raising=False)

    assert Environment().number("EVALHUB_X", 5, "", least=1) == 5


def test_a_list_drops_empty_entries(given):
    assert given("a.org, ,b.org,").listing("EVALHUB_X", "", "") == ["a.org", "b.org"]


def test_a_secret_can_come_from_a_file(given, tmp_path):
    file = tmp_path / "key"
    file.write_text("from the file\n")
    reader = given(str(file), "EVALHUB_X_FILE")

    assert reader.secret("EVALHUB_X", "default", "") == "from the file"


def test_a_secrets_file_that_is_not_there_is_named(given, tmp_path):
    reader = given(str(tmp_path / "gone"), "EVALHUB_X_FILE")

    with pytest.raises(ImproperlyConfigured, match=r"EVALHUB_X_FILE=.*gone cannot be read"):
        reader.secret("EVALHUB_X", "default", "")


def test_settings_read_are_recorded_for_the_table():
    reader = Environment()
    reader.flag("EVALHUB_X", True, "Does it.")

    assert [tuple(setting) for setting in reader.settings] == [("EVALHUB_X", "true", "Does it.")]


def test_a_task_is_not_handed_out_again_while_it_may_still_run():
    longest = settings.EVALHUB_SLICE_S + settings.EVALHUB_LONGEST_CALL_S

    assert longest < settings.Q_CLUSTER["timeout"] < settings.Q_CLUSTER["retry"]


def test_pages_load_nothing_from_another_host():
    policy = settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]
    sources = {source for sources in policy.values() for source in sources} - {NONCE}

    assert {s for s in sources if not s.startswith("'")} == {"data:", "blob:"}


def test_inline_scripts_are_refused():
    assert "'unsafe-inline'" not in settings.CONTENT_SECURITY_POLICY["DIRECTIVES"]["script-src"]


def test_a_new_data_folder_is_for_its_owner_only(tmp_path):
    environment = {"EVALHUB_DATA_DIR": str(tmp_path / "data"), "EVALHUB_DEBUG": "1"}
    settings_read = [sys.executable, "-c", "import evalhub.settings"]

    subprocess.run(settings_read, cwd=settings.BASE_DIR, env=environment, check=True)

    assert (tmp_path / "data").stat().st_mode & 0o077 == 0


def test_a_kept_connection_is_checked_before_it_is_used(tmp_path):
    """Otherwise each web thread fails once after PostgreSQL was restarted."""
    program = (
        "from evalhub.settings import DATABASES as d; print(d['default']['CONN_HEALTH_CHECKS'])"
    )
    environment = {"EVALHUB_DATA_DIR": str(tmp_path), "DATABASE_URL": "postgres://u@db.test/name"}
    command = [sys.executable, "-c", program]

    done = subprocess.run(
        command,
        cwd=settings.BASE_DIR,
        env={**environment, "EVALHUB_DEBUG": "1"},
        check=True,
        capture_output=True,
        text=True,
    )

    assert done.stdout.strip() == "True"


def test_the_documented_time_outs_are_those_of_the_program():
    lease_s, beat_s = leases.LEASE_S, leases.BEAT_S
    slice_s, call_s = settings.EVALHUB_SLICE_S, settings.EVALHUB_LONGEST_CALL_S
    ends_s, again_s = settings.Q_CLUSTER["timeout"], settings.Q_CLUSTER["retry"]
    nested = (beat_s, lease_s, 2 * lease_s, slice_s, call_s, ends_s, again_s)
    text = (settings.BASE_DIR / "docs" / "running.md").read_text()
    table = text.partition("### Time-outs")[2].partition("To see this")[0]

    assert list(nested) == sorted(nested)
    assert re.findall(r"^\| ([\d,]+) s", table, re.MULTILINE) == [f"{s:,.0f}" for s in nested]
