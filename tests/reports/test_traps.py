"""What tempts to a wrong conclusion: each trap is told alike by every page that concludes.

Each is a history of one model on one suite. Home, Release, Compare, Trend and the gate ask the same
question of its last two releases; the timeline says of the issue that the trap is about whether it
fails in the last one, and the leaderboard has the model's place by the judges of that release.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from evalhub.statistics.changes.conclusion import Basis
from issues.models import Test
from reports.compare.conclusion_words import RESTS_ON, WORDS
from reports.gate.query import gate_result
from runs.comparison.baselines import opponent_of
from runs.figures.run_tallies import count_due
from runs.models import Judgment, JudgmentState, ResultScore, Run, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from runs.scoring.score import score_result_scores
from tests.factories import make_issue, make_jury, make_model, make_run, make_test, make_user
from tests.reports.judged_runs import answer, finish, judge

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_nothing_kept")]


class History:
    """One model's releases on one suite, a day apart, the last one today."""

    def __init__(self, client: Any, *, issues: int = 10, each: int = 10, judges: int = 1) -> None:
        self.client, self.judges = client, judges
        self.issues = [make_issue(title=f"Behaviour {n:02}") for n in range(issues)]
        self.tests = [make_test(f"{n}?", issue=one) for one in self.issues for n in range(each)]
        self.suite = Suite.objects.create(name="Everything")
        self.suite.tests.set(self.tests)
        self.model = make_model(name="Alpha")
        self.jury = make_jury(*[make_model() for _ in range(judges)])
        self.runs: list[Run] = []
        client.force_login(make_user("maintainer"))

    def release(self, name: str, failing: Sequence[Test], tests: Sequence[Test] = ()) -> Run:
        tests = tests or self.tests
        run = make_run(
            *tests,
            model=self.model,
            suite=self.suite,
            jury=self.jury,
            release=name,
            variant_key="Alpha",
            label=f"Alpha {name}",
        )
        answer(run)
        fails = {test.pk for test in failing}
        votes = [[float(test.pk not in fails)] * self.judges for test in tests]
        judge(run, votes)
        finish(run)
        self.runs.append(run)
        now = timezone.now()
        for age, one in enumerate(reversed(self.runs)):
            at = now - timedelta(days=age)
            Run.objects.filter(pk=one.pk).update(created_at=at, started_at=at)
        count_due()
        run.refresh_from_db()
        return run

    def json(self, name: str, **query: Any) -> Any:
        answered = self.client.get(f"/api/v1/reports/{name}/", query)
        assert answered.status_code == 200, answered.content
        return answered.json()

    def words(self, before: Run | None = None, after: Run | None = None) -> dict[str, str]:
        """The conclusion of two runs, by default the last two, on each page."""
        before, after = before or self.runs[-2], after or self.runs[-1]
        compare = self.json("compare", runs=[before.pk, after.pk])
        (released,) = self.json("releases", release=after.release)["tables"]["models"]["rows"]
        (last,) = self.json("trend")["tables"]["latest"]["rows"]
        home = self.client.get(reverse("admin:index"), {"compute": 1}).content.decode()
        (said,) = [word for word in WORDS[Basis.JUDGES].values() if f"Alpha: {word}" in home]
        return {
            "compare": compare["facts"]["conclusion"]["value"],
            "release": released["conclusion"],
            "trend": last["conclusion"],
            "home": said,
        }

    def gate(self, before: Run | None = None, after: Run | None = None) -> Any:
        before, after = before or self.runs[-2], after or self.runs[-1]
        return gate_result(after, before).decision

    def all_say(self, word: str, exit_code: int, **sides: Run) -> None:
        found = self.words(**sides)
        assert set(found.values()) == {word}, found
        assert self.gate(**sides).code == exit_code

    def timeline(self, issue: int = 0) -> dict[str, str]:
        """The outcome of an issue in each release."""
        rows = self.json("issue_timeline", issue=self.issues[issue].pk)["tables"]["releases"][
            "rows"
        ]
        return {row["release"]: row["outcome"] for row in rows}

    def mean(self) -> float | None:
        """The model's mean on the leaderboard; None: not ranked."""
        rows = self.json("leaderboard", least=1)["tables"]["ranking"]["rows"]
        return rows[0]["mean"]["value"] if rows else None


def test_a_lost_issue_among_noise_is_worse_everywhere(client):
    """B1, B15: one issue is lost whole, and more tests of others are won."""
    history = History(client)
    lost, others = history.tests[:10], history.tests[10:]
    history.release("1.0", others[::7])
    history.release("1.1", [*lost, *others[3::40]])

    history.all_say("judges rate it worse", 1)
    assert history.timeline() == {"1.1": "fails", "1.0": "passes"}
    assert history.mean() == 0.87
    for name in ("releases", "compare"):
        runs = {"runs": [run.pk for run in history.runs]} if name == "compare" else {}
        assert "Lost for sure: “Behaviour 00” (10 of 10)" in " ".join(
            history.json(name, **runs)["sentences"]
        )


def test_a_win_elsewhere_hides_no_loss(client):
    """B1: five issues are lost whole, and one test of a sixth is won."""
    history = History(client, issues=20)
    history.release("1.0", history.tests[-1:])
    history.release("1.1", history.tests[:50])

    history.all_say("judges rate it worse", 1)
    assert [history.timeline(n)["1.1"] for n in (0, 4, 5, 19)] == [*["fails"] * 2, *["passes"] * 2]
    assert history.mean() == 0.75


def test_reviews_of_one_side_make_nothing_better(client):
    """B7: annotators pass every failure of the newer release, and none of the older one."""
    history = History(client)
    failing = history.tests[::5]
    history.release("1.0", failing)
    newer = history.release("1.1", [*failing[2:], history.tests[1]])
    before, timeline, mean = history.words(), history.timeline(2), history.mean()
    by = make_user("annotator")
    for result in newer.results.filter(outcome="failed"):
        evaluate(result, HumanVerdict("1", "Right after all."), by=by)
    count_due()

    history.all_say("cannot tell", 0)
    assert history.words() == before
    assert history.mean() == mean
    # People count in the outcome of an issue: they said that its failing answers are right.
    assert (timeline["1.1"], history.timeline(2)["1.1"]) == ("cannot tell", "passes")


def test_disputes_take_no_run_off_a_page(client):
    """People disagree on some answers of the newer release, which is worse."""
    history = History(client)
    history.release("1.0", [])
    newer = history.release("1.1", history.tests[:20])
    one, two = make_user("annotator", username="ann"), make_user("annotator", username="bob")
    for result in newer.results.order_by("pk")[30:40]:
        evaluate(result, HumanVerdict("1", "Right."), by=one)
        evaluate(result, HumanVerdict("0", "Wrong."), by=two)
    count_due()
    assert newer.results.filter(is_disputed=True).count() == 10

    history.all_say("judges rate it worse", 1)
    assert [history.timeline(n)["1.1"] for n in (0, 1, 3)] == ["fails", "fails", "cannot tell"]
    assert history.mean() == 0.8


def test_a_judge_that_stops_answering_makes_nothing_better(client):
    """One of three judges gives no verdict on what it would fail, in the newer release only."""
    history = History(client, judges=3)
    failing = history.tests[::4]
    history.release("1.0", failing)
    newer = history.release("1.1", failing[:5])
    before = history.words()
    assert set(before.values()) == {"judges rate it better"}
    silence(newer, history.tests[1::2])

    history.all_say("cannot tell", 2)
    sentences = " ".join(history.json("releases")["sentences"])
    assert "missing" in sentences
    assert "Retry" in sentences
    assert history.timeline() == {"1.1": "cannot tell", "1.0": "cannot tell"}
    assert history.mean() == 0.75, "the release before, whose judges all answered"


def silence(run: Run, tests: Sequence[Test]) -> None:
    """Let two judges of these tests' results fail to answer."""
    judgments = Judgment.objects.filter(result__run=run, result__test__in=tests)
    judges = sorted(set(judgments.values_list("judge_id", flat=True)))[:2]
    found = judgments.filter(judge_id__in=judges)
    found.update(state=JudgmentState.FAILED, value=None, failure="unreadable")
    score_result_scores(ResultScore.objects.filter(judge_run__run=run))
    count_due()


def test_a_third_attempt_is_judged_with_the_first_two(client):
    """B9: a release is run again until it passes."""
    history = History(client)
    history.release("1.0", [])
    for failing in (history.tests[:8], history.tests[:8], []):
        last = history.release("1.1", failing)

    found = history.words(history.runs[0])
    assert found.pop("compare") == "no outcome changed"
    assert set(found.values()) == {"judges rate it worse"}
    assert history.gate(history.runs[0]).code == 1
    assert history.timeline()["1.1"] == "fails"
    said = " ".join(history.json("compare", runs=[history.runs[0].pk, last.pk])["sentences"])
    assert "With all 3 runs of 1.1 pooled: judges rate it worse: lost 8, won 0" in said


def test_a_suite_that_grew_is_compared_on_what_both_have(client):
    """B12: tests are added that fail; on the shared ones the release is better."""
    history = History(client)
    old, added = history.tests[:50], history.tests[50:]
    history.release("1.0", old[::2], old)
    history.release("1.1", [*old[::10], *added[::2]])

    assert set(history.words().values()) == {"judges rate it better"}
    assert history.gate().code == 2, "half of the tests have nothing to be compared with"
    assert (history.timeline(0)["1.1"], history.timeline(5)["1.1"]) == ("cannot tell", "fails")
    assert history.mean() == 0.7


def test_a_slow_slide_shows_against_the_reference(client):
    """B8: each release loses three tests more, of as many issues; no single step can tell."""
    history = History(client)
    for n in range(8):
        history.release(f"1.{n}", history.tests[: 12 * n : 4])

    history.all_say("cannot tell", 0)
    assert history.timeline()["1.7"] == "cannot tell"
    assert history.mean() == 0.79
    said = {name: " ".join(history.json(name)["sentences"]) for name in ("releases", "trend")}
    assert "Alpha since 1.0 (look 7 of 20 at 1.0): judges rate it worse" in said["releases"]
    assert "pass rate fell over 8 releases" in said["trend"]
    first = history.words(history.runs[0], history.runs[-1])
    assert first["compare"] == "judges rate it worse"


def test_a_hotfix_is_compared_with_what_it_came_from(client):
    """B6: a hotfix of 1.2 comes after 1.4, which passes more."""
    history, failing = History(client), list(range(0, 100, 5))
    tests = history.tests
    for name in ("1.0", "1.1", "1.2"):
        history.release(name, [tests[n] for n in failing])
    before = history.runs[-1]
    for name in ("1.3", "1.4"):
        history.release(name, [])
    hotfix = history.release("1.2.1", [tests[n] for n in (*failing, 1, 2)])

    assert opponent_of(hotfix) == before
    report = history.json("releases", release="1.2.1")
    assert report["title"] == "Release 1.2.1 against 1.2"
    assert report["tables"]["models"]["rows"][0]["conclusion"] == "cannot tell"
    assert history.gate(before, hotfix).code == 0
    assert history.json("releases")["title"] == "Release 1.4 against 1.3"
    home = client.get(reverse("admin:index"), {"compute": 1}).content.decode()
    assert "Release 1.4 against 1.3" in home
    assert history.mean() == 1
    outcomes = history.timeline()
    assert (outcomes["1.2.1"], outcomes["1.4"]) == ("fails", "passes")


def test_a_kinder_judge_is_said_to_be_a_judge(client):
    """B3: nothing tells whether the release or its judge changed: no page says plain "better"."""
    history = History(client)
    history.release("1.0", history.tests[::3])
    history.release("1.1", history.tests[::9])

    history.all_say("judges rate it better", 0)
    for name in ("releases", "compare"):
        runs = {"runs": [run.pk for run in history.runs]} if name == "compare" else {}
        assert RESTS_ON[Basis.JUDGES] in history.json(name, **runs)["sentences"]
    assert history.mean() == pytest.approx(0.88)
