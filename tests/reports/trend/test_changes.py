"""What changed in how two runs were measured, in words."""

import pytest

from issues.models import Test
from reports.queries.measurement_changes import details_of
from reports.trend.measurement_changes_rule import (
    Details,
    Measure,
    jury_words,
    kinds_of,
    words_of,
    words_of_tests,
)
from tests.factories import make_jury, make_model, make_run, make_template, make_test

SAME = Measure("s", "j", 0.0)


def judge(name, **settings):
    endpoint = {"litellm_model": settings.pop("model", name), "api_base": "", "params": {}}
    return {"name": name, "endpoint": endpoint, "params": {}, "samples": 1} | settings


def jury(*judges, backup=None):
    return {"judges": list(judges), "backup": backup}


BOTH = (jury(judge("A"), judge("B")), jury(judge("A"), judge("B")))


def test_equal_measures_differ_in_nothing():
    assert kinds_of(SAME, SAME, BOTH) == ()
    assert words_of(SAME, SAME, BOTH, None) == ()


def test_the_same_judges_with_another_fingerprint_were_asked_in_other_words():
    after = SAME._replace(jury="other")
    assert kinds_of(SAME, after, BOTH) == ("template",)
    assert words_of(SAME, after, BOTH, Details(templates=(("correctness", 1, 2),))) == (
        "The judge template correctness went from version 1 to 2.",
    )
    assert words_of(SAME, after, BOTH, None) == ("A judge template changed.",)


def test_every_change_is_listed():
    after = Measure("t", "k", 0.25)
    juries = (jury(judge("A")), jury(judge("B")))
    assert kinds_of(SAME, after, juries) == ("tests", "jury", "similarity")
    assert words_of(SAME, after, juries, Details(added=1)) == (
        "1 test was added.",
        "B replaced A.",
        "The weight of similarity changed from 0% to 25%.",
    )


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (jury(judge("A")), jury(judge("A"), judge("B")), ["B joined the jury."]),
        (jury(judge("A"), judge("B"), judge("C")), jury(judge("C")), ["A and B left the jury."]),
        (jury(judge("A")), jury(judge("A", samples=5)), ["A has new settings."]),
        (jury(judge("A")), {}, ["There is no jury any more."]),
        ({}, jury(judge("A")), ["New jury: A."]),
        (
            jury(judge("A"), backup=judge("B")),
            jury(judge("A"), backup=judge("C")),
            ["The backup C replaced the backup B."],
        ),
    ],
)
def test_changes_of_the_jury_name_the_judges(before, after, words):
    assert list(jury_words(before, after)) == words


def test_changes_of_the_tests_are_counted():
    details = Details(added=2, removed=1, reworded=1000, rejudged=1, reweighted=3)
    assert words_of_tests(details) == (
        "1,000 tests were reworded, 1 test has a new reference, rubric or judge template, "
        "3 tests have new weights, 2 tests were added and 1 test was removed.",
    )


def test_tests_that_nobody_has_looked_at_yet_changed():
    assert words_of_tests(None) == ("The tests changed.",)


@pytest.mark.django_db
def test_two_runs_are_compared_test_by_test():
    template = make_template()
    kept, reworded, rejudged, heavier, gone, *later = (
        make_test(f"Question {n}?", template=template) for n in range(7)
    )
    before = make_run(kept, reworded, rejudged, heavier, gone)
    Test.objects.filter(pk=reworded.pk).update(messages=[{"role": "user", "content": "Other?"}])
    Test.objects.filter(pk=rejudged.pk).update(guidelines="Be strict.")
    Test.objects.filter(pk=heavier.pk).update(weight=2)
    tests = Test.objects.filter(pk__in=[kept.pk, reworded.pk, rejudged.pk, heavier.pk])
    after = make_run(*tests, *later)

    details = details_of(before.pk, after.pk, ({}, {}))

    assert details == Details(added=2, removed=1, reworded=1, rejudged=1, reweighted=1)


@pytest.mark.django_db
def test_another_version_of_a_template_is_found():
    first = make_template(family="correctness", version=1)
    second = make_template(family="correctness", version=2)
    test = make_test(template=first)
    before = make_run(test, jury=make_jury(make_model()))
    Test.objects.filter(pk=test.pk).update(template=second)
    after = make_run(Test.objects.get(pk=test.pk), jury=make_jury(make_model()))

    details = details_of(before.pk, after.pk, ({}, {}))

    assert details == Details(rejudged=1, templates=(("correctness", 1, 2),))
