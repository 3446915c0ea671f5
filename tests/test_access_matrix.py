"""Every address of the site × everybody who may knock: who gets in, and who does not.

A new address fails `test_every_address_is_classified` until it stands in `DOORS`. Plain pages of
the admin (list, add, change, delete, history of a model) need no line: the model's rights decide.
"""

import re
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import pytest
from django.apps import apps
from django.contrib.contenttypes.models import ContentType
from django.db import transaction
from django.http import HttpResponseBase
from django.template.response import SimpleTemplateResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver, reverse

from evalhub.models import Delivery, Exposure, Image, Notification, Token, TokenScope, User, Webhook
from evalhub.models import Worker as WorkerRow
from issues.content.revisions import freeze
from issues.drafting.start import start
from issues.models import Feedback, LibraryCriterion, ResolutionLabel, Tag
from reports.documents.document import Document
from reports.models import ReleaseDecision, ReportSchedule, Snapshot
from reports.registry import PAGES
from reports.schedules.snapshots import stored
from reports.summaries.requests import ask_summary
from runs.laboratory.pairwise.models import Pair, PairEvaluation, PairJudgment, PairwiseJudgeRun
from runs.laboratory.position_bias.models import ReversedJudgeRun, ReversedJudgment
from runs.laboratory.trials.models import (
    Artifact,
    Benchmark,
    Claim,
    GenerationRun,
    Idea,
    Topic,
    Trial,
    Validation,
)
from runs.laboratory.tuning.models import Tuning
from runs.laboratory.workbench.models import Workbench
from runs.models import Example, HumanEvaluation, Launch, Release, Suite
from runs.review.models import Correction
from tests.api import client_of
from tests.evalhub.test_api import make_call
from tests.factories import (
    first_result,
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_test,
    make_user,
)
from tests.images import picture
from tests.issues.drafting.writers import make_order
from tests.reports.judged_runs import answer, judge
from tests.runs.review.rows import make_queue, put

pytestmark = pytest.mark.django_db

# Who ---------------------------------------------------------------------------------------------

ROLES = ("viewer", "model developer", "annotator", "adjudicator", "maintainer", "admin")
ACTORS = ("anonymous", "no role", *ROLES, "read-only token")
DIFFERENT = tuple(name for name in ACTORS if name != "model developer")
"""Those whose rights differ; a model developer's are a viewer's (test_sealed_everywhere)."""

ALL = frozenset(ROLES)
WRITERS = ALL - {"viewer", "model developer"}
MAINTAINERS = frozenset({"maintainer", "admin"})
ADJUDICATORS = MAINTAINERS | {"adjudicator"}
ADMINS = frozenset({"admin"})
STAFF = ALL | {"no role"}
EVERYBODY = STAFF | {"anonymous"}

# What --------------------------------------------------------------------------------------------


class Door(NamedTuple):
    """Who may enter by one method; `sent` goes with the request, `query` with the address."""

    method: str
    may: frozenset[str]
    sent: dict[str, Any] = {}
    query: str = ""


def get(may: frozenset[str] = ALL, query: str = "") -> Door:
    return Door("GET", may, query=query)


def post(may: frozenset[str], **sent: Any) -> Door:
    return Door("POST", may, sent)


def patch(may: frozenset[str]) -> Door:
    return Door("PATCH", may)


def doors(names: str, *doors: Door) -> dict[str, tuple[Door, ...]]:
    """The same doors at each of these addresses."""
    return dict.fromkeys(names.split(), doors)


DOORS: dict[str, tuple[Door, ...]] = {
    **doors(
        """
        api-index admin:index admin:glossary admin:search admin:jsi18n admin:view_on_site
        admin:password_change admin:password_change_done admin:evalhub_token_changelist
        admin:evalhub_notification_changelist
        """,
        get(STAFF),
    ),
    **doors(
        """
        admin:issues_feedback_inbox admin:issues_judgetemplate_preview
        admin:issues_librarycriterion_download admin:issues_issue_board admin:issues_issue_tab
        admin:issues_test_tab admin:runs_suite_tab admin:issues_issue_download
        admin:issues_test_download admin:issues_feedback_download admin:issues_test_script_py
        admin:issues_test_script_ipynb admin:issues_generation_progress admin:runs_result_judgment
        admin:runs_run_rows admin:runs_suite_export reports:claim admin:workbench_workbench_export
        reports:index reports:run reports:run_change reports:run_progress reports:run_first
        reports:run_rows
        reports:failure_clusters reports:run_csv reports:run_judgments_csv reports:run_json
        reports:run_jsonl reports:run_script reports:run_notebook reports:run_markdown
        reports:run_html reports:run_junit reports:summaries reports:summary
        reports:summary_exchange reports:summary_download reports:similarity reports:compare_answers
        reports:compare_runs reports:snapshot reports:snapshot_download api-notification-list
        api-resolution-label-detail api-feedback-export api-issue-export api-issue-readiness
        api-test-export api-test-readiness api-test-model-request api-test-similarity api-check-list
        api-generation-detail api-draft-list api-draft-detail api-library-criterion-versions
        api-image-detail api-revision-list api-revision-detail api-suite-versions api-launch-list
        api-launch-detail api-run-issue-rates api-run-detail api-run-progress api-run-report
        api-result-list api-result-detail api-result-export api-judge-run-list api-judge-run-detail
        api-judgment-list api-judgment-detail api-judgment-export api-pairwise-run-detail
        api-reversed-run-detail api-reversed-judgment-list api-reversed-judgment-detail
        api-pair-judgment-list api-pair-judgment-detail api-pair-evaluation-detail
        api-benchmark-detail api-idea-list api-idea-detail api-benchmark-text-list
        api-benchmark-text-detail api-claim-list api-claim-detail api-generation-run-list
        api-generation-run-detail api-trial-detail api-claim-judgment-list api-claim-judgment-detail
        api-evaluation-detail api-evaluation-export api-summary-detail api-summary-exchanges
        api-release-decision-detail
        """,
        get(),
    ),
    **doors(
        """
        api-tag-list api-feedback-list api-issue-list api-test-list api-generation-list
        api-library-criterion-list api-pair-evaluation-list api-evaluation-list
        """,
        get(),
        post(WRITERS),
    ),
    **doors(
        """
        api-feedback-detail api-issue-detail api-test-detail api-library-criterion-detail
        """,
        get(),
        patch(WRITERS),
    ),
    **doors(
        """
        api-language-model-list api-resolution-label-list api-judge-template-list api-suite-list
        api-jury-list api-run-list api-pairwise-run-list api-reversed-run-list api-benchmark-list
        api-trial-list api-summary-list api-release-list api-release-decision-list
        """,
        get(),
        post(MAINTAINERS),
    ),
    **doors(
        """
        api-language-model-detail api-tag-detail api-judge-template-detail api-suite-detail
        api-jury-detail api-release-detail
        """,
        get(),
        patch(MAINTAINERS),
    ),
    **doors(
        """
        admin:issues_test_try_pane admin:review_queue_work admin:review_queue_overview
        admin:tuning_tuning_disagreements admin:tuning_tuning_progress reports:compare_next_pair
        api-tuning-detail api-queue-progress api-review-item-list api-review-item-detail
        api-assignment-list api-assignment-detail
        """,
        get(WRITERS),
    ),
    **doors(
        """
        admin:issues_issue_board_act admin:issues_issue_undo admin:issues_test_copy
        admin:issues_test_rubric admin:issues_test_try admin:runs_result_evaluate
        admin:runs_result_undo_file api-issue-bulk api-issue-comments api-test-comments
        api-issue-move api-issue-merge api-issue-unmerge api-test-bulk api-test-move api-test-seal
        api-generation-cancel api-generation-resume api-generation-retry api-draft-accept
        api-draft-reject api-draft-undo api-image-list api-import-list api-queue-take api-queue-undo
        api-review-item-take api-assignment-submit api-assignment-skip api-assignment-release
        """,
        post(WRITERS),
    ),
    **doors(
        """
        admin:issues_feedback_upload admin:issues_librarycriterion_import
        admin:issues_librarycriterion_rubric admin:issues_issue_merge admin:issues_issue_unmerge
        admin:issues_issue_link admin:issues_generation_add admin:runs_suite_import_file
        admin:trials_benchmark_label
        """,
        get(WRITERS),
        post(WRITERS),
    ),
    **doors(
        """
        admin:evalhub_worker_queue admin:evalhub_exposure_export admin:runs_suite_launch_suite
        admin:review_queue_choose api-call-list api-call-detail api-exposure-list
        api-exposure-detail
        """,
        get(MAINTAINERS),
    ),
    **doors(
        """
        admin:evalhub_webhook_test admin:evalhub_languagemodel_probe admin:issues_test_end_reveal
        admin:runs_jury_preview admin:runs_launch_estimate admin:runs_launch_act
        admin:tuning_tuning_example admin:tuning_tuning_prompt admin:workbench_workbench_settings
        admin:workbench_workbench_evaluate reports:compare_baseline
        admin:reports_reportschedule_make api-feedback-erase api-test-unseal api-test-reveal
        api-test-end-reveal api-judge-template-publish api-judge-template-retire
        api-judge-template-new-version api-library-criterion-retire api-library-criterion-restore
        api-launch-again api-launch-schedule api-launch-pause api-launch-resume
        api-run-import-answers api-run-pause api-run-resume api-run-cancel api-run-retry-errors
        api-run-rejudge api-run-run-checks api-run-set-active api-tuning-attempts
        api-pairwise-run-pause api-pairwise-run-cancel api-pairwise-run-resume
        api-pairwise-run-retry-errors
        api-reversed-run-estimate api-reversed-run-pause api-reversed-run-cancel
        api-reversed-run-resume api-reversed-run-retry-errors api-benchmark-import-claims
        api-benchmark-small api-benchmark-generate api-benchmark-replay api-benchmark-fresh
        api-benchmark-build-claims api-queue-add-run api-summary-again api-summary-cancel
        """,
        post(MAINTAINERS),
    ),
    **doors(
        """
        admin:issues_test_reveal admin:runs_run_import_answers admin:runs_run_rejudge
        admin:runs_suite_import_weval admin:trials_benchmark_small admin:trials_benchmark_import
        admin:trials_benchmark_edit admin:trials_benchmark_generate admin:trials_benchmark_replay
        admin:trials_benchmark_fresh admin:tuning_tuning_attempt admin:tuning_tuning_publish
        admin:workbench_workbench_upload reports:summary_ask api-webhook-list
        """,
        get(MAINTAINERS),
        post(MAINTAINERS),
    ),
    # Anybody
    "": (get(STAFF),),
    "api": (get(EVERYBODY),),
    "schema": (get(EVERYBODY),),
    "api-docs": (get(EVERYBODY),),
    # Whoever has a signed link: test_open_links.
    "reports:open_snapshot": (get(EVERYBODY),),
    "admin:login": (get(EVERYBODY), post(EVERYBODY)),
    "admin:logout": (post(EVERYBODY),),
    # The admin's own pages
    "admin:choose_columns": (post(STAFF, model="evalhub.notification"),),
    "admin:settings": (get(STAFF),),  # lists what the person may open
    "admin:save_filter": (post(STAFF, page="admin:issues_issue_changelist", query="q=x"),),
    "admin:delete_filter": (),  # only its person deletes one: see tests/evalhub/access
    "admin:app_list": (get(ALL),),
    "admin:autocomplete": (get(ALL, "app_label=runs&model_name=suite&field_name=tests&term="),),
    "admin:auth_user_password_change": (get(ADMINS), post(ADMINS)),
    # People, tokens, models
    "admin:evalhub_token_add": (get(STAFF), post(STAFF)),
    "admin:evalhub_token_revoke": (post(ADMINS),),
    "admin:evalhub_notification_settings": (get(STAFF), post(STAFF)),
    "admin:evalhub_notification_read": (post(STAFF),),
    "admin:evalhub_notification_open": (post(frozenset()),),  # only whose it is opens it
    "admin:evalhub_auditentry_changelist": (get(ADMINS),),
    "admin:evalhub_auditentry_download": (get(ADMINS),),
    # Issues and tests
    "admin:issues_feedback_act": (post(WRITERS, act="accept"),),
    "admin:issues_feedback_inbox_act": (post(WRITERS, act="undo"),),
    "admin:issues_feedback_issues": (get(ALL, "q=d"),),
    "admin:issues_feedback_similar": (post(ALL, text="The sum is wrong."),),
    "admin:issues_judgetemplate_act": (
        get(MAINTAINERS, "act=publish"),
        post(MAINTAINERS, act="publish"),
    ),
    "admin:issues_judgetemplate_ask": (post(MAINTAINERS, ideal="one only"),),
    "admin:issues_librarycriterion_act": (post(WRITERS, act="duplicate"),),
    "admin:issues_librarycriterion_found": (get(ALL, "q=tone"),),
    "admin:issues_issue_move": (
        get(MAINTAINERS, "move=deprecate"),
        post(MAINTAINERS, move="deprecate"),
    ),
    "admin:issues_issue_split": (get(WRITERS), post(WRITERS, title="Another fault")),
    "admin:issues_issue_move_tests": (post(MAINTAINERS, move="approve"),),
    "admin:issues_test_move": (
        get(MAINTAINERS, "move=deprecate"),
        post(MAINTAINERS, move="deprecate"),
    ),
    "admin:issues_test_seal": (get(WRITERS), post(WRITERS, reason="Kept for the release")),
    "admin:issues_test_unseal": (get(MAINTAINERS), post(MAINTAINERS, reason="Known by now")),
    "admin:issues_test_preview": (get(), post(ALL)),
    "admin:issues_test_lines": (post(WRITERS, lines="Names a price"),),
    "admin:issues_test_edit": (get(WRITERS), post(WRITERS, act="propose")),
    "admin:issues_generation_act": (post(WRITERS, act="undo"),),
    # Runs
    "admin:runs_result_file": (get(WRITERS), post(WRITERS, act="test")),
    "admin:runs_result_correct": (post(WRITERS, correction="Four."),),
    "admin:runs_result_example": (post(WRITERS, act="mark"),),
    "admin:runs_run_change": (get(STAFF),),  # only leads to the report
    "admin:runs_run_control": (post(MAINTAINERS, act="pause"),),
    "admin:runs_suite_make": (get(MAINTAINERS, "tests=1"), post(MAINTAINERS)),
    # Review
    "admin:review_queue_act": (post(WRITERS, act="next"),),
    "admin:review_queue_item": (
        post(WRITERS, act="review", item="0"),
        post(ADJUDICATORS, act="offer", skip="0"),
        get(ADJUDICATORS, "act=send_back&assignment=0"),
    ),
    "admin:review_queue_runs": (get(MAINTAINERS), post(MAINTAINERS, act="look")),
    "admin:review_queue_state": (post(MAINTAINERS, act="close"),),
    "admin:review_dispute_changelist": (get(ADJUDICATORS),),
    "admin:review_correction_promote": (get(MAINTAINERS), post(MAINTAINERS, act="promote")),
    # Pairs
    "admin:pairwise_pairwisejudgerun_act": (post(MAINTAINERS, act="cancel"),),
    "admin:position_bias_reversedjudgerun_act": (post(MAINTAINERS, act="cancel"),),
    # Benchmarks
    "admin:trials_benchmark_act": (post(MAINTAINERS, act="expose"),),
    "admin:trials_trial_act": (post(MAINTAINERS, act="cancel"),),
    "reports:mark_validated": (post(MAINTAINERS, withdraw="1"),),
    # Rehearsals
    "admin:tuning_tuning_act": (post(MAINTAINERS, act="cancel"),),
    # A shared workbench of somebody else; their own: see tests/runs/laboratory/workbench.
    "admin:workbench_workbench_start": (post(WRITERS, template="1"),),
    "admin:workbench_workbench_row": (post(MAINTAINERS, act="add"),),
    "admin:workbench_workbench_prompt": (get(query="row=1"),),
    "admin:workbench_workbench_act": (
        post(WRITERS, act="duplicate"),
        post(WRITERS, act="tests"),
        post(WRITERS, act="library"),
        post(MAINTAINERS, act="template"),
    ),
    # Reports
    "reports:decide_cluster": (post(WRITERS, act="dismiss", key="none"),),
    "reports:summary_act": (post(MAINTAINERS, act="again"),),
    "reports:compare_pair": (get(WRITERS), post(WRITERS, act="a")),
    "reports:choose_cards": (post(ALL, card="models"),),
    "reports:accept_proposal": (post(MAINTAINERS, act="resolve"),),
    "reports:schedule_people": (get(MAINTAINERS),),
    "reports:decide_release": (get(MAINTAINERS), post(MAINTAINERS)),
    "reports:schedule": (post(MAINTAINERS, cron="0 6 * * *"),),
    **{f"reports:{page.key}": (get(),) for page in PAGES},
    **{f"reports:{page.key}_download": (get(),) for page in PAGES},
    **{f"api-report-{page.key}": (get(),) for page in PAGES},
    # API
    "api-user-list": (get(MAINTAINERS), post(ADMINS)),
    "api-user-detail": (get(MAINTAINERS), patch(ADMINS)),
    "api-token-list": (get(MAINTAINERS), post(ADMINS)),
    "api-token-detail": (get(ADMINS),),  # a maintainer reads only their own
    "api-token-revoke": (post(ADMINS),),
    "api-webhook-detail": (get(MAINTAINERS), patch(MAINTAINERS)),
    "api-notification-detail": (get(frozenset()),),  # only whose it is reads it
    "api-notification-read": (post(frozenset()),),
    "api-audit-list": (get(ADMINS),),
    "api-feedback-batch": (post(WRITERS, feedback=[{"comment": "c"}]),),
    "api-feedback-similar": (get(ALL, "text=wrong"),),
    "api-issue-similar": (get(ALL, "text=wrong"),),
    "api-suite-export-as": (get(ALL, "peer=inspect"),),
    "api-run-export-as": (get(ALL, "peer=inspect"),),
    "api-gate": (post(ALL),),
    "api-tuning-list": (get(WRITERS), post(MAINTAINERS)),
    "api-pair-evaluation-withdraw": (post(frozenset()),),  # only its annotator withdraws it
    **{
        f"api-{work}-{verb}": (post(MAINTAINERS),)
        for work in ("generation-run", "trial")
        for verb in ("pause", "cancel", "resume", "retry-errors")
    },
    "api-queue-list": (get(WRITERS), post(MAINTAINERS)),
    "api-queue-detail": (get(WRITERS), patch(MAINTAINERS)),
    "api-assignment-send-back": (post(ADJUDICATORS),),
    # Only its annotator withdraws an evaluation: see tests/runs/api/test_api.py.
    "api-evaluation-withdraw": (),
}

# Nothing but redirects to other addresses that stand here.
REDIRECTS = re.compile(r"admin/\w+/\w+/<path:object_id>/$|admin/\(\?P<url>\.\*\)\$$")

PLAIN = re.compile(
    r"admin:(?P<app>[a-z_]+?)_(?P<model>[a-z]+)_"
    r"(?P<page>changelist|add|change|delete|history|simple_history)$"
)
RIGHTS = {
    "changelist": ("view", "change"),
    "change": ("view", "change"),
    "history": ("view", "change"),
    "simple_history": ("view", "change"),
    "add": ("add",),
    "delete": ("delete",),
}
ALWAYS_OPEN = {"changelist"}
"""Plain pages that nothing closes to those who have the right; others a model may close to all."""


# Addresses ---------------------------------------------------------------------------------------


class Address(NamedTuple):
    name: str
    route: str
    methods: frozenset[str]
    """Those that the API declares; empty elsewhere."""


def addresses() -> Iterator[Address]:
    waiting: list[tuple[Any, str, str]] = [
        (pattern, "", "") for pattern in get_resolver().url_patterns
    ]
    while waiting:
        pattern, before, space = waiting.pop()
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            inner = pattern.namespace or space
            waiting += [(part, route, inner) for part in pattern.url_patterns]
        elif isinstance(pattern, URLPattern):
            actions = getattr(pattern.callback, "actions", None) or {}
            name = f"{space}:{pattern.name}" if space and pattern.name else pattern.name or ""
            yield Address(name, route, frozenset(method.upper() for method in actions) - {"HEAD"})


def test_every_address_is_classified():
    unknown = [
        f'    "{address.name}": (get(),),  # {address.route}'
        for address in addresses()
        if address.name not in DOORS
        and not PLAIN.fullmatch(address.name)
        and not REDIRECTS.search(address.route)
    ]

    assert unknown == [], "Say in DOORS who may enter:\n" + "\n".join(unknown)


def test_no_line_is_left_over():
    names = {address.name for address in addresses()}

    assert sorted(DOORS.keys() - names) == []


def test_every_method_of_the_api_is_classified():
    declared = {address.name: sorted(address.methods) for address in addresses() if address.methods}
    classified = {
        name: sorted(door.method for door in DOORS[name]) or declared[name]
        for name in declared
        if name in DOORS
    }

    assert classified == declared


# Knocking ----------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def _without_rendering(monkeypatch) -> None:
    """Who may enter is decided before a page is drawn, and drawing takes most of the time."""
    monkeypatch.setattr(SimpleTemplateResponse, "rendered_content", "")


@pytest.fixture
def rows() -> dict[str, Any]:
    """One row of each kind, by the model's name."""
    user = make_user(username="somebody")
    test = make_test(state="approved")
    run = make_run(test, jury=make_jury(make_model()))
    answer(run)
    judge(run, [[1.0]])
    result = first_result(run)
    evaluation = HumanEvaluation.objects.create(
        result=result, criterion=result.revision.criteria.get(), annotator=user, value=1.0
    )
    webhook = Webhook.objects.create(name="w", url="https://example.org/", secret_env="HOOK")
    report = ReportSchedule.objects.create(title="r", page="gone", cron="0 6 * * *")
    (item,) = put(make_queue(), result)
    other = make_run(test, label="another run")
    (second,) = answer(other)
    pairwise_run = PairwiseJudgeRun.objects.create(
        language_model=run.language_model, endpoint=run.endpoint, method="m"
    )
    pair = Pair.objects.create(first=result, second=second)
    pair_judgment = PairJudgment.objects.create(judge_run=pairwise_run, pair=pair, order=0)
    reversed_run = ReversedJudgeRun.objects.create(
        judge_run=run.judge_runs.get(), results=1, seed=1
    )
    reversed_judgment = ReversedJudgment.objects.create(
        judge_run=reversed_run, judgment=result.judgments.get()
    )
    benchmark = Benchmark.objects.create(name="b")
    idea = Idea.objects.create(topic=Topic.objects.create(benchmark=benchmark, title="t"), name="i")
    artifact, described = (
        Artifact.objects.create(benchmark=benchmark, idea=idea, kind=kind)
        for kind in ("summary", "description")
    )
    about = {"topic": idea.topic, "idea": idea, "truth": True, "kind": "describes"}
    claim = Claim.objects.create(benchmark=benchmark, left=described, right=artifact, **about)
    trial = Trial.objects.create(
        benchmark=benchmark, metric="rouge_l", threshold=0.3, method="metric"
    )
    Validation.objects.create(trial=trial, task="summary", method="metric")
    generation_run = GenerationRun.objects.create(
        benchmark=benchmark, language_model=run.language_model, endpoint=run.endpoint
    )
    return {
        "benchmark": benchmark,
        "idea": idea,
        "artifact": artifact,
        "benchmarktext": artifact,
        "generationrun": generation_run,
        "claimjudgment": trial.judgments.create(claim=claim, order=0),
        "trial": trial,
        "claim": claim,
        "reversedjudgerun": reversed_run,
        "reversedrun": reversed_run,
        "reversedjudgment": reversed_judgment,
        "pairwisejudgerun": pairwise_run,
        "pairwiserun": pairwise_run,
        "pairjudgment": pair_judgment,
        "pairevaluation": PairEvaluation.objects.create(
            pair=pair, annotator=user, choice="first", order=0
        ),
        "user": user,
        "notification": Notification.objects.create(
            recipient=user, kind="assigned", key="k", title="t"
        ),
        "webhook": webhook,
        "delivery": Delivery.objects.create(webhook=webhook, key="k"),
        "token": Token.objects.issue(user=user, name="x")[0],
        "languagemodel": run.language_model,
        "call": make_call(),
        "worker": WorkerRow.objects.create(
            name="w", started_at="2026-01-01T00:00Z", beat_at="2026-01-01T00:00Z"
        ),
        "exposure": Exposure.objects.create(
            test=test.pk, kind="sent", endpoint="api.example.org:443", day="2026-01-01"
        ),
        "tag": Tag.objects.create(name="t"),
        "resolutionlabel": ResolutionLabel.objects.create(name="r"),
        "feedback": Feedback.objects.create(comment="c"),
        "image": image_of(test, picture()),
        "issue": make_issue(description="d"),
        "test": test,
        "generation": (batch := start(make_order(make_model()), by=user)),
        "draft": batch.drafts.all()[0],
        "judgetemplate": test.template,
        "librarycriterion": LibraryCriterion.objects.get(key="answers-the-question"),
        "revision": freeze([test])[test.pk],
        "suite": Suite.objects.create(name="s"),
        "jury": make_jury(make_model()),
        "launch": Launch.objects.create(label="l", spec={}),
        "run": run,
        "result": result,
        "correction": Correction.objects.create(result=result, annotator=user, text="Four."),
        "queue": item.queue,
        "reviewitem": item,
        "assignment": item.assignments.get(),
        "example": Example.objects.create(evaluation=evaluation, note="n"),
        "judgerun": run.judge_runs.get(),
        "judgment": result.judgments.get(),
        "evaluation": evaluation,
        "tuning": Tuning.objects.create(  # type: ignore[misc]
            template=test.template, judge=result.judgments.get().judge, seed=1
        ),
        "workbench": Workbench.objects.create(name="w", owner=user, is_shared=True, text="x"),
        "summary": ask_summary([run], analyst=run.language_model, by=user),
        "release": (release := Release.objects.named("1.0")),
        "releasedecision": ReleaseDecision.objects.create(
            release=release, act="held", decided_by=user
        ),
        "reportschedule": report,
        "snapshot": Snapshot.objects.create(report=report, content=stored(Document("Which?"))),
    }


def image_of(test: Any, content: bytes) -> Image:
    """A stored image that the test refers to."""
    image = Image.objects.create(
        digest="0f" * 32, media_type="image/png", width=4, height=3, content=content
    )
    image.uses.create(test=test)
    return image


def actor(name: str) -> tuple[Client, User | None]:
    """A browser with this person logged in, or a script with a token that may only read."""
    if name == "anonymous":
        return Client(raise_request_exception=False), None
    if name == "read-only token":
        user = make_user("admin")
        script = client_of(user, TokenScope.READ)
        script.raise_request_exception = False
        return script, user
    user = make_user("" if name == "no role" else name)
    client = Client(raise_request_exception=False)
    client.force_login(user)
    return client, user


TABS = {"issue": "tests", "test": "revisions", "suite": "versions"}
"""A tab that is read later, by the model of its page."""


def url_of(address: Address, rows: dict[str, Any]) -> str:
    """The address of an existing row, where it takes one."""
    wanted = re.findall(r"<(?:\w+:)?(\w+)>|\(\[\^/\]\+\)", address.route)
    if not wanted:
        return reverse(address.name)
    if address.name == "admin:app_list":
        return reverse(address.name, args=["issues"])
    if address.name == "reports:schedule":
        return reverse(address.name, args=[PAGES[0].key if PAGES else "none"])
    if address.name == "reports:compare_pair":
        pair = rows["pairjudgment"].pair
        return reverse(address.name, args=[pair.first_id, pair.second_id])
    if address.name == "reports:compare_answers":
        return reverse(address.name, args=[rows["result"].pk] * 2)
    model = model_of(address)
    row = rows.get(model)
    endings = ["json"] if {"ending", "file_format"} & set(wanted) else []
    if address.name.endswith("_download") and len(wanted) == 1:
        return reverse(address.name, args=endings)
    pk = row.pk if row is not None else 1
    if address.name == "admin:view_on_site":
        return reverse(address.name, args=[ContentType.objects.get_for_model(row).pk, pk])
    if address.name.endswith("simple_history"):
        version = row.history.earliest("history_id").pk if row is not None else 1
        return reverse(address.name, args=[pk, version])
    if address.name == "reports:decide_release":
        return reverse(address.name, args=[pk, "held"])
    if address.name == "reports:summary_exchange":
        return reverse(address.name, args=[pk, 1])
    if address.name == "admin:review_queue_choose":
        return reverse(address.name, args=[rows["run"].pk])
    if address.name.endswith("_tab"):
        return reverse(address.name, args=[pk, TABS[model]])
    if address.name == "admin:runs_result_judgment":
        return reverse(address.name, args=[pk, rows["judgment"].pk])
    return reverse(address.name, args=[pk, *endings])


def model_of(address: Address) -> str:
    """The name of the model whose row the address takes."""
    if address.name.startswith("api-"):
        named = (model for model in MODELS if address.name.startswith(f"api-{model}-"))
        return next(named).replace("-", "")
    if address.name.startswith("reports:summary"):
        return "summary"
    if address.name.startswith("reports:"):
        return {
            "reports:similarity": "test",
            "reports:snapshot": "snapshot",
            "reports:claim": "claim",
            "reports:decide_release": "release",
            "reports:mark_validated": "benchmark",
        }.get(address.name.removesuffix("_download"), "run")
    if address.name in ("admin:view_on_site", "admin:auth_user_password_change"):
        return "user" if "password" in address.name else "issue"
    _, _, name = address.name.partition(":")
    app = next((app for app in APPS if name.startswith(f"{app}_")), name.split("_")[0])
    return name.removeprefix(f"{app}_").split("_")[0]


APPS = sorted((app.label for app in apps.get_app_configs()), key=len, reverse=True)
MODELS = (
    *("language-model", "user", "token", "webhook", "call", "notification", "exposure", "tag"),
    *("resolution-label", "feedback", "issue", "test", "image"),
    *("judge-template", "library-criterion", "revision", "suite", "jury", "launch", "run"),
    *("result", "judge-run"),
    *("pairwise-run", "pair-judgment", "pair-evaluation", "generation-run", "generation", "draft"),
    *("benchmark-text", "benchmark", "idea", "claim-judgment", "claim", "trial"),
    *("reversed-run", "reversed-judgment"),
    *("judgment", "evaluation", "summary", "tuning", "queue", "review-item", "assignment"),
    *("release-decision", "release"),
)


def knock(client: Client, url: str, door: Door) -> HttpResponseBase:
    """Ask, and undo whatever that did."""
    address = f"{url}?{door.query}" if door.query else url
    is_api = url.startswith("/api/")
    cookies = copy(client.cookies)
    with transaction.atomic():
        if door.method == "GET":
            response = client.get(address)
        elif is_api:
            response = client.generic(door.method, address, "{}", content_type="application/json")
        else:
            response = client.post(address, door.sent)
        transaction.set_rollback(True)
    client.cookies = cookies
    return response


def entered(response: HttpResponseBase) -> bool | None:
    """Whether the door was open; None where nothing was there, which tells nobody anything."""
    target = response.headers.get("Location", "") if response.status_code == 302 else ""
    if response.status_code in (401, 403) or target.startswith(reverse("admin:login")):
        return False
    if response.status_code == 404 or target == reverse("admin:index"):
        return None
    return True


READING = {"api-gate"}
"""Addresses of the API that are asked by POST and change nothing."""


TOKENS = ("/api/", "/reports/")
"""What a token opens."""


def may_enter(name: str, address: str, door: Door, url: str) -> bool:
    if name != "read-only token":
        return name in door.may
    if "anonymous" in door.may:
        return True
    reads = door.method == "GET" or address in READING
    return url.startswith(TOKENS) and reads and "admin" in door.may


def wrongly_answered(name: str, rows: dict[str, Any], asks: Callable[[Door], bool]) -> list[str]:
    """The doors, of those asked, that this actor found open or closed against the table."""
    client, _ = actor(name)
    wrong = []
    for address in addresses():
        for door in filter(asks, DOORS.get(address.name, ())):
            url = url_of(address, rows) if address.name else "/"
            response = knock(client, url, door)
            expected = may_enter(name, address.name, door, url)
            if entered(response) is not expected and entered(response) is not None:
                told = f"{door.method} {url} ({address.name}): {response.status_code}"
                wrong.append(f"{told}, but {name} {'may' if expected else 'may not'} enter")
            if response.status_code >= 500:
                wrong.append(f"{door.method} {url}: {response.status_code}")
    return wrong


LADDER = ("anonymous", "no role", "viewer", "annotator", "adjudicator", "maintainer", "admin")
"""Actors in the order of their rights."""


def is_edge(name: str, door: Door) -> bool:
    """Whether it is the least of those who may enter, or one step below."""
    least = next((at for at, one in enumerate(LADDER) if one in door.may), len(LADDER))
    return name in LADDER[max(0, least - 1) : least + 1]


def test_the_least_role_named_enters_and_the_one_below_does_not(rows):
    wrong = [
        line for name in LADDER for line in wrongly_answered(name, rows, partial(is_edge, name))
    ]

    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize("name", DIFFERENT)
def test_doors_are_open_to_those_named_and_closed_to_others(name, rows):
    wrong = wrongly_answered(name, rows, lambda door: True)

    assert wrong == [], "\n".join(wrong)


@pytest.mark.parametrize("name", DIFFERENT)
def test_plain_admin_pages_are_closed_to_those_without_the_models_right(name, rows):
    client, user = actor(name)
    wrong = []
    for address in addresses():
        found = PLAIN.fullmatch(address.name)
        if found is None or address.name in DOORS:
            continue
        has_right = name in ROLES and has_any(user, found)
        response = knock(client, url_of(address, rows), get())
        if not has_right and entered(response):
            wrong.append(f"{address.name}: {response.status_code}, but {name} has no right to it")
        if has_right and found["page"] in ALWAYS_OPEN and response.status_code != 200:
            wrong.append(f"{address.name}: {response.status_code}, but {name} has the right to it")
        if response.status_code >= 500:
            wrong.append(f"{address.name}: {response.status_code}")

    assert wrong == [], "\n".join(wrong)


def has_any(user: User | None, page: re.Match[str]) -> bool:
    rights = [f"{page['app']}.{verb}_{page['model']}" for verb in RIGHTS[page["page"]]]
    return user is not None and any(user.has_perm(right) for right in rights)
