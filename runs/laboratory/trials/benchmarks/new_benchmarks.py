"""Benchmarks: new ones, small ones to try, and fresh instances."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from django.db import transaction
from django.utils import timezone

from evalhub.models import LanguageModel, User
from evalhub.refusals import Refused
from evalhub.schedules import ScheduleRefused, do_due
from runs.laboratory.trials.generation.generation_runs import GenerationOrder, start
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.generation.graph import (
    KINDS,
    BadPath,
    kinds_from,
    path_text,
    read_paths,
    steps_of,
)
from runs.laboratory.trials.models import (
    Benchmark,
    BenchmarkState,
    GenerationPath,
    GenerationRun,
    Stage,
    Topic,
    TopicKind,
)

SMALL_TOPICS = (
    ("String functions", TopicKind.DOMAIN, False),
    ("Sorting algorithms", TopicKind.DOMAIN, True),
)
SMALL_PATHS = (
    "description > summary",
    "description > explanation > summary",
    "description > python > summary",
)
"""Mostly texts: few programs of a small model parse."""

SMALL = GenerationSettings(ideas_per_topic=3, max_tokens=192)
"""Sizes that a small model writes in some minutes."""


class NewTopic(NamedTuple):
    """A topic of a new benchmark."""

    title: str
    kind: str = TopicKind.DOMAIN
    is_cluster: bool = False


@transaction.atomic
def new_benchmark(
    name: str,
    topics: Sequence[NewTopic],
    paths: Sequence[str],
    *,
    by: User | None,
    **fields: object,
) -> Benchmark:
    """Make a benchmark of these topics and paths, as `read_path` parses them.

    Raises:
        Refused: A path is none, or a name is there twice.
    """
    if Benchmark.objects.filter(name=name).exists():
        raise Refused(
            [f"There is a benchmark {name!r} already: choose another name."], field="name"
        )
    fields = {"kinds": [kind.as_json() for kind in KINDS], **fields}
    benchmark: Benchmark = Benchmark.objects.create(name=name, author=by, **fields)
    Topic.objects.bulk_create(
        Topic(benchmark=benchmark, place=place, **topic._asdict())
        for place, topic in enumerate(topics, 1)
    )
    set_paths(benchmark, paths)
    return benchmark


def set_paths(benchmark: Benchmark, texts: Sequence[str]) -> None:
    """Make these the benchmark's paths; those that a run followed are kept as they are.

    Raises:
        Refused: Lists every text that is no path.
    """
    try:
        chains = read_paths(texts, kinds_from(benchmark.kinds))
    except BadPath as error:
        raise Refused(list(error.args), field="paths") from error
    names = {path_text(chain)[:150]: chain for chain in chains}
    benchmark.paths.filter(generation_runs=None).exclude(name__in=names).delete()
    for place, (name, chain) in enumerate(names.items(), 1):
        GenerationPath.objects.update_or_create(
            benchmark=benchmark, name=name, defaults={"steps": steps_of(chain), "place": place}
        )


@transaction.atomic
def small_benchmark(model: LanguageModel, *, by: User | None) -> GenerationRun:
    """Make a benchmark of two topics with three ideas each, and have the model write it.

    Raises:
        Refused: See `start`.
    """
    topics = [NewTopic(*topic) for topic in SMALL_TOPICS]
    name = free_name("Small benchmark")
    benchmark = new_benchmark(name, topics, SMALL_PATHS, by=by)
    return start(GenerationOrder(benchmark, Stage.ARTIFACTS, model, settings=SMALL), by=by)


def free_name(wanted: str) -> str:
    """Return a name that no benchmark has: this one, or one with a number."""
    known = set(Benchmark.objects.filter(name__startswith=wanted).values_list("name", flat=True))
    names = [wanted, *(f"{wanted} {n}" for n in range(2, len(known) + 3))]
    return next(name for name in names if name not in known)


# Fresh instances ---------------------------------------------------------------------------------


@transaction.atomic
def fresh_instance(
    benchmark: Benchmark,
    *,
    by: User | None,
    seed: int | None = None,
    instruction: str = "",
) -> Benchmark:
    """Make a benchmark of the same topics and paths, with ideas of its own.

    Its topics are in another order, and no idea of the ones before it is repeated. A judge must
    pass on it anew. `instruction` changes what models write.
    """
    seed = benchmark.seed + 1 + benchmark.instances.count() if seed is None else seed
    topics = [NewTopic(one.title, one.kind, one.is_cluster) for one in benchmark.topics.all()]
    Random(seed).shuffle(topics)
    return new_benchmark(
        free_name(f"{benchmark.name[:120]}, seed {seed}"),
        topics,
        [path.name for path in benchmark.paths.all()],
        by=by,
        seed=seed,
        parent=benchmark,
        perturbation=benchmark.perturbation | ({"instruction": instruction} if instruction else {}),
        kinds=benchmark.kinds,
        description=benchmark.description,
        sealed=benchmark.sealed,
    )


@transaction.atomic
def generate_fresh(
    benchmark: Benchmark,
    *,
    by: User | None,
    seed: int | None = None,
    instruction: str = "",
) -> GenerationRun:
    """Make a fresh instance and have it written like the benchmark itself was.

    Raises:
        Refused: The benchmark was never generated, or a run of it would be refused.
    """
    last = benchmark.generation_runs.filter(tested_model=None, stage=Stage.ARTIFACTS).first()
    if last is None:
        raise Refused([f"{benchmark} was never generated: generate it first."])
    instance = fresh_instance(benchmark, by=by, seed=seed, instruction=instruction)
    order = GenerationOrder(
        instance,
        Stage.ARTIFACTS,
        last.language_model,
        settings=GenerationSettings.model_validate(last.settings).model_copy(update={"ideas": []}),
    )
    return start(order, by=by, cost_limit_usd=last.cost_limit_usd)


def make_due_instances() -> int:
    """Make the fresh instances that are due; return their number."""
    return do_due(Benchmark, _scheduled, timezone.now())


def _scheduled(benchmark: Benchmark) -> str:
    if benchmark.state == BenchmarkState.RETIRED:
        raise ScheduleRefused("The benchmark is retired.")
    try:
        run = generate_fresh(benchmark, by=benchmark.author)
    except Refused as error:
        raise ScheduleRefused(str(error)) from error
    return f"Made {run.benchmark}."
