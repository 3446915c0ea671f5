"""Cards and sentences that list several comparisons, none of which has a change.

From "The unit of evidence": p is corrected for all that one card, table or sentence lists together.
So at most 5 % of first pages may call any of 8 unchanged models, or any of their issues, worse or
better; at most 5 % of comparisons any tag or any issue; at most 5 % of trends any tag of any line;
and at most 5 % of heat maps may name an issue on which models differ, where all are equal on every
test.

Headline and rows never contradict each other: a row that holds all tests says what the headline
says. Where one whole issue of many is lost, its row has to say so. The headline seldom can, and the
gate with it: one issue of 20 is one unit of evidence, and by chance an issue may come and go whole.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import fields
from functools import partial
from types import SimpleNamespace
from typing import Any

import django
import numpy as np
from django.apps import apps
from numpy.typing import NDArray

from evalhub.statistics.changes.change_test import is_significant
from reports.compare.evidence_rule import Findings, Sample, findings
from reports.heatmap.spread_rule import RunTest, spreads
from tests.bench.validity import Check, one_in

FEW = (0.0, 0.05)
MODELS, ISSUES, TESTS = 8, 10, 20
"""Models, issues, and tests of each issue: enough that a single issue can be significant."""


def two_runs(rng: np.random.Generator, *, loss: float = 0) -> Findings:
    """Compare two runs of equal models, each test with its own rate; the second fails more."""
    n = ISSUES * TESTS
    first, second = rng.random((2, n)) < rng.beta(1, 1, n)
    return compare(first, second & (rng.random(n) >= loss), ISSUES)


def compare(first: NDArray[np.bool_], second: NDArray[np.bool_], n_issues: int) -> Findings:
    """Compare the passes of two runs; every test has the tag "all"."""
    n = len(first)
    issues = tuple(place % n_issues for place in range(n))
    return findings(
        Sample(
            changes=tuple((second.astype(float) - first).tolist()),
            times=(1,) * n,
            issues=issues,
            tags=tuple(("all", f"tag {issue % 5}") for issue in issues),
            weights=(1.0,) * n,
            scores=(None,) * n,
            single=True,
        )
    )


def rows_told(kind: str, draws: int) -> float:
    """Return the share of comparisons of which any tag or issue is significant."""
    rng = np.random.default_rng(len(kind))
    found = 0
    for _ in range(draws):
        rows = getattr(two_runs(rng), kind).values()
        found += any(one.holm is not None and one.holm <= 0.05 for one in rows)
    return found / draws


def contradictions(draws: int) -> float:
    """Return the share of comparisons in which the row of all tests has another p."""
    rng = np.random.default_rng(4)
    found = 0
    for _ in range(draws):
        one = two_runs(rng, loss=0.15)
        found += one.tags["all"].p != one.evidence.p
    return found / draws


def lost_issue_told(draws: int, *, by_row: bool) -> float:
    """Return the share in which one whole issue of 20 × 10 tests, among 2 % noise, is told."""
    rng = np.random.default_rng(6)
    lost = np.arange(200) % 20 == 0
    found = 0
    for _ in range(draws):
        flips = rng.random((2, 200)) < 0.02
        one = compare(~flips[0] | lost, ~flips[1] & ~lost, 20)
        found += is_significant(one.issues[0].holm if by_row else one.evidence.p)
    return found / draws


def set_up() -> None:
    if not apps.ready:
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "evalhub.settings")
        os.environ.setdefault("EVALHUB_DEBUG", "1")
        django.setup()


def trends_told(draws: int) -> float:
    """Return the share of trends of unchanged models that call any tag changed."""
    set_up()
    from reports.compare.pair_changes_query import Change, PairChange
    from reports.compare.rule import Tally
    from reports.trend.last_changes_query import changes_by_tag

    def change(rng: np.random.Generator) -> PairChange:
        n = ISSUES * TESTS
        first, second = rng.random((2, n)) < rng.beta(1, 1, n)
        found, tag_of = compare(first, second, ISSUES), np.arange(n) % ISSUES % 5
        tags = {
            name: Change(
                Tally(
                    int((first & ~second)[mine].sum()),
                    int((second & ~first)[mine].sum()),
                    int((first == second)[mine].sum()),
                ),
                float(second[mine].mean() - first[mine].mean()),
                found.tags[name].p,
            )
            for name, mine in {
                "all": np.full(n, True),
                **{f"tag {tag}": tag_of == tag for tag in range(5)},
            }.items()
        }
        whole = Change(Tally(0, 0, 0), None, found.evidence.p)
        return PairChange(whole, "", {}, tags, dict.fromkeys(tags, ""))

    rng = np.random.default_rng(9)
    lines: list[Any] = [SimpleNamespace(name=str(line)) for line in range(MODELS)]
    trends = (changes_by_tag(lines, [change(rng) for _ in lines]) for _ in range(draws))
    return sum(any(is_significant(one.holm) for one in trend) for trend in trends) / draws


def first_pages_told(draws: int, *, of: str) -> float:
    """Return the share of first pages that call any unchanged model, or any issue, changed."""
    set_up()
    from reports.compare.pair_changes_query import Change, PairChange
    from reports.compare.rule import Tally
    from reports.releases.query import ReleaseLine, corrected

    def line(found: Findings) -> ReleaseLine:
        whole = Change(Tally(0, 0, 0), None, found.evidence.p)
        issues = {issue: Change(Tally(0, 0, 0), None, one.p) for issue, one in found.issues.items()}
        unused: dict[str, Any] = dict.fromkeys(field.name for field in fields(ReleaseLine))
        return ReleaseLine(**unused | {"change": PairChange(whole, found.evidence.rule, issues)})

    def is_told(one: ReleaseLine) -> bool:
        assert one.change is not None
        changes = [one.change.whole] if of == "models" else one.change.issues.values()
        return any(is_significant(change.p) for change in changes)

    rng = np.random.default_rng(8)
    pages = (corrected([line(two_runs(rng)) for _ in range(MODELS)]) for _ in range(draws))
    return sum(any(map(is_told, page)) for page in pages) / draws


def maps_told(draws: int) -> float:
    """Return the share of heat maps of equal models that name an issue."""
    rng = np.random.default_rng(3)
    found = 0
    for _ in range(draws):
        found += any(one.holm <= 0.05 for one in spreads(_map(rng)).values())
    return found / draws


def _map(rng: np.random.Generator) -> list[RunTest]:
    rates = rng.beta(1, 1, (ISSUES, TESTS))
    passed: NDArray[np.bool_] = rng.random((MODELS, ISSUES, TESTS)) < rates
    return [
        RunTest(issue, model, issue * TESTS + test, issue, float(passed[model, issue, test]))
        for model, issue, test in np.ndindex(passed.shape)
    ]


def checks() -> Iterator[Check]:
    measures: dict[str, Callable[[int], float]] = {
        "first pages with any model called changed": partial(first_pages_told, of="models"),
        "first pages with any issue called changed": partial(first_pages_told, of="issues"),
        "trends with any tag called changed": trends_told,
        "tables of tags with any called changed": partial(rows_told, "tags"),
        "tables of issues with any called changed": partial(rows_told, "issues"),
        "heat maps that name an issue": maps_told,
    }
    for name, measure in measures.items():
        yield Check(f"multiplicity: no change, {name}", *FEW, one_in(20, measure))
    name = "multiplicity: 15% lost: headline and row of all tests disagree"
    yield Check(name, 0, 0, one_in(20, contradictions))
    name = "multiplicity: one whole issue of 20 × 10 tests lost among 2% noise: told"
    row, headline = (one_in(20, partial(lost_issue_told, by_row=one)) for one in (True, False))
    yield Check(f"{name} by its row", 0.8, 1, row)
    yield Check(f"{name} by the headline and the gate", 0, 1, headline, "documented")
