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
from issues.rubrics.scales import from_json
from issues.rubrics.scoring import WHOLE_TEST, consensus
from runs.admin.result.page_parts import Text, extent_label, text_or_none, verdict_label
from runs.models import HumanEvaluation, Judgment
from runs.scoring.active_evaluations import active_evaluations
from runs.tuning.models import Attempt, AttemptJudgment, LabelledExample, Split, Tuning
from runs.tuning.pass_lines import Frozen, PassLine, pass_line_of
from runs.tuning.work import judged_answer_about, with_texts

PAGE = 20

LINED = (
    "passed",
    "criterion__key",
    "criterion__polarity",
    "result__revision__pass_threshold",
    "result__revision__pass_rule",
)
"""What says where an answer begins to pass: no text is read for it."""

CriterionPosition = tuple[int, int]


class AnnotatorVerdict(NamedTuple):
    """One verdict: who gave it, in words, and why."""

    who: str
    words: str
    why: Text | None


@dataclass(frozen=True)
class Disagreement:
    """One answer of the seen half, as both sides saw it. `criterion` "": the answer as a whole."""

    labelled_example: LabelledExample
    criterion: str
    asked: Text | None
    answer: Text | None
    reference: Text | None
    guidelines: Text | None
    annotators: list[AnnotatorVerdict]
    judge: list[AnnotatorVerdict]
    is_example: bool


class DisagreementPage(NamedTuple):
    """A page of disagreements; `total` counts all, `hidden` those of sealed tests among them."""

    rows: list[Disagreement]
    total: int
    hidden: int


def disagreements_of(
    tuning: Tuning, reader: User, *, attempt: Attempt | None = None, page: int = 1
) -> DisagreementPage:
    """Where people and the judge differ, with the version in use or in a try.

    A fixed number of queries for a page.
    """
    ids = _ids(tuning, attempt)
    readable = LabelledExample.objects.readable_by(reader).filter(pk__in=ids).order_by("pk")
    mine = list(readable.values_list("pk", flat=True))
    shown = mine[PAGE * (page - 1) : PAGE * page]
    precedents = list(with_texts(LabelledExample.objects.filter(pk__in=shown)))
    annotators, judge = _people(precedents), _judge(tuning, precedents, attempt)
    taught = _taught(tuning.draft)
    rows = [
        _row(one, annotators[one.result_id, one.criterion_id], judge[one.pk], taught)
        for one in precedents
    ]
    return DisagreementPage(rows, len(ids), len(ids) - len(mine))


def _ids(tuning: Tuning, attempt: Attempt | None) -> list[int]:
    development = tuning.examples.filter(split=Split.DEVELOPMENT)
    if attempt is None:
        differ = development.filter(Q(judge_passed__isnull=False) & ~Q(judge_passed=F("passed")))
        return list(differ.order_by("pk").values_list("pk", flat=True))
    used, asked = from_json(tuning.template.scale), from_json(attempt.content["scale"])
    samples: dict[int, list[float | None]] = defaultdict(list)
    said = AttemptJudgment.objects.filter(
        attempt=attempt, labelled_example__split=Split.DEVELOPMENT
    )
    for labelled_example, value in said.values_list("labelled_example", "value"):
        samples[labelled_example].append(value)
    rows = development.select_related("criterion", "result__revision").only(*LINED).order_by("pk")
    return [
        row.pk
        for row in rows
        if (passed := line_for(row, used, asked).passed(consensus(samples[row.pk]))) is not None
        and passed != row.passed
    ]


def line_for(labelled_example: LabelledExample, used: Any, asked: Any) -> PassLine:
    """Where this answer begins to pass on the scale `asked`."""
    criterion, revision = labelled_example.criterion, labelled_example.result.revision
    frozen = Frozen(
        criterion.key, criterion.is_inverted, revision.pass_threshold, revision.pass_rule
    )
    return pass_line_of(frozen, used, asked)


def _taught(draft: JudgeTemplate | None) -> set[tuple[int | None, str, str]]:
    """What the draft has as examples: test, criterion and answer."""
    rows = TemplateExample.objects.filter(template=draft)
    return set(rows.values_list("test_id", "criterion", "output"))


# What was said -----------------------------------------------------------------------------------


def active_evaluations_on(
    precedents: Sequence[LabelledExample],
) -> Mapping[CriterionPosition, list[HumanEvaluation]]:
    """What people say now of these answers, the oldest first; an adjudication comes last."""
    places = {(one.result_id, one.criterion_id) for one in precedents}
    rows = HumanEvaluation.objects.filter(result__in={result for result, _ in places})
    said: dict[CriterionPosition, list[HumanEvaluation]] = defaultdict(list)
    for row in rows.select_related("annotator").order_by("pk"):
        said[row.result_id, row.criterion_id].append(row)
    return {
        place: sorted(active_evaluations(said[place]), key=lambda row: row.kind == "adjudication")
        for place in places
    }


def _people(
    precedents: Sequence[LabelledExample],
) -> Mapping[CriterionPosition, list[AnnotatorVerdict]]:
    by_place = {(one.result_id, one.criterion_id): one for one in precedents}
    return {
        place: [_person(row, by_place[place]) for row in rows]
        for place, rows in active_evaluations_on(precedents).items()
    }


def _person(row: HumanEvaluation, labelled_example: LabelledExample) -> AnnotatorVerdict:
    who = f"{row.annotator}, to settle it" if row.kind == "adjudication" else str(row.annotator)
    return AnnotatorVerdict(
        who, _words(row.option, row.value, labelled_example), text_or_none(row.justification)
    )


def _words(option: str, value: float | None, labelled_example: LabelledExample) -> str:
    if labelled_example.criterion.key != WHOLE_TEST:
        return extent_label(option, value)
    return verdict_label(option, value, labelled_example.result.revision.passes(value))


def _judge(
    tuning: Tuning, precedents: Sequence[LabelledExample], attempt: Attempt | None
) -> Mapping[int, list[AnnotatorVerdict]]:
    found: dict[int, list[AnnotatorVerdict]] = defaultdict(list)
    by_pk = {one.pk: one for one in precedents}
    if attempt is not None:
        said = AttemptJudgment.objects.filter(
            attempt=attempt, labelled_example__in=by_pk, state=ItemState.DONE
        )
        for verdict in said.order_by("sample"):
            one = by_pk[verdict.labelled_example_id]
            words = _words(verdict.option, verdict.value, one)
            found[one.pk].append(
                AnnotatorVerdict("The judge", words, text_or_none(verdict.justification))
            )
        return found
    by_place = {(one.judge_run_id, one.result_id, one.criterion_id): one for one in precedents}
    rows = Judgment.objects.filter(
        judge=tuning.judge, result__in={one.result_id for one in precedents}, order=0
    )
    for row in rows.order_by("sample"):
        one_or_none = by_place.get((row.judge_run_id, row.result_id, row.criterion_id))
        if one_or_none is not None:
            words = _words(row.option, row.value, one_or_none)
            why = text_or_none(row.justification)
            found[one_or_none.pk].append(AnnotatorVerdict("The judge", words, why))
    return found


def _row(
    labelled_example: LabelledExample,
    annotators: list[AnnotatorVerdict],
    judge: list[AnnotatorVerdict],
    taught: set[tuple[int | None, str, str]],
) -> Disagreement:
    case = judged_answer_about(labelled_example)
    content = case.content
    criterion = labelled_example.criterion.text if labelled_example.criterion.key else ""
    return Disagreement(
        labelled_example=labelled_example,
        criterion=criterion,
        asked=text_or_none(case.input),
        answer=text_or_none(case.output),
        reference=text_or_none(content["reference"]),
        guidelines=text_or_none(content["guidelines"]),
        annotators=annotators,
        judge=judge,
        is_example=(labelled_example.result.test_id, criterion, case.output) in taught,
    )
