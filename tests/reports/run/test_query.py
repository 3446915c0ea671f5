from decimal import Decimal

import pytest
from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evalhub.models import Call
from evalhub.statistics.agreement.alpha_bands import Band
from issues.models import Tag, TagKind
from reports.documents.cells import as_json
from reports.run.query import run_report
from reports.run.usage_tables import usage
from runs.models import JudgeRun, Result, Run
from runs.result_list.filters import Filters
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import (
    first_result,
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_test,
    make_user,
)
from tests.reports.judged_runs import fail, finish, judged

pytestmark = pytest.mark.django_db


def report(run, reader=None, **filters):
    return run_report(run, Filters(**filters), reader=reader or make_user("annotator"))


# Issues and tags ---------------------------------------------------------------------------------


def test_issues_come_worst_first_and_excluded_ones_last():
    names = ["half", "none", "all", "waiting"]
    issues = {name: make_issue(title=name) for name in names}
    tests = [make_test(issue=issues[name]) for name in ("half", "half", "none", "all", "waiting")]
    run = judged([1], [0], [1], [0], [None], tests=tests)

    assert [line.name for line in report(run).issues] == ["all", "half", "none", "waiting"]


def test_an_issue_where_nothing_was_scored_has_no_rate():
    line = report(judged([None])).issues[0]

    assert (line.failure_share, line.counts.unscored) == (None, 1)


def test_a_result_counts_once_for_each_of_its_tags():
    issue = make_issue(tags=("code", "python"))
    lines = report(judged([1], [0], tests=[make_test(issue=issue), make_test(issue=issue)])).tags

    assert [(line.name, line.rate.passed, line.rate.n) for line in lines] == [
        ("code", 1, 2),
        ("python", 1, 2),
    ]


# Judges ------------------------------------------------------------------------------------------


def test_agreement_is_that_of_all_verdicts():
    # Ten ratings, three of them 0: D_o = 2/10, D_e = 2 · 3 · 7 / (10 · 9).
    panel = report(judged([1, 1], [1, 1], [0, 0], [0, 1], [1, 1])).panel

    assert panel.alpha == pytest.approx(1 - (2 / 10) / (2 * 3 * 7 / 90))
    assert panel.interval.low < panel.alpha < panel.interval.high
    assert panel.band == Band.NOT_ENOUGH_DATA


def test_judges_that_never_differ_have_no_alpha():
    panel = report(judged(*[[1, 1]] * 6)).panel

    assert (panel.alpha, panel.band) == (None, Band.NO_VARIATION)


def test_one_judge_alone_is_too_little_data():
    assert report(judged(*[[1]] * 6)).panel.band == Band.NOT_ENOUGH_DATA


def test_agreement_waits_for_the_end_of_the_judge_run_and_coverage_does_not():
    panel = report(judged([1, None], done=False)).panel

    assert (panel.alpha, panel.band) == (None, None)
    assert [sum(judge.answered for judge in panel.judges), panel.failed] == [1, 1]
    assert panel.failures == (("unreadable", 1),)


def test_coverage_is_the_same_before_and_after_the_end():
    run = judged([1, None], [0, 1], done=False)
    before = report(run).panel
    finish(run)

    assert report(run).panel.judges == before.judges


def test_a_run_without_judges_has_no_panel():
    assert report(make_run(make_test())).panel is None


def test_self_evaluation_is_labelled_and_the_models_note_shown():
    model = make_model(note="Judges at chance.")
    run = make_run(make_test(), model=model, jury=make_jury(model))
    found = report(run)

    assert "judges its own answers" in found.labels
    assert found.panel.judges[0].note == "Judges at chance."


def test_a_judge_of_its_own_imported_answers_is_labelled():
    model = make_model()
    run = make_run(make_test(), model=model, jury=make_jury(model), has_imported_answers=True)

    assert "judges its own answers" in report(run).labels


def test_scripted_endpoints_are_labelled():
    run = make_run(make_test(), is_scripted=True, jury=make_jury(make_model(is_scripted=True)))

    assert report(run).labels == ("scripted model", "scripted judge")


# Money and time ----------------------------------------------------------------------------------


def test_spent_is_of_answers_and_all_judge_runs_and_unknown_is_not_nought():
    run = judged([1], [0])
    Run.objects.update(unpriced_calls=2)
    rows = usage_rows(run)
    assert rows["Model under test"] == (None, 2)
    assert rows["Spent"] == (None, 2)

    Run.objects.update(spent_usd=Decimal("0.25"))
    JudgeRun.objects.update(spent_usd=Decimal(1))
    rows = usage_rows(run)
    assert rows["Model under test"] == (Decimal("0.25"), 2)
    assert rows["Judges"] == (Decimal(1), 0)
    assert rows["Spent"] == (Decimal("1.25"), 2)


def usage_rows(run):
    rows = usage(report(Run.objects.get(pk=run.pk))).as_rows()
    return {row["role"]: (row["cost_usd"], as_json(row["unpriced"])) for row in rows}


def test_percentiles_are_nearest_rank_to_two_digits():
    run = make_run(make_test(), repeats=10)
    for result, ms in zip(run.results.all(), range(1005, 11005, 1000), strict=True):
        Result.objects.filter(pk=result.pk).update(latency_ms=ms)
    latency = report(run).latency

    assert dict(latency.percentiles) == {0.5: 5000, 0.9: 9000, 0.99: 10_000}
    assert latency.bars == (
        (1000, 2000, 1),
        (2000, 5000, 3),
        (5000, 10_000, 5),
        (10_000, 20_000, 1),
    )


def test_supplied_answers_have_no_times():
    assert report(make_run(make_test(), has_imported_answers=True)).latency is None


# People, errors ----------------------------------------------------------------------------------


def test_an_override_has_its_annotator_reason_and_the_judges_score():
    run, person = judged([0], [1]), make_user("annotator")
    evaluate(first_result(run), HumanVerdict("1", "It is right."), by=person)
    found = report(run, person)

    (override,) = found.overrides
    (verdict,) = override.verdicts
    assert (verdict.who, verdict.why) == (str(person), "It is right.")
    assert (override.judges_score, verdict.value) == (0, 1)
    assert (found.reviews.overturned, found.counts.passed) == (1, 2)


def test_a_withdrawn_override_is_gone():
    run, person = judged([0]), make_user("annotator")
    evaluate(first_result(run), HumanVerdict("1", "It is right."), by=person)
    withdraw(first_result(run), by=person)

    assert report(run).overrides == ()


def test_after_a_withdrawal_the_evaluation_before_it_is_listed():
    run, person = judged([0]), make_user("annotator")
    evaluate(first_result(run), HumanVerdict("1", "First."), by=person)
    evaluate(first_result(run), HumanVerdict("0", "Second."), by=person)
    withdraw(first_result(run), by=person)

    (override,) = report(run, person).overrides
    assert [verdict.why for verdict in override.verdicts] == ["First."]


def test_results_without_an_answer_and_failed_calls_are_counted_by_kind():
    run = judged([1], [1])
    fail(run, first_result(run), "timed_out")
    for kind in ("rate_limited", "rate_limited", ""):
        Call.objects.create(
            language_model=run.language_model,
            role="candidate",
            batch=run.work_key,
            request_digest="d",
            error_kind=kind,
            started_at=timezone.now(),
        )
    found = report(run)

    assert found.errors == (("timed_out", 1),)
    assert found.failures == (("candidate", "rate_limited", 2),)


def test_filters_narrow_the_grid_and_no_figure():
    run = judged([1], [0])

    assert report(run, outcomes=("failed",)).counts == report(run).counts
    assert report(run, outcomes=("failed",)).grid.total == 1


# Size --------------------------------------------------------------------------------------------


def count_queries(run, reader):
    cache.clear()
    with CaptureQueriesContext(connection) as queries:
        run_report(run, Filters(), reader=reader)
    return len(queries)


def test_queries_do_not_grow_with_the_results():
    reader = make_user("annotator")
    reader.has_perm("issues.read_sealed_test")
    small, large = judged(*[[1, 0, None]] * 5), judged(*[[1, 0, None]] * 200)

    assert count_queries(small, reader) == count_queries(large, reader)
    assert count_queries(large, reader) <= 25


# Domains, repeats, what takes long ---------------------------------------------------------------


def domain(name, parent=None):
    return Tag.objects.create(name=name, kind=TagKind.DOMAIN, parent=parent)


def test_a_domain_adds_up_all_that_lies_in_it_each_result_once():
    law = domain("law")
    domain("rent law", law)
    domain("health")
    names = (("law", "rent law"), ("rent law",), ("health", "urgent"), ("urgent",))
    tests = [make_test(issue=make_issue(tags=tags)) for tags in names]
    found = report(judged([1], [0], [1], [0], tests=tests))

    lines = [(line.name, line.depth, line.rate.passed, line.rate.n) for line in found.domains]
    assert lines == [("law", 0, 1, 2), ("rent law", 1, 1, 2), ("health", 0, 1, 1)]
    assert found.outside.failed == 1


def test_a_test_is_flaky_if_its_repeats_differ():
    # Four answers to each of three tests: 2, 4 and 1 passed; then one more that nobody decided.
    tests = [make_test("Hello?"), make_test(), make_test()]
    votes = [[1], [1], [0], [0], [1], [1], [1], [1], [0], [0], [1], [None]]
    found = report(judged(*votes, tests=tests, repeats=4)).flaky

    assert (found.total, found.repeated) == (2, 3)
    assert [(one.test_id, one.passed, one.n) for one in found.tests] == [
        (tests[0].pk, 2, 4),
        (tests[2].pk, 1, 3),
    ]
    assert found.tests[0].prompt == "Hello?"


def test_the_prompt_of_a_sealed_flaky_test_is_hidden():
    run = judged([1], [0], tests=[make_test("the secret", sealed=True)], repeats=2)

    assert report(run, make_user("viewer")).flaky.tests[0].prompt is None


def test_without_repeats_no_test_is_flaky():
    assert report(judged([1], [0])).flaky is None


def test_costs_are_binned_and_free_answers_counted_apart():
    run = make_run(make_test(), repeats=6)
    costs = ("0", "0.00129", "0.0013", "0.004", "0.29", None)
    for result, usd in zip(run.results.all(), costs, strict=True):
        Result.objects.filter(pk=result.pk).update(cost_usd=usd and Decimal(usd))
    cost = report(run).cost

    assert (cost.n, cost.zeros) == (5, 1)
    assert dict(cost.percentiles) == {
        0.5: Decimal("0.0013"),
        0.9: Decimal("0.29"),
        0.99: Decimal("0.29"),
    }
    assert [(low, n) for low, _, n in cost.bars if n] == [
        (Decimal("0.001"), 2),
        (Decimal("0.002"), 1),
        (Decimal("0.2"), 1),
    ]
