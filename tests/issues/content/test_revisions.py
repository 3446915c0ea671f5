"""Tests are frozen by content: equal content is one revision, whatever its labels."""

import threading

import pytest
from django.db import connection

from issues.content.revisions import asked_digest, content_of, freeze, full_digest
from issues.models import FrozenCriterion, Revision
from tests.factories import make_template, make_test

pytestmark = pytest.mark.django_db


def test_digests_of_stored_revisions_are_found_again():
    test = make_test(
        messages=[{"role": "user", "content": "Hi"}],
        tools=[{"type": "function"}],
        **{"context": "C", "reference": "R", "guidelines": "G", "pass_threshold": 0.25},
    )
    test.criteria.all().delete()
    for order, fields in enumerate(
        (
            {"key": "k1", "text": "It says so.", "weight": 2, "citation": "c"},
            {
                **{"key": "k2", "check_name": "contains", "arguments": {"text": "x"}},
                **{"polarity": "should_not", "alternative": 1},
            },
        )
    ):
        test.criteria.create(order=order, **fields)
    content = content_of(test) | {"pass_rule": "strict"}

    assert (
        asked_digest(content) == "60f4c7dd807df8db2551af5e8c4971812d3ce765128c3f3932536eea8f07d327"
    )
    assert (
        full_digest(content, None)
        == "30197312058c412df1490b1c2fbc72888b6732c27aff9223a98864d11ac8f5ea"
    )


def frozen(test):
    return freeze([test])[test.pk]


def test_freezing_twice_makes_one_revision():
    test = make_test()

    assert frozen(test) == frozen(test)
    assert Revision.objects.count() == 1


def test_a_changed_guideline_is_the_next_revision_of_the_same_question():
    test = make_test()
    first = frozen(test)
    test.guidelines = "Stricter."
    second = frozen(test)

    assert (first.number, second.number) == (1, 2)
    assert first.asked_digest == second.asked_digest
    assert first.digest != second.digest


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("messages", [{"role": "user", "content": "And 3 + 3?"}]),
        ("tools", [{"type": "function", "function": {"name": "add"}}]),
        ("context", "A page of a book."),
    ],
)
def test_what_a_candidate_sees_changes_both_digests(field, value):
    test = make_test()
    first = frozen(test)
    setattr(test, field, value)
    second = frozen(test)

    assert first.asked_digest != second.asked_digest
    assert first.digest != second.digest


@pytest.mark.parametrize(("field", "value"), [("reference", "four"), ("pass_threshold", 0.8)])
def test_what_it_is_judged_by_changes_the_digest_only(field, value):
    test = make_test()
    first = frozen(test)
    setattr(test, field, value)
    second = frozen(test)

    assert first.asked_digest == second.asked_digest
    assert first.digest != second.digest


def test_another_template_version_changes_the_digest_only():
    test = make_test(template=make_template(family="own"))
    first = frozen(test)
    test.template = make_template(family="own", version=2)
    second = frozen(test)

    assert first.asked_digest == second.asked_digest
    assert first.digest != second.digest


@pytest.mark.parametrize(
    ("field", "value"), [("weight", 3), ("note", "seen"), ("sealed", True), ("flagged_answer", "5")]
)
def test_a_label_changes_no_digest(field, value):
    test = make_test()
    first = frozen(test)
    setattr(test, field, value)

    assert frozen(test) == first


def test_going_back_to_an_earlier_content_finds_its_revision():
    test = make_test()
    first = frozen(test)
    test.reference = "four"
    frozen(test)
    test.reference = "4"

    assert frozen(test) == first


def test_a_revision_keeps_its_content_when_the_test_changes():
    test = make_test()
    revision = frozen(test)
    test.reference = "five"
    test.save()

    revision.refresh_from_db()
    assert revision.content["reference"] == "4"


def test_every_revision_has_the_criterion_of_the_whole_test():
    revision = frozen(make_test())

    assert list(FrozenCriterion.objects.values_list("revision", "key")) == [(revision.pk, "")]


def test_many_are_frozen_with_as_many_queries_as_few(django_assert_max_num_queries):
    tests = [make_test() for _ in range(12)]

    with django_assert_max_num_queries(10):
        assert len(freeze(tests)) == 12


@pytest.mark.django_db(transaction=True)
def test_two_launches_at_once_make_one_revision():
    tests = [make_test(f"Question {k}") for k in range(20)]
    together, problems = threading.Barrier(2), []

    def launch(order):
        try:
            together.wait(60)
            freeze(tests[::order])
        except Exception as error:
            problems.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=launch, args=[order]) for order in (1, -1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []
    assert Revision.objects.count() == FrozenCriterion.objects.count() == 20
