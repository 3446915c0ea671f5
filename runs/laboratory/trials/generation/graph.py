"""The generation graph: kinds of artifacts, and paths of trusted and tested edges. Pure.

A path is written as its kinds in order, "description > java > summary". An asterisk after a kind
marks a tested edge: the model under test writes that text.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

A = TypeVar("A")

CLUSTER_SHARE = Fraction(3, 10)
"""Least share of the topics that are clusters."""

MAX_STEPS = 12
KEY = re.compile(r"[a-z][a-z0-9_-]{0,39}")
ROOT = "description"
"""Kind of the texts that a path usually begins with; claims are about it."""


@dataclass(frozen=True)
class ArtifactKind:
    """A kind of artifact. `language` is that of a program, such as "C++"; "" for a text."""

    key: str
    label: str
    form: str = "text"
    language: str = ""

    @property
    def is_code(self) -> bool:
        return self.form == "code"

    def as_json(self) -> dict[str, str]:
        return asdict(self)


def _code(key: str, language: str) -> ArtifactKind:
    return ArtifactKind(key, language, "code", language)


KINDS = (
    ArtifactKind(ROOT, "description"),
    _code("python", "Python"),
    _code("java", "Java"),
    _code("cpp", "C++"),
    _code("cobol", "COBOL"),
    _code("pl1", "PL/1"),
    ArtifactKind("summary", "summary"),
    ArtifactKind("explanation", "explanation"),
)
"""Kinds that every new benchmark has; others can be added."""


def kinds_from(values: Iterable[Mapping[str, Any]]) -> dict[str, ArtifactKind]:
    """Return the kinds of a benchmark by key."""
    return {str(value["key"]): ArtifactKind(**value) for value in values}


def problems_of_kinds(values: Any) -> list[str]:
    """Return what is wrong with kinds as JSON."""
    if not isinstance(values, list) or not values:
        return ['Enter a list of kinds, such as [{"key": "summary", "label": "summary"}].']
    problems, seen = [], set()
    for value in values:
        try:
            kind = ArtifactKind(**value)
        except TypeError:
            problems.append(f"{value!r} is no kind: give key, label, form and language.")
            continue
        if not KEY.fullmatch(str(kind.key)):
            problems.append(f"The key {kind.key!r} is not a short word of a-z, 0-9, - and _.")
        if kind.key in seen:
            problems.append(f"The key {kind.key!r} is there twice.")
        if kind.form not in ("text", "code"):
            problems.append(f"{kind.key}: the form is {kind.form!r}. Enter text or code.")
        if kind.is_code and not kind.language:
            problems.append(f"{kind.key}: name the language of the code.")
        seen.add(kind.key)
    return problems


class Node(NamedTuple):
    """An artifact's place in a path: its kind, and whether the tested model writes it."""

    kind: str
    is_tested: bool = False


Chain = tuple[Node, ...]
"""The nodes from a path's beginning up to an artifact."""


class BadPath(ValueError):
    """Texts that are no paths of the graph; each of `args` says why one is none."""


def read_path(text: str, kinds: Iterable[str]) -> Chain:
    """Parse a path; raise BadPath if it is none."""
    known = list(kinds)
    names = [name.strip() for name in text.split(">")]
    nodes = tuple(
        Node(name.removesuffix("*").strip().lower(), name.endswith("*")) for name in names
    )
    if unknown := [node.kind for node in nodes if node.kind not in known]:
        raise BadPath(f"{text.strip()!r}: {unknown[0]!r} is no kind. Use {', '.join(known)}.")
    if not 2 <= len(nodes) <= MAX_STEPS:
        raise BadPath(f"{text.strip()!r} has {len(nodes)} kinds: give 2 to {MAX_STEPS}.")
    if nodes[0].is_tested:
        raise BadPath(f"{text.strip()!r}: the first text is given, not written by a tested model.")
    return nodes


def read_paths(texts: Iterable[str], kinds: Iterable[str]) -> list[Chain]:
    """Parse paths; raise BadPath with the problem of every text that is none."""
    known = list(kinds)
    chains: list[Chain] = []
    problems: list[str] = []
    for text in texts:
        try:
            chains.append(read_path(text, known))
        except BadPath as error:
            problems += error.args
    if problems:
        raise BadPath(*problems)
    return chains


def path_text(chain: Sequence[Node]) -> str:
    """Return a path as `read_path` parses it."""
    return " > ".join(f"{node.kind}*" if node.is_tested else node.kind for node in chain)


def steps_of(chain: Sequence[Node]) -> list[dict[str, str]]:
    """Return a path as `GenerationPath.steps` has it."""
    return [
        {"from": one.kind, "to": two.kind, "label": "tested" if two.is_tested else "trusted"}
        for one, two in pairwise(chain)
    ]


def chain_of(steps: Sequence[Mapping[str, str]]) -> Chain:
    """Return the nodes of stored steps."""
    first = Node(steps[0]["from"])
    return (first, *(Node(step["to"], step["label"] == "tested") for step in steps))


def edges_of(chains: Iterable[Chain]) -> dict[Chain, list[Node]]:
    """Return the next nodes after each beginning of the paths; after (), their first kinds.

    Paths share an equal beginning, so that it is made once.
    """
    found: dict[Chain, list[Node]] = defaultdict(list)
    for chain in chains:
        for length in range(len(chain)):
            if chain[length] not in found[chain[:length]]:
                found[chain[:length]].append(chain[length])
    return dict(found)


def size_after(edges: Mapping[Chain, Sequence[Node]], chain: Chain) -> int:
    """Return the number of artifacts that follow a beginning of paths."""
    return sum(1 + size_after(edges, (*chain, node)) for node in edges.get(chain, ()))


class Missing(NamedTuple, Generic[A]):
    """An artifact to make from its parent (None: from the idea). `follow` counts those after it."""

    parent: A | None
    node: Node
    follow: int


def missing_after(
    edges: Mapping[Chain, Sequence[Node]],
    existing: Mapping[tuple[A | None, Node], A],
    usable: Mapping[A, bool],
    chain: Chain = (),
    parent: A | None = None,
) -> list[Missing[A]]:
    """Return what can be made now below an artifact, or of an idea.

    Args:
        existing: Artifacts by parent and node.
        usable: Whether texts may be made from an artifact: not from a corrupted or excluded one.
    """
    found: list[Missing[A]] = []
    for node in edges.get(chain, ()):
        here = (*chain, node)
        artifact = existing.get((parent, node))
        if artifact is None:
            found.append(Missing(parent, node, size_after(edges, here)))
        elif usable[artifact]:
            found += missing_after(edges, existing, usable, here, artifact)
    return found


def cluster_problem(clusters: int, topics: int) -> str:
    """Return why the topics have too few clusters; "" if they have enough."""
    if not topics or Fraction(clusters, topics) >= CLUSTER_SHARE:
        return ""
    needed = -(-CLUSTER_SHARE.numerator * topics // CLUSTER_SHARE.denominator)
    return (
        f"{clusters} of {topics} topics {'is a cluster' if clusters == 1 else 'are clusters'}: "
        f"mark at least {needed} (30 %). Only ideas of one cluster make hard negatives."
    )
