"""Whether what became of the tests says anything."""

import json

import pytest

from reports.compare.evidence_rule import (
    FLIPPED_ISSUES,
    FLIPPED_TESTS,
    MCNEMAR,
    evidence_of,
    findings,
    sample_of,
)
from tests.reports.compare.builders import a_run, comparison, one_test

TAGS = {1: ("facts", "long"), 2: ("facts",)}


def sample(first, second, *, single=True):
    return sample_of(comparison(first, second), TAGS, single=single)


def test_single_answers_of_separate_issues_are_tested_by_mcnemar():
    # 8 worse and 2 better: 2 * (1 + 10 + 45) / 1024 = 0.109375.
    changes = [-1] * 8 + [1] * 2 + [0] * 100

    found = evidence_of(changes, range(110), single=True)

    assert found.p == pytest.approx(0.109375)
    assert (found.rule, found.if_independent) == (MCNEMAR, None)


def test_repeats_are_tested_by_flipping_signs_of_tests():
    # Both of two tests moved one way: 2 of the 4 ways to flip them are as far out.
    found = evidence_of([-0.5, -0.25], [1, 2], single=False)

    assert (found.p, found.rule) == (0.5, FLIPPED_TESTS)


def test_where_tests_share_issues_whole_issues_are_flipped():
    # Six flips one way in two issues: 2 of 4 ways are as far out, and not 2 of 64.
    found = evidence_of([-1] * 6, [1, 1, 1, 2, 2, 2], single=True)

    assert (found.p, found.rule) == (0.5, FLIPPED_ISSUES)
    assert found.if_independent == pytest.approx(0.03125)
    assert found.independent_rule == MCNEMAR


def test_mcnemar_is_never_given_for_repeats():
    found = evidence_of([-0.5, -0.5, 0.5], [1, 1, 2], single=False)

    assert (found.rule, found.independent_rule) == (FLIPPED_ISSUES, FLIPPED_TESTS)


@pytest.mark.parametrize("worse", range(6))
def test_fewer_than_six_flips_are_never_evidence(worse):
    p = evidence_of([-1] * worse, range(worse), single=True).p

    assert p is None or p > 0.05


def test_nothing_compared_has_no_p():
    assert evidence_of([], [], single=True).p is None


def test_findings_of_nothing_are_not_measured():
    found = findings(sample(a_run("e"), a_run("p")))

    assert found.evidence.p is None
    assert (found.interval, found.standard_error, found.detectable) == (None, None, None)
    assert (found.graded, found.tags, found.issues) == (None, {}, {})


def test_the_p_of_tags_is_corrected_for_how_many_they_are():
    # Twelve worse under "facts", six of them also under "long": 2/4096 and 2/64, each an issue.
    first = [one_test(n, issue=n, tag_set_id=1 if n <= 6 else 2) for n in range(1, 13)]
    second = [one._replace(passed=0, failed=1) for one in first]

    tags = findings(sample(first, second)).tags

    assert tags["facts"] == pytest.approx((2 / 4096, 2 * 2 / 4096))
    assert tags["long"] == pytest.approx((2 / 64, 2 / 64))


def test_within_an_issue_its_tests_are_taken_one_by_one():
    first = [one_test(n, issue=1) for n in range(1, 7)]
    second = [one._replace(passed=0, failed=1) for one in first]

    found = findings(sample(first, second))

    assert found.issues[1].p == pytest.approx(2 / 64)
    assert found.evidence.p == 1.0  # one issue says nothing of others


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
    assert graded.interval.low == pytest.approx(-0.5)
    assert graded.interval.high == pytest.approx(0.25)


def test_the_detectable_change_is_that_of_the_discordance_seen():
    # Published for 200 tests of which 15 % flip: 8 points.
    first = a_run(*("p" * 15 + "f" * 15 + "p" * 170))
    second = a_run(*("f" * 15 + "p" * 15 + "p" * 170))

    assert findings(sample(first, second)).detectable == pytest.approx(0.08, abs=0.0026)


def test_where_hardly_anything_flips_nothing_is_detectable():
    first, second = a_run(*("p" * 50)), a_run("f", *("p" * 49))

    assert findings(sample(first, second)).detectable is None


def test_a_sample_is_json_and_tells_all_that_findings_depend_on():
    one = sample(a_run("p", "f"), a_run("f", "f"))
    other = sample(a_run("p", "f"), a_run("f", "p"))

    assert json.dumps(one.inputs()) != json.dumps(other.inputs())


def test_equal_samples_have_equal_findings():
    first = a_run(*("pf" * 20), issues=tuple(n // 2 for n in range(40)))
    second = a_run(*("pp" * 10 + "ff" * 10), issues=tuple(n // 2 for n in range(40)))

    assert findings(sample(first, second)) == findings(sample(first, second))
