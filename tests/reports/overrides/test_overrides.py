"""Overrides: what annotators made of the judges' outcomes, over all runs."""

from datetime import timedelta

import pytest
from django.db import connection
from django.http import QueryDict
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from reports.documents.reading import Reading
from reports.overrides.page import OVERRIDES
from reports.overrides.query import overrides_of, reviews_of
from reports.overrides.rule import Review, Reviews
from runs.models import HumanEvaluation, Result
from runs.scoring.human_evaluation import HumanVerdict, evaluate, withdraw
from tests.factories import first_result, make_test, make_user
from tests.reports.judged_runs import judged
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db


def verdict(run, place, option, who, why="It is so."):
    result = run.results.order_by("pk")[place]
    evaluate(result, HumanVerdict(option, why), by=who)
    return result


def document(reader=None, **state):
    form = OVERRIDES.form(QueryDict(urlencode(state)))
    assert not form.problems
    return OVERRIDES.build(form.filters, Reading(reader or make_user("maintainer")))


def listed(reader=None, **state):
    return [row["result_id"] for row in document(reader, **state).table("overrides").as_rows()]


def counts(**state):
    return {fact.name: fact.value for fact in document(**state).facts}


# What is counted ---------------------------------------------------------------------------------


def test_only_opposite_outcomes_are_overturned():
    rows = [(True, True), (False, True), (True, False), (None, True), (False, None), (None, None)]
    reviews = Reviews(Review(n, 1, *row) for n, row in enumerate(rows))

    assert [row.result for row in reviews.matching("overturned")] == [1, 2]
    assert (reviews.confirmed, reviews.overturned, reviews.others) == (1, 2, 3)
    assert reviews.sentence == (
        "6 results reviewed by annotators: 1 confirmed, 2 overturned, "
        "3 disputed or not scored by judges."
    )


def test_a_verdict_that_confirms_the_judges_is_reviewed_and_not_overturned():
    run, ann = judged([1], [0], [0]), make_user("annotator", username="ann")
    verdict(run, 0, "1", ann)
    overturned = verdict(run, 1, "1", ann, "The source exists.")

    assert counts() == {"reviewed": 2, "overturned": 1, "confirmed": 1}
    (row,) = document().table("overrides").as_rows()
    assert (row["result_id"], row["judges"], row["annotators"]) == (
        overturned.pk,
        "failed",
        "passed",
    )
    assert row["verdicts"][0].text == "ann"
    assert row["why"] == ("The source exists.",)


def test_the_matrix_counts_from_what_to_what_and_leads_to_the_results(client):
    run, ann = judged([1], [0], [0]), make_user("annotator")
    for place, option in ((0, "0"), (1, "1"), (2, "0")):
        verdict(run, place, option, ann)
    table = document().table("steps")
    found = {row["judges"]: (row["passed"].value, row["failed"].value) for row in table.as_rows()}
    client.force_login(make_user("maintainer"))

    assert found == {"Passed": (0, 1), "Failed": (1, 1), "Unscored": (0, 0)}
    url = table.as_rows()[1]["passed"].url
    assert client.get(url).context["document"].table("overrides").title == "From failed to passed"


def test_a_withdrawn_verdict_is_not_reviewed():
    run, ann = judged([0]), make_user("annotator", username="ann")
    result = verdict(run, 0, "1", ann)
    withdraw(result, by=ann)

    assert len(reviews_of(Result.objects.all())) == 0
    assert not document().table("annotators").rows


def test_annotators_that_disagree_leave_a_result_undecided():
    run = judged([0])
    for who, option in (("ann", "1"), ("bob", "0")):
        verdict(run, 0, option, make_user("annotator", username=who))

    (row,) = document(shown="all").table("overrides").as_rows()
    assert (row["judges"], row["annotators"]) == ("failed", "disputed")
    assert counts()["overturned"] == 0


def test_each_annotator_is_counted_with_what_they_overturned():
    run, ann = judged([0], [0]), make_user("annotator", username="ann")
    verdict(run, 0, "1", ann)
    verdict(run, 1, "0", ann)
    verdict(run, 0, "1", make_user("annotator", username="bob"))
    rows = document().table("annotators").as_rows()

    found = [(row["annotator"].text, row["reviewed"], row["overturned"]) for row in rows]
    assert found == [("ann", 2, 1), ("bob", 1, 1)]


# Filters -----------------------------------------------------------------------------------------


def test_results_are_chosen_by_run_model_annotator_and_period():
    ann, bob = (make_user("annotator", username=name) for name in ("ann", "bob"))
    first, second = judged([0]), judged([0])
    old, new = verdict(first, 0, "1", ann), verdict(second, 0, "1", bob)
    HumanEvaluation.objects.filter(result=old).update(
        created_at=timezone.now() - timedelta(days=20)
    )

    assert listed() == [new.pk, old.pk]
    assert listed(run=first.pk) == [old.pk]
    assert listed(models=second.language_model_id) == [new.pk]
    assert listed(annotator="ann") == [old.pk]
    assert listed(period="7d") == [new.pk]
    assert listed(period="30d") == [new.pk, old.pk]


def test_a_period_begins_with_the_first_run_of_a_release():
    ann = make_user("annotator")
    result = verdict(judged([0], release="1.0"), 0, "1", ann)
    judged([0], release="1.1")

    assert listed(period="release:1.0") == [result.pk]
    assert listed(period="release:1.1") == []


# Readers -----------------------------------------------------------------------------------------


def test_the_reason_on_a_sealed_test_is_hidden_from_a_viewer():
    run = judged([0], tests=[make_test(sealed=True)])
    verdict(run, 0, "1", make_user("annotator"), "Quotes the test.")

    def why(role):
        (row,) = document(make_user(role)).table("overrides").as_rows()
        return row["why"]

    assert why("viewer") is None
    assert why("maintainer") == ("Quotes the test.",)


def test_more_reviewed_results_need_no_more_queries(client):
    ann = make_user("annotator")
    client.force_login(make_user("maintainer"))

    def count():
        with CaptureQueriesContext(connection) as queries:
            assert client.get(reverse("reports:overrides")).status_code == 200
        return len(queries)

    verdict(judged([0]), 0, "1", ann)
    count()
    few = count()
    for _ in range(4):
        verdict(judged([0]), 0, "1", make_user("annotator"))
    count()  # records what is shown for the first time

    assert count() == few


def test_the_run_page_says_reviewed_and_overturned(client):
    run, ann = judged([1], [0]), make_user("annotator")
    verdict(run, 0, "1", ann)
    verdict(run, 1, "1", ann)
    client.force_login(make_user("maintainer"))
    found = client.get(reverse("reports:run", args=[run.pk])).context["document"]

    (fact,) = [fact for fact in found.facts if fact.name == "overturned"]
    assert (fact.value, fact.note) == (1, "of 2 results reviewed by annotators")
    assert len(client.get(fact.url).context["document"].table("overrides").rows) == 2
    address = reverse("reports:run", args=[run.pk])
    found = client.get(address, {"tab": "results"}).context["document"]
    note = found.table("overrides").note
    assert note.startswith("2 results reviewed by annotators: 1 confirmed, 1 overturned.")
    assert len(found.table("overrides").rows) == 1


def test_the_list_is_in_the_order_of_its_dates_and_names_options_in_words():
    run = rubric_run([{"text": "Is short."}], {"Is short.": [1]})
    other = judged([0])
    key = first_result(run).revision.criteria.exclude(key="").get().key
    ann, ben = make_user("annotator", username="ann"), make_user("annotator", username="ben")
    evaluate(first_result(run), HumanVerdict("UNMET", "So.", criterion=key), by=ann)
    verdict(run, 0, "0", ben)
    verdict(other, 0, "1", ann)
    withdraw(first_result(run), by=ben)

    rows = document(only="all").table("overrides").as_rows()
    dates = [row["when"] for row in rows]
    assert len(dates) == 2
    assert dates == sorted(dates, reverse=True)
    assert "not at all, criterion 1" in str(rows)


def test_criteria_and_the_whole_are_told_apart():
    run, ann = judged([0]), make_user("annotator")
    verdict(run, 0, "1", ann)
    reviews = reviews_of(run.results.all())
    (override,) = overrides_of(reviews, ann)

    (one,) = override.verdicts
    assert (one.criterion, one.value, override.judges_score, override.score) == (None, 1, 0, 1)
