"""The tab Pairwise, and the page on which a person chooses."""

import pytest
from django.test import Client
from django.urls import reverse

from evalhub.models import ItemState
from reports.compare.form import CompareForm
from reports.compare.page import build
from reports.documents.links import page_url
from reports.documents.reading import Reading
from runs.laboratory.pairwise.evaluations import order_for
from runs.laboratory.pairwise.judge_runs import PairwiseOrder, start
from runs.laboratory.pairwise.models import PairEvaluation, PairJudgment
from runs.review.queue_items import add_runs
from runs.review.reservations import take
from tests.api import client_of
from tests.factories import make_model, make_test, make_user
from tests.reports.compare.test_page import facts, listed, report
from tests.reports.documents.test_pages import as_query
from tests.runs.laboratory.pairwise.rows import answered_runs
from tests.runs.review.rows import make_queue

pytestmark = pytest.mark.django_db


def judged_runs(*texts, tests=8, choices=("first", "first"), criterion=""):
    """Runs whose pairs a judge decided so in both orders."""
    runs = answered_runs(*texts, tests=tests)
    judge_run = start(PairwiseOrder(runs, make_model(), criterion), by=None)
    for order, choice in enumerate(choices):
        state = ItemState.DONE if choice else ItemState.ERROR
        judge_run.judgments.filter(order=order).update(choice=choice, state=state)
    judge_run.state = "done"
    judge_run.save()
    return runs, judge_run


def pairwise(*runs, **asked):
    return report(*runs, tab="pairwise", **asked)


def browser(role="annotator"):
    client, person = Client(), make_user(role)
    client.force_login(person)
    return client, person


def pair_of(runs):
    return [run.results.order_by("pk")[0] for run in runs]


def test_a_winner_is_named_with_counts_and_certainty():
    runs, _ = judged_runs("x", "y")
    document = pairwise(*runs)
    assert "wins 8 of 8 pairs against" in document.sentences[0]
    assert document.sentences[0].endswith(
        "p = 0.0039 (mid-p sign flips, the larger p of by test and by issue), significantly better."
    )
    assert "position_bias" in facts(document)
    assert facts(document)["position_bias"] == 0


def test_choices_that_change_with_the_order_are_ties():
    runs, _ = judged_runs("x", "y", choices=("first", "second"))
    document = pairwise(*runs)
    assert "not enough evidence" in document.sentences[0]
    assert (facts(document)["ties"], facts(document)["position_bias"]) == (8, 1)
    assert {row["note"] for row in listed(document, "pairs")} == {"position bias"}


def test_nothing_is_concluded_where_judgments_failed():
    runs, judge_run = judged_runs("x", "y", tests=10)
    failed = judge_run.judgments.filter(order=1)[:1].get()
    PairJudgment.objects.filter(pk=failed.pk).update(choice="", state=ItemState.ERROR)
    document = pairwise(*runs)
    assert document.sentences[0].startswith("No conclusion: 9/10 scored")
    assert facts(document)["failed"] == 1
    assert listed(document, "duels")[0]["p"] is None


def test_three_runs_are_ranked():
    runs, _ = judged_runs("x", "y", "z", tests=12)
    document = pairwise(*runs)
    ranking = listed(document, "ranking")
    assert [row["run"] for row in ranking] == [str(run) for run in runs]
    assert [row["ranks"] for row in ranking] == ["1", "2", "3"]
    assert "is significantly first of 3" in document.sentences[0]


def test_runs_without_judgments_offer_what_to_do():
    runs = answered_runs("x", "y")
    document = pairwise(*runs)
    assert document.sentences == ("None of 3 pairs has been judged yet.",)
    texts = [link.text for link in document.more["pair_actions"]]
    assert texts == ["Judge pairs yourself", "Have a model judge …"]


def test_runs_of_other_inputs_are_not_compared():
    first = answered_runs("x", asked=[make_test("One?")])
    second = answered_runs("y", asked=[make_test("Two?")])
    assert "same input" in pairwise(*first, *second).sentences[0]


def test_people_override_the_judge_and_are_compared_with_it():
    runs, judge_run = judged_runs("x", "y")
    pair = judge_run.judgments.first().pair
    PairEvaluation.objects.create(
        pair=pair, annotator=make_user("annotator"), choice="second", order=0
    )
    document = pairwise(*runs)
    assert "wins 7 of 8 pairs" in document.sentences[0]
    assert facts(document)["agreement"] == 0
    assert any("agree on 0 of 1 pair" in one for one in document.sentences)


def test_people_are_left_out_where_the_judge_had_another_criterion():
    runs, judge_run = judged_runs("x", "y", criterion="Which is funnier?")
    pair = judge_run.judgments.first().pair
    PairEvaluation.objects.create(
        pair=pair, annotator=make_user("annotator"), choice="second", order=0
    )
    document = pairwise(*runs)
    assert "wins 8 of 8 pairs" in document.sentences[0]
    assert facts(document)["agreement"] is None


def test_pairs_that_the_reader_reviews_blind_are_left_out():
    runs, _ = judged_runs("x", "y", tests=3)
    queue = make_queue(scope="pairs", random_share=1.0)
    add_runs(queue, *runs)
    reviewer = make_user("annotator")
    take(queue, by=reviewer)

    rows = client_of(reviewer).get(reverse("api-pair-judgment-list")).json()["results"]
    assert len(rows) == 4

    form = CompareForm(as_query({"runs": [run.pk for run in runs], "tab": "pairwise"}))
    document = build(form.filters, Reading(reviewer))
    assert len(listed(document, "pairs")) == 2


def test_the_page_opens_on_the_tab_and_links_to_it():
    runs, _ = judged_runs("x", "y")
    client, _ = browser("viewer")
    text = client.get(page_url("compare", runs=runs, tab="pairwise")).content.decode()
    assert "Pairwise" in text
    assert "Judge pairs yourself" not in text


# A person chooses ---------------------------------------------------------------------------------


def test_names_are_hidden_until_chosen_and_the_order_is_the_drawn_one():
    runs = answered_runs("the first text", "the second text", tests=1)
    pair = pair_of(runs)
    address = reverse("reports:compare_pair", args=[one.pk for one in pair])
    orders = set()
    for _ in range(6):
        client, person = browser()
        before = client.get(address).content.decode()
        assert not any(run.label in before or run.model_name in before for run in runs)
        order = order_for((pair[0].pk, pair[1].pk), person)
        assert (before.index("the first text") < before.index("the second text")) == (not order)
        client.post(address, {"act": "a", "reason": "Shorter."})
        after = client.get(address).content.decode()
        assert all(str(run) in after for run in runs)
        made = PairEvaluation.objects.get(annotator=person)
        assert made.choice == ("second" if order else "first")
        assert made.blind
        orders.add(order)
    assert orders == {0, 1}


def test_undo_hides_the_names_again():
    runs = answered_runs("x", "y", tests=1)
    client, _ = browser()
    address = reverse("reports:compare_pair", args=[one.pk for one in pair_of(runs)])
    client.post(address, {"act": "e"})
    client.post(address, {"act": "undo"})
    assert runs[0].label not in client.get(address).content.decode()


def test_the_next_pair_is_one_without_a_choice_of_ones_own():
    runs = answered_runs("x", "y", tests=2)
    client, _ = browser()
    following = reverse("reports:compare_next_pair") + f"?runs={runs[0].pk}&runs={runs[1].pk}"
    seen = []
    for _ in range(2):
        address = client.get(following).url
        seen.append(address)
        client.post(address, {"act": "a"})
    assert len(set(seen)) == 2
    assert client.get(following).url == page_url("compare", runs=runs, tab="pairwise")


def test_sealed_answers_are_not_offered_to_who_may_not_read_them():
    runs = answered_runs("x", "y", asked=[make_test("Secret?", sealed=True)])
    client, person = browser()
    person.groups.clear()
    from django.contrib.auth.models import Permission

    person.user_permissions.add(
        *Permission.objects.filter(codename__in=["add_pairevaluation", "view_run"])
    )
    address = reverse("reports:compare_pair", args=[one.pk for one in pair_of(runs)])
    assert client.get(address).status_code == 404
    assert client.post(address, {"act": "a"}).status_code == 404
    following = reverse("reports:compare_next_pair") + f"?runs={runs[0].pk}&runs={runs[1].pk}"
    assert "tab=pairwise" in client.get(following).url
