"""The worked cases of panels on their whole way: who is asked, who answers, what comes of it."""

import pytest

from issues.judge_templates.builtin import BUILTIN
from issues.judge_templates.lifecycle import load_builtin_templates
from issues.rubrics.scales import Option, Scale, as_json
from runs.models import Approach, Judge, Judgment
from tests import provider as scripted
from tests.factories import first_result, make_jury, make_run, make_template, make_test
from tests.issues.rubrics.test_worked_cases import about, each
from tests.provider import verdict

pytestmark = pytest.mark.django_db(transaction=True)

VALUES = (0, 0.25, 0.5, 0.75, 0.8, 1)
SCALE = Scale(tuple(Option(f"share {value}", "", value) for value in VALUES))
PROMPT = next(builtin.text for builtin in BUILTIN if builtin.key == "rubric-prompt-aware")


@pytest.fixture
def heard(provider, model_at, work):
    """The result of one criterion on which this panel votes, and how often a judge was called."""

    def ask_judge(case):
        load_builtin_templates()
        template = make_template(text=PROMPT, scale=as_json(SCALE))
        models = [model_at() for _ in case["judges"]]
        votes = {name_at(model): vote for model, vote in zip(models, case["judges"], strict=True)}
        jury = make_jury()
        jury.judges.set(judge_of(model, template) for model in models)
        if "backup" in case:
            backup = model_at()
            votes[name_at(backup)] = case["backup"]
            jury.backup = judge_of(backup, template)
            jury.save()
        provider.script = lambda request: reply_of(request, votes)
        run = make_run(make_test(criteria=[{"text": "Is kind."}]), model=model_at(), jury=jury)
        work()
        calls = [request for request in provider.requests if request["model"] in votes]
        return first_result(run), len(calls)

    return ask_judge


def name_at(model):
    """Return the model's name in the request."""
    return model.litellm_model.removeprefix("openai/")


def judge_of(model, template):
    return Judge.objects.given(model, approach=Approach.PROMPT_AWARE, template=template)


def reply_of(request, votes):
    if request["model"] not in votes:
        return "Four."
    vote = votes[request["model"]]
    return scripted.CONTEXT_TOO_LONG if vote is None else verdict(f"share {vote}")


@each("panels")
def test_panel_is_asked_and_counted_as_worked(heard, case):
    result, calls = heard(case)

    answered = Judgment.objects.filter(result=result, value__isnull=False).count()
    assert (calls, answered) == (case["calls"], case["answered"])
    assert result.score == about(case["value"])
    assert (result.outcome == "unscored") is (case["answered"] == 0)
