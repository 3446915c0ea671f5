"""The least share of a run that must be scored to conclude anything from it. Pure.

Results that ended in an error or have no score are not a random part of a run: hard tests time out
more often. A run that lacks too many of them looks better, or worse, than its model is.
"""

from fractions import Fraction

MIN_SCORED = Fraction(95, 100)
"""Least share of a run's results, repeats included, that passed or failed; exact.

A ranking or a watch for drift also needs this share of the judgments that its judges were expected
to give: a score without a silent judge may be higher or lower than with it. Where two sides are
compared, each missing judgment is counted against the conclusion instead.
"""

LEAST_IN_WORDS = f"{float(MIN_SCORED):.0%}"


def is_enough(scored: int, total: int) -> bool:
    """Return whether a run with so many scored results of all its results is conclusive.

    `Run.objects.conclusive` says the same of all runs in one query.
    """
    return total > 0 and scored * MIN_SCORED.denominator >= total * MIN_SCORED.numerator


def scored_words(scored: int, total: int) -> str:
    """Return the scored share in words, such as "16/20 scored", for beside every pass rate."""
    return f"{scored:,}/{total:,} scored"
