"""The tab between judges, and the concerns about each."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from evalhub.models import Call, CallRole, LanguageModel
from reports.dashboard.cards import Home, choose
from reports.documents.reading import Reading
from reports.judge_reliability.judges.totals_query import judge_totals, jury_lines
from reports.judge_reliability.page import JUDGE_RELIABILITY
from runs.models import Judge, JudgeRun, Judgment, Suite
from runs.scoring.agreement import agreement_in
from tests.factories import make_jury, make_model, make_run, make_test, make_tests, make_user
from tests.reports.documents.test_pages import as_query
from tests.reports.judged_runs import answer, current, finish, judge, judged

pytestmark = pytest.mark.django_db


def page(**state):
    state = {"tab": "judges"} | {name: str(value) for name, value in state.items()}
    asked = JUDGE_RELIABILITY.form(as_query(state)).filters
    return JUDGE_RELIABILITY.build(asked, Reading(make_user("annotator")))


def cells(key, **state):
    return page(**state).table(key).as_rows()


def trio(votes, **fields):
    """A run judged by three judges called a, b and c."""
    known = {model.name: model for model in LanguageModel.objects.filter(name__in="abc")}
    jury = make_jury(*(known.get(name) or make_model(name=name) for name in "abc"))
    run = make_run(*make_tests(len(votes)), jury=jury, **fields)
    answer(run)
    judge(run, votes)
    finish(run)
    return run


AGREED = [[1, 1, 1], [0, 0, 0]] * 6


# Agreement ---------------------------------------------------------------------------------------


def test_two_judges_are_listed_with_their_equal_verdicts_and_kappa():
    judged([1, 1], [0, 0], [1, 0], [0, 0], [1, 1])
    (row,) = cells("pairs")

    assert (row["same"].passed, row["same"].n) == (4, 5)
    # Observed 0.8; one passes 3 of 5, the other 2 of 5: chance 0.24 + 0.24.
    assert row["kappa"].value == pytest.approx((0.8 - 0.48) / 0.52)


def test_pairs_of_several_judge_runs_are_added_up():
    jury = make_jury(make_model(), make_model())
    for votes in ([[1, 1], [0, 0], [1, 0]], [[0, 0], [1, 1]]):
        run = make_run(*make_tests(len(votes)), jury=jury)
        answer(run)
        judge(run, votes)
        finish(run)

    (row,) = cells("pairs")
    assert (row["same"].passed, row["same"].n) == (4, 5)


@pytest.mark.parametrize(("measure", "value"), [("same", 0.8), ("kappa", 0.32 / 0.52)])
def test_the_matrix_is_symmetric_and_empty_on_its_diagonal(measure, value):
    judged([1, 1], [0, 0], [1, 0], [0, 0], [1, 1])
    table = page(measure=measure).table("matrix")
    (_, own, other), (_, back, last) = table.rows

    assert own is last is None
    assert other == back
    assert (other.share if measure == "same" else other.value) == pytest.approx(value)
    assert table.figure["data"][0]["z"] == [
        [None, pytest.approx(value)],
        [pytest.approx(value), None],
    ]


def test_alpha_of_each_judge_run_is_that_of_its_sums():
    run = trio(AGREED)
    JudgeRun.objects.filter(run=run).update(created_at=timezone.now() - timedelta(days=2))
    split = trio([[1, 0, 1], [0, 1, 0], [1, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 1]])
    rows = cells("agreement")

    assert [row["run"].text for row in rows] == [str(split), str(run)]
    assert rows[1]["alpha"].value == 1
    assert rows[0]["alpha"].value == agreement_in(current(split).statistics).alpha
    assert [row["trust"] for row in rows] == ["unreliable", "no concerns found"]


def test_alpha_is_drawn_as_one_line_per_jury():
    trio(AGREED)
    judged([1, 1], [0, 0], [1, 1], [0, 0], [1, 1])
    figure = page().table("agreement").figure

    assert len(figure["data"]) == 2


def test_equal_judges_count_as_one():
    trio(AGREED)
    (row,) = cells("effective_judges")

    assert (row["judges"], row["effective_judges"]) == (3, pytest.approx(1))
    assert row["note"] == "3 judges count as 1.0 independent ones"


def test_a_rare_verdict_is_warned_of():
    trio([[1, 1, 1]] * 19 + [[0, 0, 0]])

    assert "In 3 of 3 pairs one verdict is rarer than 10%" in " ".join(page().warnings)


# Single judges ----------------------------------------------------------------------------------


def test_coverage_counts_what_came_of_what_was_asked():
    trio([[1, 1, None], [0, 0, None], [1, 1, 1], [1, None, 1]])
    by_name = {row["judge"].text: row for row in cells("judges")}

    assert [(by_name[n]["answered"].passed, by_name[n]["answered"].n) for n in "abc"] == [
        (4, 4),
        (3, 4),
        (2, 4),
    ]
    assert [by_name[n]["failed"] for n in "abc"] == [0, 1, 2]


def test_failures_are_listed_by_judge_and_kind():
    trio([[1, 1, None], [0, None, None], [1, 1, 1]])

    assert [tuple(row.values()) for row in cells("failures")] == [
        ("c", "unreadable", 2),
        ("b", "unreadable", 1),
    ]


def test_cost_is_that_of_the_calls_that_gave_its_verdicts():
    run = trio([[1, 1, 1]] * 2)
    model = Judge.objects.get(language_model__name="b").language_model
    for judgment in Judgment.objects.filter(judge__language_model=model):
        judgment.call = Call.objects.create(
            language_model=model,
            role=CallRole.JUDGE,
            batch=current(run).work_key,
            cost_usd=Decimal("0.25"),
            request_digest="d",
            started_at=timezone.now(),
        )
        judgment.save(update_fields=["call"])
    by_name = {row["judge"]: row for row in cells("habits")}

    assert (by_name["b"]["cost"], by_name["b"]["costed"]) == (Decimal("0.5"), 2)
    assert (by_name["a"]["cost"], by_name["a"]["costed"]) == (None, 0)


def test_length_bias_is_measured():
    votes = [[int(n >= 6), int(n < 6), n % 2] for n in range(12)]
    run = trio(votes)
    for n, result in enumerate(run.results.order_by("pk")):
        run.results.filter(pk=result.pk).update(output_tokens=10 * (n + 1))
    by_name = {row["judge"]: row["length"] for row in cells("habits")}

    assert by_name["a"].value > 0.8
    assert by_name["b"].value == pytest.approx(-by_name["a"].value)
    assert by_name["a"].n == 12


def test_few_answers_tell_nothing_of_length():
    run = trio([[1, 0, 1]] * 9)
    run.results.update(output_tokens=5)

    assert {row["length"].value for row in cells("habits")} == {None}


# Selected judge runs -----------------------------------------------------------------------------


def test_one_run_or_one_suite_can_be_looked_at():
    suite = Suite.objects.create(name="ours")
    mine = trio(AGREED, suite=suite)
    judged([1, 0], [0, 0])

    for state in ({"run": mine.pk}, {"suite": suite.pk}):
        assert [row["run"].text for row in cells("agreement", **state)] == [str(mine)]


def test_runs_without_judges_and_unfinished_judge_runs_are_left_out():
    finish(make_run(make_test()))
    judged([1, 0], done=False)

    assert jury_lines() == []
    assert "No judge run is done yet" in page().sentences[0]


def test_the_sums_need_no_judgment():
    trio(AGREED)
    Judgment.objects.all().delete()
    document = page()

    assert document.table("agreement").rows[0][4].value == 1
    assert document.table("judges").rows[0][3].n == 12
    assert document.table("pairs").rows == []


# Concerns ----------------------------------------------------------------------------------


def on_home():
    """The reasons on the card of Home, by judge or jury."""
    user = make_user("viewer")
    choose(user, ["judges"])
    ((_, content),) = Home(Reading(user)).cards
    return {row["name"].text: row["why"] for row in content.table.as_rows()}


def test_judges_that_agree_and_answer_raise_no_concern():
    trio(AGREED)
    assert on_home() == {}


def test_a_judge_that_fails_too_often_is_unreliable():
    trio([[1, 1, None]] * 3 + AGREED)

    assert "3 of 15 judgments failed (20%)" in on_home()["c"]


def test_a_jury_that_disagrees_in_its_newest_judge_run_is_unreliable():
    jury = make_jury(make_model(), make_model(), name="the panel")
    tests = [make_test() for _ in range(8)]
    for votes in ([[1, 0], [0, 1]] * 4, [[1, 1], [0, 0]] * 4):
        run = make_run(*tests, jury=jury)
        answer(run)
        judge(run, votes)
        finish(run)
        assert ("the panel" in on_home()) is (votes[0] == [1, 0])


def test_a_model_that_judges_its_own_answers_is_unreliable():
    model = make_model(name="vain")
    run = make_run(make_test(), model=model, jury=make_jury(model))
    answer(run)
    judge(run, [[1]])
    finish(run)

    assert "judged its own answers in 1 judge run" in on_home()["vain"]
    assert "judges its own answers" in page().labels


def test_a_judge_that_disagrees_with_all_others_is_named_on_the_page():
    trio([[1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1]])
    why = {row["name"].text: row["why"] for row in cells("judge_concerns")}

    assert "disagrees with all others" in why["c"]
    assert "a" not in why


def test_the_dashboard_names_whom_the_page_names():
    """A judge that disagrees with all others, and one that errs by human verdicts, are on both."""
    trio([[1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0], [0, 0, 1]])
    serious = {
        row["name"].text: row["why"]
        for row in cells("judge_concerns")
        if row["trust"] == "unreliable"
    }

    assert "disagrees with all others" in serious["c"]
    assert on_home() == serious


def test_the_note_of_a_model_is_shown():
    trio(AGREED)
    model = Judge.objects.get(language_model__name="a").language_model
    model.note = "Retires in May."
    model.save()
    notes = {judge.name: judge.note for judge in judge_totals(jury_lines())}

    assert notes["a"] == "Retires in May."
    assert "Retires in May." in [row["note"] for row in cells("habits")]
