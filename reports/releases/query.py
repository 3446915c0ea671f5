"""Each model of a release against itself in the release before."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet

from evalhub.statistics.changes.conclusion import ORDER, Basis, Word
from evalhub.statistics.changes.lost_issues import LostIssue
from evalhub.work.cost_total import Spent, added, spent_by
from reports.compare.attempts_query import Attempts, Runs, attempts_of
from reports.compare.pair_changes_query import PairChange, pair_changes
from reports.documents.model_lines import LineStyle, difference
from reports.documents.reading import Reading
from reports.overrides.query import reviews_of
from reports.overrides.rule import Reviews
from reports.queries.incomplete_runs import IncompleteRun, newer_than
from reports.queries.names import titles
from reports.queries.run_variants import named_lines, variant_of
from reports.releases.reference_query import ReferenceLook, reference_looks
from reports.releases.rule import ReleaseChoice, chosen
from runs.comparison.comparability import comparability_of_pairs
from runs.comparison.comparability_rule import COMPARABLE, Comparable
from runs.comparison.opponent_rule import ReleasedRun
from runs.comparison.release_order import newest_first
from runs.comparison.release_order_rule import ReleaseOrder
from runs.figures.rate import Rate
from runs.figures.run_labels import labels_of
from runs.figures.states import current_of
from runs.figures.tallies import Group, groups_of, tallies_of_runs
from runs.models import JudgeRun, Release, Result, Run, Suite

MAX_LINES = 12
"""Lines on the page: the significant changes first. All are compared, counted and corrected for."""

Pair = tuple[int, int]
"""An earlier run and a later one."""


@dataclass(frozen=True)
class ReleaseFigures:
    """The figures of a run, with its other attempts."""

    rate: Rate
    spent: Spent
    current: JudgeRun | None


@dataclass(frozen=True)
class ReleaseCost:
    """The cost of all runs of a release, incomplete and repeated ones too."""

    runs: int
    spent: Spent


@dataclass(frozen=True)
class ReleaseLine:
    """A model, in one suite, against itself.

    Attributes:
        before: None where it was not run in the release before, with any settings; so are the
            figures `of before`.
        change: None: not comparable, or to be computed.
        reviews: What annotators reviewed of the run and its other attempts.
        attempts: Of the run, pooled in rate, change and cost.
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
    attempts: Attempts

    @property
    def is_joined(self) -> bool:
        """The two runs may be compared."""
        return self.before is not None and bool(self.comparable)

    @property
    def cause(self) -> str:
        """What differs from the run before, such as "with a new system prompt"; "" for nothing."""
        if self.before is None or self.before.variant_key == self.run.variant_key:
            return ""
        return difference(variant_of(self.before), variant_of(self.run))

    @property
    def full_name(self) -> str:
        """Return the name with its cause."""
        return ", ".join(filter(None, [self.name, self.cause]))

    @property
    def word(self) -> Word:
        return self.change.conclusion.word if self.change else Word.NOTHING

    @property
    def basis(self) -> Basis:
        return self.change.conclusion.basis if self.change else Basis.JUDGES

    @property
    def rate_before(self) -> Rate | None:
        return self.figures_before.rate if self.figures_before else None

    @property
    def is_refused(self) -> bool:
        """The two runs may not be compared; `comparable` says why."""
        return self.before is not None and not self.comparable


@dataclass(frozen=True)
class ReleasesReport:
    """A release against the one before; see `rule.ReleaseChoice` for empty names.

    Attributes:
        lines: Of all models and suites, losses first.
        cost: Of all runs of the release; `cost_before` of those of the one before.
        reviews: What annotators reviewed of all runs of the release.
        looks: At the fixed references of the lines shown, as far as `before` is another release.
        titles: Of all issues of which more was lost than won.
        is_pending: The comparisons are left to a second request.
    """

    release: str
    before: str
    lines: tuple[ReleaseLine, ...]
    cost: ReleaseCost
    cost_before: ReleaseCost
    reviews: Reviews
    titles: Mapping[int, str]
    labels: tuple[str, ...]
    looks: tuple[ReferenceLook, ...]
    is_pending: bool

    @property
    def shown(self) -> tuple[ReleaseLine, ...]:
        """The lines that the page lists, losses first."""
        return self.lines[:MAX_LINES]

    @property
    def cost_alike(self) -> tuple[Spent, Spent] | None:
        """What the models and suites of both releases cost before and now; None: there are none."""
        both = [
            (line.figures_before.spent, line.figures.spent)
            for line in self.lines
            if line.figures_before
        ]
        if not both:
            return None
        before, now = (added(side) for side in zip(*both, strict=True))
        return before, now

    @property
    def compared(self) -> list[ReleaseLine]:
        return [line for line in self.lines if line.change]

    def with_word(self, *words: Word) -> list[ReleaseLine]:
        """Return the lines with one of these conclusions."""
        return [line for line in self.compared if line.word in words]

    def lost_issues(self) -> list[tuple[ReleaseLine, LostIssue, bool]]:
        """Return the issues of which more was lost than won, with whether that is sure.

        Sure ones first, then by rising p; a line is named with each.
        """
        found = [
            (line, issue, is_sure) for line in self.compared for issue, is_sure in _losses(line)
        ]
        return sorted(found, key=lambda one: (not one[2], one[1].p, one[1].issue))

    def left_incomplete(self, incomplete: Iterable[IncompleteRun]) -> tuple[IncompleteRun, ...]:
        """Return those of these runs of the release that no run on the page replaces."""
        mine = (one for one in incomplete if self.release in ("", one.run.release))
        return newer_than((line.run for line in self.lines), mine)


def models_in(lines: Iterable[ReleaseLine]) -> int:
    """Count the models of these lines: one may have several settings, and run in several suites."""
    return len({line.run.language_model_id for line in lines})


def releases_report(
    reading: Reading,
    *,
    suite: Suite | None = None,
    release: str = "",
    before: str = "",
) -> ReleasesReport:
    """Return the report in a constant number of queries; comparisons may be left for later.

    Args:
        suite: Only its runs; None: all suites.
        release: The release that is reported; "" is the newest.
        before: The one that it is set against; "" is the one before it.
    """
    every = Run.objects.all() if suite is None else suite.runs.all()
    order = Release.objects.in_order()
    newest = newest_first(every.conclusive(), order)
    choice = chosen(newest, order, release, before)
    comparable = comparability_of_pairs(pair for one in choice.candidates for pair in one.pairs)
    pairs = [one.pick(comparable) for one in choice.candidates]
    runs = _runs(every, choice, pairs)
    attempts = attempts_of(runs[pk] for pair in pairs for pk in pair if pk is not None)
    now, old = _sides(runs, choice, pairs)
    judge_runs = _judge_runs(runs)
    reviews = reviews_of(Result.objects.filter(run__in=[run.pk for run in now]))
    lines, is_pending = _lines(pairs, comparable, runs, attempts, judge_runs, reviews, reading)
    lost = {issue.issue for line in lines for issue, _ in _losses(line)}
    return ReleasesReport(
        release=choice.release,
        before=choice.before,
        lines=lines,
        cost=_cost(now, judge_runs),
        cost_before=_cost(old, judge_runs),
        reviews=reviews,
        titles=titles(lost),
        labels=_labels(lines),
        looks=_looks(lines[:MAX_LINES], reading, order, newest) if choice.release else (),
        is_pending=is_pending,
    )


def _runs(
    every: QuerySet[Run], choice: ReleaseChoice, pairs: Sequence[tuple[int | None, int]]
) -> dict[int, Run]:
    """Return the runs of both releases and of the pairs, by id; one query."""
    names = [name for name in (choice.release, choice.before) if name]
    ids = [pk for pair in pairs for pk in pair if pk is not None]
    rows = every.filter(Q(pk__in=ids) | Q(release__in=names)).select_related("suite")
    return {run.pk: run for run in rows}


def _sides(
    runs: Mapping[int, Run], choice: ReleaseChoice, pairs: Sequence[tuple[int | None, int]]
) -> tuple[list[Run], list[Run]]:
    """Return all runs of the release, then those of the one before; without names, of the pairs."""
    if not choice.release:
        return [runs[now] for _, now in pairs], [runs[old] for old, _ in pairs if old is not None]
    now = [run for run in runs.values() if run.release == choice.release]
    old = [run for run in runs.values() if choice.before and run.release == choice.before]
    return now, old


def _judge_runs(runs: Collection[int]) -> dict[int, list[JudgeRun]]:
    judge_runs: dict[int, list[JudgeRun]] = defaultdict(list)
    for judge_run in JudgeRun.objects.filter(run__in=runs).order_by("number").defer("statistics"):
        judge_runs[judge_run.run_id].append(judge_run)
    return judge_runs


def _cost(runs: Sequence[Run], judge_runs: Mapping[int, list[JudgeRun]]) -> ReleaseCost:
    every = (part for run in runs for part in (run, *judge_runs[run.pk]))
    return ReleaseCost(len(runs), spent_by(every))


def _looks(
    lines: Sequence[ReleaseLine],
    reading: Reading,
    order: ReleaseOrder,
    newest: Sequence[ReleasedRun],
) -> tuple[ReferenceLook, ...]:
    names = [(line.run.pk, line.name) for line in lines]
    but = {(line.before.pk, line.run.pk) for line in lines if line.before}
    return reference_looks(names, but, reading, order, newest)


def _losses(line: ReleaseLine) -> Iterator[tuple[LostIssue, bool]]:
    reading = line.change.conclusion.reading if line.change else None
    if reading is not None:
        yield from ((one, True) for one in reading.lost.found)
        yield from ((one, False) for one in reading.lost.others)


def _labels(lines: Iterable[ReleaseLine]) -> tuple[str, ...]:
    judged = ((line.run, line.figures.current) for line in lines)
    return tuple(sorted({label for pair in judged for label in labels_of(*pair)}))


def _lines(
    pairs: Sequence[tuple[int | None, int]],
    comparable: Mapping[Pair, Comparable],
    runs: Mapping[int, Run],
    attempts: Mapping[int, Attempts],
    judge_runs: Mapping[int, list[JudgeRun]],
    reviews: Reviews,
    reading: Reading,
) -> tuple[tuple[ReleaseLine, ...], bool]:
    """Return the lines, and whether their comparisons are left for later."""
    sides = {pk: [runs[one] for one in of.pooled] for pk, of in attempts.items()}
    pooled = {run.pk: pk for pk, side in sides.items() for run in side}
    tallies = tallies_of_runs(pooled, of_judges=True)
    groups = groups_of(tallies, lambda tally: [pooled[tally.run_id]])
    figures = {
        pk: _figures(side, groups.get(pk, Group()), judge_runs) for pk, side in sides.items()
    }
    newest = [runs[now] for _, now in pairs]
    variants = {run.variant_key: run for run in newest}
    names, looks = named_lines(variants)
    suites = {runs[now].suite_id for old, now in pairs if old is not None}
    if len(suites) != 1:  # the only suite that is compared needs no name
        suites = {newest[0].suite_id} if len({run.suite_id for run in newest}) == 1 else set()
    joined = [(old, now) for old, now in pairs if old is not None and comparable[old, now]]
    of_sides = [(attempts[old].pooled, attempts[now].pooled) for old, now in joined]
    changes = dict(zip(joined, _changes(of_sides, reading), strict=False))
    lines = [
        ReleaseLine(
            name=names[run.variant_key]
            + ("" if run.suite_id in suites else f" · {run.suite or 'no suite'}"),
            look=looks[run.variant_key],
            run=run,
            before=runs.get(old or 0),
            figures=figures[run.pk],
            figures_before=figures.get(old or 0),
            comparable=comparable[old, now] if old is not None else COMPARABLE,
            change=changes.get((old or 0, now)),
            reviews=reviews.of_runs(attempts[run.pk].pooled),
            attempts=attempts[run.pk],
        )
        for (old, now), run in zip(pairs, newest, strict=True)
    ]
    return tuple(sorted(lines, key=_losses_first)), bool(joined) and not changes


def _losses_first(line: ReleaseLine) -> tuple[int, bool, bool, float]:
    """Order by conclusion, losses first, then what is compared; last what was not run before."""
    net = line.change.whole.net if line.change else None
    return ORDER.index(line.word), line.before is None, not line.is_joined, net or 0


def _figures(
    side: Sequence[Run], group: Group, judge_runs: Mapping[int, list[JudgeRun]]
) -> ReleaseFigures:
    """Return the figures of a run, its attempts pooled; they come newest first."""
    spent = spent_by([part for run in side for part in (run, *judge_runs[run.pk])])
    rate = group.rate(answers=sum(run.repeats for run in side))
    return ReleaseFigures(rate, spent, current_of(judge_runs[side[0].pk]))


def _changes(pairs: Sequence[tuple[Runs, Runs]], reading: Reading) -> Sequence[PairChange]:
    """Compare these pairs of comparable sides; empty while they are computed."""
    if not pairs:
        return ()
    changes = reading.computed(
        "releases-3",
        [pairs],
        list[PairChange],
        lambda: pair_changes(pairs),
        of={run for pair in pairs for runs in pair for run in runs},
    )
    return changes or ()
