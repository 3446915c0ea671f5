"""The simulations of `dev.py bench validity` with few draws, within their random error."""

from math import sqrt

import pytest

from tests.bench.validity import Check, checks, intervals
from tests.bench.validity.__main__ import main

DRAWS = 1000
SMALL = (
    *(
        "correlation 0.3",
        "issue: fixed, fails, 5",
        "issue: at the limit, passes, 29",
        "issue: fails, 10",
        ", 10 results",
        "100 results × 5",
    ),
    *("none: 6 equal issues, correlation 0.2", "lost: 20 issues, equal", "5 of 6 issues"),
    *("gate 1 without a change: 3 issues, one of", "with nothing missing: one of"),
    *("gate, false alarms: 5 equal issues, 40%", "whatever people review"),
    *("in 8 issues, 15%", "in 20 issues, 30%", "heat maps"),
    *("correlated: 2 models", "called first", "lost among 2%"),
    *("sensitivity: 10 issues, 0.9, correlation 0.1", "kappa: 10 issues, 0.5, correlation 0.1"),
    *("uneven: 3 models", "in three suites, equal, pass rate 50%"),
    *("pairwise interval: 10 issues, spread 0.5", "pairwise: equal", "pairwise: a clear"),
    *("kind judge: better by 150 planned", "covered, kind judge, 150 unpaired"),
    *("knows nothing", "people: 5 points lost, kind judge: worse by 150 pairs"),
    *("covered, 60 issues, 50 read as planned", "planned pairs, three that err together"),
    *("over five looks, nothing changed, kind", "600 tests, 5% lost and allowed"),
    *("lost each time, 5 allowed, stopped by release 5", "unchanged releases stopped at .01"),
    *("trial: 10 ideas, sensitivity 0.9", "position bias: 20 issues"),
)
FEW = [one for one in checks() if any(part in one.name for part in SMALL) and not one.caveat]
WRONG = (
    *("by the former rule: 6 issues", "1 of 20 issues lost, by the former rule"),
    *("change interval by tests alone", "in place of judges: failed answers"),
    *("worse by scored tests alone", "flaky tests set aside"),
    *("67 %: 40 tests, 8 issues, by the release before", "better by judges alone"),
    *("change covered, kind judge, judges alone", "rate covered, kind judge, judges alone"),
    *("worse by judges alone", "wrong by judges alone", "passes by the point estimate"),
    "against the one before",
)


@pytest.mark.parametrize("check", FEW, ids=lambda check: check.name)
def test_conclusions_hold(check):
    draws = DRAWS if check.name.startswith("interval") else DRAWS // 25
    figure = check.measure(DRAWS)
    error = 3 * sqrt(max(figure * (1 - figure), 0.01) / draws)

    assert check.low - error <= figure <= check.high + error


@pytest.mark.parametrize("part", WRONG)
def test_the_world_of_a_bound_misleads_the_former_rule(part):
    (former,) = (one for one in checks() if part in one.name)

    assert former.caveat
    assert not former.holds(former.measure(DRAWS))


@pytest.mark.parametrize("part", SMALL)
def test_each_part_of_a_name_is_of_a_simulation(part):
    assert any(part in check.name for check in FEW)


def test_names_are_unique():
    names = [check.name for check in checks()]
    assert len(set(names)) == len(names)


def test_a_caveat_is_shown_in_place_of_a_bound(monkeypatch, capsys):
    shown = Check("told apart", 0, 1, lambda draws: 0.44, "caveat shown")
    monkeypatch.setattr("tests.bench.validity.__main__.checks", lambda: [shown])

    assert main([]) == 0
    row = capsys.readouterr().out
    assert "44.0%" in row
    assert "caveat shown" in row
    assert "yes" not in row


def test_a_missed_bound_ends_with_1(monkeypatch, capsys):
    monkeypatch.setattr(intervals, "MOST", 0.5)

    assert main(["interval: 5 issues, rate 0.5, correlation 0.0"], draws=20) == 1
    assert "NO" in capsys.readouterr().out
