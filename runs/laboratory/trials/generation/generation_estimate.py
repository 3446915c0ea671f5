"""Estimate of a generation run: its calls and their cost, from low to high."""

from collections.abc import Callable, Iterator
from itertools import chain

from django.db import transaction

from evalhub.llm.endpoint import Endpoint
from evalhub.refusals import Refused
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.generation.graph import chain_of, edges_of
from runs.laboratory.trials.models import GenerationRun
from runs.launching.batch_estimate import BatchEstimate
from runs.launching.endpoint_load import EndpointLoad, Span, load_of_judge
from runs.models import Jury, Method
from runs.models.jury import CALLS

TASK_TOKENS = 200
"""Input tokens of a step besides the text that it begins with."""

LEAST_TEXT = 100
"""Tokens of a short text."""


def estimate(begin: Callable[[], GenerationRun]) -> BatchEstimate:
    """Estimate the run that `begin` starts: it is started, counted and undone."""
    try:
        with transaction.atomic():
            loads = list(chain(_writing(run := begin()), _judging(run)))
            transaction.set_rollback(True)
    except Refused as refused:
        return BatchEstimate.of([], problems=refused.problems)
    return BatchEstimate.of(loads)


def _writing(run: GenerationRun) -> Iterator[EndpointLoad]:
    """Yield the loads of the trusted and the tested model."""
    settings = GenerationSettings.model_validate(run.settings)
    tested = 0
    if run.tested_model is not None:
        edges = edges_of(chain_of(path.steps) for path in run.paths.all())
        tested = _begun(run) * sum(node.is_tested for nodes in edges.values() for node in nodes)
        yield _load(run.tested_model.endpoint(), tested, 0, settings.max_tokens)
    repaired = run.steps.filter(kind="").count()
    yield _load(run.language_model.endpoint(), run.expected - tested, repaired, settings.max_tokens)


def _begun(run: GenerationRun) -> int:
    """Return the number of ideas and composed programs whose texts a replay makes."""
    return _ideas(run) + run.steps.filter(idea=None).values("parent").distinct().count()


def _ideas(run: GenerationRun) -> int:
    return run.steps.exclude(idea=None).values("idea").distinct().count()


def _load(endpoint: Endpoint, calls: int, repairs: int, most: int) -> EndpointLoad:
    least, high = min(LEAST_TEXT, most), calls + repairs
    return EndpointLoad(
        endpoint,
        Span(calls, high),
        Span(calls * (TASK_TOKENS + least), high * (TASK_TOKENS + most)),
        Span(calls * least, high * most),
    )


def _judging(run: GenerationRun) -> Iterator[EndpointLoad]:
    """Yield the loads of a replay's judges: they compare ends of the path with references."""
    settings = GenerationSettings.model_validate(run.settings)
    jury = Jury.objects.filter(pk=settings.jury or 0).first()
    answers = _ideas(run) * run.paths.count()  # those on composed programs are not judged
    for judge in jury.judges.select_related("language_model") if jury else ():
        asked = answers * judge.samples
        texts = Span(2 * LEAST_TEXT, 2 * settings.max_tokens)
        yield load_of_judge(
            judge.language_model.judge_endpoint(),
            judge.params,
            judgments=asked,
            repairs=asked,
            prompt_tokens=Span(*(asked * (TASK_TOKENS + size) for size in texts)),
            calls=Span(*CALLS[Method(judge.method)]),
        )
