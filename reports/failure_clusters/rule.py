"""Clusters of failed answers by similar words in the reasons against them. Pure.

A text is the mean of its words' vectors, weighted by rarity over all texts of the run, passed ones
too: phrases that judges always write weigh little. Clusters are joined while the mean similarity
of their members is high enough (average linkage), so the same texts give the same clusters.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

import numpy as np

from issues.similarity.ranking import MEANING_SHARE, Matrix, directions, words_of

MIN_SIMILARITY = 0.22
"""Minimum mean similarity of the members of two clusters to join them; see the tests."""
MIN_SIZE = 3
"""Answers of a cluster; fewer are left out."""
ANSWER_SHARE = 0.25
"""Weight of a word of the answer, if there are reasons."""
NAMED = 4
"""Words in a name."""
MIN_SHARE = 0.3
"""Share of a cluster's texts that have a word of its name, unless no word is so common."""

Vectors = Callable[[list[str]], Matrix | None]
"""Returns the vectors of words, None if they are not installed: then words alone count."""


class FailureText(NamedTuple):
    """The reasons against an answer, "" if there are none, and the answer."""

    reason: str
    answer: str


class Cluster(NamedTuple):
    """Places of its texts, the most typical first, and its characteristic words."""

    members: tuple[int, ...]
    words: tuple[str, ...]

    @property
    def name(self) -> str:
        return ", ".join(self.words).capitalize() or "Similar failures"


def clusters_of(
    failed: Sequence[FailureText], passed: Sequence[FailureText], vectors: Vectors
) -> list[Cluster]:
    """Return the clusters, largest first, then by their first text.

    Args:
        passed: Of answers that passed; they only tell which words are rare.
    """
    if len(failed) < MIN_SIZE:
        return []
    terms = [_terms(text) for text in failed]
    having = Counter(word for text in (*failed, *passed) for word in _terms(text))
    total = len(failed) + len(passed)
    spelled = {word: form for text in failed for word, form in _spelled(text).items()}
    vocabulary = sorted({word for text in terms for word in text})
    place = {word: column for column, word in enumerate(vocabulary)}
    weights: Matrix = np.zeros((len(failed), len(vocabulary)), np.float32)
    for row, text in enumerate(terms):
        for word, share in text.items():
            weights[row, place[word]] = share * _rarity(having[word], total)
    similar = _similarities(weights, vectors([spelled[word] for word in vocabulary]))
    found = [group for group in _joined(similar) if len(group) >= MIN_SIZE]
    clusters = []
    for group in sorted(found, key=lambda group: (-len(group), group[0])):
        typical = similar[np.ix_(group, group)].mean(axis=1)
        members = sorted(group, key=lambda at: (-round(float(typical[group.index(at)]), 6), at))
        named = _words([terms[at] for at in group], having, total)
        clusters.append(Cluster(tuple(members), tuple(spelled[word] for word in named)))
    return clusters


def _spelled(text: FailureText) -> dict[str, str]:
    return {**words_of(text.answer), **words_of(text.reason)}


def _terms(text: FailureText) -> dict[str, float]:
    """Return the weight of each word of a text, by stem."""
    reasons = dict.fromkeys(words_of(text.reason), 1.0)
    share = ANSWER_SHARE if reasons else 1.0
    return {**dict.fromkeys(words_of(text.answer), share), **reasons}


def _rarity(having: int, total: int) -> float:
    """Return BM25's inverse document frequency, but never nothing."""
    return log(1.1 + (total - having + 0.5) / (having + 0.5))


def _similarities(weights: Matrix, vectors: Matrix | None) -> Matrix:
    """Return the similarity of each two texts, in [-1, 1]; shape (texts, texts)."""
    own = directions(weights)
    shared = own @ own.T
    if vectors is None:
        return shared
    meaning = directions(weights @ directions(vectors))
    return np.asarray(MEANING_SHARE * (meaning @ meaning.T) + (1 - MEANING_SHARE) * shared)


def _joined(similar: Matrix) -> list[list[int]]:
    """Join the two most similar clusters until none are similar enough; ties by place."""
    means = similar.astype(np.float64)
    np.fill_diagonal(means, -np.inf)
    groups = {at: [at] for at in range(len(means))}
    best = means.argmax(axis=1)
    while len(groups) > 1:
        first = int(np.argmax(means[np.arange(len(means)), best]))
        second = int(best[first])
        if means[first, second] < MIN_SIMILARITY:
            break
        first, second = sorted((first, second))
        n, m = len(groups[first]), len(groups[second])
        row = (n * means[first] + m * means[second]) / (n + m)
        row[[first, second]] = -np.inf
        means[first], means[:, first] = row, row
        means[second], means[:, second] = -np.inf, -np.inf
        groups[first] += groups.pop(second)
        best = means.argmax(axis=1)
    return [sorted(group) for group in groups.values()]


def _words(members: Sequence[Mapping[str, float]], having: Counter[str], total: int) -> list[str]:
    """Return the words that most of the members have and few other texts, best first."""
    inside = Counter(word for text in members for word, share in text.items() if share == 1)
    n, others = len(members), max(1, total - len(members))

    def lift(word: str) -> float:
        return inside[word] / n - (having[word] - inside[word]) / others

    words = [word for word in inside if inside[word] > 1 and not word.isdigit()]
    likely = sorted((word for word in words if lift(word) > 0), key=lambda w: (-lift(w), w))
    often = [word for word in likely if inside[word] / n >= MIN_SHARE]
    return (often or likely)[:NAMED]
