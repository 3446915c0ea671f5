"""Texts that say nearly the same as an earlier one, by the measure of similar issues. Pure."""

from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from evalhub.llm import word_vectors
from issues.similarity.ranking import MEANING_SHARE, Matrix, directions, words_of

Vectors = list[Matrix | None]

NEARLY_THE_SAME = 0.92
"""Similarity in [0, 1] from which two texts are near duplicates."""


class Compared(NamedTuple):
    """A text in parts, such as input and answer, all of which must be near duplicates.

    Only texts of the same group are compared. An empty part is like any other.
    """

    key: Hashable
    group: Hashable
    parts: tuple[str, ...]


def near_duplicates(
    texts: Sequence[Compared], earlier: Sequence[Compared]
) -> dict[Hashable, Hashable]:
    """Return for each text that repeats an earlier one, or one before it, the key of that one."""
    everything = [*earlier, *texts]
    vectors = _vectors([part for one in everything for part in one.parts])
    kept: list[tuple[Compared, Vectors]] = []
    found: dict[Hashable, Hashable] = {}
    for place, one in enumerate(everything):
        own = [next(vectors) for _ in one.parts]
        twin = next((k for k, v in kept if k.group == one.group and _alike(one, own, k, v)), None)
        if twin is not None and place >= len(earlier):
            found[one.key] = twin.key
        else:
            kept.append((one, own))
    return found


def _vectors(parts: list[str]) -> Iterator[Matrix | None]:
    try:
        return iter(directions(word_vectors.load().matrix(parts))) if parts else iter(())
    except word_vectors.NoWordVectors:
        return iter([None] * len(parts))


def _alike(one: Compared, own: Vectors, other: Compared, others: Vectors) -> bool:
    if len(one.parts) != len(other.parts):
        return False
    return all(
        not a.strip() or not b.strip() or similarity(a, v, b, w) >= NEARLY_THE_SAME
        for a, v, b, w in zip(one.parts, own, other.parts, others, strict=True)
    )


def similarity(a: str, v: Matrix | None, b: str, w: Matrix | None) -> float:
    """Return the similarity of two texts, in [0, 1]: of their directions, and of their words."""
    mine, theirs = set(words_of(a)), set(words_of(b))
    together = mine | theirs
    words = len(mine & theirs) / len(together) if together else float(a.strip() == b.strip())
    if v is None or w is None or not v.any() or not w.any():
        return words
    meaning = float(np.clip(v @ w, 0, 1))
    return MEANING_SHARE * meaning + (1 - MEANING_SHARE) * words
