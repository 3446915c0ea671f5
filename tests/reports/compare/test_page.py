"""Two runs compared: what is matched, counted, listed and said, by the rows of the ledger."""

import re

import pytest
from django.urls import reverse

from evalhub.models import BatchState
from issues.models import Test
from reports.compare.controls import offered
from reports.compare.evidence_rule import findings, sample_of
from reports.compare.form import CompareForm
from reports.compare.matching_rule import match
from reports.compare.page import build, runs_of
from reports.compare.query import comparison_of, sides_of
from reports.compare.rule import Kind, compared, counts_of, missing_share, tally_of
from reports.documents.exports import json_of
from reports.documents.reading import Reading
from runs.comparison.comparability import rejudge_url
from runs.comparison.outcomes_by_test import outcomes_in
from runs.models import Run, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import make_issue, make_jury, make_model, make_test, make_user
from tests.reports.documents.test_pages import as_query
from tests.reports.judged_runs import fail, judged

pytestmark = pytest.mark.django_db


def two_runs(before, after, *, tests=None, **fields):
    """The same tests, by the shared jury, with these votes in either run."""
    tests = tests or [make_test(f"Question {n}?") for n in range(len(before))]
    first = judged(*before, tests=tests, label="March", **fields)
    second = judged(*after, tests=tests, label="April", **fields)
    return first, second


def report(*runs, reader="maintainer", **asked):
    form = CompareForm(as_query({"runs": [run.pk for run in runs], **asked}))
    return build(form.filters, Reading(make_user(reader)))


def facts(document):
    return {fact.name: fact.value for fact in document.facts}


def listed(document, table="tests"):
    return document.table(table).as_rows()


PASS, FAIL, NONE = [1], [0], [None]


# What became of the tests -------------------------------------------------------------------------


def test_flips_are_counted_and_listed_worst_first():
    first, second = two_runs([PASS, FAIL, PASS, PASS], [FAIL, PASS, PASS, FAIL])

    document = report(first, second)

    counts = facts(document)
    assert (counts["worse"], counts["better"], counts["same"]) == (2, 1, 1)
    assert [row["became"] for row in listed(document)] == ["worse", "worse", "better"]
    assert document.sentences[0].startswith("Cannot tell: lost 2, won 1 of the same 4 tests.")


def test_the_first_screen_has_what_was_lost_and_what_to_do_next():
    often, grave, whole = (make_issue(severity=one) for one in ("low", "critical", "high"))
    tests = [make_test(issue=issue) for issue in (*[often] * 8, grave, *[whole] * 3)]
    votes = [PASS] * 12, [*[FAIL] * 9, *[PASS] * 3]
    first, second = two_runs(*votes, tests=tests, model=make_model())
    reviewed = second.results.earliest("pk")
    evaluate(reviewed, HumanVerdict("1", "Right."), by=make_user("annotator"))
    document = report(first, second)

    assert document.sentences[0] == "Judges rate it worse: lost 9, won 0 of the same 12 tests."
    assert "a verdict on 1 of the 9 changed tests in April alone." in " ".join(document.sentences)
    lost = listed(document, "lost")
    assert [(row["severity"], row["lost"], row["is_sure"]) for row in lost] == [
        ("critical", 1, "may be chance"),
        ("low", 8, "yes"),
    ]
    pair = [run.results.order_by("pk")[8].pk for run in (first, second)]
    assert lost[0]["answer"].url == reverse("reports:compare_answers", args=pair)
    steps = {step.text: step.url for step in document.more["next_steps"]}
    assert list(steps) == ["Read a failing answer", "Review the same tests in March"]
    same = first.results.order_by("pk")[0]
    assert steps["Review the same tests in March"].endswith(f"?result={same.pk}")
    by_issue = document.table("issues")
    assert (by_issue.shown, by_issue.rest) == (2, "1 issue without a change (3 tests)")
    assert not report(first, second, reader="viewer").more["next_steps"][1:]


def test_errors_and_unscored_are_apart_and_never_same():
    first, second = two_runs([PASS] * 40, [*[PASS] * 38, NONE, PASS])
    fail(second, second.results.order_by("pk").last())

    document = report(first, second)

    became = {row["became"].text: row["n"] for row in listed(document, "became")}
    assert became == {"same": 38, "error": 1, "unscored": 1}
    assert facts(document)["rate_after"].n == 38
    assert facts(document)["missing"] == pytest.approx(2 / 40)


def test_nothing_is_concluded_from_an_incomplete_run():
    first, second = two_runs([PASS] * 20, [FAIL] * 20)
    for result in second.results.order_by("pk")[:2]:
        fail(second, result)

    document = report(first, second)

    assert document.title == f"{first} and {second}"
    assert set(facts(document)) == {"rate_before", "rate_after", "missing"}
    assert facts(document)["rate_after"].n == 18
    assert "April is incomplete, 18/20 scored" in document.warnings[0]
    (row,) = listed(document, "incomplete")
    assert document.actions == (row["retry"],)
    assert row["retry"].text == "Retry 2 failed"
    tests = listed(document)
    assert {row["became"] for row in tests} == {"not comparable"}
    assert not re.search(r"\bp [=<]|significant|worse|better", f"{document.sentences} {tests}")


def test_tests_whose_text_or_rubric_changed_are_listed_apart():
    test, other = make_test("What is 2 + 2?"), make_test()
    first = judged(PASS, PASS, tests=[test, other], label="March")
    test.messages = [{"role": "user", "content": "What is 3 + 3?"}]
    other.guidelines = "Be strict."
    for changed in (test, other):
        changed.save()
    second = judged(FAIL, FAIL, tests=[test, other], label="April")

    document = report(first, second)

    assert facts(document)["worse"] == 0
    became = {row["became"] for row in listed(document, "changed")}
    assert became == {"text changed", "rubric changed"}


def test_tests_of_one_run_name_that_run():
    first = judged(PASS, tests=[make_test("Which day?")], label="March")
    second = judged(PASS, tests=[make_test("Which month?")], label="April")

    document = report(first, second, show="only")

    assert [row["became"] for row in listed(document)] == [
        "only in the first",
        "only in the second",
    ]
    assert facts(document)["missing"] == 1
    assert document.sentences[0].startswith("Nothing to compare: ")


def test_labels_of_the_later_run_are_those_of_a_line():
    issue = make_issue(title="Miscounts", tags=("facts", "numbers"))
    tests = [make_test(f"{n}?", issue=issue) for n in range(2)]
    first, second = two_runs([PASS, PASS], [FAIL, PASS], tests=tests)

    document = report(first, second)

    tags = {row["tag"].text: (row["n"], row["worse"]) for row in listed(document, "tags")}
    assert tags == {"facts": (2, 1), "numbers": (2, 1)}
    assert listed(document, "issues")[0]["issue"].text == "Miscounts"


def test_from_five_issues_on_p_is_by_issue_too():
    issues = [make_issue() for _ in range(6)]
    tests = [make_test(f"{n}?", issue=issue) for issue in issues for n in "ab"]
    first, second = two_runs([PASS] * 12, [FAIL] * 12, tests=tests)

    document = report(first, second)

    # Six issues, all lost: half of one of the 2^6 ways to flip them, on either side.
    assert facts(document)["p"] == pytest.approx(1 / 2**6)
    assert facts(document)["conclusion"] == "judges rate it worse"


def test_a_suite_of_one_issue_that_loses_all_its_tests_is_worse():
    issue = make_issue()
    tests = [make_test(f"{n}?", issue=issue) for n in range(20)]
    document = report(*two_runs([PASS] * 20, [FAIL] * 20, tests=tests))

    assert document.sentences[0] == "Judges rate it worse: lost 20, won 0 of the same 20 tests."
    assert "Whether other issues would, 1 issue cannot show." in " ".join(document.sentences)
    (row,) = listed(document, "issues")
    assert (row["p"], row["p_adjusted"]) == pytest.approx((2 / 2**20, 4 / 2**20))


def test_repeats_are_compared_by_the_share_that_passed():
    tests = [make_test()]
    first = judged(PASS, FAIL, tests=tests, label="March", repeats=2)
    second = judged(PASS, tests=tests, label="April")

    row = listed(report(first, second))[0]

    assert (row["became"], row["first"].passed, row["first"].n) == ("better", 1, 2)


def test_bundles_say_what_their_tests_say_one_by_one():
    """Most tests that stay the same are added up by the database: no figure may tell."""
    issues = [make_issue(tags=tags) for tags in (("facts",), ("facts", "dates"), ())]
    tests = [
        make_test(f"Question {n}?", issue=issues[n % 3], weight=1 + n % 4 / 2) for n in range(24)
    ]
    votes = [[n % 5 / 4] for n in range(48)]
    first = judged(*votes, tests=tests, repeats=2)
    second = judged(*[votes[(n * 7) % 48] for n in range(48)], tests=tests, repeats=2)
    fail(second, second.results.order_by("pk").first())
    sides = sides_of([first, second])
    bundled = comparison_of(*sides)
    in_runs = outcomes_in([first.pk, second.pk])
    one_by_one = compared(match(in_runs[first.pk], in_runs[second.pk], {}))

    assert any(one.times > 1 for one in bundled.rows)
    assert bundled.one_by_one(frozenset(Kind)) == list(one_by_one)
    told, expected = (
        findings(sample_of(rows, bundled.tags)) for rows in (bundled.rows, one_by_one)
    )
    assert (told.conclusion, told.tags) == (expected.conclusion, expected.tags)
    assert (told.issues, told.graded.n) == (expected.issues, expected.graded.n)
    assert told.graded.interval is expected.graded.interval is None
    assert counts_of(bundled.rows) == counts_of(one_by_one)
    for figure, same in (
        (tally_of(bundled.rows).net, tally_of(one_by_one).net),
        (missing_share(bundled.rows), missing_share(one_by_one)),
        (told.graded.change, expected.graded.change),
    ):
        assert figure == pytest.approx(same)


# What is listed ----------------------------------------------------------------------------------


def test_the_list_follows_kind_tag_issue_and_words():
    facts_, dates = make_issue(tags=("facts",)), make_issue(tags=("dates",))
    tests = [make_test("How many?", issue=facts_), make_test("When?", issue=dates)]
    first, second = two_runs([PASS, PASS], [FAIL, PASS], tests=tests)

    def shown(**asked):
        return [row["prompt"] for row in listed(report(first, second, **asked))]

    assert shown() == ["How many?"]
    assert shown(show="same") == ["When?"]
    assert shown(show="all", tag="dates") == ["When?"]
    assert shown(show="all", issue=facts_.pk) == ["How many?"]
    assert shown(show="all", q="HOW") == ["How many?"]


def test_narrowing_the_list_leaves_the_figures():
    first, second = two_runs([PASS, PASS], [FAIL, PASS])

    assert facts(report(first, second, show="same", tag="x")) == facts(report(first, second))


def test_who_may_not_read_sealed_tests_sees_their_figures_only():
    tests = [make_test("Secret?", sealed=True)]
    first, second = two_runs([PASS], [FAIL], tests=tests)

    row = listed(report(first, second, reader="viewer"))[0]

    assert (row["prompt"], row["became"]) == (None, "worse")
    assert listed(report(first, second, reader="viewer", q="secret")) == []


# What must be known ------------------------------------------------------------------------------


def judged_apart(n, **fields):
    """The same tests, all passed by one jury and all failed by another."""
    tests = [make_test(f"Question {place}?") for place in range(n)]
    lenient = judged(*[PASS] * n, tests=tests, label="March", **fields)
    stern = judged(*[FAIL] * n, tests=tests, label="April", jury=make_jury(make_model()), **fields)
    return lenient, stern


def test_runs_of_different_juries_are_shown_side_by_side_without_a_verdict():
    first, second = judged_apart(20)

    document = report(first, second)

    assert document.warnings == ("Not comparable: different juries judged these runs.",)
    assert document.title == f"{first} and {second}"
    found = facts(document)
    assert set(found) == {"rate_before", "rate_after", "missing"}
    assert (found["rate_before"].passed, found["rate_after"].passed) == (20, 0)
    rows = listed(document)
    assert len(rows) == 20
    assert {(row["became"], row["first"], row["second"]) for row in rows} == {
        ("not comparable", "passed", "failed")
    }
    assert not listed(document, "issues")
    assert not re.search(r"\bp [=<]|significant|worse|better", f"{document.sentences} {rows}")


def test_tests_of_equal_outcome_are_not_called_the_same_under_other_juries():
    tests = [make_test(), make_test()]
    first = judged(PASS, PASS, tests=tests)
    second = judged(PASS, PASS, tests=tests, jury=make_jury(make_model()))

    assert [row["became"] for row in listed(report(first, second))] == ["not comparable"] * 2
    assert report(first, second).table("became").as_rows()[0]["n"] == 2


def test_re_judging_with_the_baselines_jury_is_one_click_away():
    suite = Suite.objects.create(name="Desk")
    first, second = judged_apart(2, suite=suite)
    suite.baselines.add(first)
    first, second = Run.objects.select_related("suite").order_by("pk")

    (action,) = report(first, second).actions
    name = second.model_name
    assert action.text == f"Re-judge {name}, April, with the baseline's jury"
    assert action.url == rejudge_url(second.pk, first.pk)
    assert json_of(report(first, second))["actions"][0]["url"] == action.url
    assert report(first, second, reader="viewer").actions == ()


def test_another_share_of_similarity_offers_no_re_judging():
    tests = [make_test()]
    first = judged(PASS, tests=tests)
    second = judged(FAIL, tests=tests, similarity_weight=0.5)

    document = report(first, second)

    assert "similarity" in document.warnings[0]
    assert document.actions == ()


def test_many_runs_name_those_that_are_not_comparable_with_the_first():
    first, second = judged_apart(2)
    third = judged(PASS, FAIL, tests=Test.objects.order_by("pk"), label="May")

    document = report(first, second, third)

    assert document.warnings == (
        "April: Not comparable with March: different juries judged these runs.",
    )
    comparable = [row["comparable"] for row in listed(document, "totals")]
    assert comparable == [None, False, True]
    assert [action.url for action in document.actions] == [rejudge_url(second.pk, first.pk)]


def test_families_add_up_no_run_of_another_jury():
    first, second = judged_apart(2)

    document = report(first, second, family="on")

    assert sum(row["runs"] for row in listed(document, "totals")) == 1
    assert "1 run is left out, as not comparable with the first." in document.sentences


def test_a_run_that_is_not_done_is_warned_of_and_labels_name_the_run_that_has_them():
    first, second = two_runs([PASS], [PASS])
    Run.objects.filter(pk=second.pk).update(state=BatchState.LIVE, is_scripted=True)
    second.refresh_from_db()

    document = report(first, second)

    assert document.warnings == ("Still running: April. The figures will change.",)
    assert f"{second}: scripted model" in document.labels


# Which runs --------------------------------------------------------------------------------------


def suite_of(*runs):
    suite = Suite.objects.create(name="Everyday questions")
    Run.objects.filter(pk__in=[run.pk for run in runs]).update(suite=suite)
    for run in runs:
        run.refresh_from_db()
    return suite


def test_one_run_or_none_is_compared_with_what_it_follows():
    first, second = two_runs([PASS], [PASS])
    suite = suite_of(first, second)

    assert report(second).title == f"Changes from {first} to {second}"
    suite.baselines.add(first)
    assert runs_of([]) == [first, second]


def test_one_run_alone_asks_for_another():
    document = report(judged(PASS, label="March"))

    assert "Choose a run to compare it with" in document.sentences[0]
    assert document.tables == ()


def test_runs_keep_the_order_in_which_they_are_given():
    first, second = two_runs([PASS], [FAIL])

    assert facts(report(second, first))["better"] == 1
    assert facts(report(first, second, runs=f"{second.pk},{first.pk}"))["better"] == 1


def test_runs_of_the_same_suite_are_offered_first():
    other, near, chosen = judged(PASS), judged(PASS), judged(PASS)
    suite = suite_of(near, chosen)
    newest = judged(PASS)

    found = offered("", suites=[suite.pk], without=[chosen])

    assert found == [near, newest, other]


def test_words_find_runs_by_label_model_and_release():
    run = judged(PASS, label="Nightly", release="2.1")
    judged(PASS, label="Nightly", release="2.0")

    assert offered("night 2.1", suites=[], without=[]) == [run]
