"""The words of a sealed test are at no address of the site for those who may not read them."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import Group
from django.test import Client
from django.utils import timezone

from evalhub.access.sealing.reveals import reveal
from evalhub.models import Exposure, User
from issues.drafting.start import start as start_drafting
from issues.models import Criterion, Draft, Edit, Feedback, Generation, Issue, TemplateExample
from reports.models import Exchange, ExecutiveSummary
from reports.summaries.requests import ask_summary
from runs.laboratory.pairwise.judge_runs import PairwiseOrder, start
from runs.laboratory.pairwise.models import PairEvaluation
from runs.laboratory.position_bias.models import ReversedJudgeRun, ReversedJudgment
from runs.laboratory.trials.models import (
    Artifact,
    Benchmark,
    Claim,
    GenerationRun,
    Idea,
    Topic,
    Trial,
)
from runs.laboratory.tuning.models import LabelledExample, PromptAnswer, Tuning
from runs.laboratory.workbench.contents import bench_of_test
from runs.laboratory.workbench.models import RowPairJudgment, Workbench
from runs.laboratory.workbench.rows import add_rows
from runs.models import Example, HumanEvaluation, Judgment, Result, ResultScore, Run, Suite
from runs.review.models import Correction, Queue, Skip
from tests.api import client_of
from tests.factories import first_result, make_issue, make_model, make_test, make_user
from tests.issues.drafting.writers import make_order, make_settings
from tests.layers import FLOORS, ROOMS
from tests.runs.review.rows import make_queue, put
from tests.runs.rubric_runs import rubric_run
from tests.test_access_matrix import DOORS, addresses, get, image_of, knock, url_of

pytestmark = pytest.mark.django_db

SECRET = "sealedwords"
TEXTS = ("reference", "guidelines", "flagged_answer", "note", "context")
SEARCHES = {
    **dict.fromkeys(("changelist", "_board", "_inbox", "_merge", "_issues"), "?q=says"),
    ":search": "?s=says",
    "-similar": f"?text={SECRET}",
}
"""How words are looked for at addresses whose names end so."""

READ_AT = {
    *("reports:summary", "reports:summary_exchange", "reports:summary_download"),
    *("api-summary-detail", "api-summary-exchanges"),
    *("reports:run_csv", "reports:run_judgments_csv", "reports:run_json", "reports:similarity"),
    *("reports:run_markdown", "reports:run_html", "reports:run_junit"),
    *("admin:issues_test_change", "admin:issues_test_history", "admin:issues_test_preview"),
    *("admin:issues_revision_change", "admin:runs_result_change", "admin:runs_result_judgment"),
    *("api-test-list", "api-test-detail", "api-revision-detail", "api-result-detail"),
    *("admin:review_correction_changelist", "admin:review_correction_change"),
    *("admin:review_queue_work", "admin:review_queue_overview"),
    *("admin:review_correction_promote", "admin:review_dispute_changelist"),
    *("admin:runs_example_changelist", "admin:runs_example_change"),
    *("admin:issues_judgetemplate_change", "admin:issues_judgetemplate_preview"),
    *("api-judge-template-list", "api-judge-template-detail"),
    *("admin:issues_issue_change", "admin:issues_issue_simple_history"),
    *("api-issue-list", "api-issue-detail", "admin:issues_issue_download"),
    *("admin:issues_test_download", "admin:issues_feedback_download"),
    *("admin:issues_feedback_change", "api-feedback-list", "api-feedback-detail"),
    *("admin:issues_feedback_inbox", "api-feedback-similar"),
    *("admin:evalhub_exposure_change", "admin:evalhub_exposure_export", "api-exposure-list"),
    *("api-judgment-list", "api-judgment-detail", "api-evaluation-list"),
    *("reports:compare_pair", "admin:pairwise_pairwisejudgerun_change"),
    *("api-pair-judgment-list", "api-pair-judgment-detail", "api-pair-evaluation-list"),
    *("api-reversed-judgment-list", "api-reversed-judgment-detail"),
    "admin:position_bias_reversedjudgerun_change",
    *("admin:issues_generation_change", "api-generation-list", "api-generation-detail"),
    *("api-draft-list", "api-draft-detail"),
    *("admin:workbench_workbench_changelist", "admin:workbench_workbench_change"),
    "admin:workbench_workbench_export",
    *("admin:runs_suite_export", "reports:run_jsonl", "api-image-detail"),
    *("reports:claim", "admin:trials_trial_change", "api-benchmark-list", "api-benchmark-detail"),
    *("api-idea-list", "api-benchmark-text-list", "api-benchmark-text-detail"),
    *("admin:tuning_tuning_change", "api-claim-judgment-list", "api-trial-detail"),
    "api-generation-run-list",
    *("api-test-export", "api-result-export", "api-judgment-export", "api-evaluation-export"),
    *("api-issue-export", "api-feedback-export", "api-run-export-as"),
}
"""Some of the addresses at which there is something to hide."""

SEVERAL = {
    *("reports:summary", "reports:summary_exchange", "api-summary-detail"),
    *("admin:issues_issue_simple_history", "api-issue-detail", "api-issue-list"),
    *("admin:issues_issue_download", "admin:issues_feedback_download"),
    *("admin:issues_feedback_change", "api-feedback-detail", "admin:evalhub_exposure_change"),
}
"""Where texts hang on all sealed tests of an issue, or of a run, and not on one."""

REVEALED = {
    *("reports:run_csv", "reports:run_judgments_csv", "reports:run_json", "reports:similarity"),
    *("admin:issues_test_change", "admin:issues_test_history", "admin:issues_test_preview"),
    *("admin:issues_revision_change", "admin:runs_result_change", "admin:runs_result_judgment"),
    *("api-test-list", "api-test-detail", "api-revision-detail", "api-result-detail"),
    *(
        "admin:issues_test_download",
        "api-judgment-list",
        "api-judgment-detail",
        "api-evaluation-list",
        "api-image-detail",
    ),
}
"""Where a viewer reads the one test that was revealed to them."""


@pytest.fixture
def rows() -> dict[str, Any]:
    """Rows that all belong to one sealed test, each with the secret in every text it has."""
    issue = sealed_issue()
    test = make_test(
        SECRET,
        issue=issue,
        state="approved",
        sealed=True,
        extras={SECRET: SECRET},
        **dict.fromkeys(TEXTS, SECRET),
        criteria=[
            {"text": f"says {SECRET}", "citation": SECRET},
            {"check_name": "contains", "arguments": {"text": SECRET}, "citation": SECRET},
        ],
    )
    test.comments.create(text=SECRET)
    run = rubric_run([], {f"says {SECRET}": [1.0, 0.0]}, tests=(test,), answer=SECRET)
    changed = test.criteria.first()
    changed.text += " again"
    changed.save()
    Criterion.objects.create(test=test, text=SECRET).delete()
    Judgment.objects.update(justification=SECRET, failure_message=SECRET)
    ResultScore.objects.update(error_message=SECRET)
    Result.objects.update(error_message=SECRET, similarity=0.5)
    result = first_result(run)
    evaluation = HumanEvaluation.objects.create(
        result=result,
        criterion=result.revision.criteria.get(key=changed.key),
        annotator=make_user("annotator"),
        value=1.0,
        justification=SECRET,
    )
    HumanEvaluation.objects.create(
        result=result,
        criterion=evaluation.criterion,
        annotator=make_user("annotator"),
        value=0.0,
        justification=SECRET,
    )
    Result.objects.filter(pk=result.pk).update(is_disputed=True)
    taught = dict.fromkeys(TemplateExample.sealed_fields, SECRET)
    example = TemplateExample(template=test.template, test=test, option="1", **taught)
    TemplateExample.objects.bulk_create([example])  # as a test that was sealed since
    summary = sealed_summary(run, test)
    suite = Suite.objects.create(name="suite")
    suite.tests.add(test)
    return {
        "issue": issue,
        "test": test,
        "judgetemplate": test.template,
        "revision": test.revisions.get(),
        "suite": suite,
        "run": run,
        "result": result,
        "judge_run": run.judge_runs.get(),
        "judgment": result.judgments.first(),
        "evaluation": evaluation,
        "example": Example.objects.create(evaluation=evaluation, note=SECRET),
        "correction": Correction.objects.create(
            result=result, annotator=make_user("annotator"), text=SECRET
        ),
        "queue": sealed_queue(result),
        "summary": summary,
        "languagemodel": run.language_model,
        "feedback": issue.feedback.get(),
        "image": image_of(test, SECRET.encode()),
        "exposure": Exposure.objects.create(
            test=test.pk, kind="opened", reason=SECRET, day="2026-01-01"
        ),
        "tuning": rehearsed(result, evaluation),
        **sealed_pairs(run, test),
        **sealed_reversal(result),
        "workbench": sealed_bench(test),
        **sealed_benchmark(run.language_model),
    }


def sealed_reversal(result: Any) -> dict[str, Any]:
    """A judgment that failed when it was repeated with its options reversed."""
    judgment = result.judgments.first()
    made = ReversedJudgeRun.objects.create(judge_run=judgment.judge_run, results=1, seed=1)
    said = {"justification": SECRET, "error_message": SECRET}
    row = ReversedJudgment.objects.create(judge_run=made, judgment=judgment, state="error", **said)
    return {"reversedjudgerun": made, "reversedrun": made, "reversedjudgment": row}


def sealed_pairs(run: Any, test: Any) -> dict[str, Any]:
    """A pair of answers on which a judge failed and a person gave a reason."""
    other = rubric_run([], {f"says {SECRET}": [1.0, 0.0]}, tests=(test,), answer=SECRET)
    Run.objects.filter(pk__in=[run.pk, other.pk]).update(state="done")
    runs = list(Run.objects.filter(pk__in=[run.pk, other.pk]))
    wanted = PairwiseOrder(runs, run.language_model)
    judge_run = start(wanted, by=None, allow_sealed_exposure=True)
    said = {"justification": SECRET, "error_message": SECRET}
    judge_run.judgments.update(state="error", **said)
    judgment = judge_run.judgments.first()
    return {
        "pairwisejudgerun": judge_run,
        "pairwiserun": judge_run,
        "pairjudgment": judgment,
        "pairevaluation": PairEvaluation.objects.create(
            pair=judgment.pair,
            annotator=make_user("annotator"),
            choice="tie",
            order=0,
            justification=SECRET,
        ),
        "generation": (batch := sealed_drafts(test)),
        "draft": batch.drafts.all()[0],
    }


def sealed_drafts(test: Any) -> Generation:
    """A batch drafted from the test, and an edit of it, with the secret in every text."""
    settings = make_settings(description=SECRET)
    generation = start_drafting(
        make_order(make_model(), settings=settings, examples=[test]), by=None
    )
    failure = {"asked": "answer", "reason": SECRET, "reply": SECRET}
    Generation.objects.update(
        state="done", inputs=[["Prompt", SECRET]], failures=[failure], overruled=SECRET
    )
    texts = ("context", "answer", "rationale", "label_reason", "error_message")
    Draft.objects.update(
        state="done",
        messages=[{"role": "user", "content": SECRET}],
        failures=[failure],
        **dict.fromkeys(texts, SECRET),
    )
    Edit.objects.create(
        field="f",
        test=test,
        action="shorten",
        start=0,
        before=SECRET,
        after=SECRET,
        language_model=generation.generator,
    )
    return generation


def sealed_issue() -> Issue:
    """An issue that quotes the test wherever it can, and one that was merged into it."""
    issue, gone = (
        make_issue(description=f"It says {SECRET}", resolution_note=SECRET) for _ in range(2)
    )
    for one in (issue, gone):
        one.sources.create(value=SECRET)
        one.comments.create(text=SECRET, author_name="somebody")
        one.description = f"Again: it says {SECRET}"
        one.save()
    Issue.objects.filter(pk=gone.pk).update(merged_into=issue)
    said = dict.fromkeys(("prompt", "answer", "comment", "note"), f"It says {SECRET}")
    Feedback.objects.create(issue=issue, raw={SECRET: SECRET}, **said)
    return issue


def sealed_bench(test: Any) -> Workbench:
    """A shared workbench of the test, with a judgment that quotes it."""
    bench = bench_of_test(test, make_user("annotator"))
    Workbench.objects.update(is_shared=True, guidelines=SECRET, name=SECRET)
    row = bench.rows.all()[0]
    row.judgments.create(
        key=bench.criteria[0]["key"], slot="m1.own", state="ok", option="1", justification=SECRET
    )
    (other,) = add_rows(bench, [{"messages": row.messages, "answer": SECRET, "test": test}])
    RowPairJudgment.objects.create(
        first=row, second=other, slot="m1", state="ok", choice="first", justification=SECRET
    )
    return bench


def sealed_benchmark(model: Any) -> dict[str, Any]:
    """A sealed benchmark with the secret in every text, and a step that failed."""
    benchmark = Benchmark.objects.create(
        name="b",
        sealed=True,
        description=SECRET,
        kinds=[{"key": "summary", "label": "summary"}],
        perturbation={"instruction": SECRET},
    )
    topic = Topic.objects.create(benchmark=benchmark, title=SECRET)
    left_out = {"state": "excluded", "reason": SECRET}
    idea = Idea.objects.create(topic=topic, name=SECRET, statement=SECRET, **left_out)
    artifact = Artifact.objects.create(
        benchmark=benchmark,
        idea=idea,
        kind="summary",
        validity="corrupted",
        review="excluded",
        **dict.fromkeys(Artifact.sealed_fields, SECRET),
    )
    run = GenerationRun.objects.create(
        benchmark=benchmark, language_model=model, endpoint={}, state="failed", reason=SECRET
    )
    run.steps.create(idea=idea, kind="summary", state="error", error_message=SECRET)
    made = {"idea": idea, "artifact": artifact, "benchmarktext": artifact, "generationrun": run}
    return {"benchmark": benchmark, **made, **sealed_trial(topic)}


def sealed_trial(topic: Topic) -> dict[str, Any]:
    """A claim on which a judge failed, in a trial that was stopped, with a validation."""
    idea = Idea.objects.create(topic=topic, name=f"usable {SECRET}")
    about = {"benchmark": topic.benchmark, "idea": idea}
    left, right = (
        Artifact.objects.create(kind=kind, text=SECRET, **about)
        for kind in ("description", "explanation")
    )
    claim = Claim.objects.create(
        **about, topic=topic, kind="describes", left=left, right=right, anchor=left, truth=True
    )
    trial = Trial.objects.create(
        benchmark=topic.benchmark,
        metric="rouge_l",
        threshold=0.3,
        method="metric",
        state="failed",
        reason=SECRET,
    )
    said = {"justification": SECRET, "error_message": SECRET}
    trial.judgments.create(claim=claim, order=0, state="error", **said)
    trial.validations.create(task="summary", method="metric", note=SECRET)
    return {"claim": claim, "trial": trial}


def rehearsed(result: Result, evaluation: HumanEvaluation) -> Tuning:
    """A rehearsal that shows the result among those that the judge got wrong."""
    judgment = result.judgments.exclude(judge=None)[0]
    template, judge = result.test.template, judgment.judge
    assert template is not None
    assert judge is not None
    tuning = Tuning.objects.create(template=template, judge=judge, seed=1)
    said = {"question": "difference", **dict.fromkeys(PromptAnswer.sealed_fields, SECRET)}
    PromptAnswer.objects.create(
        template=template, language_model=judge.language_model, sealed=True, **said
    )
    LabelledExample.objects.create(
        tuning=tuning,
        result=result,
        criterion=evaluation.criterion,
        judge_run=judgment.judge_run,
        split="development",
        value=1.0,
        passed=True,
        judge_value=0.0,
        judge_passed=False,
    )
    return tuning


def sealed_queue(result: Any) -> Queue:
    """A queue in which people said the secret: in a review that was sent back, and in a skip."""
    queue = make_queue(reviewers=2)
    (item,) = put(queue, result)
    draft = {"note": SECRET, "justification": SECRET, "correction": SECRET}
    queue.assignments.filter(number=1).update(
        state="sent_back",
        annotator=make_user("annotator"),
        draft=draft,
        note=SECRET,
        sent_back_note=SECRET,
        past=[{"what": "undone", "by": "x", "at": "", "note": SECRET, "draft": draft}],
    )
    Skip.objects.create(
        item=item, annotator=make_user("annotator"), reason=SECRET, created_at=timezone.now()
    )
    return queue


def sealed_summary(run: Any, test: Any) -> ExecutiveSummary:
    """What an analyst made of the run, with the secret in every text."""
    said = {"findings": [{"text": SECRET, "flagged": [], "claims": []}], "problems": [SECRET]}
    summary = ask_summary([run], analyst=run.language_model, by=None)
    ExecutiveSummary.objects.update(content=said)
    summary.grades.create(
        language_model=run.language_model, model_name="m", dimension="tone", reasoning=SECRET
    )
    exchange = summary.exchanges.get()
    exchange.tests.add(test)
    Exchange.objects.update(
        sent=[{"role": "user", "content": SECRET}],
        received=SECRET,
        error_message=SECRET,
        state="error",
        is_current=True,
    )
    return summary


def places_with_the_secret(person: User, rows: dict[str, Any]) -> set[str]:
    """Names of the addresses at which this person reads the secret."""
    browser, script = clients_of(person)
    assignments = set()
    for address in addresses():
        if address.name in ("", "admin:logout"):
            continue
        url = url_of(address, rows)
        client = script if url.startswith("/api/") else browser
        queries = ["", *(q for end, q in SEARCHES.items() if address.name.endswith(end))]
        queries += [f"?{door.query}" for door in DOORS.get(address.name, ()) if door.query]
        # Undone each time: whoever opens a queue is given an answer, and reads no more of it.
        doors = [get(query=query.removeprefix("?")) for query in queries]
        if any(SECRET in text_of(knock(client, url, door)) for door in doors):
            assignments.add(address.name)
    return assignments


def clients_of(person: User) -> tuple[Client, Client]:
    """The person's browser and script."""
    browser, script = Client(raise_request_exception=False), client_of(person)
    script.raise_request_exception = False
    browser.force_login(person)
    return browser, script


def text_of(response: Any) -> str:
    parts = response if response.streaming else [response.content]
    return b"".join(parts).decode(errors="replace")


def without_the_right(role: str) -> User:
    """Somebody who may do what this role does, but not read sealed tests."""
    person = make_user()
    rights = Group.objects.get(name=role).permissions.exclude(codename="read_sealed_test")
    person.user_permissions.set(rights)
    return person


BARRED: dict[str, Callable[[], User]] = {
    "model developer": partial(make_user, "model developer"),
    "annotator without the right": partial(without_the_right, "annotator"),
    "maintainer without the right": partial(without_the_right, "maintainer"),
}


@pytest.mark.parametrize("who", BARRED)
def test_no_address_shows_sealed_words_to_who_may_not_read_them(who, rows):
    assert places_with_the_secret(BARRED[who](), rows) == set()


def test_a_viewer_may_do_what_a_model_developer_may():
    """So what holds for one holds for the other."""
    viewer, developer = (Group.objects.get(name=name) for name in ("viewer", "model developer"))
    assert set(viewer.permissions.all()) == set(developer.permissions.all())


@pytest.mark.parametrize("who", ["model developer", "maintainer without the right"])
def test_no_answer_to_what_is_sent_has_them(who, rows):
    """Acts, refusals and errors: with what each door is sent, and with nothing."""
    browser, script = clients_of(BARRED[who]())
    told = set()
    for address in addresses():
        for door in DOORS.get(address.name, ()):
            if door.method == "GET" or not address.name:
                continue
            url = url_of(address, rows)
            client = script if url.startswith("/api/") else browser
            for sent in (door.sent, {}, {"text": "It says so"}):
                if SECRET in text_of(knock(client, url, door._replace(sent=sent))):
                    told.add(address.name)
    assert told == set()


def test_who_may_read_them_finds_them_in_many_places(rows):
    found = places_with_the_secret(make_user("maintainer"), rows)
    assert sorted(READ_AT - found) == []


def test_to_whom_the_test_is_revealed_finds_it_and_not_what_hangs_on_others(rows):
    person = make_user("viewer")
    reveal(rows["test"].pk, person, "They mend what it shows", by=make_user("maintainer"))
    found = places_with_the_secret(person, rows)
    assert sorted(REVEALED - found) == []
    assert sorted(found & SEVERAL) == []


# Tables ------------------------------------------------------------------------------------------

LEAST = 60
"""Shorter columns hold choices and labels."""

HARMLESS = {
    "Issue": {"title", "generic_statement", "source_id"},
    "TemplateExample": {"option"},
    "Test": {"tools", "source_id"},
    "Feedback": {"model", "release", "source", "source_id"},
    "Comment": {"author_name"},
    "Criterion": {"library_key"},
    "TestComment": {"author_name"},
    "Revision": {"asked_digest", "digest"},
    "ReviewItem": {"reasons"},
    "Exchange": {"key", "figures", "notes", "masked"},
    "ExecutiveSummary": {"reason", "suite_fingerprint", "analyst_name", "endpoint", "tags"},
    "Grade": {"model_name"},
    "AttemptJudgment": {"option"},
    "PairwiseJudgeRun": {"criterion", "endpoint", "method", "reason"},
    "Generation": {"endpoint", "judge_endpoint"},
    "Draft": {"winner"},
    "HumanEvaluation": {"option"},
    "Judgment": {"option"},
    "RowJudgment": {"digest"},
    "ReversedJudgment": {"option"},
    "Benchmark": {"name", "kinds", "cron", "last_outcome"},
    "GenerationPath": {"name", "steps"},
    "GenerationRun": {"endpoint", "tested_endpoint"},
    "Claim": {"languages"},
    "Trial": {"endpoint", "settings", "method"},
    "Validation": {"method"},
    "RowPairJudgment": {"digest"},
}
"""Columns of sealed tables that hold no text of a test: names, labels, settings, digests."""


def tables() -> list[Any]:
    own = [model for model in apps.get_models() if model._meta.app_label in {*FLOORS, *ROOMS}]
    return [model for model in own if not model.__name__.startswith("Historical")]


def test_every_text_of_a_sealed_table_is_sealed_or_said_to_hold_none():
    unknown = [
        f"{model.__name__}.{field.name}"
        for model in tables()
        if hasattr(model, "sealed_path")
        for field in model._meta.concrete_fields
        if is_text(field) and field.name not in model.sealed_fields
        if field.name not in {"request_id", *HARMLESS.get(model.__name__, ())}
    ]
    assert unknown == [], "Name them in the model's sealed_fields, or here as harmless."


def test_every_table_with_texts_that_refers_to_a_sealed_one_is_sealed():
    open_ones = [
        model.__name__
        for model in tables()
        if not hasattr(model, "sealed_path") and any(map(is_text, model._meta.concrete_fields))
        if any(hasattr(to, "sealed_path") for to in parents_of(model))
    ]
    assert sorted(open_ones) == sorted(REFER_ONLY), "Give them a sealed_path, or say why not here."


REFER_ONLY = {
    "DecidedCluster",  # numbers of results and feedback; its name is made anew from open texts
    "Merge",  # numbers of rows, and fields of issues: told in words on the pages of those
}
"""They refer to a sealed table, and what they say is no text of a test."""


def is_text(field: Any) -> bool:
    kind = field.get_internal_type()
    is_long = kind == "CharField" and not field.choices and (field.max_length or 0) >= LEAST
    return kind in ("TextField", "JSONField") or is_long


def parents_of(model: Any) -> list[Any]:
    return [field.related_model for field in model._meta.concrete_fields if field.is_relation]
