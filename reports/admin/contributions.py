"""The ways from issues and tests to their reports, and the state proposed for an issue."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from evalhub.admin_site.buttons import Button
from evalhub.admin_site.contributions import Contribution, PanelPart, contribute
from issues.lifecycle.states import APPROVE_ISSUE
from issues.models import Issue, Test
from reports.documents.links import page_url
from reports.issue_proposals.proposals import proposal_of
from reports.judge_reliability.trials.agreement import section_of_benchmark, section_of_trial
from runs.laboratory.pairwise.models import PairwiseJudgeRun
from runs.laboratory.position_bias.models import ReversedJudgeRun
from runs.laboratory.trials.models import Benchmark, Trial


def panel_of_issue(request: HttpRequest, issue: Any) -> PanelPart:
    timeline = Button("Timeline", page_url("issue_timeline", issue=issue), is_link=True)
    proposal = proposal_of(issue)
    if proposal is None:
        return PanelPart([timeline])
    if not request.user.has_perm(APPROVE_ISSUE):
        return PanelPart([timeline], [proposal.reason])
    url, act = reverse("reports:accept_proposal", args=[issue.pk]), proposal.act
    accept = Button(f"{act.capitalize()} as proposed", url, {"act": act}, "primary")
    dismiss = Button("Dismiss proposal", url, {"act": act, "dismiss": "1"})
    return PanelPart([accept, dismiss, timeline], [proposal.reason])


def panel_of_test(request: HttpRequest, test: Any) -> PanelPart:
    timeline = page_url("issue_timeline", issue=test.issue)
    similarity = reverse("reports:similarity", args=[test.pk])
    return PanelPart(
        [
            Button("Issue timeline", timeline, is_link=True),
            Button("Compare answers", similarity, is_link=True),
        ]
    )


def panel_of_pairwise(request: HttpRequest, judge_run: Any) -> PanelPart:
    runs = [run.pk for run in judge_run.runs.order_by("pk")]
    url = page_url("compare", runs=runs, tab="pairwise", judged=judge_run.pk)
    return PanelPart([Button("Open win rates", url, is_link=True)])


def panel_of_reversed(request: HttpRequest, judge_run: Any) -> PanelPart:
    url = page_url("judge_reliability", tab="judges", run=judge_run.judge_run.run)
    return PanelPart([Button("Open position bias", url, is_link=True)])


def panel_of_benchmark(request: HttpRequest, benchmark: Any) -> PanelPart:
    if not benchmark.trials.exists():
        return PanelPart()
    url = page_url("judge_reliability", tab="trials", benchmark=benchmark)
    return PanelPart([Button("Which judge is fit?", url, kind="primary", is_link=True)])


def panel_of_trial(request: HttpRequest, trial: Any) -> PanelPart:
    return panel_of_benchmark(request, trial.benchmark)


contribute(
    Contribution("runs.view_run", panel=panel_of_benchmark, section=section_of_benchmark),
    Benchmark,
)
contribute(Contribution("runs.view_run", panel=panel_of_trial, section=section_of_trial), Trial)
contribute(Contribution(permission="runs.view_run", panel=panel_of_pairwise), PairwiseJudgeRun)
contribute(Contribution(permission="runs.view_run", panel=panel_of_reversed), ReversedJudgeRun)
contribute(Contribution(permission="runs.view_run", panel=panel_of_issue), Issue)
contribute(Contribution(permission="runs.view_run", panel=panel_of_test), Test)
