"""Where a judge and people differ on the seen half: what each said, and why.

Of the held-out half nothing is read here, neither texts nor single verdicts.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import F, Q

from evalhub.models import ItemState, User
from issues.models import JudgeTemplate, TemplateExample
from issues.rubric import WHOLE_TEST, consensus
from issues.scales import from_json
from runs.admin.shown import Text, extent_of, text_or_none, words_of
from runs.models import HumanEvaluation, Judgment
from runs.rehearsals.lines import Frozen, Line, line_of
from runs.rehearsals.models import Attempt, Half, Precedent, Rehearsal, Verdict
from runs.rehearsals.work import case_about, with_texts
from runs.standing import standing

PAGE = 20

LINED = (
    "passed",
    "criterion__key",
    "criterion__polarity",
    "result__revision__pass_threshold",
    "result__revision__pass_rule",
)
"""What says where an answer begins to pass: no text is read for it."""

Place = tuple[int, int]


class Voice(NamedTuple):
    """One verdict: who gave it, in words, and why."""

    who: str
    words: str
    why: Text | None


@dataclass(frozen=True)
class Disagreement:
    """One answer of the seen half, as both sides saw it. `criterion` "": the answer as a whole."""

    precedent: Precedent
    criterion: str
    asked: Text | None
    answer: Text | None
    reference: Text | None
    guidelines: Text | None
    people: list[Voice]
    judge: list[Voice]
    is_example: bool


class Differing(NamedTuple):
    """A page of disagreements; `total` counts all, `hidden` those of sealed tests among them."""

    rows: list[Disagreement]
    total: int
    hidden: int


def differing(
    rehearsal: Rehearsal, reader: User, *, attempt: Attempt | None = None, page: int = 1
) -> Differing:
    """Where people and the judge differ, with the version in use or in a try.

    A fixed number of queries for a page.
    """
    ids = _ids(rehearsal, attempt)
    readable = Precedent.objects.readable_by(reader).filter(pk__in=ids).order_by("pk")
    mine = list(readable.values_list("pk", flat=True))
    shown = mine[PAGE * (page - 1) : PAGE * page]
    precedents = list(with_texts(Precedent.objects.filter(pk__in=shown)))
    people, judge = _people(precedents), _judge(rehearsal, precedents, attempt)
    taught = _taught(rehearsal.draft)
    rows = [
        _row(one, people[one.result_id, one.criterion_id], judge[one.pk], taught)
        for one in precedents
    ]
    return Differing(rows, len(ids), len(ids) - len(mine))


def _ids(rehearsal: Rehearsal, attempt: Attempt | None) -> list[int]:
    seen = rehearsal.precedents.filter(half=Half.SEEN)
    if attempt is None:
        differ = seen.filter(Q(judge_passed__isnull=False) & ~Q(judge_passed=F("passed")))
        return list(differ.order_by("pk").values_list("pk", flat=True))
    used, asked = from_json(rehearsal.template.scale), from_json(attempt.content["scale"])
    samples: dict[int, list[float | None]] = defaultdict(list)
    said = Verdict.objects.filter(attempt=attempt, precedent__half=Half.SEEN)
    for precedent, value in said.values_list("precedent", "value"):
        samples[precedent].append(value)
    rows = seen.select_related("criterion", "result__revision").only(*LINED).order_by("pk")
    return [
        row.pk
        for row in rows
        if (passed := line_for(row, used, asked).passed(consensus(samples[row.pk]))) is not None
        and passed != row.passed
    ]


def line_for(precedent: Precedent, used: Any, asked: Any) -> Line:
    """Where this answer begins to pass on the scale `asked`."""
    criterion, revision = precedent.criterion, precedent.result.revision
    frozen = Frozen(
        criterion.key, criterion.is_inverted, revision.pass_threshold, revision.pass_rule
    )
    return line_of(frozen, used, asked)


def _taught(draft: JudgeTemplate | None) -> set[tuple[int | None, str, str]]:
    """What the draft has as examples: test, criterion and answer."""
    rows = TemplateExample.objects.filter(template=draft)
    return set(rows.values_list("test_id", "criterion", "output"))


# What was said -----------------------------------------------------------------------------------


def standing_on(precedents: Sequence[Precedent]) -> Mapping[Place, list[HumanEvaluation]]:
    """What people say now of these answers, the oldest first; an adjudication comes last."""
    places = {(one.result_id, one.criterion_id) for one in precedents}
    rows = HumanEvaluation.objects.filter(result__in={result for result, _ in places})
    said: dict[Place, list[HumanEvaluation]] = defaultdict(list)
    for row in rows.select_related("annotator").order_by("pk"):
        said[row.result_id, row.criterion_id].append(row)
    return {
        place: sorted(standing(said[place]), key=lambda row: row.kind == "adjudication")
        for place in places
    }


def _people(precedents: Sequence[Precedent]) -> Mapping[Place, list[Voice]]:
    by_place = {(one.result_id, one.criterion_id): one for one in precedents}
    return {
        place: [_person(row, by_place[place]) for row in rows]
        for place, rows in standing_on(precedents).items()
    }


def _person(row: HumanEvaluation, precedent: Precedent) -> Voice:
    who = f"{row.annotator}, to settle it" if row.kind == "adjudication" else str(row.annotator)
    return Voice(who, _words(row.option, row.value, precedent), text_or_none(row.justification))


def _words(option: str, value: float | None, precedent: Precedent) -> str:
    if precedent.criterion.key != WHOLE_TEST:
        return extent_of(option, value)
    return words_of(option, value, precedent.result.revision.passes(value))


def _judge(
    rehearsal: Rehearsal, precedents: Sequence[Precedent], attempt: Attempt | None
) -> Mapping[int, list[Voice]]:
    found: dict[int, list[Voice]] = defaultdict(list)
    by_pk = {one.pk: one for one in precedents}
    if attempt is not None:
        said = Verdict.objects.filter(attempt=attempt, precedent__in=by_pk, state=ItemState.DONE)
        for verdict in said.order_by("sample"):
            one = by_pk[verdict.precedent_id]
            words = _words(verdict.option, verdict.value, one)
            found[one.pk].append(Voice("The judge", words, text_or_none(verdict.justification)))
        return found
    by_place = {(one.judging_id, one.result_id, one.criterion_id): one for one in precedents}
    rows = Judgment.objects.filter(
        judge=rehearsal.judge, result__in={one.result_id for one in precedents}, order=0
    )
    for row in rows.order_by("sample"):
        one_or_none = by_place.get((row.judging_id, row.result_id, row.criterion_id))
        if one_or_none is not None:
            words = _words(row.option, row.value, one_or_none)
            why = text_or_none(row.justification)
            found[one_or_none.pk].append(Voice("The judge", words, why))
    return found


def _row(
    precedent: Precedent,
    people: list[Voice],
    judge: list[Voice],
    taught: set[tuple[int | None, str, str]],
) -> Disagreement:
    case = case_about(precedent)
    content = case.content
    criterion = precedent.criterion.text if precedent.criterion.key else ""
    return Disagreement(
        precedent=precedent,
        criterion=criterion,
        asked=text_or_none(case.input),
        answer=text_or_none(case.output),
        reference=text_or_none(content["reference"]),
        guidelines=text_or_none(content["guidelines"]),
        people=people,
        judge=judge,
        is_example=(precedent.result.test_id, criterion, case.output) in taught,
    )
