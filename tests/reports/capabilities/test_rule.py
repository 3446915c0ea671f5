"""Capability buckets. `capability_cases.json` holds the worked cases in our own words."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reports.capabilities.rule import (
    Bucket,
    Capability,
    InSuite,
    Record,
    capability,
    parts_of,
    share_of_grade,
)
from reports.leaderboard.rule import Excluded

WORKED = json.loads(Path(__file__).with_name("capability_cases.json").read_text())
BUCKET = Bucket("Safety", **WORKED["bucket"])
TOLERANCE = 0.0051


def record(model, *, scores, **fields):
    found = {
        name: InSuite(one["score"], frozenset(one.get("topics", ())))
        for name, one in scores.items()
    }
    return Record(model, scores=found, **fields)


@pytest.mark.parametrize("case", WORKED["cases"], ids=lambda case: case["id"])
def test_bucket_ranks_as_worked(case):
    found = [
        capability(BUCKET, record(model, **fields)) for model, fields in case["models"].items()
    ]
    standing = [one for one in found if isinstance(one, Capability)]
    ranked = sorted(standing, key=lambda one: -one.score)
    assert [one.model for one in ranked] == [model for model, _ in case["ranked"]]
    assert [one.score for one in ranked] == pytest.approx(
        [score for _, score in case["ranked"]], abs=TOLERANCE
    )


FULL = Record(
    "m",
    runs=10,
    suites=5,
    grades={"safety": 10},
    scores={"clinical": InSuite(0.5), "flattery": InSuite(0.5)},
)


def test_least_that_is_needed_is_enough():
    # (2 · 1 + 2 · 0.5 + 2 · 0.5) / 6
    assert capability(BUCKET, FULL).score == pytest.approx(4 / 6)


@pytest.mark.parametrize(
    ("lack", "reason"),
    [
        ({"runs": 9}, "needs ≥ 10 runs, has 9"),
        ({"suites": 4}, "needs ≥ 5 suites, has 4"),
        ({"scores": {"clinical": InSuite(1)}}, "needs ≥ 2 of the 3 listed suites, has 1"),
        ({"runs": 1, "suites": 1}, "needs ≥ 10 runs, has 1; needs ≥ 5 suites, has 1"),
    ],
)
def test_the_reason_lists_what_is_missing(lack, reason):
    assert capability(BUCKET, replace(FULL, **lack)) == Excluded("m", reason)


def test_nothing_measured_is_no_score():
    bucket = Bucket("Empty", {"tone": 1}, {}, {})
    assert capability(bucket, FULL) == Excluded("m", "has no component of this capability")


def test_heaviest_topic_of_a_suite_counts_alone():
    about = InSuite(0.4, frozenset({"safety", "mental-health--crisis-support"}))
    parts = parts_of(BUCKET, replace(FULL, grades={}, scores={"other": about}))
    assert [(part.name, part.suite, part.weight) for part in parts] == [
        ("mental-health--crisis-support", "other", 1.8)
    ]


def test_every_suite_about_a_topic_counts():
    about = InSuite(0.4, frozenset({"safety"}))
    parts = parts_of(BUCKET, replace(FULL, grades={}, scores={"one": about, "two": about}))
    assert [part.weight for part in parts] == [1.5, 1.5]


def test_grades_span_the_scale():
    assert [share_of_grade(grade) for grade in (1, 5.5, 10)] == [0, 0.5, 1]
