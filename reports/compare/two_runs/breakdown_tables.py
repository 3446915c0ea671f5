"""The change by tag, by issue, and over all tests."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from evalhub.display.charts import Figure
from evalhub.display.formatting import counted
from reports.compare.evidence_rule import Where
from reports.compare.figure import changes_by_line
from reports.compare.form import SHOW
from reports.compare.rule import (
    COMPARED,
    MATCHED,
    Kind,
    Tally,
    counts_of,
    tallies_by,
)
from reports.compare.two_runs.state import KIND_WORDS, TwoRuns
from reports.documents.document import Cell, Column, LazyRows, Link, Table
from runs.comparison.tested_rule import Tested

DRAWN, SHOWN = 25, 8
"""Lines in a figure, and in a table before a line to open."""

DRAWN_NOTE = f"The chart shows at most {DRAWN}, with most flips."

SHOWS: Mapping[Kind, str] = {
    kind: key for key, (_, kinds) in SHOW.items() if key not in ("", "all") for kind in kinds
}
"""The list that has the tests of a kind."""

LINE_COLUMNS = (
    Column("n", "Tests", "count", "Tests compared"),
    Column("worse", "Worse", "count"),
    Column("better", "Better", "count"),
    Column("same", "Same", "count"),
    Column("net", "Net change", "points"),
    Column("p", "p", "p", "For this row alone"),
    Column("p_adjusted", "p, adjusted", "p", "Among all rows; at most 0.05: sure"),
    Column("method", "Method"),
)


@dataclass(frozen=True)
class Line:
    """Compared tests of one tag or issue."""

    key: Hashable
    name: str
    tally: Tally

    @property
    def has_changed(self) -> bool:
        return bool(self.tally.worse or self.tally.better)


def _lines(
    two: TwoRuns, keys_of: Callable[[Tested], Iterable[Hashable]], names: Mapping[Any, str]
) -> list[Line]:
    """Group the compared tests: the largest net loss first, those without a change last."""
    tallies = tallies_by(two.comparison.rows, keys_of)
    lines = [Line(key, names.get(key, str(key)), tally) for key, tally in tallies.items()]
    return sorted(
        lines,
        key=lambda line: (
            not line.has_changed,
            line.tally.better - line.tally.worse,
            line.name,
        ),
    )


def by_tag(two: TwoRuns) -> Table:
    return _table(
        two,
        "tag",
        "By tag",
        _lines(two, lambda tested: two.comparison.tags[tested.tag_set_id], {}),
        two.found.tags if two.found else {},
        note="A test with two tags counts in both. Tags are those of the later run.",
        empty="No compared test has a tag. Add tags to issues.",
    )


def by_issue(two: TwoRuns) -> Table:
    return _table(
        two,
        "issue",
        "By issue",
        _lines(two, lambda tested: [tested.issue_id], two.comparison.issues),
        two.found.issues if two.found else {},
        note="An issue of fewer than 6 changed tests cannot be sure by itself.",
        empty="No tests compared.",
    )


def _table(
    two: TwoRuns,
    kind: str,
    title: str,
    lines: Sequence[Line],
    p_of: Mapping[Any, Where],
    *,
    note: str,
    empty: str,
) -> Table:
    """Make the table of tags or issues; each line leads to its tests."""

    def row(line: Line, these: str) -> tuple[Cell, ...]:
        tally, p = line.tally, p_of.get(line.key, (None, None, None))
        link = Link(line.name, f"{these}&{urlencode({kind: line.key})}")
        return (link, tally.n, tally.worse, tally.better, tally.same, tally.net, *p)

    def load(some: Sequence[Line]) -> list[tuple[Cell, ...]]:
        these = two.url(show="", tag=None, issue=None)
        return [row(line, these) for line in some]

    changed = sum(line.has_changed for line in lines)
    same = sum(line.tally.n for line in lines[changed:])
    shown = min(changed, SHOWN)
    unchanged = f"{counted(len(lines) - changed, kind)} without a change"
    unchanged += f" ({counted(same, 'test')})" if kind == "issue" else ""
    more = [f"{counted(changed - shown, kind)} more"] if changed > shown else []
    more += [unchanged] if same else []
    return Table(
        f"{kind}s",
        title,
        (Column(kind, kind.capitalize(), "link"), *LINE_COLUMNS),
        LazyRows(lines, load),
        note=f"{note} {DRAWN_NOTE}",
        empty=empty,
        draw=lambda: _drawn(lines),
        look="rows",
        describes=f"Tests of each {kind} that got worse and better",
        shown=shown if more else None,
        rest=", ".join(more),
    )


def _drawn(lines: Sequence[Line]) -> Figure | None:
    """Draw the lines with most flips; None where nothing flipped."""
    moved = [line for line in lines if line.has_changed]
    drawn = sorted(moved, key=lambda line: -(line.tally.worse + line.tally.better))[:DRAWN]
    return changes_by_line([(line.name, line.tally) for line in drawn]) if drawn else None


def became(two: TwoRuns) -> Table:
    """Count every test of either run once."""
    counts = counts_of(two.comparison.rows)
    rows = [(kind, KIND_WORDS.get(kind, kind.value), counts[kind]) for kind in Kind if counts[kind]]
    return Table(
        "became",
        "All tests by outcome",
        (
            Column("became", "Change", "link"),
            Column("n", "Tests", "count"),
            Column("is_compared", "Compared"),
            Column("is_matched", "Same test in both runs"),
        ),
        [
            (Link(name, two.url(show=SHOWS[kind])), n, kind in COMPARED, kind in MATCHED)
            for kind, name, n in rows
        ],
        note="Counts, not evidence: p is above. Errors, unscored and unmatched tests are excluded "
        "from rates and from “same”.",
    )
