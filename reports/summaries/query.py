"""Executive summaries for their pages: names restored, texts as far as the reader may see them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.core.paginator import Page, Paginator
from django.db.models import Count, Prefetch, Q
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe

from evalhub.display.formatting import words
from evalhub.display.markup import model_markdown
from evalhub.llm.models import LanguageModel
from evalhub.models import BatchState, ItemState, User
from reports.limits import SUMMARIES_PAGE_SIZE
from reports.models import Exchange, ExecutiveSummary, Grade
from reports.summaries.analyst.dimensions import DIMENSIONS, MAX_GRADE, MIN_GRADE, Dimension
from reports.summaries.analyst.free_text import Mark, flagged_sentences
from reports.summaries.analyst.key import FigureTable, Key
from reports.summaries.analyst.replies import UNUSABLE
from reports.summaries.analyst.restore import (
    MARK,
    ClaimLine,
    ClaimLines,
    Piece,
    Target,
    named,
    placed,
    plain,
    written,
)
from reports.summaries.analyst.statements import CheckedStatement, claim_line, unsupported
from reports.summaries.draft import LEAK, NOTHING, TOO_SMALL
from reports.summaries.requests import REQUEST_PERMISSION
from reports.summaries.work import NO_RUNS, unfinished
from runs.figures.rate import Rate
from runs.figures.tallies import group_of, tallies_of_runs
from runs.models import Run

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
    page: Page = Paginator(found.filter(runs=run) if run else found, SUMMARIES_PAGE_SIZE).get_page(
        number
    )
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
    page.object_list = []
    for summary in summaries:
        last = list(summary.exchanges.all())[-1]
        state = state_of(summary, last, is_waiting=summary.pk in waiting, may_ask=may_ask)
        page.object_list.append(Row(summary, list(summary.runs.all()), state, summary.graded))
    return page


# One summary -------------------------------------------------------------------------------------


class Text(NamedTuple):
    """A restored text as HTML and without links, and its claims.

    `unsupported` counts sentences with figures or comparisons that no claim supports.
    """

    kind: str
    html: SafeString
    text: str
    unsupported: int
    claims: Sequence[ClaimLine]

    @property
    def title(self) -> str:
        return TITLES[self.kind]


class GradeCell(NamedTuple):
    """A grade; None: the analyst gave none, or it could not be parsed.

    `unsupported` counts such sentences of the reasoning, which has no claims.
    """

    dimension: str
    grade: float | None = None
    reasoning: str = ""
    is_given: bool = False
    unsupported: int = 0

    @property
    def heat(self) -> int:
        """Position between the lowest and the highest grade, in percent."""
        return round(100 * ((self.grade or MIN_GRADE) - MIN_GRADE) / (MAX_GRADE - MIN_GRADE))


@dataclass(frozen=True)
class GradeRow:
    """The grades of one model, in the order of the dimensions; `mean` of those given.

    `rate` is the pass rate of the model's answers in the summary's runs, without overrides.
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
    attempts: Sequence[Exchange]
    exchange: Exchange | None
    key: Key
    texts: Sequence[Text]
    grades: Sequence[GradeRow]
    dimensions: Sequence[Dimension]
    is_withheld: bool

    @property
    def title(self) -> str:
        return title_of(self.summary, self.runs)

    @property
    def last(self) -> Exchange:
        return self.attempts[-1]

    @property
    def unsupported(self) -> int:
        """Count the sentences with figures or comparisons that no cell supports."""
        texts = sum(text.unsupported for text in self.texts)
        return texts + sum(cell.unsupported for row in self.grades for cell in row.cells)

    @property
    def claims(self) -> list[ClaimLine]:
        return [claim for text in self.texts for claim in text.claims]

    @property
    def given_grades(self) -> list[dict[str, Any]]:
        """The grades with their models, but those that could not be parsed."""
        return [
            {"language_model": row.model.pk, "model_name": row.name, **cell._asdict()}
            for row in self.grades
            for cell in row.cells
            if cell.is_given
        ]

    @property
    def problems(self) -> Sequence[str]:
        """The parts of the reply that could not be parsed."""
        return () if self.is_withheld else self.summary.content.get("problems", ())

    @property
    def masked(self) -> dict[str, int]:
        return self.exchange.masked if self.exchange else {}

    @property
    def notes(self) -> list[str]:
        return self.exchange.notes if self.exchange else []

    @property
    def labels(self) -> list[str]:
        """Labels that its figures carry wherever they appear."""
        analyst = ["scripted analyst"] if self.summary.endpoint.get("is_scripted") else []
        are_scripted = any(run.is_scripted for run in self.runs)
        return analyst + (["scripted model"] if are_scripted else [])


def view_of(summary: ExecutiveSummary, reader: User) -> View:
    """Return the summary as far as the reader may see it."""
    attempts = list(summary.exchanges.defer("sent", "received", "repair").order_by("number"))
    runs = list(summary.runs.select_related("language_model").order_by("pk"))
    current = next((exchange for exchange in attempts if exchange.is_current), None)
    is_waiting = unfinished([summary.pk]).exists()
    may_ask = reader.has_perm(REQUEST_PERMISSION)
    is_readable = ExecutiveSummary.objects.readable_by(reader).filter(pk=summary.pk).exists()
    key = Key.from_json(current.key if current else {})
    table = FigureTable.from_json(current.figures if current else {})
    dimensions, grades = _graded(summary, key, runs, is_readable)
    return View(
        summary=summary,
        runs=runs,
        state=state_of(summary, attempts[-1], is_waiting=is_waiting, may_ask=may_ask),
        attempts=attempts,
        exchange=current,
        key=key,
        texts=[
            _text(kind, CheckedStatement.from_json(line, key, table), key, table, runs)
            for kind in TITLES
            for line in summary.content.get(kind, ())
            if is_readable
        ],
        grades=grades,
        dimensions=dimensions,
        is_withheld=not is_readable,
    )


def _graded(
    summary: ExecutiveSummary, key: Key, runs: Sequence[Run], is_readable: bool
) -> tuple[list[Dimension], list[GradeRow]]:
    """Return the dimensions with grades, and the models, the best graded first."""
    by_model: dict[LanguageModel, dict[str, Grade]] = {}
    for grade in summary.grades.select_related("language_model").order_by("model_name", "pk"):
        by_model.setdefault(grade.language_model, {})[grade.dimension] = grade
    given = {dimension for grades in by_model.values() for dimension in grades}
    dimensions = [dimension for dimension in DIMENSIONS if dimension.key in given]
    tallies = tallies_of_runs(runs, of_judges=True) if runs and by_model else []
    rows = []
    for model, grades in by_model.items():
        repeats = {run.pk: run.repeats for run in runs if run.language_model_id == model.pk}
        counts = group_of(tally for tally in tallies if tally.run_id in repeats)
        cells = [_cell(one.key, grades.get(one.key), key, is_readable) for one in dimensions]
        name = next(iter(grades.values())).model_name
        rows.append(GradeRow(model, name, counts.rate(answers=sum(repeats.values())), cells))
    return dimensions, sorted(rows, key=lambda row: -(row.mean or 0))


def _cell(dimension: str, grade: Grade | None, key: Key, is_readable: bool) -> GradeCell:
    if grade is None:
        return GradeCell(dimension)
    text = grade.reasoning if is_readable else ""
    flagged = flagged_sentences(plain(text), unsupported(text, {}, key))
    return GradeCell(dimension, grade.grade, named(text, key), True, flagged)


# Texts -------------------------------------------------------------------------------------------


def _text(
    kind: str, statement: CheckedStatement, key: Key, table: FigureTable, runs: Iterable[Run]
) -> Text:
    text, flagged = statement.text, statement.flagged
    claims = {id: claim_line(claim, key, table) for id, claim in statement.claims.items()}
    shown = {run.pk for run in runs}
    return Text(
        kind,
        html(text, key, lambda target: _url_of(target, key, shown), flagged, claims),
        named(text, key, claims),
        flagged_sentences(plain(text), flagged),
        list(claims.values()),
    )


def _url_of(target: Target, key: Key, runs: set[int]) -> str:
    """Return the address of a test, the system prompts, a variant's newest run, or a model."""
    if target.kind == "prompt":
        return reverse("admin:issues_test_change", args=[key.tests[target.id]])
    if target.kind != "model":
        return "#systems" if target.kind == "system" else ""
    shown = [run for run in target.variant.runs if run in runs] if target.variant else []
    if shown:
        return reverse("reports:run", args=[shown[-1]])
    model = key.models[target.id].language_model
    return reverse("admin:evalhub_languagemodel_change", args=[model])


def html(
    text: str,
    key: Key,
    url_of: Callable[[Target], str],
    flagged: Sequence[Mark] = (),
    claims: ClaimLines | None = None,
) -> SafeString:
    """Return an analyst's text as safe HTML, names restored.

    What is restored or marked fills places that are left in the text: Markdown reads none of it.

    Args:
        text: Untrusted Markdown, whose HTML is shown as text.
        url_of: Gives the address of a reference's page; "" for none.
        flagged: They are marked, with the reason.
        claims: Written out in their places.
    """
    source, claims = plain(text), claims or {}
    filled: list[str] = []

    def place_of(pieces: Sequence[Piece], reason: str, claim: ClaimLine | None = None) -> str:
        links = [(piece, url_of(piece.target) if piece.target else "") for piece in pieces]
        context = {"links": links, "reason": reason, "claim": claim}
        filled.append(render_to_string("reports/summaries/pieces.html", context).strip())
        return f"{MARK}{len(filled) - 1}{MARK}"

    markdown = ""
    for piece, (start, end) in placed(source, key):
        inside = [mark for mark in flagged if start <= mark.start and mark.end <= end]
        if piece.target or piece.is_unknown:
            claim = claims.get(piece.target.id) if piece.target else None
            reason = "; ".join(mark.reason for mark in inside)
            markdown += place_of(written(piece, key, claims), reason, claim)
            continue
        for mark in inside:
            quoted = Piece(source[mark.start : mark.end])
            markdown += source[start : mark.start] + place_of([quoted], mark.reason)
            start = mark.end
        markdown += source[start:end]
    made = model_markdown(markdown, has_formulas=False)
    return mark_safe(re.sub(rf"{MARK}(\d+){MARK}", lambda match: filled[int(match[1])], made))
