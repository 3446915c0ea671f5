"""Disagreements between judge and annotators on the development split.

Nothing of the held-out split is read here, neither texts nor single verdicts.
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
from runs.figures.verdict_labels import Text, extent_label, text_or_none, verdict_label
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
"""Columns of the pass threshold; none holds a text."""

CriterionPosition = tuple[int, int]


class VerdictText(NamedTuple):
    """A verdict as a page shows it."""

    author: str
    label: str
    reason: Text | None


@dataclass(frozen=True)
class Disagreement:
    """A disputed answer of the development split. `criterion` "": the answer as a whole."""

    labelled_example: LabelledExample
    criterion: str
    asked: Text | None
    answer: Text | None
    reference: Text | None
    guidelines: Text | None
    annotators: list[VerdictText]
    judge: list[VerdictText]
    is_example: bool


class DisagreementPage(NamedTuple):
    """A page of disagreements; `total` counts all, `hidden` those of unreadable sealed tests."""

    rows: list[Disagreement]
    total: int
    hidden: int


def disagreements_of(
    tuning: Tuning, reader: User, *, attempt: Attempt | None = None, page: int = 1
) -> DisagreementPage:
    """Read a page of disagreements, with the version in use or in an attempt.

    Takes a fixed number of queries.
    """
    ids = _ids(tuning, attempt)
    readable = LabelledExample.objects.readable_by(reader).filter(pk__in=ids).order_by("pk")
    mine = list(readable.values_list("pk", flat=True))
    shown = mine[PAGE * (page - 1) : PAGE * page]
    labelled_examples = list(with_texts(LabelledExample.objects.filter(pk__in=shown)))
    annotators, judge = _annotators(labelled_examples), _judge(tuning, labelled_examples, attempt)
    taught = _taught(tuning.draft)
    rows = [
        _row(one, annotators[one.result_id, one.criterion_id], judge[one.pk], taught)
        for one in labelled_examples
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
    """Return this answer's pass threshold on the scale `asked`."""
    criterion, revision = labelled_example.criterion, labelled_example.result.revision
    frozen = Frozen(
        criterion.key, criterion.is_inverted, revision.pass_threshold, revision.pass_rule
    )
    return pass_line_of(frozen, used, asked)


def _taught(draft: JudgeTemplate | None) -> set[tuple[int | None, str, str]]:
    """Return the draft's examples as (test, criterion, answer)."""
    rows = TemplateExample.objects.filter(template=draft)
    return set(rows.values_list("test_id", "criterion", "output"))


# Verdicts ----------------------------------------------------------------------------------------


def active_evaluations_on(
    labelled_examples: Sequence[LabelledExample],
) -> Mapping[CriterionPosition, list[HumanEvaluation]]:
    """Read the active human evaluations, the oldest first and an adjudication last."""
    places = {(one.result_id, one.criterion_id) for one in labelled_examples}
    rows = HumanEvaluation.objects.filter(result__in={result for result, _ in places})
    said: dict[CriterionPosition, list[HumanEvaluation]] = defaultdict(list)
    for row in rows.select_related("annotator").order_by("pk"):
        said[row.result_id, row.criterion_id].append(row)
    return {
        place: sorted(active_evaluations(said[place]), key=lambda row: row.kind == "adjudication")
        for place in places
    }


def _annotators(
    labelled_examples: Sequence[LabelledExample],
) -> Mapping[CriterionPosition, list[VerdictText]]:
    by_place = {(one.result_id, one.criterion_id): one for one in labelled_examples}
    return {
        place: [_annotator(row, by_place[place]) for row in rows]
        for place, rows in active_evaluations_on(labelled_examples).items()
    }


def _annotator(row: HumanEvaluation, labelled_example: LabelledExample) -> VerdictText:
    author = f"{row.annotator} (adjudication)" if row.kind == "adjudication" else str(row.annotator)
    return VerdictText(
        author, _label(row.option, row.value, labelled_example), text_or_none(row.justification)
    )


def _label(option: str, value: float | None, labelled_example: LabelledExample) -> str:
    if labelled_example.criterion.key != WHOLE_TEST:
        return extent_label(option, value)
    return verdict_label(option, value, labelled_example.result.revision.passes(value))


def _judge(
    tuning: Tuning, labelled_examples: Sequence[LabelledExample], attempt: Attempt | None
) -> Mapping[int, list[VerdictText]]:
    found: dict[int, list[VerdictText]] = defaultdict(list)
    by_pk = {one.pk: one for one in labelled_examples}
    if attempt is not None:
        said = AttemptJudgment.objects.filter(
            attempt=attempt, labelled_example__in=by_pk, state=ItemState.DONE
        )
        for verdict in said.order_by("sample"):
            one = by_pk[verdict.labelled_example_id]
            label = _label(verdict.option, verdict.value, one)
            found[one.pk].append(VerdictText("Judge", label, text_or_none(verdict.justification)))
        return found
    by_place = {
        (one.judge_run_id, one.result_id, one.criterion_id): one for one in labelled_examples
    }
    rows = Judgment.objects.filter(
        judge=tuning.judge, result__in={one.result_id for one in labelled_examples}, order=0
    )
    for row in rows.order_by("sample"):
        one_or_none = by_place.get((row.judge_run_id, row.result_id, row.criterion_id))
        if one_or_none is not None:
            label = _label(row.option, row.value, one_or_none)
            reason = text_or_none(row.justification)
            found[one_or_none.pk].append(VerdictText("Judge", label, reason))
    return found


def _row(
    labelled_example: LabelledExample,
    annotators: list[VerdictText],
    judge: list[VerdictText],
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
