"""Executive summaries for their pages: names restored, texts as far as the reader may see them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator
from django.db.models import Count, Prefetch, Q
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from evalhub.display.formatting import words
from evalhub.llm.models import LanguageModel
from evalhub.models import BatchState, ItemState, User
from reports.models import Exchange, ExecutiveSummary, Grade
from reports.summaries.claim_lines import ClaimLine, claim_lines
from reports.summaries.content import restored, unsupported
from reports.summaries.dimensions import DIMENSIONS, MAX_GRADE, MIN_GRADE, Dimension
from reports.summaries.draft import LEAK, NOTHING, TOO_SMALL
from reports.summaries.figure_table import FigureTable
from reports.summaries.free_text import flagged_sentences
from reports.summaries.key import Key
from reports.summaries.replies import UNUSABLE
from reports.summaries.requests import REQUEST_PERMISSION
from reports.summaries.restore import Target, html, named, pieces, plain
from reports.summaries.work import NO_RUNS, unfinished
from runs.figures.rate import Rate
from runs.figures.tallies import group_of, tallies_of_runs
from runs.models import Run

PAGE = 25

TITLES = {
    "findings": "Key findings",
    "strengths": "Strengths",
    "weaknesses": "Weaknesses",
    "patterns": "Patterns",
}
TEXTS = ("sent", "received", "repair", "key", "figures", "masked", "notes")
"""Long columns of an exchange that lists do not read."""


class State(NamedTuple):
    """A summary's state in a word, the reason in a sentence or "", and the style of its badge."""

    word: str
    why: str
    badge: str

    @property
    def is_live(self) -> bool:
        return self.badge == "live"


WHY = {
    LEAK: "Not sent: a name would have leaked.",
    NOTHING: "No answer may be sent.",
    TOO_SMALL: "No test fits into the analyst's context.",
    NO_RUNS: "The runs were deleted.",
    UNUSABLE: "The reply has no finding and no grade that could be parsed.",
}
"""Reasons of failures for all readers; messages are for those who may request summaries."""


def state_of(
    summary: ExecutiveSummary, last: Exchange, *, is_waiting: bool, may_ask: bool
) -> State:
    """Return the summary's state, from which the possible actions follow."""
    if summary.state == BatchState.LIVE:
        if is_waiting:
            return State("waiting", "Waiting for its runs to end.", "live")
        return State("running", "The analyst is writing the summary, or will start soon.", "live")
    if summary.state == BatchState.DONE and last.state != ItemState.ERROR:
        return State("done", "", "passed")
    if summary.state == BatchState.DONE:
        why = WHY.get(last.error_kind, f"The call failed: {words(last.error_kind)}.")
        return State("failed", last.error_message if may_ask else why, "error")
    if summary.state == BatchState.FAILED:
        return State("failed", summary.reason, "error")
    return State(summary.get_state_display().lower(), summary.reason, "unscored")


# The list ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """A summary in the list. `graded` counts its grades."""

    summary: ExecutiveSummary
    runs: Sequence[Run]
    state: State
    graded: int

    @property
    def title(self) -> str:
        return title_of(self.summary, self.runs)

    @property
    def models(self) -> list[str]:
        return sorted({run.model_name for run in self.runs})


def title_of(summary: ExecutiveSummary, runs: Sequence[Run]) -> str:
    """Return the name of the suite, or else the label of the runs."""
    if summary.suite is not None:
        return str(summary.suite)
    return runs[0].label if runs else "deleted runs"


def summary_lines(number: int, *, may_ask: bool, run: int | None = None) -> Page[Row]:
    """Return a page of summaries, newest first, of all or one run; a constant number of queries."""
    found = ExecutiveSummary.objects.order_by("-pk").values_list("pk", flat=True)
    page: Page = Paginator(found.filter(runs=run) if run else found, PAGE).get_page(number)
    shown = list(page.object_list)
    waiting = set(unfinished(shown).values_list("summaries", flat=True))
    summaries = (
        ExecutiveSummary.objects.filter(pk__in=shown)
        .select_related("suite")
        .annotate(graded=Count("grades", filter=Q(grades__grade__isnull=False)))
        .prefetch_related(
            Prefetch("exchanges", Exchange.objects.defer(*TEXTS).order_by("number")),
            Prefetch("runs", Run.objects.order_by("pk")),
        )
        .order_by("-pk")
    )
    page.object_list = [
        Row(
            summary,
            list(summary.runs.all()),
            state_of(
                summary,
                list(summary.exchanges.all())[-1],
                is_waiting=summary.pk in waiting,
                may_ask=may_ask,
            ),
            summary.graded,
        )
        for summary in summaries
    ]
    return page


# One summary -------------------------------------------------------------------------------------


class Text(NamedTuple):
    """A restored text as HTML and without links, and its claims.

    `flagged` counts unsupported sentences.
    """

    html: SafeString
    plain: str
    flagged: int
    claims: Sequence[ClaimLine] = ()


@dataclass(frozen=True)
class Section:
    """The texts of one kind."""

    kind: str
    title: str
    texts: Sequence[Text]


class GradeCell(NamedTuple):
    """A grade; None: the analyst gave none, or it could not be parsed.

    `flagged` counts unsupported sentences of the reasoning, which has no claims.
    """

    dimension: str
    grade: float | None
    reasoning: str
    is_given: bool
    flagged: int = 0

    @property
    def heat(self) -> int:
        """Position between the lowest and the highest grade, in percent."""
        return round(100 * ((self.grade or MIN_GRADE) - MIN_GRADE) / (MAX_GRADE - MIN_GRADE))


@dataclass(frozen=True)
class GradeRow:
    """The grades of one model, in the order of the dimensions; `mean` of those given.

    `rate` is the pass rate of the model's answers in the summary's runs.
    """

    model: LanguageModel
    name: str
    rate: Rate
    cells: Sequence[GradeCell]

    @property
    def mean(self) -> float | None:
        given = [cell.grade for cell in self.cells if cell.grade is not None]
        return sum(given) / len(given) if given else None


@dataclass(frozen=True)
class View:
    """A summary. `exchange` is the one its content is from; None: there is none yet.

    `is_withheld`: it quotes a test that was sealed since and that the reader may not see.
    """

    summary: ExecutiveSummary
    runs: Sequence[Run]
    state: State
    last: Exchange
    exchange: Exchange | None
    attempts: Sequence[Exchange]
    sections: Sequence[Section]
    grades: Sequence[GradeRow]
    dimensions: Sequence[Dimension]
    problems: Sequence[str]
    key: Key
    is_withheld: bool

    @property
    def title(self) -> str:
        return title_of(self.summary, self.runs)

    @property
    def flagged(self) -> int:
        """Count the sentences with figures or comparisons that no cell supports."""
        texts = sum(text.flagged for section in self.sections for text in section.texts)
        return texts + sum(cell.flagged for row in self.grades for cell in row.cells)

    @property
    def claims(self) -> list[ClaimLine]:
        return [
            claim for section in self.sections for text in section.texts for claim in text.claims
        ]

    @property
    def masked(self) -> dict[str, int]:
        return self.exchange.masked if self.exchange else {}

    @property
    def notes(self) -> list[str]:
        return self.exchange.notes if self.exchange else []

    @property
    def labels(self) -> list[str]:
        """Labels that its figures carry wherever they appear."""
        found = {
            "scripted analyst": bool(self.summary.endpoint.get("is_scripted")),
            "scripted model": any(run.is_scripted for run in self.runs),
        }
        return [label for label, holds in found.items() if holds]


def view_of(summary: ExecutiveSummary, reader: User) -> View:
    """Return the summary as far as the reader may see it."""
    attempts = list(summary.exchanges.defer("sent", "received", "repair").order_by("number"))
    runs = list(summary.runs.select_related("language_model").order_by("pk"))
    current = next((exchange for exchange in attempts if exchange.is_current), None)
    state = state_of(
        summary,
        attempts[-1],
        is_waiting=unfinished([summary.pk]).exists(),
        may_ask=reader.has_perm(REQUEST_PERMISSION),
    )
    is_readable = ExecutiveSummary.objects.readable_by(reader).filter(pk=summary.pk).exists()
    key = Key.from_json(current.key if current else {})
    table = FigureTable.from_json(current.figures if current else {})
    dimensions, rows = _graded(summary, key, runs, is_readable)
    return View(
        summary=summary,
        runs=runs,
        state=state,
        last=attempts[-1],
        exchange=current,
        attempts=attempts,
        sections=_sections(summary, Urls(key, runs), table) if is_readable else (),
        grades=rows,
        dimensions=dimensions,
        problems=summary.content.get("problems", ()) if is_readable else (),
        key=key,
        is_withheld=not is_readable,
    )


def _sections(summary: ExecutiveSummary, urls: "Urls", table: FigureTable) -> list[Section]:
    return [
        Section(kind, title, [_text(line, urls, table) for line in lines])
        for kind, title in TITLES.items()
        if (lines := summary.content.get(kind))
    ]


def _text(line: Mapping[str, Any], urls: "Urls", table: FigureTable) -> Text:
    found = restored(line, urls.key, table)
    return Text(
        mark_safe(html(found.text, urls.key, urls, found.flagged, found.texts)),
        "".join(piece.text for piece in pieces(found.text, urls.key, found.texts)),
        flagged_sentences(plain(found.text), found.flagged),
        claim_lines(found, urls.key, table),
    )


class Urls:
    """Addresses of references: a test, the system prompts, a variant's newest run, a model."""

    def __init__(self, key: Key, runs: Iterable[Run]) -> None:
        self.key, self.runs = key, {run.pk for run in runs}

    def __call__(self, target: Target) -> str:
        if target.kind == "prompt":
            return reverse("admin:issues_test_change", args=[self.key.tests[target.id]])
        if target.kind != "model":
            return "#systems" if target.kind == "system" else ""
        runs = [run for run in target.variant.runs if run in self.runs] if target.variant else []
        if runs:
            return reverse("reports:run", args=[runs[-1]])
        model = self.key.models[target.id].language_model
        return reverse("admin:evalhub_languagemodel_change", args=[model])


def _graded(
    summary: ExecutiveSummary, key: Key, runs: Sequence[Run], is_readable: bool
) -> tuple[list[Dimension], list[GradeRow]]:
    """Return the dimensions with grades, and the models, the best graded first."""
    by_model: dict[LanguageModel, dict[str, Grade]] = {}
    for row in summary.grades.select_related("language_model").order_by("model_name", "pk"):
        by_model.setdefault(row.language_model, {})[row.dimension] = row
    found = {dimension for grades in by_model.values() for dimension in grades}
    dimensions = [dimension for dimension in DIMENSIONS if dimension.key in found]
    rate_of_model = _rates(runs if by_model else ())
    rows = [
        GradeRow(
            model,
            next(iter(grades.values())).model_name,
            rate_of_model(model),
            [
                _grade_cell(grade, key, is_readable)
                if (grade := grades.get(one.key))
                else GradeCell(one.key, None, "", False)
                for one in dimensions
            ],
        )
        for model, grades in by_model.items()
    ]
    return dimensions, sorted(rows, key=lambda row: -(row.mean or 0))


def _rates(runs: Sequence[Run]) -> Callable[[LanguageModel], Rate]:
    """Return a function for the pass rate of a model in these runs; one query in all."""
    tallies = tallies_of_runs(runs) if runs else []

    def rate(model: LanguageModel) -> Rate:
        own = {run.pk: run.repeats for run in runs if run.language_model_id == model.pk}
        mine = (tally for tally in tallies if tally.run_id in own)
        return group_of(mine).rate(answers=sum(own.values()))

    return rate


def _grade_cell(grade: Grade, key: Key, is_readable: bool) -> GradeCell:
    if not is_readable:
        return GradeCell(grade.dimension, grade.grade, "", True)
    text = grade.reasoning
    flagged = flagged_sentences(plain(text), unsupported(text, {}, key))
    return GradeCell(grade.dimension, grade.grade, named(text, key), True, flagged)
