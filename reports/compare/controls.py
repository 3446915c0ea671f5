"""The runs compared and the runs offered, for the controls of the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.compare.query import Side
from reports.compare.run_choices_query import offered
from reports.documents.links import page_url
from reports.gate.rule import Limits
from runs.baselines import is_baseline
from runs.models import Run


@dataclass(frozen=True)
class Chosen:
    """A run that is compared; `without_url` leads to the comparison without it."""

    side: Side
    without_url: str
    is_baseline: bool
    may_be_baseline: bool


@dataclass(frozen=True)
class Offered:
    """A run that could be added; `is_near`: its suite is that of a chosen run."""

    run: Run
    url: str
    is_near: bool


def controls(sides: Sequence[Side], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template's context for choosing runs."""
    runs = [side.run for side in sides]
    return {
        "chosen": [_chosen(side, runs) for side in sides],
        "offered": offers(runs, asked["find"]),
        "swap_url": page_url("compare", runs=runs[::-1]) if len(runs) == 2 else "",
        "find": asked["find"],
        "rule": Limits().in_words(),
        "command": " ".join(gate_command(runs)),
    }


def gate_command(runs: Sequence[Run]) -> list[str]:
    """Return the gate's command line for two runs; [] for more or fewer."""
    if len(runs) != 2:
        return []
    first, second = runs
    return ["manage.py", "gate", str(second.pk), "--against", str(first.pk)]


def offers(runs: Sequence[Run], search: str) -> list[Offered]:
    """Return the runs that match the search, those of the same suites first."""
    suites = {run.suite_id for run in runs if run.suite_id is not None}
    found = offered(search, suites=suites, without=runs)
    return [
        Offered(run, page_url("compare", runs=[*runs, run]), run.suite_id in suites)
        for run in found
    ]


def known_tags(sets: Mapping[int, tuple[str, ...]]) -> list[str]:
    """Return the tag names to suggest, sorted."""
    return sorted({name for names in sets.values() for name in names})


def _chosen(side: Side, runs: Sequence[Run]) -> Chosen:
    is_pinned = is_baseline(side.run)
    return Chosen(
        side,
        page_url("compare", runs=[run for run in runs if run.pk != side.run.pk]),
        is_pinned,
        may_be_baseline=side.run.suite is not None and not is_pinned and side.is_done,
    )
