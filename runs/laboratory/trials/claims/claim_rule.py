"""Claims of known truth about pairs of artifacts. Pure.

Two artifacts of one description must mean the same, two of different descriptions must not. False
claims are built like true ones, with an artifact by the same path of another idea, so that no
language gives the truth away: of the same topic where its ideas are a cluster, else of another
topic. There are as many as true ones, except on parts of two composed programs, which have none.

A pair of texts is one claim, to be judged in both orders, and no text is paired with itself.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from random import Random

DESCRIPTION = "description"


class Kind(StrEnum):
    """A relation of two artifacts; "left" and "right" name them."""

    EQUAL = "equal"
    """Both come from one description by different paths and mean the same."""
    DIFFERENT = "different"
    """They come from different descriptions and do not mean the same."""
    LOOP = "loop"
    """The last artifact of a cycle, right, means the same as its first."""
    DESCRIBES = "describes"
    """The right text says what the left description says, implementation details aside."""
    RANK = "rank"
    """The left text reflects the description better than the right, of another idea."""
    PART = "part"
    """Two summaries of composed programs say the same about one of their programs."""
    CONTEXT = "context"
    """The left summary of one program says the same as its part of the right, composed one."""
    LABELLED = "labelled"
    """The texts are imported; annotators said whether they mean the same."""


class Hardness(StrEnum):
    """Origin of the texts of a false claim, or of those compared by a rank claim."""

    CROSS_TOPIC = "cross_topic"
    WITHIN_CLUSTER = "within_cluster"


ALL_KINDS = tuple(kind for kind in Kind if kind != Kind.LABELLED)


@dataclass(frozen=True)
class ArtifactFacts:
    """A valid artifact, without its text.

    Attributes:
        key: Its ID.
        idea: The idea it comes from; None if it is composed.
        topic: The idea's topic; None if it is composed.
        is_clustered: The topic's ideas are related, not identical.
        path: Kinds from the first artifact to this one, such as description, java, summary.
        is_code: Whether it is a program; all others are texts.
        ancestors: IDs along the path, without its own; as long as the path less one.
        parts: Ideas of the programs that it is composed of; () if it is one program.
    """

    key: int
    idea: int | None
    topic: int | None
    is_clustered: bool
    path: tuple[str, ...]
    is_code: bool = False
    ancestors: tuple[int, ...] = ()
    parts: tuple[int, ...] = ()

    @property
    def kind(self) -> str:
        return self.path[-1]

    @property
    def is_account(self) -> bool:
        """Return whether it is a text that says what a program does."""
        return not self.is_code and self.kind != DESCRIPTION


@dataclass(frozen=True)
class Claim:
    """A claim about two artifacts.

    Attributes:
        idea: Of the left artifact; of a part, the idea of its program.
        anchor: The description by which a rank claim compares; None otherwise.
        hardness: Of a false claim and of a rank claim; None otherwise.
    """

    kind: Kind
    left: int
    right: int
    truth: bool
    idea: int
    anchor: int | None = None
    hardness: Hardness | None = None


def claims_of(
    artifacts: Iterable[ArtifactFacts], *, seed: int, kinds: Sequence[Kind] = ALL_KINDS
) -> list[Claim]:
    """Build all claims of these kinds; equal arguments give equal claims.

    A false claim is left out where no other idea has an artifact by the same path: count both.
    """
    pool = _Pool(sorted(artifacts, key=lambda one: one.key), Random(seed))
    wanted = set(kinds)
    found: list[Claim] = []
    for makes, build in _BUILDERS:
        if wanted & makes:
            found += [claim for claim in build(pool) if claim.kind in wanted]
    return found


class _Pool:
    """The artifacts by idea and by path, and the draw of texts of other ideas."""

    def __init__(self, artifacts: Sequence[ArtifactFacts], rng: Random) -> None:
        self._rng = rng
        self.by_key = {one.key: one for one in artifacts}
        self.programs = [one for one in artifacts if not one.parts]
        self.composed = [one for one in artifacts if one.parts and one.is_account]
        self.by_idea: dict[int | None, list[ArtifactFacts]] = defaultdict(list)
        self._by_path: dict[tuple[str, ...], list[ArtifactFacts]] = defaultdict(list)
        self._drawn: set[tuple[Kind, int, int]] = set()
        for one in self.programs:
            self.by_idea[one.idea].append(one)
            self._by_path[one.path].append(one)

    def stranger(self, of: ArtifactFacts, like: ArtifactFacts, use: Kind) -> ArtifactFacts | None:
        """Draw an artifact by the path of `like` from another idea; None: there is no new one."""
        others = [
            one
            for one in self._by_path[like.path]
            if one.idea != of.idea and _pair(use, of, one) not in self._drawn
        ]
        related = [one for one in others if of.is_clustered and one.topic == of.topic]
        if not (drawn := related or [one for one in others if one.topic != of.topic]):
            return None
        found = self._rng.choice(drawn)
        self._drawn.add(_pair(use, of, found))
        return found

    def choice(self, several: Sequence[ArtifactFacts]) -> ArtifactFacts:
        return self._rng.choice(several)


def _pair(use: Kind, of: ArtifactFacts, other: ArtifactFacts) -> tuple[Kind, int, int]:
    """Return what makes a false claim unique; a rank claim has a description of its own."""
    is_turned = use is not Kind.RANK and other.key < of.key
    return (use, other.key, of.key) if is_turned else (use, of.key, other.key)


def _true(kind: Kind, left: ArtifactFacts, right: ArtifactFacts) -> Claim:
    return Claim(kind, left.key, right.key, True, left.idea or 0)


def _false(pool: _Pool, kind: Kind, left: ArtifactFacts, right: ArtifactFacts) -> Iterator[Claim]:
    """Yield the counterpart of a true claim, with a right artifact of another idea."""
    if (other := pool.stranger(left, right, kind)) is not None:
        hardness = _hardness(left, other)
        yield Claim(kind, left.key, other.key, False, left.idea or 0, hardness=hardness)


def _hardness(one: ArtifactFacts, other: ArtifactFacts) -> Hardness:
    is_related = one.is_clustered and other.topic == one.topic
    return Hardness.WITHIN_CLUSTER if is_related else Hardness.CROSS_TOPIC


def _equal_and_different(pool: _Pool) -> Iterator[Claim]:
    for mine in pool.by_idea.values():
        for left, right in combinations(mine, 2):
            if _are_parallel(left, right):
                yield _true(Kind.EQUAL, left, right)
                yield from _false(pool, Kind.DIFFERENT, left, right)


def _are_parallel(left: ArtifactFacts, right: ArtifactFacts) -> bool:
    """Return whether two artifacts are of one kind by different paths, none on the other's."""
    is_on_path = left.key in right.ancestors or right.key in left.ancestors
    return left.kind == right.kind and left.path != right.path and not is_on_path


def _loops(pool: _Pool) -> Iterator[Claim]:
    for last in pool.programs:
        if last.kind not in last.path[:-1]:
            continue
        first = pool.by_key.get(last.ancestors[last.path.index(last.kind)])
        if first is not None:
            yield _true(Kind.LOOP, first, last)
            yield from _false(pool, Kind.LOOP, first, last)


def _described(pool: _Pool) -> Iterator[tuple[ArtifactFacts, ArtifactFacts]]:
    """Yield each description with a text that gives an account of it."""
    for text in pool.programs:
        root = pool.by_key.get(text.ancestors[0]) if text.ancestors else None
        if root is not None and root.kind == DESCRIPTION and text.is_account:
            yield root, text


def _descriptions(pool: _Pool) -> Iterator[Claim]:
    for root, text in _described(pool):
        yield _true(Kind.DESCRIBES, root, text)
        yield from _false(pool, Kind.DESCRIBES, root, text)


def _ranks(pool: _Pool) -> Iterator[Claim]:
    for root, text in _described(pool):
        if (other := pool.stranger(text, text, Kind.RANK)) is not None:
            hardness = _hardness(text, other)
            yield Claim(Kind.RANK, text.key, other.key, True, text.idea or 0, root.key, hardness)


def _parts(pool: _Pool) -> Iterator[Claim]:
    for left, right in combinations(pool.composed, 2):
        is_parallel = left.kind == right.kind and left.path != right.path
        if is_parallel and set(left.parts) == set(right.parts):
            for idea in left.parts:
                yield Claim(Kind.PART, left.key, right.key, True, idea)


def _contexts(pool: _Pool) -> Iterator[Claim]:
    alone = {(one.idea, one.path): one for one in pool.programs}
    for composed in pool.composed:
        mine = {idea: alone.get((idea, composed.path)) for idea in composed.parts}
        for idea, single in mine.items():
            if single is None:
                continue
            yield Claim(Kind.CONTEXT, single.key, composed.key, True, idea)
            others = [one for part, one in mine.items() if one and part != idea]
            if others:
                other = pool.choice(others)
                hardness = _hardness(single, other)
                yield Claim(Kind.CONTEXT, other.key, composed.key, False, idea, hardness=hardness)


_BUILDERS: tuple[tuple[set[Kind], Callable[[_Pool], Iterator[Claim]]], ...] = (
    ({Kind.EQUAL, Kind.DIFFERENT}, _equal_and_different),
    ({Kind.LOOP}, _loops),
    ({Kind.DESCRIBES}, _descriptions),
    ({Kind.RANK}, _ranks),
    ({Kind.PART}, _parts),
    ({Kind.CONTEXT}, _contexts),
)
