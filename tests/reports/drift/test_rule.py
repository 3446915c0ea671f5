"""The rule of drift. `drift_cases.json` holds the worked cases in our own words."""

import json
from datetime import UTC, datetime, timedelta
from itertools import count
from math import inf, nextafter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.drift.rule import MIN_SPAN, Observed, State, watch
from reports.leaderboard.query import tried_out_suites

CASES = json.loads(Path(__file__).with_name("drift_cases.json").read_text())
START = datetime(2026, 3, 1, tzinfo=UTC)
TOLERANCE = 0.0051


def observed(case):
    number = count(1)
    return [
        Observed(
            next(number),
            (run["suite"], model),
            datetime.fromisoformat(run["at"]),
            score,
            temperature=0,
            is_tried_out=bool(tried_out_suites({1: tuple(case.get("tags", ()))})),
        )
        for run in case["runs"]
        for model, score in run["scores"].items()
    ]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_largest_drift_is_the_worked_one(case):
    drifted = watch(observed(case)).far
    wanted = case["largest"]
    if wanted is None:
        assert drifted == ()
        return
    first = drifted[0]
    assert first.line == (wanted["suite"], wanted["model"])
    assert len(first.runs) == wanted["runs"]
    assert [first.low.score, first.high.score, first.change] == pytest.approx(
        [wanted["low"], wanted["high"], wanted["change"]], abs=TOLERANCE
    )
    assert first.low.at == datetime.fromisoformat(wanted["low_at"])
    assert first.high.at == datetime.fromisoformat(wanted["high_at"])


def series(*scores, apart=timedelta(days=1), **fields):
    """Runs of one line with these scores, a day between each two."""
    return [
        Observed(number, "line", START + number * apart, score, **fields)
        for number, score in enumerate(scores)
    ]


def states(*scores, **fields):
    return [found.state for found in watch(series(*scores, **fields)).series]


@pytest.mark.parametrize(
    ("scores", "state"),
    [
        ((0.5, 0.55), State.FAR),
        # In floats 0.5 - 0.45 is a little less than 0.05; it is rounded before it is compared.
        ((0.45, 0.5), State.FAR),
        ((0.5, 0.549), State.STEADY),
        # 0.06 of 0.61 is less than 10 %.
        ((0.61, 0.67), State.STEADY),
        # 0.055 of 0.55 is 10 %.
        ((0.55, 0.605), State.FAR),
        ((0.0, 0.05), State.FAR),
        ((0.0, 0.0), State.STEADY),
        ((0.9, None, 0.2), State.NO_SCORE),
        ((None, None), State.NO_SCORE),
    ],
)
def test_thresholds_are_met_to_the_last_digit(scores, state):
    assert states(*scores) == [state]


def test_span_of_exactly_23_hours_is_enough():
    assert states(0.2, 0.8, apart=MIN_SPAN) == [State.FAR]


def test_change_from_nothing_is_infinite():
    assert watch(series(0.0, 0.1)).series[0].relative == inf


def test_first_of_equal_scores_is_the_extreme_however_they_were_added_up():
    (found,) = watch(series(0.9, 0.3, nextafter(0.9, 1), nextafter(0.3, 0))).series
    assert (found.high.run, found.low.run) == (0, 1)


def test_direction_is_that_of_the_later_extreme():
    assert watch(series(0.2, 0.8, 0.5)).series[0].is_better
    assert not watch(series(0.8, 0.2, 0.5)).series[0].is_better


@pytest.mark.parametrize("temperature", [0, 0.0, None])
def test_settled_temperatures_are_watched(temperature):
    assert states(0.2, 0.8, temperature=temperature) == [State.FAR]


@pytest.mark.parametrize(
    ("fields", "warm", "tried_out"),
    [
        *(({"temperature": warm}, 2, 0) for warm in (0.7, [0, 0.7], [0], "0")),
        ({"is_tried_out": True}, 0, 2),
    ],
)
def test_other_temperatures_and_suites_that_try_things_out_are_counted_apart(
    fields, warm, tried_out
):
    found = watch(series(0.2, 0.8, **fields))
    assert (found.series, found.warm, found.tried_out) == ((), warm, tried_out)
    single = watch(series(0.5))  # of one run, which is no series
    assert (single.series, single.single) == ((), 1)


@pytest.mark.parametrize("tag", ["test", "Test", " TEST "])
def test_suites_with_the_tag_test_try_things_out(tag):
    assert tried_out_suites({1: ("law", tag), 2: ("law", "test-taking")}) == {1}


def test_series_that_are_too_short_do_not_count_as_drifted():
    short = [
        Observed(10 + hours, "short", START + timedelta(hours=hours), 0.5 + hours / 100)
        for hours in (0, 22)
    ]
    found = watch([*series(0.5, 0.9), *short])
    assert [one.state for one in found.series] == [State.FAR, State.TOO_SHORT]
    assert found.monitored == 1


def test_largest_drift_comes_first_and_steady_lines_last():
    lines = {"small": (0.5, 0.6), "steady": (0.5, 0.5), "large": (0.9, 0.2)}
    number = count(1)
    found = watch(
        Observed(next(number), line, START + day * timedelta(days=1), score)
        for line, scores in lines.items()
        for day, score in enumerate(scores)
    )
    assert [series.line for series in found.series] == ["large", "small", "steady"]


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=2, max_size=6), st.randoms())
def test_order_of_reading_changes_nothing(scores, random):
    runs = series(*scores)
    random.shuffle(runs)
    assert watch(runs) == watch(series(*scores))
