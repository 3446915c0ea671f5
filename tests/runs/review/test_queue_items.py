from collections import Counter

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone

from runs.models import Result, Run
from runs.review.models import Assignment, QueueState, ReviewItem
from runs.review.queue_items import add_assignments, add_run, fill_followers, plan
from runs.review.reservations import take
from tests.factories import make_jury, make_model, make_run, make_test, make_user
from tests.reports.judged_runs import answer, fail, finish, judged
from tests.runs.review.rows import make_queue, review
from tests.runs.rubric_runs import rubric_run

pytestmark = pytest.mark.django_db

AGREE, SPLIT, MISSING = (1.0, 1.0, 1.0), (1.0, 1.0, 0.0), (1.0, 1.0, None)


@pytest.fixture
def selective(db):
    """A queue without a random part."""
    return make_queue(random_share=0)


def reasons(queue):
    """The reasons of each item, in the queue's order."""
    return [[reason["key"] for reason in item.reasons] for item in queue.items.all()]


def description(queue):
    return [reason["description"] for item in queue.items.all() for reason in item.reasons]


# Reasons -----------------------------------------------------------------------------------------


def test_unanimous_answers_are_not_added(selective):
    assert add_run(selective, judged(AGREE)) == (0, 0, 0)


def test_judges_on_both_sides_of_the_pass_line(selective):
    add_run(selective, judged(AGREE, SPLIT))

    assert description(selective) == ["Two judges pass it, one fails it"]


def test_a_missing_verdict(selective):
    add_run(selective, judged(AGREE, MISSING))

    assert description(selective) == ["One of three judgments is missing"]


def test_no_verdict_at_all(selective):
    add_run(selective, judged((None, None)))

    assert description(selective) == ["No judge gave a verdict"]


def test_disputed_answers_are_added(selective):
    from runs.scoring.human_evaluation import HumanVerdict, evaluate

    run = judged(AGREE)
    for option in "01":
        evaluate(run.results.get(), HumanVerdict(option, "So I say."), by=make_user("annotator"))

    add_run(selective, run)

    assert reasons(selective) == [["disputed"]]


def test_heavy_tests(selective):
    run = judged(AGREE, AGREE)
    Result.objects.filter(pk=run.results.order_by("pk")[0].pk).update(weight=3)

    add_run(selective, run)

    assert description(selective) == ["Test weight 3"]


def suite_of(*tests):
    from runs.models import Suite

    suite = Suite.objects.create(name="regressions")
    suite.tests.set(tests)
    return suite


def test_flips_against_the_baseline(selective):
    tests = [make_test(), make_test()]
    suite = suite_of(*tests)
    baseline = judged(AGREE, AGREE, tests=tests, suite=suite, release="release 4")
    suite.baseline = baseline
    suite.save()
    judged((0.0, 0.0, 0.0), AGREE, tests=tests, suite=suite, release="release 5")
    run = judged((0.0, 0.0, 0.0), AGREE, tests=tests, suite=suite)

    add_run(selective, run)

    assert description(selective) == [
        "Failed now, passed in release 4 (one answer each, not tested)"
    ]


def test_without_a_baseline_the_run_before_is_compared(selective):
    tests = [make_test()]
    suite = suite_of(*tests)
    judged(AGREE, tests=tests, suite=suite, label="Monday")
    judged((0.0,) * 3, tests=tests, suite=suite, label="another model", variant_key="other")
    run = judged((0.0, 0.0, 0.0), tests=tests, suite=suite)

    add_run(selective, run)

    assert description(selective) == ["Failed now, passed in Monday (one answer each, not tested)"]


def test_a_test_that_was_changed_did_not_flip(selective):
    test = make_test()
    suite = suite_of(test)
    judged(AGREE, tests=[test], suite=suite)
    test.reference = "four"
    test.save()

    add_run(selective, judged((0.0, 0.0, 0.0), tests=[test], suite=suite))

    assert not selective.items.exists()


def test_errors_and_pending_results_are_never_added():
    queue = make_queue(random_share=1)
    run = make_run(make_test(), make_test(), make_test())
    first, second, _ = run.results.order_by("pk")
    fail(run, first)
    Result.objects.filter(pk=second.pk).update(state="done")

    added = add_run(queue, run)

    assert added == (1, 1, 0)
    assert queue.items.get().result == second


# What is drawn -----------------------------------------------------------------------------------


def many(count, split):
    """A run of so many results, over the first of which the judges split."""
    return judged(*[SPLIT] * split, *[AGREE] * (count - split))


def test_random_ones_make_up_their_share():
    queue = make_queue(random_share=0.25)

    added = add_run(queue, many(80, 30))

    assert added.random / added.added == pytest.approx(0.25, abs=0.05)
    assert queue.items.filter(is_random=True).count() == added.random


def test_all_are_drawn_where_the_share_is_one():
    queue = make_queue(random_share=1)

    assert add_run(queue, many(10, 3)) == (10, 10, 0)


def test_a_share_of_zero_draws_none(selective):
    assert add_run(selective, many(10, 3)) == (3, 0, 0)


def test_random_items_keep_their_reasons():
    queue = make_queue(random_share=1)
    add_run(queue, many(4, 4))

    assert reasons(queue) == [["judges_disagree"]] * 4


def test_same_seed_draws_the_same():
    run = many(40, 10)
    one, same, other = make_queue(seed=7), make_queue(seed=7), make_queue(seed=8)
    for queue in (one, same, other):
        add_run(queue, run)

    def drawn(queue):
        return list(queue.items.filter(is_random=True).values_list("result", flat=True))

    assert drawn(one) == drawn(same) != drawn(other)


def test_every_prefix_has_about_its_share_of_random_ones():
    queue = make_queue(random_share=0.2)
    add_run(queue, many(100, 60))
    flags = list(queue.items.values_list("is_random", flat=True))

    for end in range(10, len(flags) + 1, 5):
        assert sum(flags[:end]) == pytest.approx(0.2 * end, abs=2.5)


def test_most_severe_and_heaviest_come_first(selective):
    run = judged(MISSING, SPLIT, SPLIT, AGREE)
    heaviest = run.results.order_by("pk")[2]
    Result.objects.filter(pk=heaviest.pk).update(weight=5)

    add_run(selective, run)

    assert reasons(selective) == [
        ["judges_disagree", "high_weight"],
        ["judges_disagree"],
        ["judge_failed"],
    ]


def test_later_items_come_after_equal_and_before_less_severe_ones(selective, monkeypatch):
    early = judged(SPLIT, MISSING)
    add_run(selective, early)
    monkeypatch.setattr("runs.review.queue_items._queue_age_s", lambda queue: 60)
    late = judged(SPLIT, MISSING)

    add_run(selective, late)

    runs = list(selective.items.values_list("result__run", flat=True))
    assert runs == [early.pk, late.pk, early.pk, late.pk]


# Rows --------------------------------------------------------------------------------------------


def test_adding_again_adds_nothing(selective):
    run = many(5, 3)
    add_run(selective, run)

    assert add_run(selective, run) == (0, 0, 3)
    assert ReviewItem.objects.count() == 3


def test_plan_counts_without_adding(selective):
    run = many(5, 3)

    assert plan(selective, run) == ((3, 0, 0), Counter(judges_disagree=3))
    assert not ReviewItem.objects.exists()


def test_each_item_has_a_place_for_each_reviewer():
    queue = make_queue(reviewers=3, random_share=0)
    add_run(queue, many(4, 2))

    assignments = Assignment.objects.values_list("item__position", "position", "number")
    assert all(one == other for one, other, _ in assignments)
    assert sorted(number for *_, number in assignments) == [1, 1, 2, 2, 3, 3]


def test_raising_the_reviewers_adds_places(selective):
    add_run(selective, many(4, 2))
    review(take(selective, by=make_user("annotator")))
    selective.reviewers = 3
    selective.save()

    assert add_assignments(selective) == 4
    assert add_assignments(selective) == 0
    assert Assignment.objects.filter(state="submitted").count() == 1


def test_lowering_the_reviewers_removes_none():
    queue = make_queue(reviewers=2, random_share=0)
    add_run(queue, many(2, 1))
    queue.reviewers = 1
    queue.save()

    assert add_assignments(queue) == 0
    assert Assignment.objects.count() == 2


def test_closed_queue_is_not_filled(selective):
    selective.state = QueueState.CLOSED
    selective.save()

    with pytest.raises(ValidationError, match="is closed"):
        add_run(selective, many(1, 1))


def test_portions_do_not_matter(selective, monkeypatch):
    run = many(7, 5)
    whole, parts = make_queue(seed=3), make_queue(seed=3)
    add_run(whole, run)
    monkeypatch.setattr("runs.review.queue_items.PORTION", 2)
    add_run(parts, run)

    def rows(queue):
        return list(queue.items.values_list("result", "is_random"))

    assert rows(whole) == rows(parts)


def test_queries_do_not_grow_with_the_run(selective, django_assert_max_num_queries):
    run = many(60, 40)

    with django_assert_max_num_queries(40):
        add_run(selective, run)
    assert selective.items.count() == 40


# Following ---------------------------------------------------------------------------------------


@pytest.fixture
def followed():
    test = make_test()
    suite = suite_of(test)
    return make_queue(follows=suite, random_share=1), suite, test


def test_runs_that_are_done_are_added_once(followed):
    queue, suite, test = followed
    judged(AGREE, tests=[test], suite=suite)
    Run.objects.get().judge_runs.update(finished_at=timezone.now())

    assert fill_followers() == 1
    assert fill_followers() == 0
    assert queue.items.count() == 1


def test_run_with_nothing_to_add_is_looked_through_once(followed):
    queue, suite, test = followed
    type(queue).objects.update(random_share=0)
    judged(AGREE, tests=[test], suite=suite)

    assert (fill_followers(), fill_followers()) == (1, 0)
    assert not queue.items.exists()


def test_run_that_is_still_judged_waits(followed):
    _, suite, test = followed
    run = judged(AGREE, tests=[test], suite=suite, done=False)
    assert fill_followers() == 0

    finish(run)
    assert fill_followers() == 1


def test_runs_from_before_the_queue_are_left_to_people():
    test = make_test()
    suite = suite_of(test)
    judged(AGREE, tests=[test], suite=suite)
    make_queue(follows=suite, random_share=1)

    assert fill_followers() == 0


def test_closed_queues_follow_nothing(followed):
    queue, suite, test = followed
    type(queue).objects.update(state=QueueState.CLOSED)
    judged(AGREE, tests=[test], suite=suite)

    assert fill_followers() == 0


def test_runs_without_judges_are_added():
    queue = make_queue(random_share=1)
    run = make_run(make_test())
    answer(run)
    finish(run)

    assert add_run(queue, run).added == 1


def test_a_rubrics_criteria_are_compared_one_by_one(selective):
    """Both judges pass it, but they lie far apart on one criterion."""
    points = [{"text": "Says four."}, {"text": "Is brief."}]
    run = rubric_run(points, {"Says four.": (1.0, 1.0), "Is brief.": (1.0, 0.25)})

    add_run(selective, run)

    assert description(selective) == ["Judges are split on one criterion"]


def test_another_jury_flips_no_answer(selective):
    test = make_test()
    suite = suite_of(test)
    judged(AGREE, tests=[test], suite=suite)
    stern = make_jury(*(make_model() for _ in range(3)))
    run = judged((0.0, 0.0, 0.0), tests=[test], suite=suite, jury=stern)

    add_run(selective, run)

    assert not selective.items.exists()
