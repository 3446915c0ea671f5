"""A queue that asks which of two answers is better."""

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from runs.laboratory.pairwise import judge_runs
from runs.laboratory.pairwise.evaluations import Chosen, choose, order_for
from runs.laboratory.pairwise.models import PairChoice, PairEvaluation, PairJudgment
from runs.laboratory.pairwise.outcomes import pair_rows
from runs.review.assignment_actions import send_back, submit, undo
from runs.review.models import Assignment, ReviewScope
from runs.review.progress import progress
from runs.review.queue_items import add_results, add_runs
from runs.review.reservations import take
from runs.review.review_draft import ReviewSubmission, Verdict
from runs.scoring.shown_verdicts import hidden_from
from tests.api import client_of
from tests.factories import make_model, make_test, make_user
from tests.runs.laboratory.pairwise.rows import answered_runs
from tests.runs.review.rows import make_queue

pytestmark = pytest.mark.django_db


def pair_queue(**fields):
    return make_queue(**({"scope": ReviewScope.PAIRS, "random_share": 1.0} | fields))


@pytest.fixture
def runs():
    return answered_runs("first text", "second text", tests=4)


@pytest.fixture
def queue(runs):
    queue = pair_queue()
    add_runs(queue, *runs)
    return queue


@pytest.fixture
def reviewer(db):
    return make_user("annotator")


def says(option, reason=""):
    return ReviewSubmission((Verdict("", option, reason),))


def first_is_better(assignment, by):
    item = assignment.item
    return "ab"[order_for((item.result_id, item.other_id), by)]


def test_a_random_share_of_the_comparable_pairs_is_added_once(runs):
    queue, part = pair_queue(), pair_queue(random_share=0.5)
    assert add_runs(queue, *runs).added == 4
    assert add_runs(queue, *runs) == (0, 0, 4)
    assert add_runs(part, *runs) == (2, 2, 0)


def test_a_run_without_an_opponent_adds_nothing(runs):
    assert add_runs(pair_queue(), runs[0]).added == 0


def test_a_queue_of_pairs_takes_no_single_answers(runs):
    with pytest.raises(ValidationError, match="pairs of answers"):
        add_results(pair_queue(), [runs[0].results.first()], by=make_user())


def test_reviewers_are_reserved_pairs_submit_and_undo(runs, queue, reviewer):
    ids = [run.pk for run in runs]

    assignment = take(queue, by=reviewer)
    submit(assignment, says(first_is_better(assignment, reviewer), "Clearer."), by=reviewer)

    (row,) = pair_rows(ids, None)
    assert row.outcome.score == 1
    evaluation = PairEvaluation.objects.get()
    assert evaluation.justification == "Clearer."
    assert evaluation.blind
    assert progress(queue).submitted == 1

    back = undo(queue, by=reviewer)
    assert back == assignment
    assert back.draft["justification"] == "Clearer."
    assert pair_rows(ids, None) == []
    assert PairEvaluation.objects.count() == 2


def test_two_reviewers_choose_by_themselves(runs):
    queue = pair_queue(reviewers=2)
    add_runs(queue, *runs)
    for option in ("e", None):
        reviewer = make_user("annotator")
        assignment = take(queue, by=reviewer)
        submit(assignment, says(option or first_is_better(assignment, reviewer)), by=reviewer)
    (row,) = pair_rows([run.pk for run in runs], None)
    assert row.outcome.is_disputed


def test_pairs_on_which_people_or_the_judge_differ_are_listed_as_disputed(runs, queue, client):
    judge_runs.start(judge_runs.PairwiseOrder(runs, make_model()), by=None)
    PairJudgment.objects.update(state="done", choice="first")
    one, other = make_user("annotator"), make_user("annotator")
    agreed, against, apart, _ = zip(*(run.results.order_by("pk") for run in runs), strict=True)
    said = [(agreed, "first", "first"), (against, "second", "second"), (apart, "first", "tie")]
    for (first, second), *choices in said:
        for annotator, choice in zip((one, other), choices, strict=True):
            choose(first, second, Chosen(PairChoice(choice), 0), by=annotator)
    client.force_login(make_user("maintainer"))
    shown = client.get(reverse("admin:review_queue_overview", args=[queue.pk]) + "?disputed=1")
    assert {row.item.result_id for row in shown.context["rows"]} == {against[0].pk, apart[0].pk}


def test_what_is_no_choice_is_refused(runs, queue, reviewer, subtests):
    assignment = take(queue, by=reviewer)
    for submission in (says(""), says("1"), ReviewSubmission(())):
        with subtests.test(str(submission)), pytest.raises(ValidationError):
            submit(assignment, submission, by=reviewer)
    strict = pair_queue(ties=False)
    add_runs(strict, *runs)
    with pytest.raises(ValidationError, match="'e' is not one of a, b"):
        submit(take(strict, by=reviewer), says("e"), by=reviewer)
    assert not PairEvaluation.objects.exists()


def test_a_sent_back_pair_is_chosen_again(runs, queue, reviewer):
    assignment = submit(take(queue, by=reviewer), says("e"), by=reviewer).assignment
    send_back(assignment, "Look again.", by=make_user("adjudicator"))
    again = take(queue, by=reviewer)
    assert again == assignment
    submit(again, says(first_is_better(again, reviewer)), by=reviewer)
    (row,) = pair_rows([run.pk for run in runs], None)
    assert row.outcome.score == 1


def test_both_answers_are_hidden_elsewhere_while_they_are_reviewed_blind(queue, reviewer):
    item = take(queue, by=reviewer).item
    assert hidden_from(reviewer) == {item.result_id, item.other_id}


def test_the_work_page_shows_both_answers_without_names_and_goes_on(runs, queue, reviewer, client):
    client.force_login(reviewer)
    page = client.get(reverse("admin:review_queue_work", args=[queue.pk])).content.decode()
    assert "first text" in page
    assert "second text" in page
    assert not any(run.label in page or run.model_name in page for run in runs)
    assert 'data-key="a"' in page
    assert "checked" not in page.split('id="review-form"')[1].split("</form>")[0]

    assignment = Assignment.objects.get(annotator=reviewer)
    sent = {"act": "submit", "assignment": assignment.pk, "option": "e", "seconds": "3"}
    answer = client.post(
        reverse("admin:review_queue_act", args=[queue.pk]),
        sent,
        headers={"accept": "application/json"},
    ).json()
    assert "Saved. Your verdict: equal." in answer["html"]
    assert PairEvaluation.objects.get().choice == "tie"


def test_runs_are_paired_on_the_page_of_the_queue(runs, client):
    queue = pair_queue()
    client.force_login(make_user("maintainer"))
    address = reverse("admin:review_queue_runs", args=[queue.pk])
    chosen = {"run": [run.pk for run in runs]}
    preview = client.post(address, {"act": "look", **chosen}).content.decode()
    assert "Add 4 pairs" in preview
    client.post(address, {"act": "add", **chosen})
    assert queue.items.count() == 4


def test_sealed_pairs_go_only_to_who_may_read_them():
    runs = answered_runs("x", "y", asked=[make_test("Secret?", sealed=True)])
    queue = pair_queue()
    add_runs(queue, *runs)
    person = make_user()
    assert take(queue, by=person) is None
    assert take(queue, by=make_user("annotator")) is not None


def test_a_script_takes_and_submits_a_pair(runs, queue, reviewer):
    script = client_of(reviewer)
    taken = script.post(reverse("api-queue-take", args=[queue.pk])).json()
    assert taken["scope"] == "pairs"
    assert sorted(taken["answers"]) == ["first text", "second text"]
    better = "ab"[taken["answers"].index("first text")]
    address = reverse("api-assignment-submit", args=[taken["id"]])
    body = {"verdicts": [{"option": better}]}
    assert script.post(address, body, content_type="application/json").status_code == 200
    (row,) = pair_rows([run.pk for run in runs], None)
    assert row.outcome.score == 1
