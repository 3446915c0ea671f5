"""Whether a run may pass, and what the gate's command exits with."""

import json

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import strategies as st

from evalhub.statistics.change_test import change_test
from issues.models import Issue
from reports.compare.rule import MATCHED, missing_share, net_change, tally_of
from reports.gate.exit_codes import ExitCode
from reports.gate.rule import GateInput, Limits, rule
from runs.models import Result, Suite
from tests.reports.compare.builders import a_run, comparison
from tests.reports.judged_runs import fail, judged


def found(first, second, *, single=True):
    rows = comparison(first, second)
    kept = [one for one in rows if one.change is not None]
    evidence = change_test(
        [one.change or 0 for one in kept], [one.latest.issue_id for one in kept], single=single
    )
    return GateInput(
        tally=tally_of(rows),
        matched=sum(one.kind in MATCHED for one in rows),
        missing=missing_share(rows),
        net=net_change(rows),
        p=evidence.p,
    )


def code(first, second, **limits):
    return rule(found(a_run(*first), a_run(*second)), Limits(**limits)).code


def test_six_worse_of_six_are_a_regression():
    assert code("p" * 6, "f" * 6) == ExitCode.REGRESSED


def test_five_worse_of_five_are_not_enough_evidence():
    assert code("p" * 5, "f" * 5) == ExitCode.PASSES


def test_a_significant_change_for_the_better_passes():
    assert code("f" * 20, "p" * 20) == ExitCode.PASSES


def test_alpha_moves_the_line():
    assert code("p" * 6, "f" * 6, alpha=0.01) == ExitCode.PASSES


@pytest.mark.parametrize(("most", "expected"), [(1, ExitCode.REGRESSED), (2, ExitCode.PASSES)])
def test_more_worse_than_allowed_is_a_regression_however_uncertain(most, expected):
    assert code("ppff", "ffpp", max_worse=most) == expected


def test_runs_without_common_tests_cannot_be_decided():
    rows = comparison(a_run("p"), [])

    assert (
        rule(
            GateInput(tally_of(rows), 0, missing_share(rows), None, None), Limits(max_missing=1)
        ).code
        == ExitCode.CANNOT_TELL
    )


def test_runs_without_tests_cannot_be_decided():
    assert code("", "", max_missing=1) == ExitCode.CANNOT_TELL


@pytest.mark.parametrize("lacking", ["e", "u", "w"])
def test_too_many_missing_tests_cannot_be_decided(lacking):
    # 1 of 19 is 5.3 %.
    assert code("p" * 19, "p" * 18 + lacking) == ExitCode.CANNOT_TELL


def test_exactly_as_many_missing_as_allowed_pass():
    # 1 of 20 is 5 %.
    assert code("p" * 20, "p" * 19 + "e") == ExitCode.PASSES


def test_a_regression_with_too_much_missing_cannot_be_decided():
    assert code("p" * 10, "f" * 8 + "ee") == ExitCode.CANNOT_TELL


outcomes = st.lists(st.text("pfeuw", min_size=1, max_size=3), min_size=1, max_size=12)


@given(outcomes, st.floats(0, 1), st.integers(0, 5), st.booleans())
def test_a_run_compared_with_itself_passes_unless_too_much_is_missing(tests, most, worse, single):
    run = a_run(*tests)
    same = found(run, run, single=single and all(len(test) == 1 for test in tests))

    ruling = rule(same, Limits(max_worse=worse, max_missing=most))

    if round(same.missing - most, 9) <= 0:
        assert ruling.code == ExitCode.PASSES
    else:
        assert ruling.code == ExitCode.CANNOT_TELL


def test_the_rule_in_words_names_its_limits():
    words = Limits(alpha=0.01, max_worse=3, max_missing=0.1).in_words()

    assert "p <= 0.01" in words
    assert "more than 3 are worse" in words
    assert "exceed 10%" in words


# The command -------------------------------------------------------------------------------------


def gate(capsys, *arguments):
    """What the command exits with and prints."""
    try:
        call_command("gate", *map(str, arguments))
    except SystemExit as left:
        return left.code, capsys.readouterr().out
    return 0, capsys.readouterr().out


@pytest.fixture
def two_runs(db):
    """A baseline that passed six tests, and a later run of them that failed all."""
    suite = Suite.objects.create(name="Everyday questions")
    first = judged(*[[1, 1]] * 6, suite=suite, label="March")
    tests = [result.test for result in first.results.order_by("pk")]
    second = judged(*[[0, 0]] * 6, tests=tests, suite=suite, label="April")
    suite.baseline = first
    suite.save()
    return first, second


def test_the_baseline_of_the_suite_is_what_a_run_is_compared_with(two_runs, capsys):
    code, printed = gate(capsys, two_runs[1].pk)

    assert code == 1
    assert "April (run" in printed.splitlines()[0]
    assert "against March (run" in printed.splitlines()[0]


def test_a_name_can_neither_begin_a_line_of_the_log_nor_command_it(two_runs, capsys):
    Issue.objects.update(title="x\n::stop-commands::y\r\x1b[2J\u2028z")
    printed = gate(capsys, two_runs[1].pk)[1]

    assert "x ::stop-commands::y  [2J z" in printed
    assert not [line for line in printed.splitlines() if line.startswith("::")]


def test_flips_the_rule_and_what_could_be_found_are_printed(two_runs, capsys):
    printed = gate(capsys, two_runs[1].pk)[1]

    assert printed.count("passed → failed") == 6
    assert "6 worse, 0 better of 6 matched: p = 0.031" in printed
    assert "80% power" in printed
    assert "Rule: Exit 2 if no tests match" in printed
    assert printed.rstrip().endswith(
        "Exit 1: Tests got significantly worse on balance (p = 0.0312)."
    )


def test_a_run_is_named_by_label_too(two_runs, capsys):
    assert gate(capsys, "March", "--against", "March")[0] == 0


def test_the_reverse_comparison_got_better(two_runs, capsys):
    assert gate(capsys, "March", "--against", "April")[0] == 0


def test_errors_beyond_the_limit_cannot_be_decided(two_runs, capsys):
    fail(two_runs[1], Result.objects.filter(run=two_runs[1]).first())

    assert gate(capsys, "April")[0] == 2
    assert gate(capsys, "April", "--max-missing", "20%", "--alpha", "0.0001")[0] == 0


def test_json_tells_the_same_in_full_precision(two_runs, capsys):
    code, printed = gate(capsys, "April", "--json")
    told = json.loads(printed)

    assert (code, told["exit"], told["worse"], told["matched"]) == (1, 1, 6, 6)
    assert told["p"] == pytest.approx(2 / 64)
    assert len(told["flips"]) == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["May"], "no run 'May'"),
        (["April", "--against", "999999"], "no run '999999'"),
    ],
)
def test_an_unknown_run_is_no_regression(two_runs, arguments, words):
    with pytest.raises(CommandError, match=words) as refused:
        call_command("gate", *arguments)

    assert refused.value.returncode == 2


def test_without_a_baseline_the_previous_run_is_compared(two_runs, capsys):
    Suite.objects.update(baseline=None)

    assert "against March (run" in gate(capsys, "April")[1].splitlines()[0]


def test_a_run_without_an_opponent_cannot_be_decided(two_runs):
    with pytest.raises(CommandError, match="nothing to compare March with") as refused:
        call_command("gate", "March")

    assert refused.value.returncode == 2


def test_a_label_of_several_runs_asks_for_a_number(two_runs):
    judged([1], label="April")

    with pytest.raises(CommandError, match="Several runs are called 'April'"):
        call_command("gate", "April")


@pytest.mark.parametrize(
    "arguments", [["--alpha", "2"], ["--max-missing", "x"], ["--max-worse", "-1"]]
)
def test_a_wrong_limit_is_named(two_runs, arguments):
    with pytest.raises(CommandError, match=arguments[1]):
        call_command("gate", "April", *arguments)
