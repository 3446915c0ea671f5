"""What the work page shows of one item. Nothing that is hidden from its reviewer is in it."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalhub.models import User
from evalhub.word_diff import Diff, word_diff
from evalhub.wording import score
from issues.freezing import scale_of
from issues.rubric import WHOLE_TEST
from runs.admin.result_page import ResultPage, page_of
from runs.admin.rubric import Heard, Row
from runs.admin.shown import Choice, whole_choices
from runs.models import Result, Run
from runs.review.admin.panel import panel_words
from runs.review.admin.typed import Typed
from runs.review.blindness import is_hidden
from runs.review.demanding import APART
from runs.review.models import Asks, Place, PlaceState, Queue, Reasoning
from runs.review.sheets import OPTION, REASON, field_of


@dataclass(frozen=True)
class Option:
    """One answer to choose. `needs_reason`: it is given with a sentence only."""

    choice: Choice
    is_chosen: bool
    needs_reason: bool


@dataclass(frozen=True)
class Ask:
    """One thing to decide on: a criterion, or the answer as a whole (key "").

    `judged` is what judges found, in words, and `heard` who of them said what; both are empty
    where that is hidden.
    """

    key: str
    title: str
    options: list[Option]
    reason: str
    number: int = 0
    polarity: str = ""
    is_inverted: bool = False
    marks: tuple[str, ...] = ()
    citation: str = ""
    judged: str = ""
    heard: Sequence[Heard] = ()

    @property
    def option_name(self) -> str:
        return field_of(OPTION, self.key)

    @property
    def reason_name(self) -> str:
        return field_of(REASON, self.key)

    @property
    def reason_is(self) -> str:
        """When a sentence is needed, in words."""
        needed = [option.needs_reason for option in self.options]
        if all(needed):
            return "needed"
        return "needed where you overrule the judges" if any(needed) else "if you like"


@dataclass(frozen=True)
class ItemPage:
    """One place in a queue, with what its reviewer may see and has typed.

    `judged` None: what judges and others say is hidden, and so are run and model. `page` is for
    the test's own texts and the conversation.
    """

    place: Place
    result: Result
    page: ResultPage
    typed: Typed
    whole: Ask | None
    points: list[Ask]
    judged: str | None
    diff: Diff | None

    @property
    def is_hidden(self) -> bool:
        return self.judged is None

    @property
    def run(self) -> Run | None:
        return None if self.is_hidden else self.result.run

    @property
    def is_earlier(self) -> bool:
        """Whether its verdict was given already."""
        return self.place.state == PlaceState.SUBMITTED

    @property
    def answer_text(self) -> str:
        return self.page.answer.text if self.page.answer else ""


def item_page(place: Place, reader: User, typed: Typed | None = None) -> ItemPage:
    """Read the item of a place. `typed`: what was just sent, if it is not the draft that counts.

    The place was read with queue, item, and its result's run, issue, test, tag_set and revision
    with template. Its texts are the reader's to see: the caller has checked.
    """
    result, queue = place.item.result, place.queue
    page = page_of(result, reader)
    typed = typed or Typed(place.draft)
    hidden = is_hidden(place)
    points = _points(page, queue, typed, hidden=hidden)
    by_point = queue.asks == Asks.CRITERIA and points
    return ItemPage(
        place=place,
        result=result,
        page=page,
        typed=typed,
        whole=None if by_point else _whole(page, queue, typed, hidden=hidden),
        points=[] if queue.asks == Asks.WHOLE else points,
        judged=None if hidden else panel_words(result),
        diff=_diff(page),
    )


def _diff(page: ResultPage) -> Diff | None:
    """The reference against the answer; None where one is missing."""
    if page.reference is None or page.answer is None:
        return None
    return word_diff(page.reference.raw, page.answer.text)


# What is asked -----------------------------------------------------------------------------------


def _whole(page: ResultPage, queue: Queue, typed: Typed, *, hidden: bool) -> Ask:
    revision = page.result.revision
    assessment = page.current.assessment if page.current else None
    judged = None if hidden or assessment is None else assessment.passed
    choices = whole_choices(scale_of(revision.template), revision.passes, judged=None)
    return Ask(
        key=WHOLE_TEST,
        title="The answer as a whole",
        options=[
            _option(
                choice,
                typed.option(),
                queue,
                overrides=judged is not None and choice.passed is not judged,
            )
            for choice in choices
        ],
        reason=typed.reason(),
    )


def _points(page: ResultPage, queue: Queue, typed: Typed, *, hidden: bool) -> list[Ask]:
    """The criteria that people decide on: a check decides its own."""
    return [_point(row, queue, typed, hidden=hidden) for row in page.rows if not row.check]


def _point(row: Row, queue: Queue, typed: Typed, *, hidden: bool) -> Ask:
    criterion = row.criterion
    judged = None if hidden else row.judged
    return Ask(
        key=criterion.key,
        title=row.title,
        options=[
            _option(choice, typed.option(criterion.key), queue, overrides=_is_far(choice, judged))
            for choice in row.choices
        ],
        reason=typed.reason(criterion.key),
        number=row.number,
        polarity=criterion.get_polarity_display(),
        is_inverted=criterion.is_inverted,
        marks=(*(["mandatory"] * criterion.mandatory), *([row.way] if row.way else [])),
        citation=criterion.citation,
        judged="" if judged is None else f"shown {score(judged)}",
        heard=() if hidden else row.heard,
    )


def _is_far(choice: Choice, judged: float | None) -> bool:
    return judged is not None and abs(choice.option.value - judged) > APART + 1e-9


def _option(choice: Choice, chosen: str, queue: Queue, *, overrides: bool) -> Option:
    needs_reason = overrides or queue.reasoning == Reasoning.ALWAYS
    return Option(choice, choice.option.label == chosen, needs_reason)
