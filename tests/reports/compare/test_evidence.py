"""Whether what became of the tests says anything."""

import json

import pytest

from evalhub.statistics.changes.conclusion import Word
from reports.compare.evidence_rule import findings, sample_of
from tests.reports.compare.builders import a_run, comparison, one_test

TAGS = {1: ("facts", "long"), 2: ("facts",)}


def sample(first, second):
    return sample_of(comparison(first, second), TAGS)


def test_findings_of_nothing_are_not_measured():
    found = findings(sample(a_run("e"), a_run("e")))

    assert (found.conclusion.word, found.conclusion.p) == (Word.NOTHING, None)
    assert (found.graded, found.tags, found.issues) == (None, {}, {})


def test_tags_are_adjusted_among_tags():
    # Twelve worse under "facts", six of them also under "long".
    first = [one_test(n, issue=n, tag_set_id=1 if n <= 6 else 2) for n in range(1, 13)]
    second = [one._replace(passed=0, failed=1, lowest=0, highest=0) for one in first]

    tags = findings(sample(first, second)).tags

    assert [tags[name].p for name in ("facts", "long")] == pytest.approx([2 / 4096, 2 / 64])
    assert tags["facts"].p < tags["facts"].adjusted < tags["long"].adjusted


def test_a_suite_of_one_issue_that_loses_all_its_tests_is_worse():
    issues = (1,) * 100

    found = findings(sample(a_run(*"p" * 100, issues=issues), a_run(*"f" * 100, issues=issues)))

    assert found.conclusion.word == Word.WORSE
    assert found.conclusion.p == pytest.approx(1 / 2**100)
    assert not found.conclusion.reading.net.accounts_for_issues


def test_repeats_that_are_missing_widen_the_outcome():
    (pair,) = sample([one_test(1, "pp")], [one_test(1, "pe")]).pairs()

    assert pair.old == (1.0, 1.0, 1.0)
    assert pair.new == (1.0, 0.5, 1.0)


def test_graded_scores_change_by_weight():
    # (3 * -0.5 + 1 * 0.25) / 4 = -0.3125
    first = [
        one_test(1, "p", issue=1, weight=3.0, score_sum=1.0),
        one_test(2, "p", issue=2, score_sum=0.5),
    ]
    second = [
        one_test(1, "p", issue=1, weight=3.0, score_sum=0.5),
        one_test(2, "p", issue=2, score_sum=0.75),
    ]

    graded = findings(sample(first, second)).graded

    assert (graded.change, graded.n) == (-0.3125, 2)
    assert graded.interval is None


def test_a_sample_is_json_and_tells_all_that_findings_depend_on():
    one = sample(a_run("p", "f"), a_run("f", "f"))
    other = sample(a_run("p", "f"), a_run("f", "p"))

    assert json.dumps(one.inputs()) != json.dumps(other.inputs())


def test_equal_samples_have_equal_findings():
    first = a_run(*("pf" * 20), issues=tuple(n // 2 for n in range(40)))
    second = a_run(*("pp" * 10 + "ff" * 10), issues=tuple(n // 2 for n in range(40)))

    assert findings(sample(first, second)) == findings(sample(first, second))
