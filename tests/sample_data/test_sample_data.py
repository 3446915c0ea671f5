from dataclasses import replace
from datetime import UTC, datetime
from io import StringIO

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count, Q

from evalhub.models import LanguageModel
from issues.models import Issue
from reports.models import Exchange, ExecutiveSummary
from reports.run.query import run_report
from reports.summaries.analyst.dimensions import KEYS
from reports.summaries.analyst.key import Key
from reports.summaries.analyst.replies import parse
from runs.judging.jury import jury_fingerprint
from runs.launching.launch import fingerprints_of, suite_fingerprint, template_versions
from runs.models import Judgment, Outcome, Result, ResultScore, Run, Suite
from runs.result_list.filters import Filters
from runs.scoring.agreement import statistics_of
from runs.scoring.score import (
    RESULT_FIELDS,
    RESULT_SCORE_FIELDS,
    score_result_scores,
    score_results,
)
from tests import factories
from tests.sample_data import vocabulary
from tests.sample_data.command import Command
from tests.sample_data.content import graded_tests
from tests.sample_data.judgments import SimulatedJury
from tests.sample_data.plan import DRIFTING, Plan, Size
from tests.sample_data.workspace import NotEmpty, generate
from tests.shared_data import shared_data

SIZE = Size(runs=12, results=80, seed=3, until=datetime(2026, 6, 30, 6, tzinfo=UTC))
DETAILED = 4
LARGE = Size(runs=200, results=1000, seed=3, until=SIZE.until)


@shared_data
def workspace():
    return generate(SIZE, detailed=DETAILED)


def detailed_run() -> Run:
    return Run.objects.order_by("-pk")[0]


def old_run() -> Run:
    return Run.objects.order_by("pk")[0]


def rows_of(queryset, *fields):
    return list(queryset.order_by("pk").values_list(*fields))


# The command, in an empty database ----------------------------------------------------------------


@pytest.mark.django_db
def test_a_workspace_that_has_something_is_left_alone():
    factories.make_issue()

    with pytest.raises(NotEmpty, match="it has 1 issues"):
        generate(SIZE, detailed=DETAILED)


@pytest.mark.django_db
def test_the_command_tells_what_reports_should_find():
    told = StringIO()

    call_command(Command(), runs=4, results=40, detailed=1, until="2026-06-30", stdout=told)

    assert "160 results" in told.getvalue()
    assert "No model ever passes" in told.getvalue()


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [("runs", 3, "too few"), ("results", 30, "too few"), ("until", "tomorrow", "is not a day")],
)
def test_the_command_refuses_what_cannot_be_invented(option, value, problem):
    with pytest.raises(CommandError, match=problem):
        call_command(Command(), **{option: value})


# What is made ------------------------------------------------------------------------------------


@pytest.mark.both_engines
def test_as_many_rows_are_made_as_were_asked_for(workspace):
    counted = Run.objects.annotate(n=Count("results")).values_list("n", flat=True)

    assert list(counted) == [SIZE.results] * SIZE.runs


def test_what_is_told_of_the_rows_is_what_there_is(workspace):
    assert workspace.counts["results"] == Result.objects.count()
    assert workspace.counts["judgments"] == Judgment.objects.count() > 0


def test_all_its_models_are_labelled_as_scripted(workspace):
    assert not LanguageModel.objects.filter(is_scripted=False).exists()
    assert not Run.objects.filter(is_scripted=False).exists()


def test_only_the_last_runs_keep_single_judgments(workspace):
    judged = Run.objects.filter(results__judgments__isnull=False).distinct()

    assert set(judged) == set(Run.objects.order_by("-pk")[:DETAILED])


def test_only_the_same_seed_gives_the_same_votes():
    plans = [Plan(SIZE), Plan(SIZE), Plan(replace(SIZE, seed=4))]
    first, second, other = (
        SimulatedJury(plan, graded_tests(plan)).judge(plan.runs[5]).votes for plan in plans
    )
    assert np.array_equal(first, second, equal_nan=True)
    assert not np.array_equal(first, other, equal_nan=True)


# It is what launching, judging and scoring would have left ---------------------------------------


def test_suite_fingerprints_are_those_of_a_launch(workspace):
    for run in (old_run(), detailed_run()):
        results = run.results.filter(repeat=0).select_related("revision", "test")
        tests = [result.test for result in results]
        revisions = {result.test_id: result.revision for result in results}

        assert run.suite_fingerprint == suite_fingerprint(tests, revisions)


def test_jury_fingerprints_are_those_of_a_launch(workspace):
    run = detailed_run()
    judge_run = run.judge_runs.get()

    assert judge_run.jury_fingerprint == jury_fingerprint(
        judge_run.jury, versions=template_versions(run), has_rubrics=False
    )
    fingerprints = judge_run.whole_fingerprint, judge_run.rubric_fingerprint
    assert fingerprints == fingerprints_of(run, judge_run.jury)


def test_results_are_labelled_as_a_launch_labels_them(workspace):
    result = detailed_run().results.select_related("tag_set", "test", "issue")[7]
    tags = result.issue.tags.order_by("name").values_list("name", flat=True)

    assert result.tag_set.names == list(tags)
    assert (result.weight, result.origin) == (result.test.weight, result.test.origin)
    assert (result.issue_id, result.revision.test_id) == (result.test.issue_id, result.test_id)


def test_scoring_again_changes_no_result_score(workspace):
    result_scores = ResultScore.objects.filter(judge_run__run=detailed_run())
    before = rows_of(result_scores, *RESULT_SCORE_FIELDS)

    score_result_scores(list(result_scores.exclude(state="error")))

    assert rows_of(result_scores, *RESULT_SCORE_FIELDS) == before


def test_scoring_again_changes_no_result(workspace):
    for results in (old_run().results, detailed_run().results):
        before = rows_of(results, *RESULT_FIELDS)
        score_results(list(results.values_list("pk", flat=True)))
        assert rows_of(results, *RESULT_FIELDS) == before


def test_the_sums_of_agreement_are_those_of_its_judgments(workspace):
    judge_run = detailed_run().judge_runs.get()

    assert judge_run.statistics == statistics_of(judge_run.pk)


def test_people_have_overridden_some_verdicts(workspace):
    evaluated = Result.objects.filter(evaluations__isnull=False).distinct()

    assert 0 < Result.objects.filter(is_overridden=True).count() == evaluated.count()


@pytest.mark.both_engines
def test_the_report_of_a_run_counts_its_rows(workspace):
    run = old_run()
    counted = dict(run.results.order_by().values_list("outcome").annotate(Count("pk")))

    report = run_report(run, Filters(), reader=factories.make_user("superuser"))

    assert report.counts.as_dict() == dict.fromkeys(Outcome.values, 0) | counted
    assert report.usage.output_tokens == sum(
        n for n in run.results.values_list("output_tokens", flat=True) if n is not None
    )


@pytest.mark.both_engines
def test_what_is_made_next_has_an_id_of_its_own(workspace):
    last = Result.objects.order_by("-pk")[0].pk

    assert factories.first_result(factories.make_run()).pk > last


def test_every_suite_has_a_summary_that_grades_its_models(workspace):
    summaries = ExecutiveSummary.objects.all()

    assert {summary.suite for summary in summaries} == set(Suite.objects.all())
    for summary in summaries:
        graded = set(summary.grades.values_list("model_name", "dimension"))
        models = set(summary.runs.values_list("model_name", flat=True))
        assert graded == {(model, key) for model in models for key in KEYS}


def test_what_summaries_were_made_of_is_kept(workspace):
    exchange = Exchange.objects.filter(is_current=True).first()

    assert parse(exchange.received, Key.from_json(exchange.key)).is_usable
    assert exchange.sent


# What is planted ---------------------------------------------------------------------------------


def pass_share(run, issue) -> float:
    scored = run.results.filter(issue=issue, passed__isnull=False)
    counts = scored.aggregate(n=Count("pk"), passed=Count("pk", filter=Q(passed=True)))
    return float(counts["passed"] / counts["n"])


def issue_numbered(number: int) -> Issue:
    return Issue.objects.order_by("pk")[number]  # type: ignore[no-any-return]


def test_one_issue_passes_nowhere(workspace):
    issue = issue_numbered(Plan(SIZE).planted.hopeless)

    assert not issue.results.filter(passed=True, is_overridden=False).exists()


def test_one_issue_fails_before_a_release_and_passes_since(workspace):
    planted = Plan(SIZE).planted
    issue, turn = issue_numbered(planted.repaired), f"1.{planted.repaired_from}"
    runs = Run.objects.filter(suite__name="Everything")

    assert {pass_share(run, issue) > 0.8 for run in runs.filter(release=turn)} == {True}
    assert {pass_share(run, issue) < 0.2 for run in runs.filter(release="1.0")} == {True}


def test_one_model_gets_worse_in_its_last_releases():
    plan = Plan(LARGE)
    simulated_jury = SimulatedJury(plan, graded_tests(plan))
    runs = [run for run in plan.runs if run.line == DRIFTING and not run.suite and run.jury]
    means = [float(np.nanmean(simulated_jury.judge(run).scores)) for run in runs]

    assert means == sorted(means, reverse=True)
    assert means[0] - means[-1] > 0.08


def test_no_model_has_the_name_of_a_real_one():
    real = ("gpt", "claude", "gemini", "llama", "mistral", "qwen", "deepseek", "grok", "command")

    assert not [model for model in vocabulary.MODELS if any(name in model.name for name in real)]
