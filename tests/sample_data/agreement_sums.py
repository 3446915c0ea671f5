"""Sums of agreement over the judgments of a sample run, as `runs.scoring.agreement` keeps them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evalhub.statistics.agreement import krippendorff
from evalhub.statistics.agreement.alpha_interval import alpha_interval
from runs.models import Judge
from runs.scoring.agreement import SEED, Scales, comparisons_of, scales_of, units_of
from runs.scoring.coverage_rule import JudgeValue
from tests.sample_data.judgments import Judged

UNREADABLE = "unreadable"
"""What all verdicts that fail here failed by."""


class Pattern(NamedTuple):
    """The votes of all judges on one result, and on how many results they voted so."""

    votes: list[JudgeValue]
    results: int


def statistics_of(
    judged: Judged, templates: NDArray[np.int64], judges: Sequence[Judge]
) -> dict[str, Any]:
    """What `runs.scoring.agreement.statistics_of` would find of the same judgments.

    Args:
        templates: With which each result was judged, shape (n,).
        judges: In the order of the columns of the votes.
    """
    heard = ~judged.errors
    votes, of = judged.votes[heard], templates[heard]
    failed = np.isnan(votes).sum(axis=0).tolist()
    scales = scales_of(set(of.tolist()))
    found, kinds = patterns(votes, of, [judge.pk for judge in judges])
    compared = [comparisons_of(pattern.votes) for pattern in found]
    counts = [pattern.results for pattern in found]
    return {
        "judges": {
            str(judge.pk): {"ok": len(votes) - failures, "repaired": 0, "failed": failures}
            for judge, failures in zip(judges, failed, strict=True)
        },
        "failures": {UNREADABLE: sum(failed)} if sum(failed) else {},
        "comparisons": [
            sum(c.made * n for c, n in zip(compared, counts, strict=True)),
            sum(c.expected * n for c, n in zip(compared, counts, strict=True)),
        ],
        "scales": _scales(found, kinds, scales),
    }


def patterns(
    votes: NDArray[np.float64], templates: NDArray[np.int64], judges: Sequence[int]
) -> tuple[list[Pattern], list[int]]:
    """Equal votes by one template are counted together: there are few different ones.

    Returns:
        The patterns, and the place in them of each result's votes.
    """
    # A vote that failed is not equal to itself: it is counted as -1.
    rows = np.column_stack([templates, np.where(np.isnan(votes), -1, votes)])
    distinct, kinds, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    found = [
        Pattern(
            [
                JudgeValue(0, judge, False, None if value < 0 else value, int(template))
                for judge, value in zip(judges, values, strict=True)
            ],
            count,
        )
        for (template, *values), count in zip(distinct.tolist(), counts.tolist(), strict=True)
    ]
    return found, kinds.ravel().tolist()


def _scales(
    found: Sequence[Pattern], kinds: Sequence[int], scales: Scales
) -> dict[str, dict[str, Any]]:
    sums: dict[str, dict[str, Any]] = {}
    for kind, (votes, count) in enumerate(found):
        for units in units_of(votes, scales):
            kept = sums.setdefault(units.scale, {"matrices": {}, "units": 0, "raters": set()})
            kept["matrices"][kind] = krippendorff.coincidences(units.values)
            kept["units"] += count
            kept["raters"] |= units.raters
    for kept in sums.values():
        matrices = kept["matrices"]
        kept["coincidences"] = [matrices[kind] for kind in kinds if kind in matrices]
        interval = alpha_interval(kept["coincidences"], seed=SEED)
        kept["interval"] = None if interval is None else list(interval)
    return {
        scale: {
            "coincidences": krippendorff.as_json(krippendorff.summed(kept["coincidences"])),
            "interval": kept["interval"],
            "units": kept["units"],
            "raters": sorted(kept["raters"]),
        }
        for scale, kept in sums.items()
    }
