"""What a comparison comes to, in sentences."""

import pytest

from reports.compare.evidence_rule import Evidence, findings, sample_of
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

    assert said(first, second)[0] == (
        "8 worse, 2 better of 110 matched: p = 0.11, not enough evidence; this suite can "
        "detect changes of about 8 points or more (80% power at this discordance)."
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


def test_shared_issues_show_the_p_of_independent_tests():
    first, second = (a_run(*outcomes * 6, issues=(1, 1, 1, 2, 2, 2)) for outcomes in "pf")

    assert "If tests were independent: p = 0.031 (exact McNemar)" in said(first, second)[2]


def test_too_few_changed_issues_give_a_sentence():
    first, second = (a_run(*outcomes * 6, issues=(1, 1, 1, 2, 2, 2)) for outcomes in "pf")

    assert said(first, second)[1].startswith("Only 2 issues changed on balance;")


@pytest.mark.parametrize(("flips", "told"), [(0, False), (1, True), (5, True), (6, False)])
def test_fewer_than_six_flips_are_too_few(flips, told):
    text = " ".join(said(a_run(*"p" * 10), a_run(*"f" * flips, *"p" * (10 - flips))))

    assert ("p < 0.05 needs at least 6" in text) is told


def test_repeats_find_a_change_by_how_they_spread():
    first, second = a_run("pp", "pp", "pf"), a_run("pf", "ff", "pp")

    assert "power at this spread" in said(first, second, single=False)[0]


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
    assert verdict(net, Evidence(p, "any")) == words
