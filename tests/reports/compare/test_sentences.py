"""What a comparison comes to, in sentences."""

from dataclasses import replace

from evalhub.statistics.changes.conclusion import Basis, Outcome, Pair, conclude
from reports.compare.conclusion_words import RESTS_ON, excluded, headline, said_of
from reports.compare.evidence_rule import findings, sample_of
from reports.compare.rule import Tally
from reports.compare.sentences import basis, concluded
from tests.reports.compare.builders import a_run, comparison


def said(first, second, *, computed=True):
    rows = comparison(first, second)
    found = findings(sample_of(rows, {1: ()})) if computed else None
    names = {"first": "March", "second": "April"}
    return (*concluded(rows, found, **names), *basis(rows, found, **names))


def test_the_conclusion_comes_first_and_figures_after_it():
    # 8 lost, 2 won of 110 issues of a test each: mid-p 0.065.
    first = a_run(*("p" * 8 + "f" * 2 + "p" * 100))
    second = a_run(*("f" * 8 + "p" * 2 + "p" * 100))

    headline, lost, basis, sure, score = said(first, second)

    assert headline.startswith("Cannot tell: lost 8, won 2 of the same 110 tests. A loss of more")
    assert lost.startswith("Lost, none sure by itself: “issue 1” (1 of 1), ")
    assert basis == RESTS_ON[Basis.JUDGES]
    assert "p = 0.065" in sure
    assert score.startswith("The mean score changed by −0.055 over 110 tests")


def test_pending_findings_are_left_out():
    assert said(a_run("p", "f"), a_run("f", "f"), computed=False) == (
        "Lost 1, won 0 of the same 2 tests.",
    )


def test_no_flip_is_no_outcome_changed_with_what_is_excluded():
    headline = said(a_run(*"p" * 200), a_run(*"p" * 200))[0]

    assert headline == (
        "No outcome changed in 200 tests. A loss of more than 1.9 points is excluded."
    )


def test_only_people_make_a_plain_word():
    fell = conclude([Pair(n, Outcome.whole(1), Outcome.whole(0)) for n in range(20)])
    tally = Tally(worse=20, better=0, same=0)

    by_judges, by_people = (headline(replace(fell, basis=basis), tally) for basis in Basis)

    assert by_judges == "Judges rate it worse: lost 20, won 0 of the same 20 tests."
    assert by_people == "Worse: lost 20, won 0 of the same 20 tests."
    across = headline(replace(fell, basis=Basis.PEOPLE), tally, across="Clover against Aurora")
    assert across == "Clover against Aurora: lower: lost 20, won 0 of the same 20 tests."
    assert said_of(["Clover", "Aurora"], fell.word, Basis.PEOPLE) == "Clover and Aurora are worse"
    assert said_of(["Clover"], fell.word, Basis.JUDGES) == "judges rate Clover worse"


def test_no_compared_tests_gives_a_sentence():
    assert said(a_run("e"), a_run("e"))[0] == "Nothing to compare: no test is scored in both runs."


def test_few_issues_get_a_caveat():
    first, second = (a_run(*outcomes * 6, issues=(1, 1, 1, 2, 2, 2)) for outcomes in "pf")

    text = said(first, second)

    assert text[0] == "Judges rate it worse: lost 6, won 0 of the same 6 tests."
    assert "These tests surely changed. Whether other issues would, 2 issues cannot show." in text


def test_an_issue_that_is_lost_is_told_where_the_whole_is_uncertain():
    # All 12 tests of issue 1 are lost; of seven others one test each got better.
    issues = (1,) * 12 + tuple(range(2, 9))
    first, second = (a_run(*one, issues=issues) for one in ("p" * 12 + "f" * 7, "f" * 12 + "p" * 7))

    headline, by_issue, *_ = said(first, second)

    assert headline == "Judges rate it worse: lost 12, won 7 of the same 19 tests."
    assert by_issue == "Lost for sure: “issue 1” (12 of 12)."


def test_what_is_missing_is_named_with_what_it_hides():
    first = a_run(*"p" * 40)
    text = said(first, a_run(*"p" * 20, *"e" * 20))

    assert text[0].startswith("Cannot tell: lost 0, won 0 of the same 20 tests.")
    assert (
        "Judgments or answers are missing behind 20 tests of April, which could hide a loss. "
        "Retry them." in text
    )


def test_reasons_not_to_compare_are_listed():
    text = said(a_run("p", "e", "u"), a_run("p", "p", "p", "p"))[-1]

    assert (
        text == "3 of 4 tests are not compared: 1 ended in an error, 1 unscored, 1 only in April."
    )


def test_labels_of_people_are_not_taken_for_formats():
    rows = comparison(a_run("p"), a_run("p", "p"))

    assert "only in {0.x}" in basis(rows, None, first="{first}", second="{0.x}")[-1]


def test_a_sure_gain_excludes_any_loss():
    pairs = [Pair(n, Outcome.whole(float(n > 8)), Outcome.whole(1.0)) for n in range(20)]

    assert excluded(conclude(pairs)) == " Any loss is excluded."
