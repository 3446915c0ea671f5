"""The threshold of a metric that tells true from false claims best. Pure."""

from collections.abc import Sequence
from itertools import pairwise


def best_threshold(scores: Sequence[tuple[float, bool]]) -> float | None:
    """Return the threshold with the highest balanced accuracy.

    It lies midway between two neighbouring scores; of equally good ones the middle one is taken.

    Args:
        scores: The score and the truth of each claim.

    Returns:
        None without a true or without a false claim, or if all scores are equal.
    """
    true = sorted(score for score, truth in scores if truth)
    false = sorted(score for score, truth in scores if not truth)
    different = sorted({score for score, _ in scores})
    if not true or not false or len(different) < 2:
        return None
    middles = [(low + high) / 2 for low, high in pairwise(different)]
    rated = [(_share_from(true, at) - _share_from(false, at), at) for at in middles]
    best = max(rate for rate, _ in rated)
    found = [at for rate, at in rated if rate == best]
    return found[len(found) // 2]


def _share_from(scores: Sequence[float], threshold: float) -> float:
    return sum(score >= threshold for score in scores) / len(scores)
