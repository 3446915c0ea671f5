"""What a comparison comes to, in sentences."""

import pytest

from reports.compare.evidence_rule import findings, sample_of
from reports.compare.sentences import sentences, verdict
from tests.reports.compare.builders import a_run, comparison


def said(first, second, *, single=True, computed=True):
    rows = comparison(first, second)
    found = findings(sample_of(rows, {1: ()}, single=single)) if computed else None
    return sentences(rows, found, first="March", second="April")


def test_the_headline_tells_counts_certainty_and_what_could_be_found():
    # 8 worse, 2 better of 110: exact McNemar 0.109; 10 of 110 flip.
    first = a_run(*("p" * 8 + "f" * 2 + "p" * 100))
    second = a_run(*("f" * 8 + "p" * 2 + "p" * 100))

    assert said(first, second) == (
        "8 worse, 2 better of 110 matched: p = 0.11 (exact McNemar), not enough evidence.",
        "Detectable change: 8 points or more. 80% power if 9.1% of 110 tests change (measured "
        "from March to April), independently.",
        "The mean score changed by −0.055 over 110 tests (95% −0.111 to +0.002, t by issue).",
    )


def test_pending_findings_are_left_out():
    assert said(a_run("p", "f"), a_run("f", "f"), computed=False) == (
        "1 worse, 0 better of 2 matched.",
    )


def test_no_flip_is_not_enough_evidence_and_not_no_change():
    headline = said(a_run("p", "f"), a_run("p", "f"))[0]

    assert "not enough evidence" in headline
    assert "no change" not in headline


def test_no_compared_tests_gives_a_sentence():
    assert said(a_run("e"), a_run("p"))[0] == (
        "0 worse, 0 better of 0 matched: nothing can be compared."
    )


def test_tests_that_share_issues_get_a_caveat():
    first, second = (a_run(*outcomes * 6, issues=(1, 1, 1, 2, 2, 2)) for outcomes in "pf")

    headline, caveat, *_ = said(first, second)

    assert "p = 0.031 (exact McNemar), significantly worse" in headline
    assert caveat == "Tests of one issue may fail together."


def test_whole_issues_show_the_p_of_independent_tests():
    first, second = (a_run(*outcomes * 12, issues=(1, 2, 3, 4, 5, 6) * 2) for outcomes in "pf")

    headline, by_test, *_ = said(first, second)

    assert "p = 0.031 (sign flips of whole issues), significantly worse" in headline
    assert "If tests were independent: p = 0.00049 (exact McNemar)" in by_test


def test_an_issue_that_is_lost_is_told_where_the_whole_is_uncertain():
    # All 12 tests of issue 1 are lost; of seven others one test each got better.
    issues = (1,) * 12 + tuple(range(2, 9))
    first, second = (a_run(*one, issues=issues) for one in ("p" * 12 + "f" * 7, "f" * 12 + "p" * 7))

    headline, by_issue, *_ = said(first, second)

    assert "not enough evidence" in headline
    assert by_issue == (
        "Significantly changed by themselves: 1 issue worse, “issue 1” (p = 0.0039); 0 better "
        "(p ≤ 0.05 after Holm over 8 issues)."
    )


def test_too_few_changed_issues_give_a_sentence():
    # Seven issues have tests that changed, but two of them as many for the better.
    first = a_run(*"ppppppfpf", issues=(1, 2, 3, 4, 5, 6, 6, 7, 7))
    second = a_run(*"ffffffpfp", issues=(1, 2, 3, 4, 5, 6, 6, 7, 7))

    assert said(first, second)[1].startswith("Only 5 issues changed on balance;")


@pytest.mark.parametrize(("flips", "told"), [(0, False), (1, True), (5, True), (6, False)])
def test_fewer_than_six_flips_are_too_few(flips, told):
    text = " ".join(said(a_run(*"p" * 10), a_run(*"f" * flips, *"p" * (10 - flips))))

    assert ("p < 0.05 needs at least 6" in text) is told


def test_a_few_tests_detect_by_an_assumed_share():
    first, second = a_run("pp", "pp", "pf"), a_run("pf", "ff", "pp")

    assert (
        "Detectable change: none. If 15% of 3 tests change (assumed), independently, not even "
        "changes all in one direction have 80% power."
    ) in said(first, second, single=False)


def test_shared_issues_are_a_caveat_of_the_detectable_change():
    issues = tuple(n // 10 for n in range(200))
    first = a_run(*"p" * 30, *"f" * 20, *"p" * 150, issues=issues)
    second = a_run(*"f" * 30, *"p" * 20, *"p" * 150, issues=issues)

    assert any(
        one.endswith("independently. Less power if tests of one issue fail together.")
        for one in said(first, second)
    )


def test_reasons_not_to_compare_are_listed():
    text = said(a_run("p", "e", "u"), a_run("p", "p", "p", "p"))[-1]

    assert (
        text == "3 of 4 tests are not compared: 1 ended in an error, 1 unscored, 1 only in April."
    )


def test_labels_of_people_are_not_taken_for_formats():
    rows = comparison(a_run("p"), a_run("p", "p"))

    assert "only in {0.x}" in sentences(rows, None, first="{first}", second="{0.x}")[-1]


@pytest.mark.parametrize(
    ("net", "p", "words"),
    [
        (-0.1, 0.049, "significantly worse"),
        (0.1, 0.05, "significantly better"),
        (-0.1, 0.051, "not enough evidence"),
        (0.0, 0.01, "not enough evidence"),
        (None, None, "nothing can be compared"),
    ],
)
def test_a_verdict_is_certain_or_says_that_it_is_not(net, p, words):
    assert verdict(net, p) == words
