"""Which runs may be compared: by judges and similarity, where they make a difference."""

import pytest

from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import JudgeTemplate
from runs.comparison.comparability import comparability_of, comparability_of_pairs
from runs.comparison.comparability_rule import Comparability
from runs.models import JudgeRun
from tests.factories import make_jury, make_model, make_run, make_template, make_test

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
    assert found.reason == "Different juries judged these runs."
    assert not found


def test_checks_alone_are_comparable_under_any_jury():
    test = make_test(criteria=[CHECK])
    first, second = (make_run(test, jury=make_jury(make_model())) for _ in range(2))

    assert comparability_of(first, second)


def test_a_judge_with_other_parameters_is_another_jury():
    test, judge = make_test(), make_model()
    first = make_run(test, jury=make_jury(judge))
    judge.params = {"temperature": 1}
    judge.save()
    second = make_run(test, jury=make_jury(judge))

    assert verdict(first, second) == Comparability.AFTER_REJUDGING


def test_a_new_version_of_the_judges_prompt_is_another_jury():
    load_builtin_templates()
    test, jury = make_test(criteria=[POLITE]), make_jury(make_model(), approaches=("standard",))
    first, same = make_run(test, jury=jury), make_run(test, jury=jury)
    old = JudgeTemplate.objects.get(pk=first.judge_runs.get().jury["judges"][0]["rubric_template"])
    make_template(family=old.family, version=old.version + 1)
    second = make_run(test, jury=jury)

    assert comparability_of(first, same)
    assert verdict(first, second) == Comparability.AFTER_REJUDGING


def test_a_run_that_nobody_judged_is_not_like_one_that_was():
    test = make_test()

    assert not comparability_of(make_run(test), make_run(test, jury=make_jury(make_model())))


def test_any_number_of_pairs_takes_one_query(django_assert_num_queries):
    test, judge = make_test(), make_model()
    first, same = (make_run(test, jury=make_jury(judge)) for _ in range(2))
    other = make_run(test, jury=make_jury(make_model()))
    pairs = [(first.pk, same.pk), (same.pk, other.pk), (other.pk, first.pk)]

    with django_assert_num_queries(1):
        found = comparability_of_pairs(pairs)

    assert [bool(found[pair]) for pair in pairs] == [True, False, False]


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
