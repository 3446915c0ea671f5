"""Reviews by the criteria of a rubric: what has to be decided, and what it comes to."""

import pytest
from django.core.exceptions import ValidationError

from runs.models import EvaluationKind, HumanEvaluation
from runs.review.assignment_actions import send_back, submit, undo
from runs.review.reservations import take
from runs.review.review_draft import ReviewSubmission, Verdict
from tests.runs.review.rows import FAILS, PASSES, filled, make_queue, put, review, submission
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db

MET, UNMET = "FULLY_MET", "UNMET"


def problems(assignment, given):
    with pytest.raises(ValidationError) as caught:
        submit(assignment, given, by=assignment.annotator)
    assert not HumanEvaluation.objects.exists()
    return caught.value.message_dict


def rubric_queue(criteria=({"text": "Says four."}, {"text": "Is brief."}), **fields):
    """A queue of one result with a rubric, of which the judge finds each criterion met."""
    queue = make_queue(**fields)
    run = rubric_run(list(criteria), {each.get("text", ""): (1.0,) for each in criteria})
    put(queue, *run.results.all())
    return queue


def by_criteria(assignment, *options):
    keys = assignment.item.result.revision.criteria.exclude(key="").order_by("order")
    given = zip(keys.values_list("key", flat=True), options, strict=False)
    return ReviewSubmission(tuple(Verdict(key, option, "I looked.") for key, option in given))


def test_criteria_are_judged_and_scored(ann):
    assignment = take(rubric_queue(scope="criteria"), by=ann)

    submitted = submit(assignment, by_criteria(assignment, MET, UNMET), by=ann)

    assert submitted.assignment.item.result.score == 0.5
    assert submitted.agrees is False
    assert submitted.assignment.evaluations.count() == 2


def test_every_judged_criterion_needs_a_verdict(ann):
    assignment = take(rubric_queue(scope="criteria"), by=ann)

    told = problems(assignment, by_criteria(assignment, MET))

    assert list(told.values()) == [["Choose a verdict: criteria left: 1."]]


def test_criteria_that_a_check_decides_may_be_left_out(ann):
    check = {"check_name": "contains", "arguments": {"text": "4"}}
    assignment = take(rubric_queue(({"text": "Says four."}, check), scope="criteria"), by=ann)

    assert submit(assignment, by_criteria(assignment, MET), by=ann).is_new


def test_a_slight_difference_needs_no_reason(ann):
    assignment = take(rubric_queue(scope="criteria"), by=ann)
    slight = by_criteria(assignment, "MOSTLY_MET", MET)  # 0.75 where the judge says 1
    bare = ReviewSubmission(
        tuple(verdict._replace(justification="") for verdict in slight.verdicts)
    )

    assert submit(assignment, bare, by=ann).agrees


def test_a_great_difference_needs_a_reason_of_its_own(ann):
    assignment = take(rubric_queue(scope="criteria"), by=ann)
    great = by_criteria(assignment, "MODERATELY_MET", MET)  # 0.5 where the judge says 1
    bare = ReviewSubmission(tuple(verdict._replace(justification="") for verdict in great.verdicts))

    assert list(problems(assignment, bare)) == [f"justification:{great.verdicts[0].criterion}"]


def test_queue_that_asks_for_criteria_refuses_a_whole(ann):
    assignment = take(rubric_queue(scope="criteria"), by=ann)

    assert "each criterion" in problems(assignment, submission())["option"][0]


def test_queue_that_asks_for_the_whole_refuses_criteria(ann):
    assignment = take(rubric_queue(scope="whole"), by=ann)

    assert (
        "the whole answer" in problems(assignment, by_criteria(assignment, MET, MET))["option"][0]
    )


def test_either_is_one_of_both_and_not_both(ann):
    assignment = take(rubric_queue(scope="either"), by=ann)
    both = ReviewSubmission((*by_criteria(assignment, MET, MET).verdicts, Verdict("", PASSES)))

    assert "not both" in problems(assignment, both)["option"][0]
    assert submit(assignment, submission(), by=ann).is_new


def test_test_without_a_rubric_is_judged_as_a_whole(ann):
    assert review(take(filled(1, scope="criteria"), by=ann)).is_new


def test_criteria_given_after_a_whole_count(ann, bob):
    queue = rubric_queue(scope="either")
    first = review(take(queue, by=ann), FAILS).assignment
    send_back(first, "Judge its criteria.", by=bob)
    assignment = take(queue, by=ann)

    submitted = submit(assignment, by_criteria(assignment, MET, MET), by=ann)

    assert submitted.assignment.item.result.score == 1.0
    withdrawal = HumanEvaluation.objects.get(kind=EvaluationKind.WITHDRAWAL)
    assert withdrawal.criterion.key == ""


def test_undo_withdraws_every_criterion(ann):
    queue = rubric_queue(scope="criteria")
    assignment = take(queue, by=ann)
    submit(assignment, by_criteria(assignment, UNMET, UNMET), by=ann)

    undone = undo(queue, by=ann)

    undone.item.result.refresh_from_db()
    assert (undone.item.result.score, undone.item.result.is_overridden) == (1.0, False)


def test_unknown_criterion_is_named(ann):
    told = problems(take(rubric_queue(), by=ann), ReviewSubmission((Verdict("c9", PASSES),)))

    assert told["option:c9"] == ["The rubric has no criterion 'c9'."]
