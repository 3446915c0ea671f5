"""The sums of agreement: judges only, and adding up over judge runs."""

import pytest

from evalhub.statistics.agreement import krippendorff
from issues.judge_templates.lifecycle import load_builtin_templates
from runs.scoring.agreement import (
    agreement_in,
    agreement_on,
    comparisons_of,
    majority,
    statistics_of,
)
from runs.scoring.coverage_rule import JudgeValue
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db

TEXTS = [f"Point {n}." for n in range(6)]


@pytest.fixture(autouse=True)
def prompt_templates():
    load_builtin_templates()


def run_of(*votes):
    """A run of one test with a criterion for each tuple of its judges' votes."""
    texts = TEXTS[: len(votes)]
    return rubric_run([{"text": text} for text in texts], dict(zip(texts, votes, strict=True)))


def sums(run):
    (found,) = statistics_of(run.judge_runs.get().pk)["scales"].values()
    return found


def test_judge_that_gave_no_value_is_no_rater():
    run = run_of((1, 0, None), (1, 1, None))
    first, second, _ = [judge["judge"] for judge in run.judge_runs.get().jury["judges"]]
    assert sums(run)["raters"] == sorted([first, second])


def test_sums_of_two_judge_runs_give_the_alpha_of_all_their_verdicts():
    halves = [(1, 1), (0, 0.5), (0.5, 0.5)], [(1, 0), (0, 0), (1, 1)]
    parts = [krippendorff.from_json(sums(run_of(*half))["coincidences"]) for half in halves]
    together = krippendorff.alpha([*halves[0], *halves[1]])
    summed = krippendorff.summed(parts)
    assert krippendorff.alpha_from_coincidences(summed) == pytest.approx(together)


def test_verdicts_that_were_asked_in_another_run_count_there():
    votes = [JudgeValue(n, judge, False, n % 2, None) for n in range(6) for judge in (1, 2)]
    taken = [one._replace(taken_from=7) for one in votes]
    assert agreement_on(votes, {None: ""}).units == 6
    assert agreement_on(taken, {None: ""}).units == comparisons_of(taken).expected == 0


def test_too_little_data_has_no_alpha_in_a_judge_run_either():
    run = run_of((1, 1), (0, 0.5))
    found = agreement_in(statistics_of(run.judge_runs.get().pk))
    assert (found.alpha, found.band, found.units) == (None, "not enough data to say", 2)


@pytest.mark.parametrize(
    ("values", "chosen"),
    [([], None), ([1], 1), ([1, 0], None), ([1, 0, 1], 1), ([1, 1, 0, 0], None)],
)
def test_a_tie_of_samples_is_no_value(values, chosen):
    assert majority(values) == chosen
