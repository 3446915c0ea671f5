"""What the gate's command exits with and prints."""

import json
import os
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from evalhub.models import BatchState
from issues.models import Issue
from runs.models import Result, Run, Suite
from runs.suites.gate_policy import PolicyRefused
from tests.factories import make_test
from tests.reports.gate.suites import run_tests, suite_of
from tests.reports.judged_runs import fail, judged
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


def gate(capsys, *arguments):
    """What the command exits with and prints."""
    try:
        call_command("gate", *map(str, arguments))
    except SystemExit as left:
        return left.code, capsys.readouterr().out
    return 0, capsys.readouterr().out


def verdicts(capsys, *arguments):
    """The verdict of each rule."""
    printed = json.loads(gate(capsys, *arguments, "--format", "json")[1])
    return {line["rule"]: line["verdict"] for line in printed["rules"]}


@shared_data
def two_runs():
    """A baseline that passed six tests, and a later run of them that failed all."""
    return suite_of("pppppp", "ffffff")


# The runs ----------------------------------------------------------------------------------------


def test_the_baseline_of_the_suite_is_what_a_run_is_compared_with(two_runs, capsys):
    code, printed = gate(capsys, two_runs[1].pk)

    assert code == 1
    assert "April (run" in printed.splitlines()[0]
    assert "against March (run" in printed.splitlines()[0]


def test_runs_are_named_by_label_and_compared_in_that_order(two_runs, capsys):
    for other in ("March", "April"):
        flags = ["--blind-spot-points", "off"]
        assert gate(capsys, "March", "--against", other, *flags)[0] == 0


def test_an_unknown_run_is_no_regression(two_runs):
    for arguments in (["May"], ["999999"], ["April", "--against", "999999"]):
        with pytest.raises(CommandError, match=f"no run '{arguments[-1]}'") as refused:
            call_command("gate", *arguments)
        assert refused.value.returncode == 2


def test_a_label_of_several_runs_asks_for_a_number(two_runs):
    judged([1], label="April")

    with pytest.raises(CommandError, match="Several runs are called 'April'"):
        call_command("gate", "April")


def test_without_a_baseline_the_previous_run_is_compared(two_runs, capsys):
    Suite.objects.get().baselines.clear()

    assert "against March (run" in gate(capsys, "April")[1].splitlines()[0]


def test_a_run_without_another_one_cannot_be_decided(two_runs, capsys):
    code, printed = gate(capsys, "March")

    assert code == 2
    assert "There is no run to compare with" in printed


def test_rules_on_the_run_alone_need_no_baseline(two_runs, capsys):
    flags = ["--conclusion", "off", "--min-pass-rate"]

    assert gate(capsys, "March", *flags, "40%")[0] == 0
    assert gate(capsys, "March", *flags, "90%")[0] == 2
    assert gate(capsys, "April", *flags, "60%")[0] == 1


def test_a_run_at_work_cannot_be_decided(two_runs, capsys):
    Run.objects.filter(label="April").update(state=BatchState.LIVE)
    code, printed = gate(capsys, "April")

    assert code == 2
    assert "its figures will change" in printed
    assert "rate it worse" not in printed


def test_the_command_waits_for_the_run(two_runs, capsys, monkeypatch):
    Run.objects.filter(label="April").update(state=BatchState.LIVE)
    monkeypatch.setattr(
        "reports.management.commands.gate.sleep",
        lambda s: Run.objects.filter(label="April").update(state=BatchState.DONE),
    )

    assert gate(capsys, "April", "--wait", "60")[0] == 1


# Missing results ---------------------------------------------------------------------------------


def test_below_95_percent_scored_of_either_run_nothing_is_decided(two_runs, capsys, subtests):
    for run, other in (two_runs, two_runs[::-1]):
        with subtests.test(run.label):
            other.results.filter(state="error").update(state="done")
            fail(run, run.results.first())
            code, printed = gate(capsys, "April", "--against", "March")

            assert code == 2
            assert "Retry 1 failed" in printed
            assert f"/api/v1/runs/{run.pk}/retry_errors/" in printed
            assert "p =" not in printed
            assert "passed → failed" not in printed


def test_no_flag_lowers_the_share_that_has_to_be_scored(two_runs):
    with pytest.raises(CommandError, match="max-missing"):
        call_command("gate", "April", "--max-missing", "20%")


def test_runs_of_other_tests_cannot_be_compared(two_runs, capsys):
    tests = run_tests(two_runs[1])[:5]
    judged(*[[1.0]] * 5, tests=tests, suite=two_runs[1].suite, label="May")
    code, printed = gate(capsys, "May")

    assert code == 2
    assert "5 of 6 tests match" in printed


# Policy ------------------------------------------------------------------------------------------


def test_the_policy_of_the_suite_decides(two_runs, capsys):
    Suite.objects.update(gate={"conclusion": False, "min_pass_rate": 0.6})

    assert verdicts(capsys, "April") == {"scored": "holds", "min_pass_rate": "does_not_hold"}


def test_flags_override_the_policy_rule_by_rule(two_runs, capsys):
    Suite.objects.update(gate={"min_pass_rate": 0.5, "max_net_loss_points": 2})

    found = verdicts(capsys, "April", "--min-pass-rate", "off", "--level", "0.001")

    assert found == {
        "scored": "holds",
        "baseline_scored": "holds",
        "comparable": "holds",
        "conclusion": "holds",
        "blind_spot_points": "cannot_tell",
        "max_net_loss_points": "does_not_hold",
    }


def test_a_failing_test_of_a_severe_issue_fails(two_runs, capsys):
    flags = ["--conclusion", "off", "--failing-severity", "high"]
    code, printed = gate(capsys, "April", *flags)
    assert code == 2
    assert (
        "The run has no tests of issues of severity high or worse: nothing is checked." in printed
    )

    test = run_tests(two_runs[1])[3]
    Issue.objects.filter(pk=test.issue_id).update(severity="critical", title="Wrong dose")
    code, printed = gate(capsys, "April", *flags)

    assert code == 1
    assert "1 of 1 tests of issues of severity high or worse fail: " in printed
    assert "“Question 3?” (Wrong dose)." in printed


def test_a_tie_of_repeats_of_a_severe_test_fails(capsys):
    tests = [make_test(), make_test()]
    run = judged([1.0], [0.0], [1.0], [1.0], tests=tests, repeats=2)
    Issue.objects.update(severity="critical")
    flags = ["--conclusion", "off", "--failing-severity", "critical"]
    code, printed = gate(capsys, run.pk, *flags)

    assert code == 1
    assert "1 of 2 tests of issues of severity critical fail" in printed


def test_latency_and_cost_have_limits(two_runs, capsys):
    Result.objects.update(latency_ms=2000, cost_usd="0.01")
    flags = ["--conclusion", "off"]

    for flag, holds, fails in (
        ("--max-p90-latency-ms", "2000", "1999"),
        ("--max-mean-cost-usd", "0.01", "0.0099"),
    ):
        codes = [gate(capsys, "April", *flags, flag, limit)[0] for limit in (holds, fails)]
        assert codes == [0, 1], flag
    Result.objects.update(latency_ms=None)
    code, printed = gate(capsys, "April", *flags, "--max-p90-latency-ms", "2000")
    assert code == 2
    assert "Latency is known of 0 of 6 answers" in printed


def test_a_wrong_limit_is_named(two_runs, subtests):
    wrong = {"level": "2", "min-pass-rate": "x", "max-net-loss-points": "much"}
    wrong |= {"failing-severity": "grave", "max-p90-latency-ms": "-1"}
    for flag, limit in (wrong | {"conclusion": "maybe"}).items():
        with subtests.test(flag), pytest.raises(CommandError, match=limit):
            call_command("gate", "April", f"--{flag}", limit)


def test_flags_that_leave_no_rule_are_refused(two_runs):
    with pytest.raises(CommandError, match="Turn on at least one rule") as refused:
        call_command("gate", "April", "--conclusion", "off")

    assert refused.value.returncode == 2
    assert isinstance(refused.value.__cause__, PolicyRefused)


# Formats -----------------------------------------------------------------------------------------


def test_text_has_flips_rules_and_the_decision(two_runs, capsys):
    printed = gate(capsys, "April")[1]

    assert printed.count("passed → failed") == 6
    assert "p = 0.016, limit p = 0.05, n = 6" in printed
    last = printed.rstrip().splitlines()[-1]
    assert last.startswith("Exit 1: Judges rate it worse: lost 6, won 0 of the same 6 tests.")


def test_a_name_can_neither_begin_a_line_of_the_log_nor_command_it(two_runs, capsys):
    Issue.objects.update(title="x\n::stop-commands::y\r\x1b[2J\u2028z")
    printed = gate(capsys, "April")[1]

    assert "x ::stop-commands::y  [2J z" in printed
    assert not [line for line in printed.splitlines() if line.startswith("::")]


def test_json_says_the_same_in_full_precision(two_runs, capsys):
    code, printed = gate(capsys, "April", "--format", "json")
    said = json.loads(printed)
    rule = next(line for line in said["rules"] if line["rule"] == "conclusion")

    assert (code, said["exit"], said["verdict"]) == (1, 1, "does_not_hold")
    assert (rule["n"], rule["verdict"]) == (6, "does_not_hold")
    assert rule["p"] == pytest.approx(1 / 64)
    assert len(said["flips"]) == 6
    assert said["policy"]["conclusion"] is True


def test_junit_has_a_case_for_each_rule(two_runs, capsys):
    flags = ["--min-pass-rate", "0", "--max-mean-cost-usd", "1", "--format", "junit"]
    suite = ElementTree.fromstring(gate(capsys, "April", *flags)[1]).find("testsuite")

    cases = {case.get("classname"): case for case in suite.iter("testcase")}
    assert (
        cases["gate.conclusion"]
        .find("failure")
        .get("message")
        .startswith("Judges rate it worse: lost 6, won 0")
    )
    assert cases["gate.max_mean_cost_usd"].find("error") is not None
    assert "Wilson by issue" in cases["gate.min_pass_rate"].findtext("system-out")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("7", "1", "2")


def test_markdown_has_a_row_for_each_rule_and_flip(two_runs, capsys):
    Issue.objects.update(title="a | b")
    printed = gate(capsys, "April", "--format", "markdown")[1]

    assert printed.startswith("# Gate: Does not hold")
    assert "| Not worse than the baseline | does not hold | Judges rate it worse: lost 6" in printed
    assert printed.count("a \\| b | passed → failed |") == 6


def test_a_gate_without_a_database_or_with_wrong_settings_does_not_say_worse(subtests):
    usual = {"EVALHUB_SECRET_KEY": "a" * 50, "EVALHUB_DEBUG": "false"}
    wrong = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/none", "EVALHUB_SECRET_KEY": ""}
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "gate", "1"]
    started = {  # both at once, as most of the time goes into their start
        name: subprocess.Popen(
            command,
            env={**os.environ, **usual, name: value},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        for name, value in wrong.items()
    }
    for name, process in started.items():
        with subtests.test(name):
            assert b"Traceback" not in process.communicate()[1]
            assert process.returncode == 2
