"""Twenty stories of a release, each as the command, the API and the Compare page tell it."""

import json
from dataclasses import dataclass
from urllib.parse import urlencode

import pytest
from django.core.management import call_command
from django.http import QueryDict

from evalhub.models import BatchState, ItemState, User
from issues.models import Issue
from reports.compare.conclusion_words import is_p
from reports.compare.page import COMPARE
from reports.documents.reading import Reading
from runs.models import Result, Run, Suite
from tests.api import client_of
from tests.evalhub.statistics.planted_changes import PLANTED, SAME, Layout
from tests.factories import make_issue, make_run, make_template, make_test
from tests.reports.scored_runs import as_judged
from tests.shared_data import shared_data

pytestmark = pytest.mark.django_db

PER_ISSUE = 30
"""Tests of each of 21 issues; the first issues have more."""

KELP = [(12, 0, 0)] + [(0, 1, 2)] * 6 + [(0, 0, 3)] * 13
TWELVE_WON = [(0, 1, 9)] * 12 + [(1, 0, 9)] + [SAME] * 7


@dataclass(frozen=True)
class Told:
    """What is told of a layout (`planted_changes`): the exit, and p of A and B as printed."""

    layout: Layout
    exit: int
    p: float | None = None
    p_lost: float | None = None
    interval: tuple[float, float] | None = None
    policy: dict[str, float | str] | None = None


def planted(story: str, code: int) -> Told:
    one = PLANTED[story]
    bounds = None if one.low is None or one.high is None else (one.low, one.high)
    return Told(one.layout, code, one.p, one.p_lost, bounds)


ALLOWANCE = {"max_worsening_points": 5}
STORIES = {
    "1 five of 20 issues lost": planted("five of 20 issues lost", 1),
    "2 and one test of a sixth won": planted("and one test of a sixth won", 1),
    "3 one issue lost, five win one": planted("one issue lost, five win one", 1),
    "4 five lose 4 of 10, one wins": planted("five lose 4 of 10, one wins one", 1),
    "5 three lose 3 of 3": planted("three lose 3 of 3", 1),
    "6 all dates lost, six tests won": Told(KELP, 1, p=0.99, p_lost=0.00049),
    "7 five lost, five won": planted("five lost, five won", 1),
    "8 no answer changed": planted("no answer changed", 0),
    "9 three lost, three won": planted("three lost, three won", 0),
    "10 5 of 20 lost in one issue": planted("5 of 20 in one issue", 1),
    "11 4 of 20 lost in one issue": planted("4 of 20 in one issue", 2),
    "12 12 tests without a change": planted("12 tests without a change", 2),
    "13 2 of 40 lost": planted("2 of 40", 0),
    "14 2 of 40 lost, 5 points allowed": Told(PLANTED["2 of 40"].layout, 2, policy=ALLOWANCE),
    "14 1 of 20 lost, 5 points allowed": Told([(1, 0, 19)], 2, policy=ALLOWANCE),
    "15 nine lost, one won": planted("nine single tests lost, one won", 1),
    "16 12 won, one lost": Told(TWELVE_WON, 0),
    "17 30 won, one issue lost": planted("30 won over ten issues, one lost", 1),
    "20 no test of the severity": Told([SAME] * 20, 2, policy={"failing_severity": "critical"}),
}


@dataclass(frozen=True)
class Site:
    """A run of all tests, from which others are copied, and a reader."""

    run: Run
    issues: dict[int, list[Result]]
    reader: User

    def release(self, name: str, outcomes: list[list[bool]], *, edited: int = 0) -> Run:
        """Return a run of the first tests of each issue; the last ones of all with a new text."""
        fields = {
            field.attname: getattr(self.run, field.attname)
            for field in Run._meta.concrete_fields
            if not field.primary_key
        }
        passed = [
            (row, one)
            for rows, mine in zip(self.issues.values(), outcomes, strict=False)
            for row, one in zip(rows, mine, strict=False)
        ]
        n = len(passed)
        run = Run.objects.create(**fields | {"label": name, "release": name, "n_results": n})
        others = [row.revision_id for row in [*self.issues.values()][-1][-edited:]]
        revisions = [row.revision_id for row, _ in passed]
        revisions[n - edited :] = others[:edited]
        Result.objects.bulk_create(
            Result(
                run=run,
                revision_id=revision,
                test_id=row.test_id,
                issue_id=row.issue_id,
                tag_set_id=row.tag_set_id,
                state=ItemState.DONE,
                **as_judged(float(one)),
            )
            for (row, one), revision in zip(passed, revisions, strict=True)
        )
        return run

    def pair(self, layout: Layout, story: str = "") -> tuple[Run, Run]:
        """Return 1.3 and 1.4, between which the tests of a layout change."""
        old = [[True] * lost + [False] * won + [True] * same for lost, won, same in layout]
        new = [[False] * lost + [True] * won + [True] * same for lost, won, same in layout]
        return self.release(f"1.3{story}", old), self.release(f"1.4{story}", new)


@shared_data
def site():
    template = make_template()
    issues = [make_issue(title=f"Issue {n}") for n in range(21)]
    tests = [
        make_test(f"{issue.pk}, {k}?", issue=issue, template=template)
        for n, issue in enumerate(issues)
        for k in range(100 if not n else PER_ISSUE)
    ]
    suite = Suite.objects.create(name="Releases")
    run = make_run(*tests, suite=suite, state=BatchState.DONE)
    run.judge_runs.update(state=BatchState.DONE)
    rows: dict[int, list[Result]] = {issue.pk: [] for issue in issues}
    for result in run.results.order_by("pk"):
        rows[result.issue_id].append(result)
    return Site(run, rows, User.objects.create_superuser("lead"))


@pytest.fixture
def gate(capsys, site):
    """The decision, which the command and the API agree on."""
    api = client_of("viewer")

    def decided(run: Run, against: Run, policy=None):
        flags = [
            text for name, value in (policy or {}).items() for text in (flag(name), str(value))
        ]
        code = 0
        names = [str(run.pk), "--against", str(against.pk)]
        try:
            call_command("gate", *names, *flags, "--format", "json")
        except SystemExit as left:
            code = int(str(left.code))
        by_command = json.loads(capsys.readouterr().out)
        body = {"run": str(run.pk), "against": str(against.pk), "policy": policy or {}}
        assert api.post("/api/v1/gates/", body, format="json").json() == by_command
        assert by_command["exit"] == code
        return by_command

    return decided


def flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def page_of(site: Site, *runs: Run) -> tuple[str, str]:
    """Return the word of Compare, and all its sentences."""
    form = COMPARE.form(QueryDict(urlencode([("runs", run.pk) for run in runs])))
    document = COMPARE.build(form.filters, Reading(site.reader))
    (word,) = (fact.value for fact in document.facts if fact.name == "conclusion")
    return word, " ".join(document.sentences)


def line_of(result, rule="conclusion"):
    return next(line for line in result["rules"] if line["rule"] == rule)


def test_each_story_has_its_exit_code_and_figures(site, gate, subtests):
    for name, told in STORIES.items():
        with subtests.test(name):
            before, run = site.pair(told.layout, f" {name}")
            result = gate(run, before, told.policy)
            word, said = page_of(site, before, run)

            assert result["exit"] == told.exit
            line = line_of(result)
            assert line["sentence"].lower().startswith(word.lower())
            if line["verdict"] == "does_not_hold":  # by what decided, be it the whole or an issue
                assert line["value"] <= line["limit"]
            if told.p is not None:
                assert line["p"] == pytest.approx(told.p, rel=0.06)
            if told.interval is not None:
                bounds = line_of(result, "blind_spot_points")["interval"]
                assert sorted(-bound for bound in bounds) == pytest.approx(told.interval, abs=0.06)
            if told.p_lost is not None:
                assert f"issues lost: {is_p(told.p_lost)}" in said
            if told.exit == 0 and word == "cannot tell":
                assert "points is excluded" in result["reason"]
            assert "no change" not in result["reason"].lower()


def test_18_edited_tests_that_fail_now_are_named_and_in_no_p(site, gate):
    layout: Layout = [(0, 0, 100)]
    before = site.pair(layout)[0]
    for lost, code in ((5, 1), (0, 2)):
        outcomes = [[False] * lost + [True] * (96 - lost) + [False] * 4]
        result = gate(site.release(f"1.4 less {lost}", outcomes, edited=4), before)

        assert result["exit"] == code
        assert "96 of 100 tests match" in line_of(result, "comparable")["sentence"]
        assert line_of(result)["p"] == pytest.approx(0.031 if lost else 1, abs=0.001)
        assert line_of(result, "edited_tests")["n"] == 4


def test_19_a_third_attempt_is_judged_with_the_first_two(site, gate):
    before, first = site.pair([(8, 0, 2)] + [SAME] * 9)
    green = [[True] * 10] * 10
    second = site.release("1.4", [[False] * 8 + [True] * 2, *green[1:]])
    assert gate(site.release("1.4b", green), before)["exit"] == 0

    third = site.release("1.4", green)

    result = gate(third, before)
    assert result["exit"] == 1
    assert "Third run of 1.4; the first two failed." in line_of(result)["sentence"]
    assert line_of(result)["n"] == 100
    assert "Second run of 1.4; the first failed." in line_of(gate(second, before))["sentence"]
    # Compare takes the two runs that were chosen, and names what all of them show.
    word, said = page_of(site, before, third)
    assert word == "no outcome changed"
    assert "With all 3 runs of 1.4 pooled: judges rate it worse: lost 8, won 0" in said
    assert "pooled" not in page_of(site, first, third)[1]


def test_a_severe_test_that_failed_in_an_earlier_attempt_fails(site):
    site.release("1.4", [[False] * 10])
    run = site.release("1.4", [[True] * 10])
    Issue.objects.filter(pk=next(iter(site.issues))).update(severity="critical")

    with pytest.raises(SystemExit) as left:
        call_command("gate", run.pk, "--conclusion", "off", "--failing-severity", "critical")
    assert left.value.code == 1
