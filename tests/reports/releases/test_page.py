"""Release against release: each model against itself, with what is certain."""

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils.http import urlencode

from reports.documents.reading import Reading
from reports.releases.page import RELEASES
from runs.baselines import pin
from runs.comparability import rejudge_url
from runs.models import Run, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_test,
    make_user,
    shared_jury,
)
from tests.reports.judged_runs import answer, fail, finish, judge
from tests.reports.workspaces import make_workspace

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]


@pytest.fixture
def tests():
    """Seven tests of each of two issues."""
    issues = [make_issue(title=f"Issue {n}") for n in range(2)]
    return [make_test(f"Q {n}?", issue=issues[n // 7]) for n in range(14)]


def released(tests, release, votes, *, name="Tiny", jury=None, scored=None):
    """A run of this model in the suite "s"; 1 passed, 0 failed."""
    suite, _ = Suite.objects.get_or_create(name="s")
    model = Run.objects.filter(model_name=name).first()
    run = make_run(
        *tests,
        model=model.language_model if model else make_model(name=name),
        suite=suite,
        jury=jury or shared_jury(),
        release=release,
        variant_key=name,
        label=f"s, {release}",
    )
    results = answer(run)
    judge(run, [[vote] for vote in votes])
    for result in results[scored:] if scored is not None else ():
        fail(run, result)
    finish(run)
    run.refresh_from_db()
    return run


def document(reading=None, **state):
    form = RELEASES.form(QueryDict(urlencode(state)))
    assert not form.problems
    return RELEASES.build(form.filters, reading or Reading(make_user("maintainer")))


def facts(found):
    return {fact.name: fact.value for fact in found.facts}


LOST = [0] * 7 + [1] * 7


def test_each_model_is_set_against_itself_and_not_against_the_baseline(tests):
    # The baseline is another model that passes all; "Tiny" is as it was.
    other = released(tests, "1.0", [1] * 14, name="Other")
    released(tests, "1.0", LOST)
    released(tests, "1.1", LOST)
    pin(other)

    (row,) = document().table("models").as_rows()
    assert (row["model"].text, row["net"].value, row["verdict"]) == ("Tiny", 0, None)


def test_a_certain_change_is_a_sentence_with_count_p_and_method(tests):
    # Exact McNemar of 7 worse and 0 better: 2 / 2^7 = 0.016; twice that over two issues.
    released(tests, "1.0", [1] * 14)
    released(tests, "1.1", LOST)
    found = document()

    assert found.title == "Release 1.1 against 1.0"
    assert found.sentences == (
        "1 model compared with itself: 1 significantly worse, 0 better (p ≤ 0.05, Holm over "
        "1 model); 1 issue significantly worse (Holm over 2 issues).",
        "Tiny: 7 worse, 0 better of 14 matched: p = 0.016 (exact McNemar), significantly worse. "
        "Significantly changed by themselves: 1 issue worse, “Issue 0” (p = 0.031); 0 better "
        "(p ≤ 0.05 after Holm over 2 issues). Tests of one issue may fail together.",
    )
    (row,) = found.table("issues").as_rows()
    assert (row["issue"].text, row["net"], row["p"]) == ("Issue 0", -1, pytest.approx(0.03125))


def test_an_issue_that_is_lost_is_named_where_the_whole_is_uncertain(tests):
    released(tests, "1.0", [1] * 7 + [0] * 7)
    released(tests, "1.1", [0] * 7 + [1] * 7)
    found = document()

    assert "no significant change" in found.sentences[0]
    assert (
        "not enough evidence. Significantly changed by themselves: 1 issue worse, “Issue 0”"
        in (found.sentences[1])
    )


def test_p_is_corrected_for_all_models_of_the_page(tests):
    # Alone each would be called worse with p = 0.016; of four models none is.
    names = ("a", "b", "c", "d")
    for release, votes in (("1.0", [1] * 14), ("1.1", LOST)):
        for name in names:
            released(tests, release, votes, name=name)

    rows = document().table("models").as_rows()
    assert [row["p"] for row in rows] == pytest.approx([4 * 0.015625] * 4)
    assert {row["verdict"] for row in rows} == {None}


def test_a_run_of_another_jury_has_no_verdict_and_offers_re_judging(tests):
    first = released(tests, "1.0", [1] * 14)
    second = released(tests, "1.1", [0] * 14, jury=make_jury(make_model()))
    found = document()

    (row,) = found.table("models").as_rows()
    assert (row["net"], row["p"], row["verdict"]) == (None, None, None)
    assert found.warnings == (
        "Tiny: Not comparable with s, 1.0: different juries judged these runs.",
    )
    assert [action.url for action in found.actions] == [rejudge_url(second.pk, first.pk)]
    assert not document(Reading(make_user("viewer"))).actions
    assert facts(found)["worse"] == 0


def test_an_earlier_comparable_run_of_the_release_counts_instead(tests):
    released(tests, "1.0", [1] * 14)
    released(tests, "1.0", [1] * 14, jury=make_jury(make_model()))
    released(tests, "1.1", LOST)

    assert facts(document())["worse"] == 1


def test_a_run_with_too_few_scores_is_left_out_and_listed(tests):
    released(tests, "1.0", [1] * 14)
    released(tests, "1.1", [1] * 14)
    half = released(tests, "1.1", [1] * 14, scored=7)
    found = document()

    (row,) = found.table("models").as_rows()
    assert row["now"].total == 14
    assert row["now"].n == 14
    assert [row["run"].url for row in found.table("incomplete").as_rows()] == [
        half.get_absolute_url()
    ]


def test_overturned_verdicts_and_the_cost_of_both_are_shown(tests):
    released(tests, "1.0", [1] * 14)
    run = released(tests, "1.1", [1] * 14)
    ann = make_user("annotator")
    for result, option in zip(run.results.order_by("pk"), ("0", "1"), strict=False):
        evaluate(result, HumanVerdict(option, "So."), by=ann)
    priced = {"input_usd_per_mtok": 1, "output_usd_per_mtok": 1}
    for each, spent in zip(Run.objects.order_by("pk"), (1, 2), strict=True):
        each.endpoint, each.spent_usd = each.endpoint | priced, spent
        each.save()
    found = document()

    (row,) = found.table("models").as_rows()
    assert row["overturned"].value == "1 of 2"
    assert (row["cost_before"], row["cost"]) == (1, 2)
    assert facts(found)["overturned"] == 1


def test_runs_without_a_release_are_set_against_the_run_before(tests):
    released(tests, "", [1] * 14)
    released(tests, "", LOST)
    found = document()

    assert found.title == "Newest runs against the runs before"
    assert facts(found)["worse"] == 1


def test_what_takes_long_is_left_to_a_second_request(tests):
    released(tests, "1.0", [1] * 14)
    released(tests, "1.1", LOST)
    reading = Reading(make_user("viewer"), computes=False)
    found = document(reading)

    assert reading.pending
    assert "worse" not in facts(found)
    assert found.sentences[0] == "1 model in this release: significance is being computed."


def test_no_run_and_one_run_give_a_page():
    assert document().table("models").empty.startswith("No complete run yet.")
    released([make_test()], "1.0", [1])

    assert document().sentences[1] == "Without a complete earlier run: Tiny."


def test_more_runs_and_models_need_no_more_queries(client):
    client.force_login(make_user("maintainer"))

    def count():
        client.get(reverse("reports:releases"), {"compute": "1"})
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse("reports:releases")).status_code == 200
        return len(queries)

    make_workspace(releases=3)
    few = count()
    make_workspace(releases=6)

    assert count() <= few
