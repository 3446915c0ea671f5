"""Generation runs: what prevents one, and its start."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from django.db import transaction

from evalhub.llm.security.trusted_network import is_trusted
from evalhub.models import BatchState, LanguageModel, User
from evalhub.refusals import Refused
from evalhub.work.processes.queue import request_worker
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.generation.graph import cluster_problem
from runs.laboratory.trials.generation.missing_steps import add_first_steps
from runs.laboratory.trials.models import Benchmark, GenerationPath, GenerationRun, Stage
from runs.launching.launch_selection import self_judging
from runs.models import Jury


@dataclass
class GenerationOrder:
    """A generation run as somebody wants it. Without `paths` it follows all that it can."""

    benchmark: Benchmark
    stage: Stage
    model: LanguageModel
    tested_model: LanguageModel | None = None
    paths: Sequence[GenerationPath] = ()
    settings: GenerationSettings = field(default_factory=GenerationSettings)

    @property
    def chosen_paths(self) -> list[GenerationPath]:
        """Return the paths that it follows: those with a tested edge in a replay only."""
        own = list(self.paths) or list(self.benchmark.paths.all())
        return [path for path in own if path.is_tested == (self.tested_model is not None)]

    @property
    def models(self) -> list[LanguageModel]:
        return [self.model, *([self.tested_model] if self.tested_model else [])]


def problems_of(order: GenerationOrder) -> list[str]:
    """Return what prevents a generation run; empty if nothing does."""
    benchmark = order.benchmark
    topics = list(benchmark.topics.all())
    problems = []
    if not topics and order.stage != Stage.TOPICS:
        problems.append("The benchmark has no topics: add at least one.")
    if order.stage == Stage.TOPICS and not order.settings.topics:
        problems.append("Enter the number of topics that the model adds.")
    if order.stage != Stage.TOPICS and not benchmark.is_imported:
        problem = cluster_problem(sum(topic.is_cluster for topic in topics), len(topics))
        problems += [problem] if problem else []
    if order.stage == Stage.ARTIFACTS and not order.chosen_paths:
        problems.append(
            "No path has a tested edge: add one, such as description > java > summary*."
            if order.tested_model
            else "The benchmark has no path: add one, such as description > java > summary."
        )
    problems += [
        f"{model} is inactive: activate it first." for model in order.models if not model.is_active
    ]
    if benchmark.sealed:
        problems += [
            f"The benchmark is sealed, and {model} is outside the trusted network."
            for model in order.models
            if not is_trusted(model.endpoint())
        ]
    live = benchmark.generation_runs.filter(state__in=(BatchState.LIVE, BatchState.PAUSED)).first()
    if live is not None:
        problems.append(f"Generation run {live.pk} is {live.get_state_display()}: end it first.")
    return problems + _jury_problems(order)


def _jury_problems(order: GenerationOrder) -> list[str]:
    """Return why the jury of a replay could not judge it, before its calls are paid."""
    jury = Jury.objects.filter(pk=order.settings.jury or 0).first()
    if jury is None or order.tested_model is None:
        return []
    judges = [
        *jury.judges.select_related("language_model"),
        *([jury.backup] if jury.backup else []),
    ]
    judging = {judge.language_model for judge in judges}
    return [
        f"{name} would judge its own texts: choose a jury without it."
        for name in self_judging([order.tested_model], judging)
    ] + [
        f"{model}, a judge of {jury}, is inactive: activate it first."
        for model in sorted(judging, key=str)
        if not model.is_active
    ]


@transaction.atomic
def start(
    order: GenerationOrder, *, by: User | None, cost_limit_usd: Decimal | None = None
) -> GenerationRun:
    """Begin a run; workers do it. One without anything to do is done at once.

    Raises:
        Refused: See `problems_of`, or a cost limit without prices.
    """
    problems = problems_of(order)
    lacking = [model for model in order.models if not model.has_prices]
    if cost_limit_usd is not None and lacking:
        problems.append(f"A cost limit needs prices: add them to {lacking[0]}.")
    if problems:
        raise Refused(problems, field="")
    tested = order.tested_model
    run = GenerationRun.objects.create(
        benchmark=order.benchmark,
        stage=order.stage,
        language_model=order.model,
        endpoint=order.model.endpoint().to_json(),
        tested_model=tested,
        tested_endpoint=tested.endpoint().to_json() if tested else None,
        settings=order.settings.model_dump(mode="json"),
        is_scripted=any(model.is_scripted for model in order.models),
        requested_by=by,
        cost_limit_usd=cost_limit_usd,
    )
    run.paths.set(order.chosen_paths)
    run.expected = add_first_steps(run)
    run.save(update_fields=["expected"])
    if order.model.is_scripted:
        Benchmark.objects.filter(pk=order.benchmark.pk).update(is_scripted=True)
    request_worker()
    return run
