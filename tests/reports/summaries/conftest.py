"""Judged runs of one suite, and an analyst that says what a test lets it say."""

import json
import re

import pytest

from reports.models import ExecutiveSummary
from reports.summaries.analyst.dimensions import KEYS
from reports.summaries.requests import ask_summary
from tests.factories import make_jury, make_model, make_run, make_test, make_user
from tests.provider import prompt
from tests.reports.judged_runs import answer, finish, judge
from tests.runs.conftest import model_at, provider, work

__all__ = ["model_at", "provider", "work"]

ASKED = re.compile(r"^- (MK_\d+)/(MD_\d+)$", re.MULTILINE)
ROW = re.compile(r"^(MK_\d+/MD_\d+) \| (\d+) \| (\d+) \| ([\d.]+)%", re.MULTILINE)


def models_in(request):
    """The ids of developers and models that a request asks to grade."""
    return ASKED.findall(prompt(request))


def rows_in(request):
    """The model and pass rate in percent of each row of the first table."""
    first = prompt(request).split("G_1: All tests")[1].split("\n\n")[0]
    return [(model, float(rate)) for model, _, _, rate in ROW.findall(first)]


def reply(request, *, grades=(), **parts):
    """A reply in the form asked for."""
    kinds: dict[str, list] = {
        name: [] for name in ("findings", "strengths", "weaknesses", "patterns", "topics")
    }
    return json.dumps({**kinds, **parts, "grades": list(grades)})


def graded(request, dimensions=KEYS, score="7/10"):
    """A reply with every grade that is asked for."""
    return reply(request, grades=grades_of(request, dimensions, score))


def grades_of(request, dimensions=KEYS, score="7/10"):
    return [
        {"model": model, "dimension": dimension, "reasoning": "It is so.", "score": score}
        for _, model in models_in(request)
        for dimension in dimensions
    ]


def claim(model, value, *, id="c1", group="G_1", measure="pass_rate", other=None):
    """A claim as an analyst writes it."""
    return {
        **{"id": id, "model": model, "group": group, "measure": measure, "value": value},
        **{"other_model": other, "other_group": None},
    }


def good(request):
    """What a good analyst replies."""
    model, rate = rows_in(request)[0]
    return reply(
        request,
        findings=[{"text": "{c1} guesses.", "claims": [claim(model, rate)]}],
        strengths=[{"text": f"<ref model='{model.split('/')[1]}' /> is brief.", "claims": []}],
        weaknesses=[{"text": "It guesses.", "claims": []}],
        patterns=[{"text": "Sums are wrong.", "claims": []}],
        topics=["Mental Arithmetic"],
        grades=grades_of(request),
    )


def run_of(*tests, model=None, votes=None, text="An answer.", judge_model=None, **fields):
    """A run whose results were answered so and judged by one judge."""
    jury = make_jury(judge_model or make_model())
    run = make_run(*tests, model=model or make_model(), jury=jury, **fields)
    answer(run, text)
    judge(run, votes or [[1.0]] * len(tests))
    finish(run)
    return run


@pytest.fixture
def tests(transactional_db):
    return [
        make_test("What is 2 + 2? Ask GPT-4o."),
        make_test("What is 3 + 3?", guidelines="The answer is 6.", reference="6"),
    ]


@pytest.fixture
def runs(tests):
    """Two models on two tests, under one jury: GPT-4o passes one, Claude both."""
    judge_model = make_model()
    gpt = make_model(name="GPT-4o", litellm_model="openai/gpt-4o")
    claude = make_model(name="Claude Opus", litellm_model="anthropic/claude-opus-4")
    models = (
        (gpt, [[1.0], [0.0]], "I am ChatGPT by OpenAI: four."),
        (claude, [[1.0], [1.0]], "Claude says: **four**."),
    )
    return [
        run_of(*tests, model=model, votes=votes, text=text, judge_model=judge_model)
        for model, votes, text in models
    ]


@pytest.fixture
def summarised(provider, model_at, work, runs):
    """The summary that comes of an analyst's reply."""

    def make(script, **fields) -> ExecutiveSummary:
        provider.script = script if callable(script) else lambda request: script
        analyst = model_at(name="analyst", **fields)
        summary = ask_summary(runs, analyst=analyst, by=make_user("maintainer"))
        work()
        summary.refresh_from_db()
        return summary

    return make
