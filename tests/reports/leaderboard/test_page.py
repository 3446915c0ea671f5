"""Leaderboards on real rows: which runs count, for whom, and what the page says of it."""

import pytest
from django.http import QueryDict

from evalhub.models import BatchState
from reports.documents.document import Link
from reports.documents.reading import Reading
from reports.leaderboard.page import LEADERBOARD
from reports.leaderboard.query import field_of_runs
from reports.models import ExecutiveSummary
from runs.comparison.comparability import rejudge_url
from runs.models import Launch, Result, Run
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_test,
    make_tests,
    make_user,
    shared_jury,
)
from tests.reports.scored_runs import make_suite, scored_run
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db


@shared_data
def test():
    return make_test(issue=make_issue(tags=("facts",)))


@shared_data
def suites(test):
    return [make_suite(test, name=f"Suite {n}", tags=("Law",) if n else ()) for n in range(2)]


@pytest.fixture
def took(test, suites):
    """Let a model take both suites, with one score in each."""

    def take(model, *scores, **fields):
        return [
            scored_run(suite, model, score, tests=[test], **fields)
            for suite, score in zip(suites, scores, strict=True)
            if score is not None
        ]

    return take


def built(query="least=2", computes=True):
    form = LEADERBOARD.form(QueryDict(query))
    assert form.problems == []
    return LEADERBOARD.build(form.filters, Reading(make_user("viewer"), computes=computes))


def ranking(query="least=2"):
    """Names and means, best first."""
    rows = built(query).table("ranking").as_rows()
    return [(row["name"].text, round(row["mean"].value, 9)) for row in rows]


def test_models_rank_by_the_mean_of_their_suites(took):
    took(make_model(name="openai/gpt-4o"), 0.5, 0.7)
    took(make_model(name="xai/grok-4"), 0.9, 0.8)
    assert ranking() == [("grok-4", 0.85), ("gpt-4o", 0.6)]


def test_latest_run_of_each_suite_counts(took):
    model = make_model(name="gpt-4o")
    took(model, 0.1, 0.1, days_ago=1)
    took(model, 0.5, 0.7)
    assert ranking() == [("gpt-4o", 0.6)]


def test_dated_names_count_as_one_model_and_the_raw_names_are_one_click_away(took):
    took(make_model(name="gpt-4o-2024-05-13"), 0.1, 0.7, days_ago=1)
    took(make_model(name="openai/gpt-4o"), 0.5, None)
    document = built("least=2")
    (row,) = document.table("ranking").as_rows()
    assert (row["name"].text, row["developer"], row["mean"].value) == ("gpt-4o", "OpenAI", 0.6)
    opened = built(row["name"].url.partition("?")[2].partition("#")[0]).table("variants")
    assert [line["raw_name"] for line in opened.as_rows()] == ["openai/gpt-4o", "gpt-4o-2024-05-13"]


def test_variants_of_one_launch_count_as_their_mean(took):
    model, launch = make_model(name="gpt-4o"), Launch.objects.create(label="all", spec={})
    took(model, 0.2, 0.2, launch=launch, variant_key="warm")
    took(model, 0.6, 0.8, launch=launch, variant_key="cold")
    assert ranking() == [("gpt-4o", pytest.approx(0.45))]


def test_own_identity_of_a_model_overrules(took):
    took(make_model(name="gpt-4o", identity="House model"), 0.5, 0.7)
    assert ranking() == [("House model", 0.6)]


def test_model_with_few_suites_is_excluded_with_a_reason(took):
    took(make_model(name="gpt-4o"), 0.5, 0.7)
    took(make_model(name="grok-4"), 0.9, None)
    assert built().table("excluded").rows == [("grok-4", "needs ≥ 2 suites, has 1")]


def test_ten_suites_are_needed_or_as_many_as_a_model_has(took):
    took(make_model(name="gpt-4o"), 0.5, 0.7)
    took(make_model(name="grok-4"), 0.4, None)
    document = built("")
    assert [row[2].text for row in document.table("ranking").rows] == ["gpt-4o"]
    assert document.table("excluded").rows == [("grok-4", "needs ≥ 2 suites, has 1")]
    assert built("least=3").table("ranking").rows == []


def test_topic_is_a_tag_of_the_suite_and_needs_as_many_suites_as_it_has(took):
    took(make_model(name="gpt-4o"), 0.5, 0.7)
    assert ranking("least=1&topic=law") == ranking("topic=law") == [("gpt-4o", 0.7)]


def test_topic_may_come_from_a_summary_of_the_launch(took, suites):
    launch = Launch.objects.create(label="all", spec={})
    first, _ = took(make_model(name="gpt-4o"), 0.5, 0.7, launch=launch)
    took(make_model(name="grok-4"), 0.4, 0.7, launch=launch)
    took(make_model(name="gemini-pro"), 0.3, 0.7)
    summary = ExecutiveSummary.objects.create(
        suite=suites[0],
        suite_fingerprint="f",
        analyst=make_model(),
        context_tokens=1000,
        seed=1,
        tags=["tenant-rights"],
        state=BatchState.DONE,
    )
    summary.runs.set([first])
    # The second suite was run by the same launch, so that it is about this topic too.
    assert [name for name, _ in ranking("least=2&topic=tenant-rights")] == ["gpt-4o", "grok-4"]


def test_tag_takes_the_tests_that_had_it(suites):
    tagged = make_test(issue=make_issue(tags=("facts",)))
    tests = [tagged, make_test()]
    model = make_model(name="gpt-4o")
    for suite in suites:
        scored_run(suite, model, 0.9, 0.1, tests=tests)
    assert ranking("least=2&tag=facts") == [("gpt-4o", 0.9)]


def test_same_suites_only(took):
    took(make_model(name="gpt-4o"), 0.5, 0.9)
    took(make_model(name="grok-4"), 0.6, None)
    assert ranking("least=1") == [("gpt-4o", 0.7), ("grok-4", 0.6)]
    assert ranking("least=1&same=on") == [("grok-4", 0.6), ("gpt-4o", 0.5)]


def test_no_shared_suite_says_what_to_do(took):
    took(make_model(name="gpt-4o"), 0.5, None)
    took(make_model(name="grok-4"), None, 0.6)
    assert "Turn off" in built("least=1&same=on").table("ranking").empty


def test_families_have_the_mean_of_their_models(took):
    took(make_model(name="gpt-4o"), 0.5, 0.7)
    took(make_model(name="gpt-5"), 0.9, 0.7)
    assert ranking("least=2&family=on") == [("GPT", 0.7)]


def similar(runs, similarity):
    Result.objects.filter(run__in=runs).update(similarity=similarity)


def test_share_of_similarity_ranks_anew_and_changes_nothing(took):
    similar(took(make_model(name="gpt-4o"), 0.8, 0.8), 0.2)
    similar(took(make_model(name="grok-4"), 0.6, 0.6), 0.9)
    assert [name for name, _ in ranking("least=2")] == ["gpt-4o", "grok-4"]
    # 0.5 · 0.6 + 0.5 · 0.9 and 0.5 · 0.8 + 0.5 · 0.2
    assert ranking("least=2&beta=0.5") == [("grok-4", 0.75), ("gpt-4o", 0.5)]
    assert "Exploratory" in " ".join(built("least=2&beta=0.5").sentences)
    assert [name for name, _ in ranking("least=2")] == ["gpt-4o", "grok-4"]


def test_similarity_below_nought_is_worth_nothing(took):
    similar(took(make_model(name="gpt-4o"), 0.8, 0.8), -0.5)
    assert ranking("least=2&beta=0.5") == [("gpt-4o", 0.4)]


def test_model_without_similarity_is_left_out_at_another_share(took):
    took(make_model(name="gpt-4o"), 0.8, 0.8)
    document = built("least=2&beta=0.5")
    assert "Set its weight to 0" in document.table("ranking").empty
    ((name, reason),) = document.table("excluded").rows
    assert (name, "similarity not measured" in reason) == ("gpt-4o", True)


def test_runs_that_do_not_count_are_counted(took, test):
    model = make_model(name="gpt-4o")
    scored_run(None, model, 0.5, tests=[test])
    scored_run(make_suite(test, tags=("test",)), model, 0.5, tests=[test])
    live = took(model, 0.5, 0.5)[0]
    Run.objects.filter(pk=live.pk).update(state=BatchState.LIVE)
    document = built("least=1")
    assert [fact.value for fact in document.facts if fact.name == "outside"] == [2]
    assert [row["mean"].n for row in document.table("ranking").as_rows()] == [1]


def test_ranks_that_may_be_are_computed_by_the_second_request(took):
    took(make_model(name="gpt-4o"), 0.5, 0.7)
    took(make_model(name="grok-4"), 0.9, 0.8)
    reading = Reading(make_user("viewer"), computes=False)
    first = LEADERBOARD.build(LEADERBOARD.form(QueryDict("least=2")).filters, reading)
    assert reading.pending
    assert [row["ranks"] for row in first.table("ranking").as_rows()] == [None, None]
    second = built()
    # Two suites of one test cannot tell two models apart.
    assert [row["ranks"] for row in second.table("ranking").as_rows()] == ["1 to 2", "1 to 2"]
    assert "The data does not decide between" in second.leading_sentences[0]
    assert any("Cannot tell any two models apart" in one for one in second.sentences)


def test_leader_is_named_with_its_evidence_and_its_rivals():
    tests = make_tests(10)
    suite = make_suite(*tests)
    for name, score in (("gpt-4o", 1), ("grok-4", 0)):
        scored_run(suite, make_model(name=name), *[score] * 10, tests=tests)
    document = built("least=1")
    assert document.sentences[0].startswith("gpt-4o is first: judges rate it better than the other")
    assert "1 suite, 10 different tests." in document.sentences
    assert [row["ranks"] for row in document.table("ranking").as_rows()] == ["1", "2"]
    (row, _) = document.table("ranking").as_rows()
    (rival,) = built(row["name"].url.partition("?")[2].partition("#")[0]).table("rivals").as_rows()
    assert (rival["name"], rival["difference"], rival["tests"]) == ("grok-4", 1, 10)
    assert (rival["issues"], rival["p_holm"]) == (10, 1 / 2**10)
    assert 0 < rival["low"] < rival["high"] <= 1


def test_a_test_in_two_suites_is_counted_once():
    tests = make_tests(5)
    suites = [make_suite(*tests), make_suite(*tests)]
    for name, score in (("gpt-4o", 1), ("grok-4", 0)):
        model = make_model(name=name)
        for suite in suites:
            scored_run(suite, model, *[score] * 5, tests=tests)
    document = built("least=1")
    (row, _) = document.table("ranking").as_rows()
    (rival,) = built(row["name"].url.partition("?")[2].partition("#")[0]).table("rivals").as_rows()

    assert "2 suites, 5 different tests, 5 of them in two or more." in document.sentences
    assert (rival["tests"], rival["p"]) == (5, 1 / 2**5)


def test_ordered_models_are_told_apart_by_six_suites_of_one_issue():
    passes = {"gpt-4o": 10, "grok-4": 6, "gemini-pro": 2}
    models = {name: make_model(name=name) for name in passes}
    for _ in range(6):
        tests = make_tests(10, issue=make_issue())
        suite = make_suite(*tests)
        for name, n in passes.items():
            scored_run(suite, models[name], *[1] * n, *[0] * (10 - n), tests=tests)
    document = built("least=6")
    assert [row["ranks"] for row in document.table("ranking").as_rows()] == ["1", "2", "3"]
    assert (
        "gpt-4o is first: judges rate it better than each of the 2 other" in document.sentences[0]
    )


def test_a_single_ranked_model_is_not_called_first(took):
    took(make_model(name="gpt-4o"), 0.5, 0.7)
    assert built().sentences == (
        "Only gpt-4o is ranked, with a mean of 0.6 over 2 suites.",
        "2 suites, 1 different test, 1 of them in two or more.",
    )


def test_share_of_similarity_and_tag_reach_the_single_tests(test, took):
    runs = took(make_model(name="gpt-4o"), 0.8, 0.8)
    similar(runs, 0.2)
    field, ids = field_of_runs(), [run.pk for run in runs]
    mixed = field.test_scores(ids, beta=0.5)
    assert [one.score for run in ids for one in mixed[run]] == pytest.approx([0.5, 0.5])
    assert field.test_scores(ids, "another tag") == {}


def test_other_versions_of_a_suite_are_warned_of(took):
    took(make_model(name="gpt-4o"), 0.5, 0.7)
    took(make_model(name="grok-4"), 0.9, 0.8, suite_fingerprint="changed")
    assert "In 2 suites models ran different versions" in " ".join(built().warnings)


def test_scripted_models_are_labelled(took):
    took(make_model(name="gpt-4o", is_scripted=True), 0.5, 0.7, is_scripted=True)
    document = built()
    assert document.labels == ("scripted model",)
    assert document.table("ranking").as_rows()[0]["labels"] == "scripted model"


# One jury in a suite ------------------------------------------------------------------------------


def judged_otherwise(took):
    """Two models by the shared jury; a third, with the best scores, by a lenient one."""
    took(make_model(name="gpt-4o"), 0.5, 0.7, jury=shared_jury())
    took(make_model(name="grok-4"), 0.4, 0.6, jury=shared_jury())
    return took(make_model(name="o3"), 1.0, 1.0, jury=make_jury(make_model()))


def test_a_model_that_another_jury_judged_is_not_ranked_and_the_board_names_its_jury(took):
    judged_otherwise(took)

    assert ranking() == [("gpt-4o", 0.6), ("grok-4", 0.5)]
    assert "Judged by shared jury of 1." in built().sentences[-1]


def test_who_was_judged_otherwise_is_listed_with_re_judging(took, suites):
    first, _ = judged_otherwise(took)
    form = LEADERBOARD.form(QueryDict("least=2"))
    document = LEADERBOARD.build(form.filters, Reading(make_user("maintainer")))

    rows = document.table("apart").as_rows()
    assert [(row["model"], row["suite"]) for row in rows] == [("o3", "Suite 0"), ("o3", "Suite 1")]
    like = Run.objects.filter(suite=suites[0], model_name="grok-4").get()
    assert rows[0]["reason"] == (
        "not comparable: different juries judged these runs",
        Link("Re-judge", rejudge_url(first.pk, like.pk)),
    )


def test_the_baselines_jury_sets_the_scale(took, suites):
    for suite, run in zip(suites, judged_otherwise(took), strict=True):
        suite.baselines.add(run)

    assert ranking() == [("o3", 1.0)]
