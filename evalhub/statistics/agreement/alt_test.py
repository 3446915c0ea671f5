"""The alternative annotator test: does a judge agree with readers as well as they do? Pure."""

from collections.abc import Mapping, Sequence
from math import inf, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

from evalhub.statistics.student import student_share

MIN_READERS, MIN_ANSWERS = 3, 50
ALLOWANCE = 0.15
"""For trained readers; 0.2 for experts, 0.1 for a crowd."""

LEVEL = 0.05


class AltTest(NamedTuple):
    """A judge beside readers: a description, never a reason to trust it.

    Where most answers pass, a judge that passes everything does well in it.

    Attributes:
        advantage: Mean over readers of the share of answers on which the judge agrees with the
            others at least as often as the reader does, in [0, 1].
        beaten: Share of the readers whom it beats for sure, within the allowance, in [0, 1].
        p: By reader, one-sided, not corrected.
        is_enough: There are three readers or more, each with 50 answers that others read too.
    """

    advantage: float
    beaten: float
    p: Mapping[int, float]
    is_enough: bool


def alt_test(
    judged: Sequence[float],
    read: Sequence[Mapping[int, float]],
    *,
    allowance: float = ALLOWANCE,
    level: float = LEVEL,
) -> AltTest | None:
    """Compare a judge with each reader by how they agree with the other readers.

    Args:
        judged: The judge's verdicts, shape (answers,).
        read: Of the same answers, the verdict of each reader.
        allowance: By which a judge may do worse, as it costs less, in [0, 1).
        level: Of all readers together (Benjamini-Yekutieli), in (0, 1).

    Returns:
        None if no reader shares two answers with another one.

    Source: N. Calderon, R. Reichart, R. Dror (2025), arXiv:2501.10970.
    """
    p, advantages, fewest = {}, [], inf
    for reader in sorted({one for verdicts in read for one in verdicts}):
        ahead, behind = [], []
        for verdict, verdicts in zip(judged, read, strict=True):
            others = [one for who, one in verdicts.items() if who != reader]
            if reader in verdicts and others:
                by_judge = sum(one == verdict for one in others)
                by_reader = sum(one == verdicts[reader] for one in others)
                ahead.append(by_judge >= by_reader)
                behind.append(by_reader >= by_judge)
        if len(ahead) < 2:
            continue
        p[reader] = _p([float(b) - a for a, b in zip(ahead, behind, strict=True)], allowance)
        advantages.append(fmean(ahead))
        fewest = min(fewest, len(ahead))
    if not p:
        return None
    is_enough = len(p) >= MIN_READERS and fewest >= MIN_ANSWERS
    return AltTest(fmean(advantages), _rejected(sorted(p.values()), level) / len(p), p, is_enough)


def _p(differences: Sequence[float], allowance: float) -> float:
    """Return p of Student's paired test that the reader is not ahead by the allowance or more."""
    ahead = fmean(differences) - allowance
    error = stdev(differences) / sqrt(len(differences))
    if not error:
        return 0.0 if ahead < 0 else 1.0
    within = student_share(abs(ahead) / error, len(differences) - 1)
    return (1 - within) / 2 if ahead < 0 else (1 + within) / 2


def _rejected(p: Sequence[float], level: float) -> int:
    """Return how many are rejected at a false discovery rate under any dependence.

    Source: Y. Benjamini, D. Yekutieli (2001), doi:10.1214/aos/1013699998.
    """
    share = level / (len(p) * sum(1 / n for n in range(1, len(p) + 1)))
    return max((n for n, one in enumerate(p, 1) if one <= n * share), default=0)
