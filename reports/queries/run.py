"""The report of one run: one function gives all its figures to page, download and API alike."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count

from evalhub.llm import word_vectors
from evalhub.models import Call, User
from issues.models import Issue
from reports.queries.grid import Grid, Sheet
from reports.queries.latency import Latency, latency_of
from reports.queries.overrides import Override, overrides_of
from reports.queries.panel import Panel, panel_of
from reports.queries.progress import (
    Answered,
    Assessed,
    Progress,
    assessed_of,
    progress_of,
)
from runs.filters import Filters
from runs.labels import labels_of
from runs.models import Judging, Outcome, Result, Run, TagSet
from runs.states import current_of
from runs.tallies import Cell, Counts, Rate, Score, cells_of, counts_of, rate_of, score_of


@dataclass(frozen=True)
class Line:
    """An issue's or a tag's share of a run. `issue_id` is None for a tag."""

    name: str
    issue_id: int | None
    counts: Counts
    rate: Rate

    @property
    def failure_share(self) -> float | None:
        """Of the decided results; None where none is decided."""
        return None if self.rate.share is None else 1 - self.rate.share


@dataclass(frozen=True)
class Usage:
    """What the candidate used: sums over the results where it was measured, `with_…` of them.

    `answered` are all that have an answer or ended in an error.
    """

    tokens_in: int | None
    tokens_out: int | None
    with_tokens: int
    cost_usd: Decimal | None
    with_cost: int
    answered: int


@dataclass(frozen=True)
class Failure:
    """Calls of one role that failed in one way, retried ones included."""

    role: str
    kind: str
    n: int


@dataclass(frozen=True)
class Heavy:
    """A test that counts more or less than others in the score."""

    test_id: int
    issue: str
    weight: float


@dataclass(frozen=True)
class Similarity:
    """How similarity to the reference answers enters the scores.

    `weight` is its share of a score; `model` what embeds the texts; `alone`: tests that nothing
    judges are scored by it. It was measured for `measured` of `answered` results.
    """

    weight: float
    model: str
    alone: bool
    measured: int
    answered: int


@dataclass(frozen=True)
class RunReport:
    """All figures of one run.

    `issues` are sorted worst first; `tags` by name, a result counting once for each of its tags.
    `panel` is None where nobody judges, `similarity` where it has no part in the scores. `heavy`
    are tests whose weight is not 1, the heaviest first. `errors` are results that ended in an
    error, by kind.
    Figures are over all results; `grid` alone follows the filters.
    """

    run: Run
    judgings: tuple[Judging, ...]
    current: Judging | None
    progress: Progress
    counts: Counts
    rate: Rate
    score: Score
    heavy: tuple[Heavy, ...]
    similarity: Similarity | None
    overridden: int
    disputed: int
    issues: tuple[Line, ...]
    tags: tuple[Line, ...]
    usage: Usage
    latency: Latency | None
    panel: Panel | None
    overrides: tuple[Override, ...]
    errors: tuple[tuple[str, int], ...]
    failures: tuple[Failure, ...]
    grid: Grid

    @property
    def juries_differ(self) -> bool:
        """Whether its judgings cannot be compared, as they did not judge alike."""
        return len({judging.jury_fingerprint for judging in self.judgings}) > 1

    @property
    def labels(self) -> tuple[str, ...]:
        """What must be known of the figures wherever they appear."""
        return labels_of(self.run, self.current)


def run_report(run: Run, filters: Filters, *, reader: User) -> RunReport:
    """The figures of a run as one reader may see them; the number of queries is constant."""
    judgings = judgings_of(run)
    current = current_of(judgings)
    cells = cells_of([run.pk])
    overridden = sum(cell.overridden for cell in cells)
    assessed = assessed_of(judgings)
    answered = Answered(counts_of(cells), sum(cell.answered for cell in cells))
    progress = progress_of(run, judgings, answered=answered, assessed=assessed)
    return RunReport(
        run=run,
        judgings=tuple(judgings),
        current=current,
        progress=progress,
        counts=answered.counts,
        rate=rate_of(cells, repeats=run.repeats),
        score=score_of(cells),
        heavy=_heavy(run),
        similarity=_similarity(run, cells),
        overridden=overridden,
        disputed=sum(cell.disputed for cell in cells),
        issues=issue_lines(cells, run.repeats),
        tags=tag_lines(cells, run.repeats),
        usage=usage_of(cells, progress.answered),
        latency=latency_of(run),
        panel=_panel(run, current, assessed),
        overrides=overrides_of(run, current, reader) if overridden else (),
        errors=_errors(run),
        failures=_failures(run, judgings),
        grid=Sheet(run, current, reader).page(filters),
    )


def _panel(run: Run, current: Judging | None, assessed: dict[int, Assessed]) -> Panel | None:
    if current is None or not current.jury.get("judges"):
        return None
    return panel_of(run, current, assessed.get(current.pk, Assessed()))


def _heavy(run: Run) -> tuple[Heavy, ...]:
    rows = Result.objects.filter(run=run).exclude(weight=1).order_by("-weight", "test_id")
    tests = rows.values_list("test_id", "issue__title", "weight").distinct()
    return tuple(Heavy(*row) for row in tests)


def _similarity(run: Run, cells: Sequence[Cell]) -> Similarity | None:
    if not run.wants_similarity:
        return None
    return Similarity(
        weight=run.similarity_weight,
        model=run.similarity_endpoint.get("name", "") or word_vectors.NAME,
        alone=run.score_by_similarity,
        measured=sum(cell.similar for cell in cells),
        answered=sum(cell.answered for cell in cells if cell.outcome != Outcome.ERROR),
    )


def judgings_of(run: Run) -> list[Judging]:
    return list(run.judgings.select_related("requested_by").order_by("number"))


def issue_lines(cells: Sequence[Cell], repeats: int) -> tuple[Line, ...]:
    """One line per issue: the highest failure rate first, then by how many failed."""
    groups: dict[int, list[Cell]] = defaultdict(list)
    for cell in cells:
        groups[cell.issue_id].append(cell)
    titles = dict(Issue.objects.filter(pk__in=groups).values_list("pk", "title"))
    lines = [
        Line(titles[pk], pk, counts_of(mine), rate_of(mine, repeats=repeats))
        for pk, mine in groups.items()
    ]
    return tuple(sorted(lines, key=_worst_first))


def _worst_first(line: Line) -> tuple[float, int, str]:
    share = line.failure_share
    return (1.0 if share is None else -share, -line.counts.failed, line.name)


def tag_lines(cells: Sequence[Cell], repeats: int) -> tuple[Line, ...]:
    """One line per tag, by name; a result with two tags counts in both."""
    sets = TagSet.objects.in_bulk({cell.tag_set_id for cell in cells})
    groups: dict[str, list[Cell]] = defaultdict(list)
    for cell in cells:
        for name in sets[cell.tag_set_id].names:
            groups[name].append(cell)
    return tuple(
        Line(name, None, counts_of(mine), rate_of(mine, repeats=repeats))
        for name, mine in sorted(groups.items())
    )


def usage_of(cells: Sequence[Cell], answered: int) -> Usage:
    return Usage(
        tokens_in=_sum([cell.tokens_in for cell in cells]),
        tokens_out=_sum([cell.tokens_out for cell in cells]),
        with_tokens=sum(cell.with_tokens for cell in cells),
        cost_usd=_money([cell.cost_usd for cell in cells]),
        with_cost=sum(cell.with_cost for cell in cells),
        answered=answered,
    )


def _sum(values: list[int | None]) -> int | None:
    measured = [value for value in values if value is not None]
    return sum(measured) if measured else None


def _money(values: list[Decimal | None]) -> Decimal | None:
    measured = [value for value in values if value is not None]
    return sum(measured, Decimal(0)) if measured else None


def _errors(run: Run) -> tuple[tuple[str, int], ...]:
    rows = Result.objects.filter(run=run, outcome="error").order_by()
    counted = rows.values_list("error_kind").annotate(n=Count("pk"))
    return tuple(sorted(counted, key=lambda pair: (-pair[1], pair[0])))


def _failures(run: Run, judgings: Sequence[Judging]) -> tuple[Failure, ...]:
    """Failed calls for the run and its judgings, most frequent first."""
    keys = [run.work_key, *(judging.work_key for judging in judgings)]
    rows = Call.objects.filter(batch__in=keys, error_kind__gt="").order_by()
    counted = rows.values_list("role", "error_kind").annotate(n=Count("pk"))
    return tuple(Failure(*row) for row in sorted(counted, key=lambda row: (-row[2], row)))
