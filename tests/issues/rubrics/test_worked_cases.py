"""Worked cases of rubrics, replies, panels and agreement: inputs, and what they come to.

Some values were rounded to two decimals where they come from, and ours never are: equal is what
differs by less than 0.0051. `worked_cases.json` holds them in the words of the ledger. Who of a
panel is asked is seen on its whole way, in `tests/runs/judging/test_worked_juries.py`.
"""

import json
from pathlib import Path

import pytest

from evalhub.llm.verdicts.judge_replies import Unreadable, parse_verdict
from evalhub.statistics.agreement.krippendorff import alpha
from issues.rubrics.scales import FIVE_CLASSES
from issues.rubrics.scoring import Point, jury_value, score_of

CASES = json.loads(Path(__file__).with_name("worked_cases.json").read_text())
TOLERANCE = 0.0051


def each(group):
    return pytest.mark.parametrize("case", CASES[group], ids=lambda case: case["id"])


def about(value):
    return pytest.approx(value, abs=TOLERANCE)


@each("rubrics")
def test_rubric_has_the_worked_score(case):
    points = [Point(str(number), **point) for number, point in enumerate(case["points"])]
    assert score_of(points) == about(case["score"])


@each("replies")
def test_reply_is_read_as_worked(case):
    verdict = parse_verdict(case["reply"], FIVE_CLASSES.options)
    if "failure" in case:
        assert isinstance(verdict, Unreadable)
        assert case["failure"] in verdict.reason
    else:
        assert (verdict.value, verdict.justification) == (case["value"], case["justification"])


@each("panels")
def test_panel_comes_to_the_worked_value(case):
    was_backup_asked = "backup" in case and None in case["judges"]
    votes = [*case["judges"], *([case["backup"]] if was_backup_asked else [])]
    assert jury_value({judge: [vote] for judge, vote in enumerate(votes)}) == about(case["value"])


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
@each("agreement")
def test_alpha_is_the_worked_one(case, level):
    judges = sorted({judge for unit in case["units"] for judge in unit})
    table = [[unit.get(judge) for judge in judges] for unit in case["units"]]
    assert alpha(table, level) == pytest.approx(case["alpha"][level], abs=1e-6)
