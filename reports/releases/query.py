"""Each model of a release against itself in the release before."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from evalhub.statistics.changes.change_test import is_significant
from evalhub.statistics.changes.holm import holm
from reports.compare.pair_changes_query import (
    Change,
    Counted,
    PairChange,
    counts_by_issue,
    pair_changes,
)
from reports.documents.model_lines import LineStyle
from reports.documents.reading import Reading
from reports.overrides.query import reviews_of
from reports.overrides.rule import Reviews
from reports.queries.incomplete_runs import IncompleteRun, newer_than
from reports.queries.names import titles
from reports.queries.run_variants import named_lines
from reports.releases.rule import Candidates, chosen
from reports.trend.series_rule import RunKey
from runs.comparability import COMPARABLE, Comparable, comparability_of_pairs
from runs.figures.rate import Rate, rate_of_issues
from runs.figures.run_figures import spent_in_all
from runs.figures.run_labels import labels_of
from runs.figures.states import current_of
from runs.models import JudgeRun, Result, Run, Suite

MAX_LINES = 12
"""Models on the page: those that were run last."""

Pair = tuple[int, int]
"""An earlier run and a later one."""


@dataclass(frozen=True)
class ReleaseFigures:
    """The figures of a run. `spent_usd` is as in `runs.figures.run_figures.RunFigures`."""

    rate: Rate
    spent_usd: Decimal | None
    is_cost_partial: bool
    current: JudgeRun | None


@dataclass(frozen=True)
class ReleaseLine:
    """A model, in one suite, against itself.

    Attributes:
        before: None where it was not run in the release before; so are the figures `of before`.
        change: p is corrected over all lines, that of issues over all issues of all lines (Holm).
            None: not comparable, or to be computed.
        reviews: What annotators reviewed of the run.
    """

    name: str
    look: LineStyle
    run: Run
    before: Run | None
    figures: ReleaseFigures
    figures_before: ReleaseFigures | None
    comparable: Comparable
    change: PairChange | None
    reviews: Reviews

    @property
    def is_joined(self) -> bool:
        """The two runs may be compared."""
        return self.before is not None and bool(self.comparable)

    @property
    def verdict(self) -> str:
        """Return "worse" or "better"; "" unless the change is significant."""
        return direction(self.change.whole) if self.change else ""

    @property
    def rate_before(self) -> Rate | None:
        return self.figures_before.rate if self.figures_before else None


def direction(change: Change) -> str:
    """Return "worse" or "better"; "" unless the change is significant."""
    if not change.net or not is_significant(change.p):
        return ""
    return "worse" if change.net < 0 else "better"


@dataclass(frozen=True)
class ReleasesReport:
    """A release against the one before; see `rule.ReleaseChoice` for empty names.

    Attributes:
        titles: Of all issues with a significant change.
        left_out: Number of models that are not shown.
        is_pending: The comparisons are left to a second request.
    """

    release: str
    before: str
    lines: tuple[ReleaseLine, ...]
    titles: Mapping[int, str]
    labels: tuple[str, ...]
    left_out: int
    is_pending: bool

    @property
    def with_before(self) -> list[ReleaseLine]:
        return [line for line in self.lines if line.before]

    @property
    def compared(self) -> list[ReleaseLine]:
        return [line for line in self.lines if line.change]

    @property
    def tested_issues(self) -> int:
        """The number of issues, of all models, that their p are corrected for."""
        return sum(len(line.change.issues) for line in self.lines if line.change)

    def issues(self, verdict: str) -> list[tuple[ReleaseLine, int, Change]]:
        """Return the issues of all models that are significantly "worse" or "better", surest first.

        A line is named with each.
        """
        found = [
            (line, issue, change)
            for line in self.compared
            for issue, change in (line.change.issues.items() if line.change else ())
            if direction(change) == verdict
        ]
        return sorted(found, key=lambda one: (one[2].p or 0, one[2].net or 0, one[1]))

    def left_incomplete(self, incomplete: Iterable[IncompleteRun]) -> tuple[IncompleteRun, ...]:
        """Return those of these runs of the release that no run on the page replaces."""
        mine = (one for one in incomplete if self.release in ("", one.run.release))
        return newer_than((line.run for line in self.lines), mine)

    def spent(self, *, before: bool = False) -> Decimal | None:
        """Return the cost of all runs; None without any price."""
        figures = [line.figures_before if before else line.figures for line in self.lines]
        known = [one.spent_usd for one in figures if one and one.spent_usd is not None]
        return sum(known, Decimal(0)) if known else None


def releases_report(
    reading: Reading,
    *,
    suite: Suite | None = None,
    release: str = "",
    before: str = "",
    reviews: Reviews | None = None,
) -> ReleasesReport:
    """Return the report in a constant number of queries; comparisons may be left for later.

    Args:
        suite: Only its runs; None: all suites.
        release: The release that is reported; "" is the newest.
        before: The one that it is set against; "" is the one before it.
        reviews: Of all results, where the caller has read them.
    """
    every = Run.objects.all() if suite is None else suite.runs.all()
    rows = every.conclusive().order_by("-created_at", "-pk")
    fields = ("pk", "suite_id", "variant_key", "release", "created_at")
    keys = [RunKey(pk, str(of), *rest) for pk, of, *rest in rows.values_list(*fields)]
    choice = chosen(keys, release, before)
    # What was run before can be compared.
    shown = sorted(choice.candidates, key=lambda one: not one.before)[:MAX_LINES]
    lines, is_pending = _lines(shown, reading, reviews)
    named = {issue for line in lines for issue in _changed(line)}
    return ReleasesReport(
        release=choice.release,
        before=choice.before,
        lines=lines,
        titles=titles(named),
        labels=_labels(lines),
        left_out=len(choice.candidates) - len(shown),
        is_pending=is_pending,
    )


def _changed(line: ReleaseLine) -> Iterator[int]:
    if line.change:
        yield from (pk for pk, change in line.change.issues.items() if direction(change))


def _labels(lines: Iterable[ReleaseLine]) -> tuple[str, ...]:
    found = ((line.run, line.figures.current) for line in lines)
    return tuple(sorted({label for pair in found for label in labels_of(*pair)}))


def _lines(
    candidates: Sequence[Candidates], reading: Reading, reviews: Reviews | None
) -> tuple[tuple[ReleaseLine, ...], bool]:
    comparable = comparability_of_pairs(pair for one in candidates for pair in one.pairs)
    pairs = [one.pick(comparable) for one in candidates]
    ids = {run for pair in pairs for run in pair if run is not None}
    runs = {run.pk: run for run in Run.objects.filter(pk__in=ids).select_related("suite")}
    counts = counts_by_issue(ids)
    figures = _figures(runs, counts)
    newest = [runs[now] for _, now in pairs]
    variants = {run.variant_key: run for run in newest}
    names, looks = named_lines(list(variants.values()), (), by_family=False)
    several = len({run.suite_id for run in newest}) > 1
    if reviews is None:
        reviews = reviews_of(Result.objects.filter(run__in=[run.pk for run in newest]))
    joined = [(old, now) for old, now in pairs if old is not None and comparable[old, now]]
    changes = _changes(joined, runs, counts, reading)
    lines = [
        ReleaseLine(
            name=names[run.variant_key] + (f" · {run.suite or 'no suite'}" if several else ""),
            look=looks[run.variant_key],
            run=run,
            before=runs.get(old or 0),
            figures=figures[run.pk],
            figures_before=figures.get(old or 0),
            comparable=comparable[old, now] if old is not None else COMPARABLE,
            change=changes.get((old or 0, now)),
            reviews=reviews.of_runs([run.pk]),
        )
        for (old, now), run in zip(pairs, newest, strict=True)
    ]
    return tuple(sorted(corrected(lines), key=_worst_first)), bool(joined) and not changes


def _worst_first(line: ReleaseLine) -> tuple[bool, bool, float]:
    net = line.change.whole.net if line.change else None
    return line.verdict != "worse", not line.is_joined, net or 0


def _figures(
    runs: Mapping[int, Run], counts: Mapping[int, Sequence[Counted]]
) -> dict[int, ReleaseFigures]:
    """Return the figures of each of these runs; one query."""
    judge_runs: dict[int, list[JudgeRun]] = defaultdict(list)
    for judge_run in JudgeRun.objects.filter(run__in=runs).order_by("number").defer("statistics"):
        judge_runs[judge_run.run_id].append(judge_run)
    found = {}
    for pk, run in runs.items():
        issues = [(one.passed, one.passed + one.failed) for one in counts[pk]]
        total = sum(one.total for one in counts[pk])
        rate = rate_of_issues(issues, answers=run.repeats, total=total)
        mine = judge_runs[pk]
        found[pk] = ReleaseFigures(rate, *spent_in_all(run, mine), current_of(mine))
    return found


def _changes(
    pairs: Sequence[Pair],
    runs: Mapping[int, Run],
    counts: Mapping[int, Sequence[Counted]],
    reading: Reading,
) -> Mapping[Pair, PairChange]:
    """Compare these pairs of comparable runs; empty while they are computed."""
    if not pairs:
        return {}
    single = [all(runs[pk].repeats == 1 for pk in pair) for pair in pairs]
    joined = sorted({pk for pair in pairs for pk in pair})
    inputs = [pairs, single, [sorted(counts[pk]) for pk in joined]]
    found = reading.computed(
        "releases-2", inputs, list[PairChange], lambda: pair_changes(pairs, single)
    )
    return dict(zip(pairs, found or (), strict=False))


def corrected(lines: Sequence[ReleaseLine]) -> tuple[ReleaseLine, ...]:
    """Correct the p of all models together, and that of the issues of all models (Holm)."""
    wholes = holm([line.change.whole.p if line.change else None for line in lines])
    places = [
        (place, issue, change.p)
        for place, line in enumerate(lines)
        for issue, change in (line.change.issues.items() if line.change else ())
    ]
    of_issues: dict[int, dict[int, float | None]] = defaultdict(dict)
    for (place, issue, _), p in zip(places, holm([p for _, _, p in places]), strict=True):
        of_issues[place][issue] = p
    return tuple(
        replace(
            line,
            change=replace(
                line.change,
                whole=replace(line.change.whole, p=wholes[place]),
                issues={
                    issue: replace(change, p=of_issues[place][issue])
                    for issue, change in line.change.issues.items()
                },
            ),
        )
        if line.change
        else line
        for place, line in enumerate(lines)
    )
