"""Steps that a generation run still lacks: ideas of topics, and artifacts of ideas."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.db.models import Q

from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.generation.graph import (
    ROOT,
    Chain,
    Missing,
    Node,
    chain_of,
    edges_of,
    missing_after,
    size_after,
)
from runs.laboratory.trials.models import (
    Artifact,
    GenerationPath,
    GenerationRun,
    GenerationStep,
    Idea,
    IdeaState,
    Stage,
    Topic,
)

STAGES = tuple(Stage.values)
Edges = Mapping[Chain, Sequence[Node]]
Existing = dict[tuple[int | None, Node], int]


def reaches(run: GenerationRun, stage: Stage) -> bool:
    """Return whether the run goes through this stage."""
    return STAGES.index(run.stage) >= STAGES.index(stage)


def edges_for(paths: Iterable[GenerationPath], stage: str) -> Edges:
    """Return what these paths make in a run up to this stage: descriptions, or everything."""
    chains = [chain_of(path.steps) for path in paths] or [(Node(ROOT),)]
    if stage == Stage.DESCRIPTIONS:
        chains = [chain[:1] for chain in chains]
    return edges_of(chains)


def wanted_ideas(run: GenerationRun) -> dict[int, int]:
    """Return how many ideas each topic of the run's benchmark still needs."""
    settings = GenerationSettings.model_validate(run.settings)
    rows = Idea.objects.filter(topic__benchmark=run.benchmark_id, state=IdeaState.ACTIVE)
    have = Counter(rows.values_list("topic_id", flat=True))
    topics = Topic.objects.filter(benchmark=run.benchmark_id).values_list("pk", "is_cluster")
    lacking = {pk: settings.ideas_of(is_cluster=cluster) - have[pk] for pk, cluster in topics}
    return {pk: n for pk, n in lacking.items() if n > 0}


def missing_artifacts(
    run: GenerationRun, edges: Edges, ideas: Iterable[int]
) -> dict[int, list[Missing[int]]]:
    """Return what can be made now of each of these ideas, in two queries.

    A replay takes what trusted models wrote from storage; only what depends on the tested model is
    its own.
    """
    active = Idea.objects.filter(pk__in=list(ideas), state=IdeaState.ACTIVE)
    existing: dict[int, Existing] = {pk: {} for pk in active.values_list("pk", flat=True)}
    rows = Artifact.objects.filter(Q(replay=None) | Q(replay=run), idea__in=list(existing))
    usable = set(rows.usable().values_list("pk", flat=True))
    is_usable: dict[int, bool] = defaultdict(bool)
    fields = ("pk", "idea", "parent", "kind", "is_tested")
    for pk, idea, parent, kind, is_tested in rows.values_list(*fields):
        assert idea is not None
        existing[idea][parent, Node(kind, is_tested)] = pk
        is_usable[pk] = pk in usable
    return {
        idea: missing_after(edges, artifacts, is_usable) for idea, artifacts in existing.items()
    }


def add_artifact_steps(run: GenerationRun, ideas: Iterable[int]) -> int:
    """Add the steps that can be done now, of composed programs too.

    Returns:
        The number of artifacts that will be made.
    """
    if not reaches(run, Stage.DESCRIPTIONS):
        return 0
    edges = edges_for(run.paths.all(), run.stage)
    found = missing_artifacts(run, edges, ideas)
    steps: list[tuple[int | None, Missing[int]]] = [
        (idea, one) for idea, missing in found.items() for one in missing
    ]
    steps += [(None, one) for one in missing_composed(run, edges)]
    GenerationStep.objects.bulk_create(
        (
            GenerationStep(
                run=run,
                idea_id=idea,
                parent_id=one.parent,
                kind=one.node.kind,
                is_tested=one.node.is_tested,
            )
            for idea, one in steps
        ),
        ignore_conflicts=True,
    )
    return sum(1 + one.follow for _, one in steps)


def missing_composed(run: GenerationRun, edges: Edges) -> list[Missing[int]]:
    """Return what can be made now of composed programs, as of a program of their kind."""
    rows = Artifact.objects.filter(
        Q(replay=None) | Q(replay=run), idea=None, benchmark=run.benchmark_id
    )
    usable = set(rows.usable().values_list("pk", flat=True))
    existing: Existing = {}
    roots: list[tuple[int, Node]] = []
    is_usable: dict[int, bool] = defaultdict(bool)
    for pk, parent, kind, is_tested in rows.values_list("pk", "parent", "kind", "is_tested"):
        node = Node(kind, is_tested)
        is_usable[pk] = pk in usable
        if parent is None:
            roots.append((pk, node))
        else:
            existing[parent, node] = pk
    begun = [chain for chain in edges if len(chain) == 2]
    found = [
        one
        for pk, node in roots
        for chain in begun
        if chain[-1] == node and is_usable[pk]
        for one in missing_after(edges, existing, is_usable, chain, pk)
    ]
    return list({(one.parent, one.node): one for one in found}.values())


def add_first_steps(run: GenerationRun) -> int:
    """Add the steps that a new run begins with; return the number that it will take."""
    settings = GenerationSettings.model_validate(run.settings)
    expected = 0
    if run.stage == Stage.TOPICS:
        GenerationStep.objects.create(run=run)
        return 1
    ideas = Idea.objects.filter(topic__benchmark=run.benchmark_id, state=IdeaState.ACTIVE)
    if settings.ideas:
        ideas = ideas.filter(pk__in=settings.ideas)
    elif not run.is_replay:
        wanted = wanted_ideas(run)
        GenerationStep.objects.bulk_create(GenerationStep(run=run, topic_id=pk) for pk in wanted)
        each = (
            size_after(edges_for(run.paths.all(), run.stage), ()) if run.stage != Stage.IDEAS else 0
        )
        expected += len(wanted) + each * sum(wanted.values())
    return expected + add_artifact_steps(run, ideas.values_list("pk", flat=True))
