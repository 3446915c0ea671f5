"""Which of many texts are near a given one: in meaning by vectors, and in words. Pure.

Both are on a scale of their own from 0 to 1, so that their mean says how near two texts are and
not only which is nearest: what is far from everything finds nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float32]

MEANING_SHARE = 0.75
"""What the meaning makes up of how near two texts are; the words make up the rest."""
LEAST = 0.15
"""What is less near than this is not found."""
COMMON_SHARE = 0.15
"""A word that more than this share of all texts have tells nothing apart."""
FEW = 5
"""A word that so few texts have is never common."""
NAMED = 4
"""Shared words that are named as a reason."""
SIMILARITY_WORDS = (
    (0.6, "means nearly the same"),
    (0.45, "close in meaning"),
    (0.3, "somewhat close in meaning"),
)
FAINT = "faintly alike in meaning"

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = ("ations", "ation", "ings", "ing", "edly", "ied", "ies", "ed", "ly", "es", "s")
_SHORTEST_STEM = 3
_STOPPED = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "also",
        "although",
        "am",
        "an",
        "and",
        "another",
        "any",
        "are",
        "as",
        "asked",
        "at",
        "be",
        "because",
        "been",
        "before",
        "being",
        "but",
        "by",
        "can",
        "cannot",
        "could",
        "did",
        "do",
        "does",
        "doing",
        "don",
        "done",
        "down",
        "each",
        "even",
        "every",
        "few",
        "for",
        "from",
        "get",
        "gets",
        "give",
        "given",
        "gives",
        "go",
        "got",
        "had",
        "has",
        "have",
        "having",
        "he",
        "her",
        "here",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "instead",
        "into",
        "is",
        "it",
        "its",
        "just",
        "like",
        "made",
        "make",
        "makes",
        "many",
        "me",
        "more",
        "most",
        "much",
        "my",
        "no",
        "nor",
        "not",
        "nothing",
        "now",
        "of",
        "off",
        "on",
        "one",
        "only",
        "or",
        "other",
        "our",
        "out",
        "over",
        "own",
        "query_words",
        "same",
        "say",
        "says",
        "she",
        "should",
        "so",
        "some",
        "such",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "thing",
        "this",
        "those",
        "though",
        "to",
        "chosen",
        "too",
        "up",
        "us",
        "use",
        "used",
        "very",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "while",
        "who",
        "whom",
        "why",
        "will",
        "with",
        "without",
        "would",
        "wrong",
        "you",
        "your",
        "answer",
        "answers",
        "model",
        "question",
    ]
)


class TextMatch(NamedTuple):
    """One text that was found.

    `score` is in [0, 1]; `meaning` is the cosine of the vectors, None: not measured; `words` are
    the words of the given text that this one has too, rarest first.
    """

    key: int
    score: float
    meaning: float | None
    words: tuple[str, ...]

    @property
    def why(self) -> str:
        """In words: why this one, such as `close in meaning; both say: currency, cents`."""
        query_words = f"both say: {', '.join(self.words[:NAMED])}" if self.words else ""
        return (
            "; ".join(part for part in (similarity_in_words(self.meaning), query_words) if part)
            or FAINT
        )


def similarity_in_words(cosine: float | None) -> str:
    """How near in meaning, in words; "" for far or not measured."""
    return next((words for least, words in SIMILARITY_WORDS if (cosine or 0) >= least), "")


def words_of(text: str) -> dict[str, str]:
    """The words that tell texts apart, by their stem; each as it is first written."""
    found: dict[str, str] = {}
    for match in _WORD.finditer(text.lower()):
        word = match.group()
        if word not in _STOPPED and (len(word) > 1 or not word.isascii()):
            found.setdefault(stem(word), word)
    return found


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A word without its commonest English ending; other languages keep theirs, mostly."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            word = word.removesuffix(ending)
            break
    if len(word) > _SHORTEST_STEM and word[-1] == word[-2] and word[-1] in "bdgmnprt":
        word = word[:-1]
    return word[:-1] if len(word) > _SHORTEST_STEM and word[-1] in "ey" else word


class TextIndex:
    """Texts by their keys, to be searched and changed; not by two threads at once."""

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
        """Add texts, or change those that are there.

        Args:
            texts: By their keys.
            vectors: Shape (len(texts), dimensions), in their order; None: none are to be had,
                and then for no text of the shelf.
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
        """Take texts away; keys that are not there do not matter."""
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
        """The texts that are near, nearest first; of two equally near the one with the higher key.

        Args:
            text: What they are compared with.
            vector: Its vector, shape (dimensions,); None or all zeros: by words alone.
            found: How near each text is in words, in [0, 1], where a database's own search said
                it; what it did not find is 0. None: the words are compared here.
        """
        query_words = words_of(text)
        shares = self._shares(query_words) if found is None else self._given(found)
        cosines = self._cosines(vector)
        scores = shares if cosines is None else _mixed(cosines, shares)
        rows = np.flatnonzero(scores >= LEAST)
        for row in sorted(rows, key=lambda row: (scores[row], self._keys[row]), reverse=True):
            cosine = None if cosines is None else float(cosines[row])
            shared = self._shared_words(self._keys[row], query_words)
            yield TextMatch(self._keys[row], float(scores[row]), cosine, shared)

    def distinctive_words(self, text: str, most: int, rows: int) -> list[str]:
        """The words of a text that tell most: those that some texts have, but few, rarest first.

        Args:
            most: So many words at most.
            rows: So many texts have them at most, taken together; the rarest is always told.
        """
        query_words = words_of(text)
        known = [
            found for found in query_words if self._having.get(found) and not self._is_common(found)
        ]
        chosen: list[str] = []
        for found in sorted(known, key=self._rarity, reverse=True)[:most]:
            rows -= len(self._having[found])
            if chosen and rows < 0:
                break
            chosen.append(query_words[found])
        return chosen

    def _cosines(self, vector: Matrix | None) -> Matrix | None:
        if vector is None or self._vectors is None or not vector.any():
            return None
        found: Matrix = self._vectors @ directions(vector[None, :])[0]
        return found

    def _shares(self, query_words: Mapping[str, str]) -> Matrix:
        """How much of what is said each text says too: the rarer a word, the more it counts."""
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
        """The inverse document frequency of BM25: higher the fewer texts have the word, above 0."""
        having, texts = len(self._having.get(found, ())), len(self._keys)
        return log(1 + (texts - having + 0.5) / (having + 0.5))

    def _is_common(self, found: str) -> bool:
        return len(self._having.get(found, ())) > max(FEW, COMMON_SHARE * len(self._keys))

    def _shared_words(self, key: int, query_words: Mapping[str, str]) -> tuple[str, ...]:
        shared = [found for found in query_words if key in self._having.get(found, ())]
        distinctive_words = [found for found in shared if not self._is_common(found)]
        return tuple(
            query_words[found]
            for found in sorted(distinctive_words, key=self._rarity, reverse=True)
        )


def directions(vectors: Matrix) -> Matrix:
    """The vectors with length 1; those without a direction stay zeros. Shape as given."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1), np.float32)


def _mixed(cosines: Matrix, shares: Matrix) -> Matrix:
    mixed: Matrix = MEANING_SHARE * np.clip(cosines, 0, 1) + (1 - MEANING_SHARE) * shares
    return mixed
