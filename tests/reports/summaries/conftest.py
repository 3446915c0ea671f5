"""Judged runs of one suite, and an analyst that says what a test lets it say."""

import re

import pytest

from reports.models import ExecutiveSummary
from reports.summaries.dimensions import KEYS
from reports.summaries.requests import ask_summary
from tests.factories import make_jury, make_model, make_run, make_test, make_user
from tests.provider import prompt
from tests.reports.judged_runs import answer, finish, judge
from tests.runs.conftest import model_at, provider, work

__all__ = ["model_at", "provider", "work"]

ASKED = re.compile(r"^- (MK_\d+)/(MD_\d+)$", re.MULTILINE)


def models_in(request):
    """The ids of makers and models that a request asks to grade."""
    return ASKED.findall(prompt(request))


def graded(request, dimensions=KEYS, score="7/10"):
    """A block for every grade that is asked for."""
    return "".join(
        f'<grade maker="{developer}" model="{model}" dimension="{dimension}">\n'
        f"REASONING: It is so.\nSCORE: {score}\n</grade>"
        for developer, model in models_in(request)
        for dimension in dimensions
    )


def good(request):
    """What a good analyst replies."""
    developer, model = models_in(request)[0]
    ref = f'<ref maker="{developer}" model="{model}" />'
    return (
        f"<key_finding>{ref} passed 1 of 2 tests, and 77 % of others.</key_finding>"
        f"<strength>{ref} is brief.</strength><weakness>It guesses.</weakness>"
        f"<pattern>Sums are wrong.</pattern><topic>Mental Arithmetic</topic>" + graded(request)
    )


def run_of(*tests, model=None, votes=None, text="An answer.", **fields):
    """A run whose results were answered so and judged by one judge."""
    run = make_run(*tests, model=model or make_model(), jury=make_jury(make_model()), **fields)
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
    """Two models on two tests: GPT-4o passes one, Claude both."""
    gpt = make_model(name="GPT-4o", litellm_model="openai/gpt-4o")
    claude = make_model(name="Claude Opus", litellm_model="anthropic/claude-opus-4")
    return [
        run_of(*tests, model=gpt, votes=[[1.0], [0.0]], text="I am ChatGPT by OpenAI: four."),
        run_of(*tests, model=claude, votes=[[1.0], [1.0]], text="Claude says: **four**."),
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
