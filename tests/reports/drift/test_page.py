"""Drift on real rows: what counts as one line, what is read of it, and what the page says."""

import pytest
from django.core.cache import caches

from evalhub.models import BatchState
from reports.documents.document import Link
from reports.documents.reading import Reading
from reports.drift.page import DRIFT
from reports.drift.query import drift_report
from reports.drift.rule import State
from runs.comparison.comparability import rejudge_url
from runs.models import Run
from tests.factories import make_jury, make_model, make_test, make_user
from tests.reports.scored_runs import make_suite, scored_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def test():
    return make_test()


@pytest.fixture
def suite(test):
    return make_suite(test, name="Sums")


@pytest.fixture
def run(suite, test):
    """Make a run of the one test with this score."""
    model = make_model(name="Model", params={"temperature": 0})

    def made(score, days_ago, **fields):
        asked = {"model": model, "suite": suite} | fields
        return scored_run(
            asked.pop("suite"), asked.pop("model"), score, tests=[test], days_ago=days_ago, **asked
        )

    return made


def found():
    return drift_report(Reading(make_user("viewer"))).watch


def test_two_runs_of_one_line_are_a_series(run):
    first, second = run(0.9, 2), run(0.5, 0)
    (series,) = found().far
    assert [one.run for one in series.runs] == [first.pk, second.pk]
    assert (series.low.run, series.high.run) == (second.pk, first.pk)


def test_score_is_weighted_by_the_tests(suite):
    tests = [make_test(weight=3), make_test()]
    model = make_model()
    run = scored_run(suite, model, 1, 0, tests=tests, days_ago=2)
    scored_run(suite, model, 0, 1, tests=tests)
    (series,) = found().far
    # (3 · 1 + 1 · 0) / 4 and (3 · 0 + 1 · 1) / 4
    assert (series.high.run, series.high.score, series.low.score) == (run.pk, 0.75, 0.25)


def test_results_without_a_score_do_not_count(suite):
    tests = [make_test() for _ in range(20)]
    model = make_model()
    scored_run(suite, model, *[0.9] * 19, None, tests=tests, days_ago=2)
    scored_run(suite, model, *[0.5] * 20, tests=tests)
    report = drift_report(Reading(make_user("viewer")))
    (series,) = report.watch.far
    sums = report.sums[series.high.run]
    assert (series.high.score, sums.n, sums.total) == (pytest.approx(0.9), 19, 20)


def test_runs_that_differ_in_anything_are_other_lines(run):
    run(0.9, 2)
    others = (
        {"suite_fingerprint": "other"},
        {"variant_key": "other"},
        {"release": "1.1"},
        {"similarity_weight": 0.2},
        {"similarity_weight": 0.2, "similarity_endpoint": {"name": "other"}},
        {"score_by_similarity": True},
        {"jury": make_jury(make_model())},
    )
    for other in others:
        run(0.5, 0, **other)
    assert (found().series, found().single) == ((), 1 + len(others))


def test_a_series_that_another_jury_ended_can_be_continued_by_re_judging(run):
    older, newest = run(0.9, 2), run(0.5, 0, jury=make_jury(make_model()))
    document = built(role="maintainer")

    (row,) = document.table("apart").as_rows()
    assert row["reason"] == (
        "not comparable: different juries judged these runs",
        Link("Re-judge", rejudge_url(newest.pk, older.pk)),
    )
    assert "0 with scores far apart" in document.sentences[0]


def test_name_of_a_model_may_change_within_a_line(run):
    run(0.9, 2)
    run(0.5, 0, model_name="Renamed")
    assert len(found().far) == 1


def test_other_temperatures_are_not_watched(run):
    for fields in ({"params": {"temperature": 0.7}}, {"model_name": "model[temp:0.7]"}):
        model = make_model()
        run(0.9, 2, model=model, **fields)
        run(0.5, 0, model=model, **fields)
    assert (found().series, found().warm) == ((), 4)


def test_params_of_the_run_overrule_those_of_the_model(run):
    model = make_model(params={"temperature": 1})
    run(0.9, 2, model=model, params={"temperature": 0})
    run(0.5, 0, model=model, params={"temperature": 0})
    assert len(found().far) == 1


def test_suites_tagged_test_are_not_watched(run, test):
    suite = make_suite(test, tags=("Test",))
    run(0.9, 2, suite=suite)
    run(0.5, 0, suite=suite)
    assert (found().series, found().tried_out) == ((), 2)


def test_runs_that_are_not_done_are_not_watched(run):
    run(0.9, 2)
    run(0.1, 1).judge_runs.update(state=BatchState.LIVE)
    Run.objects.filter(pk=run(0.1, 1).pk).update(state=BatchState.PAUSED)
    run(0.9, 0)
    (series,) = found().series
    assert (len(series.runs), series.state) == (2, State.STEADY)


def test_scripted_models_are_labelled(run):
    run(0.9, 2, is_scripted=True)
    last = run(0.5, 0, is_scripted=True)
    assert drift_report(Reading(make_user("viewer"))).labels[last.pk] == ("scripted model",)


# The page ----------------------------------------------------------------------------------------


def built(role="viewer", **asked):
    return DRIFT.build({"suite": None} | asked, Reading(make_user(role)))


def test_page_says_which_scores_are_far_apart(run, test):
    run(0.9, 2)
    run(0.5, 0)
    other = make_suite(test)
    for days_ago in (0.5, 0):
        run(0.5, days_ago, suite=other, suite_fingerprint="g")
    document = built()
    assert document.sentences[0] == ("1 series monitored, 1 with scores far apart; 1 too short.")
    (drifted,) = (fact for fact in document.facts if fact.name == "drifted")
    assert drifted.note == "of 1 series monitored, p ≤ 0.05, Holm over 1"
    (drifted, *_) = built(suite=other).facts
    assert drifted.note == "of 0 series monitored, p ≤ 0.05, Holm over 1"


def test_a_change_that_may_be_chance_is_no_drift(run):
    run(0.9, 2)
    run(0.5, 0)
    reading = Reading(make_user("viewer"), computes=False)
    caches["computed"].clear()
    (row,) = DRIFT.build({"suite": None}, reading).table("drifts").as_rows()
    assert reading.pending
    assert (row["direction"], row["p_holm"]) == ("being computed", None)
    document = built()
    (row,) = document.table("drifts").as_rows()
    assert (row["direction"], row["tests"], row["p_holm"]) == (None, 1, 0.5)
    assert not any("drifted:" in sentence for sentence in document.sentences)
    (fact,) = [fact for fact in document.facts if fact.name == "drifted"]
    assert fact.value == 0


def test_a_drift_is_told_with_its_n_its_p_and_the_test(suite):
    tests, model = [make_test(f"{n}?") for n in range(10)], make_model(name="Model")
    for days_ago, score in ((2, 0.9), (1, 0.9), (0, 0.5)):
        scored_run(suite, model, *[score] * 10, tests=tests, days_ago=days_ago)
    document = built()
    (row,) = document.table("drifts").as_rows()
    # All of 10 tests fell: 1 / 2^10 (mid-p), for 3 pairs of runs.
    assert row["direction"] == "worse"
    assert (row["tests"], row["p_holm"]) == (10, pytest.approx(3 / 2**10))
    assert "Model in Sums drifted: it fell from 0.9 to 0.5" in document.sentences[1]
    assert "10 tests" in document.sentences[1]
    assert f"(p = 0.0029, {row['method']}, Holm)" in document.sentences[1]


def test_largest_drift_comes_first_with_a_link_to_both_runs(run, test):
    run(0.6, 2)
    run(0.5, 0)
    other = make_suite(test, name="Words")
    first = run(0.9, 2, suite=other, suite_fingerprint="g")
    second = run(0.2, 0, suite=other, suite_fingerprint="g")
    rows = built().table("drifts").as_rows()
    assert [row["suite"] for row in rows] == ["Words", "Sums"]
    assert rows[0]["change"] == pytest.approx(-0.7)
    assert rows[0]["look"].url.endswith(f"?runs={first.pk}&runs={second.pk}")


def test_one_suite_can_be_chosen(run, suite, test):
    run(0.6, 2)
    run(0.5, 0)
    assert len(built(suite=suite).table("drifts").rows) == 1
    assert built(suite=make_suite(test)).table("drifts").rows == []


def test_a_change_from_zero_has_no_relative_change(run):
    run(0.0, 2)
    run(0.5, 0)
    assert built().table("drifts").as_rows()[0]["relative"] is None


def test_nothing_to_watch_says_what_to_do():
    assert "Schedule a launch" in built().table("drifts").empty
