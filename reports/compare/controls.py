"""The runs compared and the runs offered, for the controls of the page."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Value, When

from reports.compare.query import Side
from reports.documents.links import page_url
from reports.gate.query import policy_of
from reports.queries.names import run_search
from runs.comparison.baselines import baselines_of
from runs.models import Run

SHOWN = 25
"""Runs offered at a time; a search finds the others."""

FIELDS = ("label", "model_name", "release", "created_at", "suite_id")


def offered(search: str, *, suites: Collection[int], without: Sequence[Run]) -> list[Run]:
    """Return runs that match the search: those of the given suites first, then newest first."""
    wanted = run_search(search)
    near = Case(When(suite__in=suites, then=Value(0)), default=Value(1))
    runs = Run.objects.filter(wanted).exclude(pk__in=[run.pk for run in without])
    shown = runs.select_related("suite").only(*FIELDS, "suite__name")
    return list(shown.order_by(near, "-pk")[:SHOWN])


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


def controls(sides: Sequence[Side], filters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the template's context for choosing runs."""
    runs = [side.run for side in sides]
    are_two = len(runs) == 2
    of_suites = baselines_of({run.suite_id for run in runs if run.suite_id})
    baselines = {pk for some in of_suites.values() for pk in some}
    return {
        "chosen": [
            Chosen(
                side,
                page_url("compare", runs=[run for run in runs if run.pk != side.run.pk]),
                is_baseline=side.run.pk in baselines,
                may_be_baseline=side.run.suite is not None
                and side.run.pk not in baselines
                and side.is_done,
            )
            for side in sides
        ],
        "offered": offers(runs, filters["find"]),
        "swap_url": page_url("compare", runs=runs[::-1]) if are_two else "",
        "find": filters["find"],
        "rule": policy_of(runs[-1]).in_words() if runs else "",
        "command": f"manage.py gate {runs[1].pk} --against {runs[0].pk}" if are_two else "",
    }


def offers(runs: Sequence[Run], search: str) -> list[Offered]:
    """Return the runs that match the search, those of the same suites first."""
    suites = {run.suite_id for run in runs if run.suite_id is not None}
    return [
        Offered(run, page_url("compare", runs=[*runs, run]), run.suite_id in suites)
        for run in offered(search, suites=suites, without=runs)
    ]


def known_tags(sets: Mapping[int, tuple[str, ...]]) -> list[str]:
    """Return the tag names to suggest, sorted."""
    return sorted({name for names in sets.values() for name in names})
