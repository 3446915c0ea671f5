"""Reviews by the criteria of a rubric: what has to be decided, and what it comes to."""

import pytest
from django.core.exceptions import ValidationError

from runs.models import EvaluationKind, HumanEvaluation
from runs.review.submitting import Sheet, Verdict, send_back, submit, undo
from runs.review.taking import take
from tests.factories import make_user
from tests.runs.review.rows import FAILS, PASSES, filled, make_queue, put, review, sheet
from tests.runs.rubrics import rubric_run

pytestmark = pytest.mark.django_db

MET, UNMET = "EXACTLY_MET", "UNMET"


@pytest.fixture
def ann():
    return make_user("annotator", username="ann")


@pytest.fixture
def bob():
    return make_user("annotator", username="bob")


def problems(place, given):
    with pytest.raises(ValidationError) as caught:
        submit(place, given, by=place.annotator)
    assert not HumanEvaluation.objects.exists()
    return caught.value.message_dict


def rubric_queue(criteria=({"text": "Says four."}, {"text": "Is brief."}), **fields):
    """A queue of one result with a rubric, of which the judge finds each criterion met."""
    queue = make_queue(**fields)
    run = rubric_run(list(criteria), {each.get("text", ""): (1.0,) for each in criteria})
    put(queue, *run.results.all())
    return queue


def by_criteria(place, *options):
    keys = place.item.result.revision.criteria.exclude(key="").order_by("order")
    given = zip(keys.values_list("key", flat=True), options, strict=False)
    return Sheet(tuple(Verdict(key, option, "I looked.") for key, option in given))


def test_criteria_are_judged_and_scored(ann):
    place = take(rubric_queue(asks="criteria"), by=ann)

    submitted = submit(place, by_criteria(place, MET, UNMET), by=ann)

    assert submitted.result.score == 0.5
    assert submitted.agrees is False
    assert submitted.place.evaluations.count() == 2


def test_every_judged_criterion_is_asked_for(ann):
    place = take(rubric_queue(asks="criteria"), by=ann)

    told = problems(place, by_criteria(place, MET))

    assert list(told.values()) == [["Choose one: 1 left."]]


def test_criteria_that_a_check_decides_may_be_left_out(ann):
    check = {"check_name": "contains", "arguments": {"text": "4"}}
    place = take(rubric_queue(({"text": "Says four."}, check), asks="criteria"), by=ann)

    assert submit(place, by_criteria(place, MET), by=ann).is_new


def test_a_slight_difference_needs_no_reason(ann):
    place = take(rubric_queue(asks="criteria"), by=ann)
    slight = by_criteria(place, "MAJORLY_MET", MET)  # 0.75 where the judge says 1
    bare = Sheet(tuple(verdict._replace(justification="") for verdict in slight.verdicts))

    assert submit(place, bare, by=ann).agrees


def test_a_great_difference_needs_a_reason_of_its_own(ann):
    place = take(rubric_queue(asks="criteria"), by=ann)
    great = by_criteria(place, "MODERATELY_MET", MET)  # 0.5 where the judge says 1
    bare = Sheet(tuple(verdict._replace(justification="") for verdict in great.verdicts))

    assert list(problems(place, bare)) == [f"justification:{great.verdicts[0].criterion}"]


def test_queue_that_asks_for_criteria_refuses_a_whole(ann):
    place = take(rubric_queue(asks="criteria"), by=ann)

    assert "each criterion" in problems(place, sheet())["option"][0]


def test_queue_that_asks_for_the_whole_refuses_criteria(ann):
    place = take(rubric_queue(asks="whole"), by=ann)

    assert "as a whole" in problems(place, by_criteria(place, MET, MET))["option"][0]


def test_either_is_one_of_both_and_not_both(ann):
    place = take(rubric_queue(asks="either"), by=ann)
    both = Sheet((*by_criteria(place, MET, MET).verdicts, Verdict("", PASSES)))

    assert "not both" in problems(place, both)["option"][0]
    assert submit(place, sheet(), by=ann).is_new


def test_test_without_a_rubric_is_judged_as_a_whole(ann):
    assert review(take(filled(1, asks="criteria"), by=ann)).is_new


def test_criteria_given_after_a_whole_count(ann, bob):
    queue = rubric_queue(asks="either")
    first = review(take(queue, by=ann), FAILS).place
    send_back(first, "Judge its criteria.", by=bob)
    place = take(queue, by=ann)

    submitted = submit(place, by_criteria(place, MET, MET), by=ann)

    assert submitted.result.score == 1.0
    withdrawal = HumanEvaluation.objects.get(kind=EvaluationKind.WITHDRAWAL)
    assert withdrawal.criterion.key == ""


def test_undo_withdraws_every_criterion(ann):
    queue = rubric_queue(asks="criteria")
    place = take(queue, by=ann)
    submit(place, by_criteria(place, UNMET, UNMET), by=ann)

    undone = undo(queue, by=ann)

    undone.item.result.refresh_from_db()
    assert (undone.item.result.score, undone.item.result.is_overridden) == (1.0, False)


def test_unknown_criterion_is_named(ann):
    told = problems(take(rubric_queue(), by=ann), Sheet((Verdict("c9", PASSES),)))

    assert told["option:c9"] == ["The rubric has no criterion 'c9'."]
