"""The texts of a benchmark as a grid: topics and ideas down, steps of the paths across."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Sum

from runs.laboratory.trials.generation.graph import Chain, Node, chain_of, edges_of, kinds_from
from runs.laboratory.trials.models import (
    Artifact,
    Benchmark,
    GenerationStep,
    Idea,
    IdeaState,
    Review,
    Topic,
)


class Column(NamedTuple):
    """A place in the paths, such as summary after Java."""

    chain: Chain
    label: str
    after: str


class TextCell(NamedTuple):
    """An artifact's state; `pk` None: it is missing."""

    pk: int | None
    label: str = ""
    css: str = ""
    reason: str = ""
    is_exposed: bool = False


class IdeaRow(NamedTuple):
    """An idea with its texts by column."""

    idea: Idea
    cells: Sequence[TextCell]


class TopicRows(NamedTuple):
    """A topic with its ideas."""

    topic: Topic
    rows: Sequence[IdeaRow]


@dataclass(frozen=True)
class TextGrid:
    """All texts of a benchmark. `counts` are artifacts by state, `dropped` near duplicates."""

    columns: Sequence[Column]
    topics: Sequence[TopicRows]
    counts: Mapping[str, int]
    dropped: int
    left_out: Sequence[tuple[Artifact, str]]

    @property
    def ideas(self) -> int:
        return sum(len(topic.rows) for topic in self.topics)


STATES = {
    "corrupted": ("corrupted", "eh-badge--failed"),
    "excluded": ("excluded", "eh-badge--unscored"),
    "edited": ("edited", "eh-badge--passed"),
    "approved": ("approved", "eh-badge--passed"),
    "not_checked": ("not checked", ""),
    "valid": ("to review", ""),
}
"""Label and style of an artifact's state."""


def state_of(artifact: Artifact) -> str:
    """Return the state that decides what becomes of an artifact."""
    if artifact.review == Review.EXCLUDED or artifact.validity == "corrupted":
        return "excluded" if artifact.review == Review.EXCLUDED else "corrupted"
    return artifact.validity if artifact.review == Review.PENDING else artifact.review


def grid_of(benchmark: Benchmark) -> TextGrid:
    """Read the reference artifacts of a benchmark, in few queries whatever its size."""
    columns = _columns(benchmark)
    topics = list(benchmark.topics.prefetch_related("ideas"))
    artifacts = list(
        benchmark.artifacts.reference()
        .select_related("idea")
        .defer("text", "original")
        .order_by("pk")
    )
    by_idea: dict[int | None, dict[tuple[int | None, Node], Artifact]] = defaultdict(dict)
    for one in artifacts:
        by_idea[one.idea_id][one.parent_id, Node(one.kind)] = one
    shown = [
        TopicRows(
            topic,
            [
                IdeaRow(idea, [_cell(one) for one in _along(columns, by_idea[idea.pk])])
                for idea in topic.ideas.all()
                if idea.state != IdeaState.DROPPED
            ],
        )
        for topic in topics
    ]
    states = [(one, state_of(one)) for one in artifacts]
    steps = GenerationStep.objects.filter(run__benchmark=benchmark)
    return TextGrid(
        columns,
        shown,
        Counter(state for _, state in states),
        steps.aggregate(n=Sum("dropped"))["n"] or 0,
        [(one, state) for one, state in states if state in ("corrupted", "excluded")],
    )


def _columns(benchmark: Benchmark) -> list[Column]:
    kinds = kinds_from(benchmark.kinds)
    edges = edges_of(chain_of(path.steps) for path in benchmark.paths.all() if not path.is_tested)

    def below(chain: Chain) -> Iterator[Column]:
        for node in edges.get(chain, ()):
            after = kinds[chain[-1].kind].label if chain else ""
            yield Column((*chain, node), kinds[node.kind].label, after)
            yield from below((*chain, node))

    return list(below(()))


def _along(
    columns: Sequence[Column], artifacts: Mapping[tuple[int | None, Node], Artifact]
) -> Iterator[Artifact | None]:
    """Yield the artifact of each column."""
    found: dict[Chain, Artifact] = {}
    for column in columns:
        *before, node = column.chain
        parent = found.get(tuple(before))
        is_known = not before or parent is not None
        one = artifacts.get((parent.pk if parent else None, node)) if is_known else None
        if one is not None:
            found[column.chain] = one
        yield one


def _cell(artifact: Artifact | None) -> TextCell:
    if artifact is None:
        return TextCell(None)
    label, css = STATES[state_of(artifact)]
    reason = artifact.review_reason or artifact.validity_reason
    return TextCell(artifact.pk, label, css, reason, artifact.exposed_at is not None)
