"""The first steps of a user: things to do once, each on the page where it belongs."""

from collections.abc import Callable
from typing import Any, NamedTuple

from django.db.models import QuerySet
from django.urls import reverse

from evalhub.models import LanguageModel, User
from issues.models import Issue, Test
from reports.documents.links import page_url, results_url
from reports.models import ReportSchedule
from reports.queries.counts import any_of
from runs.models import HumanEvaluation, Launch, Run, Suite

Done = Callable[[User], QuerySet[Any]]


class Step(NamedTuple):
    title: str
    text: str
    url: str
    is_done: bool


class Planned(NamedTuple):
    """A step before it is offered: `permission` is what its act asks for.

    `url` is given the newest conclusive run, or None; without one, what `needs_run` comes last.
    `done` selects the rows that the user has made by it: any one will do.
    """

    title: str
    text: str
    permission: str
    url: Callable[[Run | None], str]
    done: Done
    needs_run: bool = False


def _failed_results(run: Run | None) -> str:
    return results_url(run, outcome="failed") if run else reverse("admin:runs_run_changelist")


ADD_MODEL = Planned(
    "Add a language model",
    "Any endpoint that LiteLLM supports; its key stays in the environment.",
    "evalhub.add_languagemodel",
    lambda _: reverse("admin:evalhub_languagemodel_add"),
    lambda _: LanguageModel.objects.active(),
)
"""The step of a site without an active model."""

PLAN = (
    Planned(
        "Override a verdict",
        "Open a failed answer, read what the judges say, and give your own verdict with a reason.",
        "runs.add_humanevaluation",
        _failed_results,
        lambda user: HumanEvaluation.objects.filter(annotator=user),
        needs_run=True,
    ),
    Planned(
        "Turn feedback into an issue",
        "Read what users reported, and press i: the issue has the prompt and the bad answer.",
        "issues.add_issue",
        lambda _: reverse("admin:issues_feedback_inbox"),
        lambda user: Issue.objects.filter(author=user),
    ),
    Planned(
        "Write a test",
        "A prompt, and what a good answer must show. Try it before you save it.",
        "issues.add_test",
        lambda _: reverse("admin:issues_test_add"),
        lambda user: Test.objects.filter(author=user),
    ),
    Planned(
        "Launch a run",
        "Choose tests, a model and a jury. The estimate says what it costs and what it can find.",
        "runs.add_launch",
        lambda _: reverse("admin:runs_launch_add"),
        lambda user: Launch.objects.filter(requested_by=user),
    ),
    Planned(
        "Set a baseline",
        "See what got better or worse between two releases, and set the run to compare with.",
        "runs.change_suite",
        lambda _: page_url("compare"),
        lambda user: Suite.history.filter(
            history_user=user, historicalsuite_baselines__isnull=False
        ),
        needs_run=True,
    ),
    Planned(
        "Schedule a report",
        "Have Release against release made every Monday, and sent to you.",
        "reports.add_reportschedule",
        lambda _: page_url("releases"),
        lambda user: ReportSchedule.objects.filter(requested_by=user),
        needs_run=True,
    ),
)


def steps_of(user: User, newest: Run | None) -> list[Step]:
    """Return the steps whose acts the user may do; one query."""
    plan = (ADD_MODEL, *PLAN)
    done = dict(zip(plan, any_of([step.done(user) for step in plan]), strict=True))
    offered = PLAN if done[ADD_MODEL] else plan
    return [
        Step(step.title, step.text, step.url(newest), done[step])
        for step in sorted(offered, key=lambda step: step.needs_run and newest is None)
        if user.has_perm(step.permission)
    ]


def may_tour(user: User) -> bool:
    return any(user.has_perm(step.permission) for step in PLAN)
