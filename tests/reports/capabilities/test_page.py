"""Capabilities and champions on real rows."""

import pytest
from django.http import QueryDict

from evalhub.models import BatchState
from reports.capabilities.page import CAPABILITIES
from reports.capabilities.query import grades
from reports.documents.reading import Reading
from reports.leaderboard.query import field_of_runs
from reports.models import Capability, CapabilityWeight, ExecutiveSummary, Grade
from tests.factories import make_model, make_test, make_user
from tests.reports.scored_runs import make_suite, scored_run

pytestmark = pytest.mark.django_db

SUITES, EACH = 5, 2
"""As many suites, and runs of each, as a capability needs."""


@pytest.fixture
def test():
    return make_test()


@pytest.fixture
def suites(test):
    return [
        make_suite(test, name=f"Suite {n}", tags=("Law",) if n == 0 else ()) for n in range(SUITES)
    ]


@pytest.fixture(autouse=True)
def bucket():
    """One capability: clarity and law weigh 1, Suite 1 weighs 2."""
    Capability.objects.all().delete()
    row = Capability.objects.create(name="Clear law")
    for kind, name, weight in (
        ("dimension", "clarity", 1),
        ("topic", "law", 1),
        ("suite", "Suite 1", 2),
    ):
        CapabilityWeight.objects.create(capability=row, kind=kind, name=name, weight=weight)
    return row


@pytest.fixture
def took(test, suites):
    def take(model, *scores, each=EACH):
        """Runs of each suite; the latest of a suite has its score."""
        for suite, score in zip(suites, scores, strict=False):
            for days_ago in reversed(range(each)):
                scored_run(
                    suite, model, 0.0 if days_ago else score, tests=[test], days_ago=days_ago
                )

    return take


def graded(suite, model, state=BatchState.DONE, **by_dimension):
    summary = ExecutiveSummary.objects.create(
        suite=suite,
        suite_fingerprint="f",
        analyst=make_model(),
        context_tokens=1000,
        seed=1,
        state=state,
    )
    for dimension, grade in by_dimension.items():
        Grade.objects.create(
            summary=summary,
            language_model=model,
            model_name=model.name,
            dimension=dimension,
            grade=grade,
        )


def built(query=""):
    form = CAPABILITIES.form(QueryDict(query))
    assert form.problems == []
    return CAPABILITIES.build(form.filters, Reading(make_user("viewer")))


def test_score_weighs_grades_topics_and_suites(took, suites):
    model = make_model(name="gpt-4o")
    took(model, 0.4, 0.6, 0.9, 0.9, 0.9)
    graded(suites[0], model, clarity=10)
    (row,) = built().table("ranking").as_rows()
    # (1 · (10 - 1) / 9 + 1 · 0.4 + 2 · 0.6) / 4; suites that are neither law nor named do not count
    assert row["score"].value == pytest.approx(0.65)
    assert (row["score"].n, row["dimensions"], row["topics"], row["suites"]) == (3, 1, 1, 1)


def test_grades_alone_are_no_test(took, suites, bucket):
    """A capability such as safety, of which an analyst had an opinion and no suite has a test."""
    bucket.weights.exclude(kind="dimension").delete()
    model = make_model(name="gpt-4o")
    took(model, *[0.5] * SUITES)
    graded(suites[0], model, clarity=8)

    (said,) = [one for one in built().sentences if one.startswith("Clear law")]
    assert said == "Clear law: no suite tests it; by an analyst’s grades alone gpt-4o has 0.78."


def test_parts_of_a_score_are_one_click_away(took):
    took(make_model(name="gpt-4o"), 0.4, 0.6, 0.9, 0.9, 0.9)
    url = built().table("ranking").as_rows()[0]["model"].url
    parts = built(url.partition("?")[2].partition("#")[0]).table("components").as_rows()
    assert [(part["kind"], part["name"], part["suite"], part["weight"]) for part in parts] == [
        ("topic", "Law", "Suite 0", 1),
        ("suite", "Suite 1", None, 2),
    ]


def test_exclusion_is_explained(took):
    took(make_model(name="gpt-4o"), 0.4, each=1)
    assert built().table("excluded").rows == [
        (
            "gpt-4o",
            "needs ≥ 10 runs, has 1; needs ≥ 5 suites, has 1; needs ≥ 1 of the 1 listed suite, "
            "has 0",
            "Clear law",
        )
    ]


def test_half_of_the_listed_suites_are_needed_be_they_there_or_not(took, bucket):
    for name in ("Elsewhere", "Nowhere"):
        CapabilityWeight.objects.create(capability=bucket, kind="suite", name=name)
    took(make_model(name="gpt-4o"), 0.4, 0.6, 0.9, 0.9, 0.9)
    document = built()
    assert document.table("excluded").rows == [
        ("gpt-4o", "needs ≥ 2 of the 3 listed suites, has 1", "Clear law")
    ]
    assert "do not exist: Elsewhere, Nowhere" in document.warnings[-1]


def test_a_capability_without_a_ranked_model_has_no_column_and_one_can_be_chosen(took):
    Capability.objects.create(name="Nothing")
    took(make_model(name="gpt-4o"), 0.4, 0.6, 0.9, 0.9, 0.9)
    (row,) = built().table("overview").as_rows()
    assert row["clear-law"].value.value == pytest.approx(1.6 / 3)
    assert "nothing" not in row
    overview = built("capability=Clear law").table("overview")
    assert [column.title for column in overview.columns] == ["Model", "Clear law"]


def test_weights_of_the_workspace_are_labelled():
    assert [row["owner"] for row in built().table("components").as_rows()] == ["workspace"]
    rows = built("capability=Clear law").table("weights").as_rows()
    assert {row["owner"] for row in rows} == {"workspace"}
    assert ("Clarity", 1) in [(row["name"], row["weight"]) for row in rows]


def test_champion_is_graded_best_over_five_suites(suites):
    best, other, few = (make_model(name=name) for name in ("gpt-4o", "grok-4", "gemini-pro"))
    for suite in suites:
        graded(suite, best, clarity=9)
        graded(suite, other, clarity=7)
    graded(suites[0], few, clarity=10)
    document = built()
    (row,) = document.table("champions").as_rows()
    assert (row["champion"], row["grade"], row["suites"], row["eligible"]) == (("gpt-4o",), 9, 5, 2)
    assert ("gemini-pro", "needs ≥ 5 suites, has 1", "Clarity") in document.table("excluded").rows


def test_latest_summary_of_a_suite_and_model_counts(suites):
    model, other = make_model(name="gpt-4o"), make_model(name="grok-4")
    graded(suites[0], model, clarity=2, tone=3)
    graded(suites[0], model, clarity=8)
    graded(suites[0], other, clarity=5)
    assert sorted((one.model, one.dimension, one.grade) for one in grades(field_of_runs())) == [
        ("openai:gpt-4o", "clarity", 8),
        ("xai:grok-4", "clarity", 5),
    ]


def test_no_grade_a_failed_summary_and_a_suite_that_tries_out_do_not_count(suites, test):
    graded(suites[0], make_model(), clarity=None)
    graded(suites[0], make_model(), state=BatchState.FAILED, clarity=9)
    graded(make_suite(test, tags=("test",)), make_model(), clarity=9)
    assert grades(field_of_runs()) == []


def test_components_are_listed_in_a_line_and_without_any_the_page_says_what_to_do():
    (row,) = built().table("components").as_rows()
    assert (row["dimension"], row["topic"], row["suite"]) == ("Clarity 1", "law 1", "Suite 1 2")
    Capability.objects.all().delete()
    assert "Add one" in built().table("components").empty
