"""Metrics of the similarity of two texts, each a judge that costs nothing. Pure.

Each gives a number in [0, 1] that is the same in both orders, or nearly so: 1 for equal texts.
Punctuation and case do not count, except for chrF.
"""

import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum

from rapidfuzz.distance import Indel

from evalhub.llm import word_vectors
from evalhub.statistics.cosine import cosine

_WORD = re.compile(r"\w+")


class Metric(StrEnum):
    """A metric, by its key."""

    ROUGE_L = "rouge_l"
    CHRF = "chrf"
    TOKEN_OVERLAP = "token_overlap"
    EMBEDDING = "embedding"


def rouge_l(first: str, second: str) -> float:
    """Return the F1 of the longest common subsequence of words: 2·LCS / (m + n).

    Source: C.-Y. Lin (2004), ROUGE: A Package for Automatic Evaluation of Summaries, section 3.
    """
    return float(Indel.normalized_similarity(_words(first), _words(second)))


def chrf(first: str, second: str) -> float:
    """Return the F2 of character n-grams up to 6, the second text being the reference.

    Source: M. Popović (2015), chrF: character n-gram F-score for automatic MT evaluation.
    """
    from sacrebleu.metrics.chrf import CHRF  # seldom needed, so not imported with this module

    return float(CHRF().sentence_score(first, [second]).score) / 100


def token_overlap(first: str, second: str) -> float:
    """Return Dice's coefficient of the words, repeated ones included: 2·|A ∩ B| / (|A| + |B|)."""
    one, other = Counter(_words(first)), Counter(_words(second))
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 1.0


def embedding(first: str, second: str) -> float:
    """Return the cosine of the built-in word vectors, below 0 as 0.

    Raises:
        NoWordVectors: They are not installed.
    """
    found = cosine(word_vectors.embed(first), word_vectors.embed(second))
    return min(1.0, max(0.0, found or 0.0))


class MetricJudge:
    """A metric with its name, and the threshold from which on two texts count as the same."""

    def __init__(self, name: str, threshold: float, measure: Callable[[str, str], float]) -> None:
        self.name, self.threshold, self.measure = name, threshold, measure


METRICS = {
    Metric.ROUGE_L: MetricJudge("ROUGE-L", 0.3, rouge_l),
    Metric.CHRF: MetricJudge("chrF", 0.45, chrf),
    Metric.TOKEN_OVERLAP: MetricJudge("Token overlap", 0.4, token_overlap),
    Metric.EMBEDDING: MetricJudge("Embedding similarity", 0.8, embedding),
}
"""Thresholds are defaults, which nobody tuned: choose others before a trial, not after it."""


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
