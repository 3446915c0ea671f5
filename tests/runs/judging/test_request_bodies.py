"""What is sent to a provider by each kind of request, byte for byte.

`request_bodies.json` has a digest of each distinct body. To accept a change that is meant, raise
the number of its part in `runs.comparison.scoring_versions`, where it has one, and run
`UPDATE_REQUEST_BODIES=1 python3 dev.py test tests/runs/judging/test_request_bodies.py`.
"""

import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.urls import reverse

from evalhub.models import BatchState
from issues.drafting.start import start as start_drafting
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.models import JudgeTemplate, TemplateExample, TemplateState
from reports.summaries.requests import ask_summary
from runs.comparison.scoring_versions import VERSIONS, Part
from runs.laboratory.pairwise.judge_runs import PairwiseOrder
from runs.laboratory.pairwise.judge_runs import start as start_pairwise
from runs.laboratory.position_bias.measuring import Measure
from runs.laboratory.position_bias.measuring import start as start_reversed
from runs.laboratory.trials.judges.trial_control import start as start_trials
from runs.laboratory.trials.judges.trial_judges import TrialJudge
from runs.laboratory.tuning.attempt_control import start_attempt
from runs.laboratory.tuning.start import draft_of
from runs.models import Approach, Judge, JudgeRun, Method, Run
from tests.factories import make_issue, make_jury, make_run, make_template, make_test, make_user
from tests.issues.drafting.writers import Writer, make_order
from tests.issues.pages import form_of_a_test, log_in, rubric_form, url
from tests.provider import digest, is_judge, prompt, sequence, verdict
from tests.reports.judged_runs import answer
from tests.reports.summaries.conftest import good, run_of
from tests.runs.judging.test_whole_answers import CALL, TOOLS, said
from tests.runs.laboratory.pairwise.rows import answered_runs, says
from tests.runs.laboratory.trials.sample_benchmark import make_benchmark
from tests.runs.laboratory.tuning.rows import scored, tuning_of
from tests.runs.laboratory.workbench.rows import evaluate, make_bench

pytestmark = pytest.mark.django_db(transaction=True)

GOLDEN = Path(__file__).with_name("request_bodies.json")
ANSWERS = ("It is four.", "It is five.")
REPEATS = "no verdict"
CALLED = said("I count.", tool_calls=[CALL])
VERSIONED = {
    Part.REQUEST: ("candidate",),
    Part.JUDGE_PROMPT: ("judge_run", "judged_calls", "repair", "methods"),
}
"""The kinds of requests that a version is of."""
CRITERIA = ({"text": "It is polite."}, {"text": "It is short.", "polarity": "should_not"})


class Kinds:
    """The kinds of requests; each method makes some, and what is done by workers is then done."""

    def __init__(self, provider, model_at, client):
        self.provider, self.client = provider, client
        self.user = log_in(client, "maintainer")
        self.judge = model_at(name="Judge", litellm_model="openai/judge")
        self.careful = model_at(
            name="Careful", litellm_model="openai/careful", params={"max_tokens": 3000, "top_p": 1}
        )
        self.repairer = model_at(name="Repairer", litellm_model="openai/repairer")

    def judged(self, *tests, **fields) -> JudgeRun:
        fields.setdefault("jury", make_jury(self.judge, self.careful))
        run = make_run(*tests, **fields)
        answer(run, ANSWERS[0])
        Run.objects.filter(pk=run.pk).update(state=BatchState.DONE)
        return run.judge_runs.select_related("run").get()

    def template(self) -> JudgeTemplate:
        template = make_template(state=TemplateState.DRAFT, repair_model=self.repairer)
        shown = {"input": "2 + 3?", "output": "5", "option": "1", "justification": "Right."}
        TemplateExample.objects.create(template=template, **shown)
        JudgeTemplate.objects.filter(pk=template.pk).update(state=TemplateState.PUBLISHED)
        template.refresh_from_db()
        return template

    def candidate(self):
        self.provider.script = lambda request: CALLED if len(request["messages"]) < 4 else "It is."
        turns = [("user", "2 + 2?"), ("assistant", None), ("user", "Sure?")]
        messages = [{"role": role, "content": content} for role, content in turns]
        test = make_test(messages=messages, tools=TOOLS, context="Four is 4.")
        make_run(test, model=self.careful, system_prompt="Be brief.", params={"seed": 1})
        make_run(make_test("3 + 3?"), model=self.judge)

    def judged_calls(self):
        self.provider.script = lambda request: verdict(1) if is_judge(request) else CALLED
        test = make_test(tools=TOOLS, context="Four is 4.")
        make_run(test, model=self.careful, system_prompt="Be brief.", jury=make_jury(self.judge))

    def judge_run(self):
        self.judged(make_test(template=self.template()), make_test("3 + 3?", reference=""))
        jury = make_jury(self.judge, approaches=(Approach.PROMPT_AWARE, Approach.STANDARD))
        jury.judges.add(Judge.objects.given(self.careful, role="You are a nurse."))
        self.judged(make_test(criteria=CRITERIA), jury=jury)

    def repair(self):
        self.provider.script = lambda request: REPEATS
        self.judged(make_test(template=self.template()))
        self.judged(make_test())

    def methods(self):
        replies = sequence("For and against.", *[verdict("bad")] * 9)
        self.provider.script = lambda request: replies(request)
        jury = make_jury()
        for model, method in ((self.judge, Method.SELF_CRITIQUE), (self.careful, Method.DEBATE)):
            jury.judges.add(Judge.objects.given(model, method=method))
        self.judged(make_test(), jury=jury)

    def reversed(self):
        judge_run = self.judged(make_test(template=self.template()))
        self.work()
        self.provider.clear()
        judge_run.refresh_from_db()
        start_reversed(Measure(judge_run, 5, 1), by=None)

    def pairwise(self):
        says_a = lambda request: says("A") if "four" in prompt(request) else REPEATS  # noqa: E731
        self.provider.script = says_a
        runs = answered_runs(*ANSWERS, asked=[make_test()])
        start_pairwise(PairwiseOrder(runs, self.judge), by=None)
        start_pairwise(PairwiseOrder(runs, self.careful, "It is kind.", ties=False), by=None)
        unread = answered_runs("x", "y", asked=[make_test(criteria=CRITERIA)])
        start_pairwise(PairwiseOrder(unread, self.judge), by=None)

    def tuning(self):
        run = scored([(1, 1), (0, 0)] * 4, model=self.careful, template=self.template())
        for n, result in enumerate(run.results.order_by("pk")):
            type(result.answer).objects.filter(result=result).update(text=f"Answer {n}.")
        tuning = tuning_of(run)
        draft = draft_of(tuning, by=None)
        draft.text = f"Be strict.\n\n{draft.text}"
        draft.save()
        start_attempt(tuning, draft, by=None)

    def trial(self):
        self.provider.script = lambda request: says("A") if "better" in prompt(request) else "7"
        benchmark = make_benchmark(topics=1, ideas=2, languages=("java",))
        template = JudgeTemplate.objects.get(family="similarity")
        start_trials(benchmark, [TrialJudge(self.judge, template)], by=None)

    def workbench(self):
        bench = make_bench(self.user, self.judge, answers=[(text, {}) for text in ANSWERS])
        evaluate(self.client, bench)
        bench.judges["reversed"] = True
        bench.save()
        evaluate(self.client, bench)
        evaluate(self.client, make_bench(self.user, self.careful, answers=[("4", {})]))
        self.provider.script = lambda request: REPEATS
        bench = make_bench(self.user, self.judge, answers=[("4", {})], criteria=CRITERIA)
        evaluate(self.client, bench)

    def workbench_pairs(self):
        self.provider.script = lambda request: says("A")
        bench = make_bench(self.user, self.judge, answers=[(text, {}) for text in ANSWERS])
        evaluate(self.client, bench, act="compare")

    def try_it(self):
        sent = form_of_a_test(flagged_answer="Five.", reference="Four.")
        for form in (sent, sent | rubric_form(*({"text": c["text"]} for c in CRITERIA))):
            tried = {"try-act": "judge", "try-answers": ["flagged", "reference"], "try-test": ""}
            tried |= {"try-jury": f"model-{self.judge.pk}"}
            self.sent(url("test_try"), form | tried)

    def ask_the_judge(self):
        draft = draft_of(tuning_of(scored([(1, 1), (0, 0)] * 4, model=self.judge)), by=None)
        asked = reverse("admin:issues_judgetemplate_ask", args=[draft.pk])
        about = {"model": self.judge.pk, "text": "Judge {{ output }} by {{ scale }}."}
        self.sent(asked, about)
        self.sent(asked, about | {"ideal": "Four.", "poor": "Five."})

    def summary(self):
        self.provider.script = good
        issue = make_issue(title="Sums")
        tests = [make_test(text, issue=issue) for text in ("2 + 2?", "3 + 3?")]
        run = run_of(*tests, model=self.judge, votes=[[1.0], [0.0]], text="I, the Judge: four.")
        ask_summary([run], analyst=self.repairer, by=make_user("maintainer"))

    def drafting(self):
        self.provider.script = Writer()
        start_drafting(make_order(self.repairer, self.judge), by=None)

    def sent(self, address, form):
        response = self.client.post(address, form)
        assert response.status_code == 200, response.content
        b"".join(response)


def test_each_kind_sends_the_same_bodies_as_before(
    provider, model_at, client, work, subtests, monkeypatch
):
    seeds = SimpleNamespace(randbits=lambda bits: 1)
    monkeypatch.setattr("reports.summaries.requests.secrets", seeds)
    load_builtin_templates()
    kinds = Kinds(provider, model_at, client)
    kinds.work = work
    golden = json.loads(GOLDEN.read_text()) if GOLDEN.exists() else {}
    sent: dict[str, Any] = {}
    for name in (name for name in vars(Kinds) if not name.startswith("_")):
        if name in ("judged", "template", "sent"):
            continue
        provider.script = lambda request: verdict(1)
        provider.clear()
        with subtests.test(name):
            getattr(kinds, name)()
            work()
            bodies = {digest(request)[:16]: request for request in provider.requests}
            sent[name] = " ".join(sorted(bodies))
            changed = [body for key, body in bodies.items() if key not in golden.get(name, "")]
            for part, versioned in VERSIONED.items():
                is_gone = not bodies.keys() >= {*golden.get(name, "").split()}
                if name in versioned and is_gone and golden["versions"][part] == VERSIONS[part]:
                    sent[name] = golden[name]
                    pytest.fail(f"Raise the version of {part.value!r}: {changed}")
            assert sent[name] == golden.get(name), json.dumps(changed, indent=1)
    sent["versions"] = {part: VERSIONS[part] for part in VERSIONED}
    if os.environ.get("UPDATE_REQUEST_BODIES"):
        GOLDEN.write_text(json.dumps(sent, indent=1) + "\n")
