"""Ledgers of three sizes to look at: nothing, a few rows of all that can happen, and a great many.

The texts are as bad as they come: words without a space, markup, other scripts, long names.
"""

from collections.abc import Sequence
from itertools import cycle, islice
from typing import Any

from django.db.models import Model
from django.urls import reverse
from django.utils import timezone

from evalhub.models import Call, LanguageModel, Token, User, Worker
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import Feedback, Issue, JudgeTemplate, Revision, Tag, Test
from runs.launching.launch import launch
from runs.launching.launch_options import read_spec
from runs.models import Answer, Judgment, Jury, Launch, Result, Run, Suite
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import (
    make_issue,
    make_jury,
    make_model,
    make_run,
    make_template,
    make_test,
    make_user,
)
from tests.reports.judged_runs import Votes, answer, fail, finish, judge
from tests.runs.rubric_runs import rubric_run
from tests.site.annotator_day import addresses as day_addresses
from tests.site.annotator_day import make_annotator_day

MUCH = 320
ENDLESS = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" * 2
TITLES = (
    "Invents sources",
    "Counts letters wrongly, and insists on it when the person asks a second and a third time",
    f"Breaks words: {ENDLESS}",
    "יוצר ציטוטים שאינם קיימים",
    "<script>alert('title')</script>",
)
ANSWER = f"""# It is **four**

| sum | of | all | these | columns | that | are | wide |
|---|---|---|---|---|---|---|---|
| {"wide " * 12} | 2 | 2 | 4 | 5 | 6 | 7 | {ENDLESS} |

```python
print("{"x" * 150}")
```

<img src="http://127.0.0.2/spy.png" onerror="alert(1)"> [a link](javascript:alert(1)) $x^2$
"""
VOTES: tuple[Votes, ...] = (
    (1, 1, 1),
    (0, 0, 0),
    (0, 1, 0),
    (1, None, 1),
    (None, None, None),
    (1, 1, 0),
)


def make_empty() -> None:
    """What a fresh installation has, and the person who looks."""


def make_small_workspace() -> None:
    """A ledger of six tests with one run, and one of everything else."""
    _make_workspace(tests=6, issues=2, runs=1)


def make_large_workspace() -> None:
    _make_workspace(tests=MUCH, issues=40, runs=60)


def _make_workspace(*, tests: int, issues: int, runs: int) -> None:
    stands = [_make_issue(n) for n in range(issues)]
    template = make_template()
    made = [_make_test(n, stands[n % issues], template) for n in range(tests)]
    models = [
        make_model(name=f"{name} {n}") for n, name in enumerate(("Candidate", *["Judge"] * 3))
    ]
    jury = make_jury(*models[1:], name="Three judges")
    for n in range(runs - 1):
        _make_run([made[n]], models[0], jury, label=f"Nightly {n}")
    _make_rubric(40 if tests == MUCH else 3)
    big = _make_run(made, models[0], jury, label=f"Release candidate {ENDLESS}"[:140])
    _decide(big)
    _make_rest(made, big)
    make_annotator_day(big, long=ENDLESS)
    for n in range(tests // 3):
        Feedback.objects.create(
            prompt=f"{n}: {ENDLESS}", answer=ANSWER, comment="Wrong.", rating="down"
        )


def _make_issue(n: int) -> Issue:
    return make_issue(
        title=f"{TITLES[n % len(TITLES)]} {n}"[:190],
        description=ANSWER,
        tags=(f"topic {n % 7}", f"a rather long tag name, number {n % 12}"),
    )


def _make_test(n: int, issue: Issue, template: JudgeTemplate) -> Test:
    prompt = f"What is {n} + 2? {ENDLESS if n % 4 == 0 else 'Explain it.'}"
    return make_test(prompt, issue=issue, template=template, guidelines=ANSWER, reference=ANSWER)


def _make_run(tests: Sequence[Test], model: LanguageModel, jury: Jury, **fields: str) -> Run:
    run = make_run(*tests, model=model, jury=jury, **fields)
    answer(run, text=ANSWER, latency_ms=1200, input_tokens=20, output_tokens=300, cost_usd="0.0021")
    judge(run, list(islice(cycle(VOTES), len(tests))))
    finish(run)
    return run


def _make_rubric(points: int) -> None:
    """A result that was judged criterion by criterion, over some of which its judges are split."""
    load_builtin_templates()
    polarities = cycle(("should", "should", "should_not"))
    texts = [f"{n}: {ENDLESS if n % 4 == 0 else 'Says that it is so.'}" for n in range(points)]
    criteria: list[dict[str, Any]] = [
        {"text": text, "polarity": polarity, "citation": ENDLESS}
        for text, polarity in zip(texts, polarities, strict=False)
    ]
    script = {"check_name": "js", "arguments": {"source": ENDLESS}}
    votes = dict(zip(texts, cycle(VOTES), strict=False))
    rubric_run([*criteria, script], {**votes, "js": [None]}, answer=ANSWER, label="By rubric")


def _decide(run: Run) -> None:
    """People override, differ about one result, and one has no answer."""
    first, second, third, *_, last = run.results.order_by("pk")
    people = [make_user("annotator"), make_user("annotator")]
    for result, option, person in (
        (first, "0", people[0]),
        (second, "1", people[0]),
        (third, "1", people[0]),
        (third, "0", people[1]),
    ):
        evaluate(result, HumanVerdict(option=option, justification="I checked it."), by=person)
    Answer.objects.filter(result=last).delete()
    fail(run, last)


def _make_rest(tests: Sequence[Test], run: Run) -> None:
    suite = Suite.objects.create(name="Smoke")
    suite.tests.set(tests)
    person = make_user("maintainer")
    Token.objects.issue(user=person, name="nightly", scope="read")
    spec = {"label": "Every Monday", "suite": suite.pk, "models": [run.language_model_id]}
    launch(read_spec(spec), by=person).start_schedule("0 6 * * 1")
    Worker.objects.create(name="here:1", started_at=timezone.now(), beat_at=timezone.now())


def addresses() -> dict[str, str]:
    """Pages besides the sidebar's: what can be added, and the latest row of each table."""
    models: tuple[type[Model], ...] = (
        *(Feedback, Issue, Test, Tag, JudgeTemplate, Suite, Jury),
        *(LanguageModel, Token, User),
    )
    found = {f"add {_name(model)}": _url(model, "add") for model in models}
    shown: tuple[type[Model], ...] = (*models, Result, Launch, Revision, Call, Worker)
    for model in shown:
        if row := model._default_manager.order_by("pk").last():
            found[_name(model)] = _url(model, "change", row.pk)
    for model in (Issue, Test, JudgeTemplate, LanguageModel):
        if row := model._default_manager.order_by("pk").last():
            found[f"history of {_name(model)}"] = _url(model, "history", row.pk)
    return found | _of_runs() | day_addresses()


def _of_runs() -> dict[str, str]:
    found = {
        "supply": reverse("admin:runs_run_import_answers"),
        "runs": reverse("admin:runs_run_changelist"),
    }
    if result := Result.objects.filter(test__sealed=False).last():
        found["filing"] = f"{_url(Result, 'file')}?result={result.pk}"
    found["trend, each model"] = f"{reverse('reports:trend')}?each=on"
    found["import of blueprints"] = reverse("admin:runs_suite_import_weval")
    if run := Run.objects.filter(launch=None).order_by("pk").last():
        found["run"] = run.get_absolute_url()
        found["run, live"] = Run.objects.latest("pk").get_absolute_url()
        results = run.results.order_by("pk")
        for name, result in zip(("overridden", "other", "disputed"), results, strict=False):
            found[f"result, {name}"] = _url(Result, "change", result.pk)
    if judgment := Judgment.objects.exclude(criterion__key="").exclude(judge=None).first():
        found["result by rubric"] = _url(Result, "change", judgment.result_id)
        found["run by rubric"] = f"{judgment.judge_run.run.get_absolute_url()}?tab=all"
        found["judgment"] = _url(Result, "judgment", judgment.result_id, judgment.pk)
    if tests := Test.objects.values_list("pk", flat=True)[:3]:
        issue = Issue.objects.latest("pk")
        found["linking"] = _url(Issue, "link", issue.pk)
        found["splitting"] = _url(Issue, "split", issue.pk)
        found["life of an issue"] = f"{reverse('reports:issue_timeline')}?issue={issue.pk}"
        found["similarity"] = reverse("reports:similarity", args=[tests[0]])
        chosen = ",".join(map(str, tests))
        found["launch of some tests"] = f"{_url(Launch, 'add')}?tests={chosen}"
    return found


def _name(model: type[Model]) -> str:
    return str(model._meta.verbose_name)


def _url(model: type[Model], page: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)
