"""Which runs may be compared: by judges and similarity, where they make a difference."""

import pytest

from runs.comparability import Comparability, comparability_of
from runs.models import JudgeRun
from tests.factories import make_jury, make_model, make_run, make_test

pytestmark = pytest.mark.django_db

POLITE = {"text": "Is polite."}
CHECK = {"check_name": "contains", "arguments": {"text": "yes"}}


def verdict(first, second):
    return comparability_of(first, second).verdict


def test_runs_of_one_jury_are_comparable_whatever_else_they_test():
    judge, shared = make_model(), make_test()
    first = make_run(shared, make_test(), jury=make_jury(judge))
    second = make_run(shared, make_test(criteria=[POLITE]), jury=make_jury(judge))

    assert verdict(first, second) == Comparability.COMPARABLE


@pytest.mark.parametrize("criteria", [[], [POLITE], [POLITE, CHECK]])
def test_another_jury_asks_for_judging_again(criteria):
    test = make_test(criteria=criteria)
    first, second = (make_run(test, jury=make_jury(make_model())) for _ in range(2))

    found = comparability_of(first, second)

    assert found.verdict == Comparability.AFTER_REJUDGING
    assert "re-judge" in found.reason
    assert not found


def test_checks_alone_are_comparable_under_any_jury():
    test = make_test(criteria=[CHECK])
    first, second = (make_run(test, jury=make_jury(make_model())) for _ in range(2))

    assert comparability_of(first, second)


def test_a_judge_with_other_parameters_is_another_jury():
    test, judge = make_test(), make_model()
    first, second = (make_run(test, jury=make_jury(judge)) for _ in range(2))
    changed = second.judge_runs.get()
    changed.jury["judges"][0]["params"] = {"temperature": 1}
    changed.save()

    assert verdict(first, second) == Comparability.AFTER_REJUDGING


def test_only_the_active_judge_run_counts():
    test, judge = make_test(), make_model()
    first, second = (make_run(test, jury=make_jury(judge)) for _ in range(2))
    other = make_run(test, jury=make_jury(make_model())).judge_runs.get()
    JudgeRun.objects.filter(pk=other.pk).update(run=second, number=2, is_active=False)

    assert comparability_of(first, second)


def test_another_share_of_similarity_cannot_be_repaired_by_judging():
    test, jury = make_test(), make_jury(make_model())
    first = make_run(test, jury=jury)
    second = make_run(test, jury=jury, similarity_weight=0.5)

    assert verdict(first, second) == Comparability.NOT
