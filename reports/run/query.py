"""The figures of one run."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet
from django.db.models.fields.json import KeyTransform

from evalhub.llm import word_vectors
from evalhub.models import Call, User
from issues.models import Revision
from reports.compare.conclusion_words import headline
from reports.compare.query import comparison_of, pooled_sides_of
from reports.compare.two_runs.state import TwoRuns
from reports.documents.links import page_url
from reports.documents.reading import Reading
from reports.limits import MAX_FLAKY_TESTS
from reports.overrides.query import MAX_SHOWN, Override, overrides_of, reviews_of
from reports.overrides.rule import OVERTURNED, Reviews
from reports.queries.names import titles
from reports.queries.rate_lines import Line, lines_of, origin_lines
from reports.queries.result_rows import Grid, ResultTable
from reports.run.distribution_query import Distribution, cost_of, latency_of
from reports.run.jury_query import RunJury, jury_of
from reports.run.progress_query import Progress, ScoringProgress, progress_of, scoring_progress_of
from reports.run.sealing_query import Sealing, sealing_of
from runs.comparison.baselines import opponent_of
from runs.figures.rate import Rate
from runs.figures.run_labels import labels_of
from runs.figures.states import current_of
from runs.figures.tallies import Counts, Score, Tally, cells_of, group_of
from runs.models import JudgeRun, Outcome, Result, Run
from runs.result_list.filters import Filters
from runs.result_list.listing import prompt_of


@dataclass(frozen=True)
class FlakyTest:
    """A test of which `passed` of `n` scored repeats passed: neither none nor all.

    `prompt` is None where the reader may not read the test.
    """

    test_id: int
    issue: str
    passed: int
    n: int
    prompt: str | None


@dataclass(frozen=True)
class FlakyTests:
    """`total` of `repeated` tests, those with two or more scored repeats, are flaky.

    `tests` are the ones nearest to half and half, at most 200.
    """

    total: int
    repeated: int
    tests: tuple[FlakyTest, ...]


def flaky_tests_of(run: Run, reader: User) -> FlakyTests | None:
    """Return None where the run asks each test once."""
    if run.repeats < 2:
        return None
    # A verdict that was taken says nothing of how much answers or judges vary.
    asked = Result.objects.filter(run=run, has_taken_verdicts=False)
    rows = asked.order_by().values_list("test", "issue", "revision")
    counted = rows.annotate(
        passed=Count("pk", filter=Q(outcome=Outcome.PASSED)),
        n=Count("pk", filter=Q(outcome__in=[Outcome.PASSED, Outcome.FAILED])),
    )
    repeated = list(counted.filter(n__gt=1))
    flaky = [row for row in repeated if 0 < row[3] < row[4]]
    flaky.sort(key=lambda row: (abs(row[3] / row[4] - 0.5), -row[4], row[0]))
    shown = flaky[:MAX_FLAKY_TESTS]
    title_of = titles({row[1] for row in shown})
    readable = Revision.objects.filter(pk__in=[row[2] for row in shown]).readable_by(reader)
    messages = dict(readable.order_by().values_list("pk", KeyTransform("messages", "content")))
    prompts = {pk: prompt_of(found) for pk, found in messages.items()}
    tests = tuple(
        FlakyTest(test, title_of[issue], passed, n, prompts.get(revision))
        for test, issue, revision, passed, n in shown
    )
    return FlakyTests(len(flaky), len(repeated), tests)


@dataclass(frozen=True)
class Usage:
    """Tokens and cost of the answers: sums over the results where they were measured.

    Tokens over `with_tokens` of them; `answered` are all with an answer or an error.
    """

    input_tokens: int | None
    output_tokens: int | None
    with_tokens: int
    cost_usd: Decimal | None
    answered: int


@dataclass(frozen=True)
class Similarity:
    """The part of similarity to the reference answers in the scores.

    `weight` is its share of a score; `model` what embeds the texts; `alone`: tests that nothing
    judges are scored by it. It was measured for `measured` of `answered` results.
    """

    weight: float
    model: str
    alone: bool
    measured: int
    answered: int


class RefusedParameter(NamedTuple):
    """A parameter that an endpoint refused, and the number of calls made without it."""

    model_id: int
    model: str
    role: str
    name: str
    value: Any
    calls: int


@dataclass(frozen=True)
class RunReport:
    """All figures of one run.

    `issues`, `tags`, `domains` and `outside` are those of `Lines`. `panel` is None where nobody
    judges, `similarity` where it has no part in the scores, `flaky` where each test is asked
    once, `sealing` where no test is sealed. `origins` is empty without synthetic tests. `heavy`
    are (test id, issue, weight) of tests whose weight is not 1, the heaviest first. `errors` are
    results that ended in an error, by kind; `failures` are (role, kind, n) of failed calls,
    retried ones included, most frequent first.
    Figures are over all results; `grid` alone follows the filters. What one tab of the page shows
    is read when it is asked for.
    """

    run: Run
    judge_runs: tuple[JudgeRun, ...]
    current: JudgeRun | None
    scoring: dict[int, ScoringProgress]
    progress: Progress
    counts: Counts
    rate: Rate
    score: Score
    similarity: Similarity | None
    reviews: Reviews
    disputed: int
    issues: tuple[Line, ...]
    tags: tuple[Line, ...]
    domains: tuple[Line, ...]
    outside: Counts
    origins: tuple[Line, ...]
    usage: Usage
    panel: RunJury | None
    errors: tuple[tuple[str, int], ...]
    filters: Filters
    reader: User

    @cached_property
    def heavy(self) -> tuple[tuple[int, str, float], ...]:
        return tuple(_heavy(self.run))

    @cached_property
    def sealing(self) -> Sealing | None:
        return sealing_of(self.run)

    @cached_property
    def flaky(self) -> FlakyTests | None:
        return flaky_tests_of(self.run, self.reader)

    @cached_property
    def latency(self) -> Distribution | None:
        return latency_of(self.run)

    @cached_property
    def cost(self) -> Distribution | None:
        return cost_of(self.run)

    @cached_property
    def overrides(self) -> tuple[Override, ...]:
        overturned = self.reviews.matching(OVERTURNED)[:MAX_SHOWN]
        hidden = self._results.hidden
        return tuple(overrides_of(overturned, self.reader, hidden)) if overturned else ()

    @cached_property
    def failures(self) -> tuple[tuple[str, str, int], ...]:
        return _failures(self.run, self.judge_runs)

    @cached_property
    def refused(self) -> tuple[RefusedParameter, ...]:
        return _refused(self.run, self.judge_runs)

    @cached_property
    def grid(self) -> Grid:
        return self._results.page(self.filters, of=self.counts.total)

    @cached_property
    def _results(self) -> ResultTable:
        return ResultTable(self.run, self.current, self.reader)

    @property
    def juries_differ(self) -> bool:
        """Scores of the judge runs cannot be compared, as their juries differ."""
        return len({judge_run.jury_fingerprint for judge_run in self.judge_runs}) > 1

    @property
    def synthetic(self) -> bool:
        """Some of its tests were drafted by a model."""
        return bool(self.origins)

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels to show wherever the figures appear."""
        return labels_of(self.run, self.current)


def run_report(run: Run, filters: Filters, *, reader: User) -> RunReport:
    """Return the figures of a run as this reader may see them."""
    judge_runs = judge_runs_of(run)
    current = current_of(judge_runs)
    cells = cells_of([run.pk])
    is_reviewed = any(cell.overridden for cell in cells)
    reviews = reviews_of(Result.objects.filter(run=run)) if is_reviewed else Reviews()
    scoring_progress = scoring_progress_of(judge_runs)
    counts = group_of(cells)
    answered = sum(cell.answered for cell in cells)
    progress = progress_of(run, judge_runs, counted=(counts, answered, scoring_progress))
    lines = lines_of(cells, run.repeats)
    return RunReport(
        run=run,
        judge_runs=tuple(judge_runs),
        current=current,
        scoring=scoring_progress,
        progress=progress,
        counts=counts,
        rate=lines.rate,
        score=lines.score,
        similarity=_similarity(run, cells),
        reviews=reviews,
        disputed=sum(cell.disputed for cell in cells),
        issues=lines.issues,
        tags=lines.tags,
        domains=lines.domains,
        outside=lines.outside,
        origins=origin_lines(cells, run.repeats),
        usage=_usage(cells, answered),
        panel=_panel(current, scoring_progress),
        errors=_errors(run) if counts.error else (),
        filters=filters,
        reader=reader,
    )


def _panel(current: JudgeRun | None, progress: Mapping[int, ScoringProgress]) -> RunJury | None:
    if current is None or not current.jury.get("judges"):
        return None
    return jury_of(current, progress.get(current.pk, ScoringProgress()))


def _usage(cells: Sequence[Tally], answered: int) -> Usage:
    return Usage(
        input_tokens=_sum(cell.input_tokens for cell in cells),
        output_tokens=_sum(cell.output_tokens for cell in cells),
        with_tokens=sum(cell.with_tokens for cell in cells),
        cost_usd=_sum(cell.cost_usd for cell in cells),
        answered=answered,
    )


def _similarity(run: Run, cells: Sequence[Tally]) -> Similarity | None:
    if not run.wants_similarity:
        return None
    return Similarity(
        weight=run.similarity_weight,
        model=run.similarity_endpoint.get("name", "") or word_vectors.NAME,
        alone=run.score_by_similarity,
        measured=sum(cell.similar for cell in cells),
        answered=sum(cell.answered - cell.error for cell in cells),
    )


def judge_runs_of(run: Run) -> list[JudgeRun]:
    return list(run.judge_runs.select_related("requested_by").order_by("number"))


def _sum(values: Iterable[Any]) -> Any:
    """Add up what was measured; None where nothing was."""
    measured = [value for value in values if value is not None]
    return sum(measured) if measured else None


def _heavy(run: Run) -> QuerySet[Any, Any]:
    weighted = Result.objects.filter(run=run).exclude(weight=1).order_by("-weight", "test_id")
    return weighted.values_list("test_id", "issue__title", "weight").distinct()


def _errors(run: Run) -> tuple[tuple[str, int], ...]:
    rows = Result.objects.filter(run=run, outcome=Outcome.ERROR).order_by()
    counted = rows.values_list("error_kind").annotate(n=Count("pk"))
    return tuple(sorted(counted, key=lambda pair: (-pair[1], pair[0])))


def _failures(run: Run, judge_runs: Sequence[JudgeRun]) -> tuple[tuple[str, str, int], ...]:
    keys = [run.work_key, *(judge_run.work_key for judge_run in judge_runs)]
    rows = Call.objects.filter(batch__in=keys, error_kind__gt="").order_by()
    counted = rows.values_list("role", "error_kind").annotate(n=Count("pk"))
    return tuple(sorted(counted, key=lambda row: (-row[2], row)))


def _refused(run: Run, judge_runs: Sequence[JudgeRun]) -> tuple[RefusedParameter, ...]:
    keys = [run.work_key, *(judge_run.work_key for judge_run in judge_runs)]
    calls = Call.objects.filter(batch__in=keys, refused_params__isnull=False).order_by()
    rows = calls.values_list("language_model", "language_model__name", "role", "refused_params")
    return tuple(
        RefusedParameter(pk, model, role, name, value, n)
        for pk, model, role, params, n in rows.annotate(n=Count("pk"))
        for name, value in sorted(params.items())
    )


# Against the run before ---------------------------------------------------------------------------


@dataclass(frozen=True)
class RunChange:
    """The conclusion on a run and the run before it, and where to read how it came about."""

    net: str
    before: str
    conclusion: str
    url: str


def change_of(run: Run, reader: User) -> RunChange | None:
    """Return the change from the baseline or the previous run; None where there is neither."""
    before = opponent_of(run)
    if before is None:
        return None
    two = TwoRuns(comparison_of(*pooled_sides_of(before, run)), {}, Reading(reader))
    name = before.label if before.release in ("", run.release) else before.release
    url = page_url("compare", runs=[before, run])
    if not two.comparison.is_conclusive or two.found is None:
        cause = two.comparison.comparable.cause or "too little of them is scored"
        return RunChange("", name, f"Not compared: {cause}.", url)
    net = two.tally.better - two.tally.worse
    more = f"{abs(net):,} {'more' if net > 0 else 'fewer'} passed" if net else "As many passed"
    return RunChange(more, name, headline(two.found.conclusion, two.tally), url)
