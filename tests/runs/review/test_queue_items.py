from collections import Counter

import pytest
from django.core.exceptions import ValidationError

from runs.models import Result
from runs.review.models import Assignment, QueueState, ReviewItem
from runs.review.queue_items import add_assignments, add_runs, fill_followers, plan
from runs.review.reservations import take
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_template,
    make_test,
    make_user,
)
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


def test_answers_are_added_with_their_reasons(selective, subtests):
    test = make_test()
    heavy, opposed = (judged(AGREE, tests=[test]) for _ in range(2))
    heavy.results.update(weight=3)
    for option in "01":
        verdict = HumanVerdict(option, "So I say.")
        evaluate(opposed.results.get(), verdict, by=make_user("annotator"))
    for run, reason in (
        (judged(AGREE, tests=[test]), ()),
        (judged(SPLIT, tests=[test]), ("judges_disagree: Two judges pass it, one fails it",)),
        (judged(MISSING, tests=[test]), ("judge_failed: One of three judgments is missing",)),
        (judged((None, None), tests=[test]), ("judge_failed: No judge gave a verdict",)),
        (heavy, ("high_weight: Test weight 3",)),
        (opposed, ("disputed: ",)),
    ):
        with subtests.test(reason):
            selective.items.all().delete()
            add_runs(selective, run)
            found = [reason for item in selective.items.all() for reason in item.reasons]
            assert len(found) == len(reason)
            for one, words in zip(found, reason, strict=True):
                assert f"{one['key']}: {one['description']}".startswith(words)


def suite_of(*tests):
    from runs.models import Suite

    suite = Suite.objects.create(name="regressions")
    suite.tests.set(tests)
    return suite


def test_flips_against_the_baseline_or_else_the_run_before(selective):
    tests = [make_test(), make_test()]
    suite, fails = suite_of(*tests), (0.0, 0.0, 0.0)
    baseline = judged(AGREE, AGREE, tests=tests, suite=suite, release="release 4")
    judged(fails, AGREE, tests=tests, suite=suite, release="another model", variant_key="other")
    run = judged(fails, AGREE, tests=tests, suite=suite, release="release 5")
    add_runs(selective, run)
    assert description(selective) == [
        "Failed now, passed in release 4 (one answer each, not tested)"
    ]

    selective.items.all().delete()
    suite.baselines.add(baseline)
    add_runs(selective, judged(fails, AGREE, tests=tests, suite=suite))
    assert description(selective) == [
        "Failed now, passed in release 4 (one answer each, not tested)"
    ]


def test_neither_a_changed_test_nor_another_jury_flips_an_answer(selective):
    test, fails = make_test(), (0.0, 0.0, 0.0)
    suite = suite_of(test)
    judged(AGREE, tests=[test], suite=suite)
    stern = make_jury(*(make_model() for _ in range(3)))
    add_runs(selective, judged(fails, tests=[test], suite=suite, jury=stern))
    assert not selective.items.exists()

    judged(AGREE, tests=[test], suite=suite)
    test.reference = "four"
    test.save()
    add_runs(selective, judged(fails, tests=[test], suite=suite))
    assert not selective.items.exists()


def test_errors_and_pending_results_are_never_added():
    queue = make_queue(random_share=1)
    run = make_run(make_test(), make_test(), make_test())
    first, second, _ = run.results.order_by("pk")
    fail(run, first)
    Result.objects.filter(pk=second.pk).update(state="done")

    added = add_runs(queue, run)

    assert added == (1, 1, 0)
    assert queue.items.get().result == second


# What is drawn -----------------------------------------------------------------------------------


def many(count, split):
    """A run of so many results, over the first of which the judges split."""
    issue, template = make_issue(), make_template()
    tests = [make_test(issue=issue, template=template) for _ in range(count)]
    return judged(*[SPLIT] * split, *[AGREE] * (count - split), tests=tests)


def test_every_prefix_has_about_its_share_of_random_ones_drawn_by_the_seed():
    run = many(60, 30)
    one, same, other = (make_queue(random_share=0.25, seed=seed) for seed in (7, 7, 8))
    for queue in (one, same, other):
        added = add_runs(queue, run)
        assert added.random / added.added == pytest.approx(0.25, abs=0.05)
        assert queue.items.filter(is_random=True).count() == added.random

    def drawn(queue):
        return list(queue.items.filter(is_random=True).values_list("result", flat=True))

    flags = list(one.items.values_list("is_random", flat=True))
    for end in range(10, len(flags) + 1, 5):
        assert sum(flags[:end]) == pytest.approx(0.25 * end, abs=2.5)
    assert drawn(one) == drawn(same) != drawn(other)


def test_all_are_drawn_where_the_share_is_one_and_none_where_it_is_zero(selective):
    queue, run = make_queue(random_share=1), many(10, 3)

    assert add_runs(queue, run) == (10, 10, 0)
    assert sum(given == ["judges_disagree"] for given in reasons(queue)) == 3
    assert add_runs(selective, run) == (3, 0, 0)


def test_most_severe_and_heaviest_come_first(selective):
    run = judged(MISSING, SPLIT, SPLIT, AGREE)
    heaviest = run.results.order_by("pk")[2]
    Result.objects.filter(pk=heaviest.pk).update(weight=5)

    add_runs(selective, run)

    assert reasons(selective) == [
        ["judges_disagree", "high_weight"],
        ["judges_disagree"],
        ["judge_failed"],
    ]


def test_later_items_come_after_equal_and_before_less_severe_ones(selective, monkeypatch):
    early = judged(SPLIT, MISSING)
    add_runs(selective, early)
    monkeypatch.setattr("runs.review.queue_items._queue_age_s", lambda queue: 60)
    late = judged(SPLIT, MISSING)

    add_runs(selective, late)

    runs = list(selective.items.values_list("result__run", flat=True))
    assert runs == [early.pk, late.pk, early.pk, late.pk]


# Rows --------------------------------------------------------------------------------------------


def test_adding_again_adds_nothing_and_a_plan_only_counts(selective):
    run = many(5, 3)
    assert plan(selective, run) == ((3, 0, 0), Counter(judges_disagree=3))
    assert not ReviewItem.objects.exists()
    add_runs(selective, run)

    assert add_runs(selective, run) == (0, 0, 3)
    assert ReviewItem.objects.count() == 3


def test_each_item_has_a_place_for_each_reviewer():
    queue = make_queue(reviewers=3, random_share=0)
    add_runs(queue, many(4, 2))

    assignments = Assignment.objects.values_list("item__position", "position", "number")
    assert all(one == other for one, other, _ in assignments)
    assert sorted(number for *_, number in assignments) == [1, 1, 2, 2, 3, 3]


def test_raising_the_reviewers_adds_places_and_lowering_removes_none(selective):
    add_runs(selective, many(4, 2))
    review(take(selective, by=make_user("annotator")))
    selective.reviewers = 3
    selective.save()

    assert add_assignments(selective) == 4
    assert add_assignments(selective) == 0
    assert Assignment.objects.filter(state="submitted").count() == 1
    selective.reviewers = 1
    selective.save()
    assert add_assignments(selective) == 0
    assert Assignment.objects.count() == 6


def test_closed_queue_is_not_filled(selective):
    selective.state = QueueState.CLOSED
    selective.save()

    with pytest.raises(ValidationError, match="is closed"):
        add_runs(selective, many(1, 1))


def test_portions_do_not_matter(selective, monkeypatch):
    run = many(7, 5)
    whole, parts = make_queue(seed=3), make_queue(seed=3)
    add_runs(whole, run)
    monkeypatch.setattr("runs.review.queue_items.PORTION", 2)
    add_runs(parts, run)

    def rows(queue):
        return list(queue.items.values_list("result", "is_random"))

    assert rows(whole) == rows(parts)


def test_queries_do_not_grow_with_the_run(selective, django_assert_max_num_queries):
    run = many(45, 40)

    with django_assert_max_num_queries(40):
        add_runs(selective, run)
    assert selective.items.count() == 40


# Following ---------------------------------------------------------------------------------------


@pytest.fixture
def followed():
    test = make_test()
    suite = suite_of(test)
    return make_queue(follows=suite, random_share=1), suite, test


def test_runs_that_are_done_are_added_once(followed):
    queue, suite, test = followed
    run = judged(AGREE, tests=[test], suite=suite, done=False)
    assert fill_followers() == 0  # It is still judged.
    finish(run)
    later = make_queue(follows=suite, random_share=1)

    assert fill_followers() == 1
    assert fill_followers() == 0
    assert queue.items.count() == 1
    assert later.items.count() == 0  # Runs from before it are left to people.


def test_runs_that_add_nothing_are_looked_through_once_and_closed_queues_follow_none(followed):
    queue, suite, test = followed
    type(queue).objects.update(random_share=0)
    judged(AGREE, tests=[test], suite=suite)
    assert (fill_followers(), fill_followers()) == (1, 0)
    type(queue).objects.update(random_share=1, state=QueueState.CLOSED)
    judged(AGREE, tests=[test], suite=suite)

    assert fill_followers() == 0
    assert not queue.items.exists()


def test_runs_without_judges_are_added():
    queue = make_queue(random_share=1)
    run = make_run(make_test())
    answer(run)
    finish(run)

    assert add_runs(queue, run).added == 1


def test_a_rubrics_criteria_are_compared_one_by_one(selective):
    """Both judges pass it, but they lie far apart on one criterion."""
    points = [{"text": "Says four."}, {"text": "Is brief."}]
    run = rubric_run(points, {"Says four.": (1.0, 1.0), "Is brief.": (1.0, 0.25)})

    add_runs(selective, run)

    assert description(selective) == ["Judges are split on one criterion"]
