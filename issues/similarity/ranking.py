"""Index of texts by similarity: in meaning by vectors, and in words. Pure.

Both are scaled from 0 to 1, so that their mean measures similarity and not only order: a text
unlike all others finds nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import log
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

MEANING_SHARE = 0.75
"""Weight of the meaning in a similarity; the rest is for words."""
MIN_SIMILARITY = 0.15
"""Minimum similarity of a match."""
COMMON_SHARE = 0.15
"""Share of texts above which a word is too common to matter."""
FEW = 5
"""Number of texts up to which a word is never common."""
NAMED = 4
"""Maximum number of shared words given as a reason."""
SIMILARITY_WORDS = (
    (0.6, "near duplicate"),
    (0.45, "similar in meaning"),
    (0.3, "loosely related"),
)

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ied", "ies", "ed", "ly", "es", "s")
_SHORTEST_STEM = 3
_STOP_WORDS = frozenset((Path(__file__).parent / "stop_words.txt").read_text().split())


class TextMatch(NamedTuple):
    """A similar text.

    `score` is in [0, 1]; `meaning` is the cosine of the vectors, None if not measured; `words` are
    the shared words as in the query, rarest first.
    """

    key: int
    score: float
    meaning: float | None
    words: tuple[str, ...]

    @property
    def why(self) -> str:
        """Return the reason, such as `similar in meaning; shared words: currency`; "": none."""
        parts = [words for least, words in SIMILARITY_WORDS if (self.meaning or 0) >= least][:1]
        if self.words:
            parts.append(f"shared words: {', '.join(self.words[:NAMED])}")
        return "; ".join(parts)


def words_of(text: str) -> dict[str, str]:
    """Return distinctive words by stem, each as first written."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(text.lower()):
        word = match.group()
        if word not in _STOP_WORDS and (len(word) > 1 or not word.isascii()):
            found.setdefault(stem(word), word)
    return found


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Strip the commonest English endings; other languages are mostly unchanged."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word.removesuffix(ending)
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        word = word[:-1]
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] in "ey" else word


class TextIndex:
    """Texts by key, to search and update; not thread-safe."""

    def __init__(self) -> None:
        self._keys: list[int] = []
        self._row_of: dict[int, int] = {}
        self._having: dict[str, set[int]] = {}
        self._vectors: Matrix | None = None

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._row_of

    def put(self, texts: Mapping[int, str], vectors: Matrix | None) -> None:
        """Add or replace texts.

        Args:
            texts: Texts by key.
            vectors: Shape (len(texts), dimensions), in their order; None if unavailable, then for
                all texts of the index.
        """
        self.drop(texts)
        for key, text in texts.items():
            self._row_of[key] = len(self._keys)
            self._keys.append(key)
            for found in words_of(text):
                self._having.setdefault(found, set()).add(key)
        if vectors is not None and texts:
            made, old = directions(vectors), self._vectors
            self._vectors = made if old is None else np.concatenate([old, made])

    def drop(self, keys: Iterable[int]) -> None:
        """Remove texts; unknown keys are ignored."""
        gone = {key for key in keys if key in self._row_of}
        if not gone:
            return
        for having in self._having.values():
            having -= gone
        kept = [row for row, key in enumerate(self._keys) if key not in gone]
        self._keys = [self._keys[row] for row in kept]
        self._row_of = {key: row for row, key in enumerate(self._keys)}
        if self._vectors is not None:
            self._vectors = self._vectors[kept]

    def nearest(
        self, text: str, vector: Matrix | None, found: Mapping[int, float] | None = None
    ) -> Iterator[TextMatch]:
        """Yield texts that are similar for a reason, most similar first; ties by the higher key.

        Args:
            text: Text to compare with.
            vector: Its vector, shape (dimensions,); None or zeros: by words alone.
            found: Similarity in words of each text, in [0, 1], from a database's search; texts
                missing there count as 0. None: words are compared here.
        """
        query_words = words_of(text)
        distinctive = self._distinctive(query_words)
        scores = self._shares(query_words) if found is None else self._given(found)
        cosines: Matrix | None = None
        if vector is not None and self._vectors is not None and vector.any():
            cosines = self._vectors @ directions(vector[None, :])[0]
            scores = MEANING_SHARE * np.clip(cosines, 0, 1) + (1 - MEANING_SHARE) * scores
        rows = np.flatnonzero(scores >= MIN_SIMILARITY)
        for row in sorted(rows, key=lambda row: (scores[row], self._keys[row]), reverse=True):
            cosine = None if cosines is None else float(cosines[row])
            key = self._keys[row]
            shared = (query_words[found] for found in distinctive if key in self._having[found])
            match = TextMatch(key, float(scores[row]), cosine, tuple(shared))
            if match.why or (found or {}).get(key):
                yield match

    def distinctive_words(self, text: str, most: int, rows: int) -> list[str]:
        """Return the most distinctive words of a text: shared by some texts, but few, rarest first.

        Args:
            most: Maximum number of words.
            rows: Maximum number of texts that have them, together; the rarest is always returned.
        """
        query_words = words_of(text)
        chosen: list[str] = []
        for found in self._distinctive(query_words)[:most]:
            rows -= len(self._having[found])
            if chosen and rows < 0:
                break
            chosen.append(query_words[found])
        return chosen

    def _distinctive(self, query_words: Iterable[str]) -> list[str]:
        known = [w for w in query_words if self._having.get(w) and not self._is_common(w)]
        return sorted(known, key=self._rarity, reverse=True)

    def _shares(self, query_words: Mapping[str, str]) -> Matrix:
        """Return the share of the query's words in each text, weighted by rarity."""
        shares: Matrix = np.zeros(len(self._keys), np.float32)
        rarities = {found: self._rarity(found) for found in query_words}
        for found, rarity in rarities.items():
            if not self._is_common(found):
                shares[[self._row_of[key] for key in self._having.get(found, ())]] += rarity
        return shares / max(sum(rarities.values()), 1e-9)

    def _given(self, found: Mapping[int, float]) -> Matrix:
        shares: Matrix = np.zeros(len(self._keys), np.float32)
        for key, share in found.items():
            if key in self._row_of:
                shares[self._row_of[key]] = min(1.0, share)
        return shares

    def _rarity(self, found: str) -> float:
        """Return BM25's inverse document frequency: higher for rarer words, above 0."""
        having, texts = len(self._having.get(found, ())), len(self._keys)
        return log(1 + (texts - having + 0.5) / (having + 0.5))

    def _is_common(self, found: str) -> bool:
        return len(self._having.get(found, ())) > max(FEW, COMMON_SHARE * len(self._keys))


def directions(vectors: Matrix) -> Matrix:
    """Return the vectors normalised to length 1; zeros stay zeros. Same shape."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)
