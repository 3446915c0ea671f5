"""Disagreements between judge and annotators on the development split.

Nothing of the held-out split is read here, neither texts nor single verdicts.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import F, Q

from evalhub.llm.content.content_parts import Part
from evalhub.models import ItemState, User
from issues.models import TemplateExample
from issues.rubrics.scales import from_json
from issues.rubrics.scoring import WHOLE_TEST
from runs.figures.verdict_labels import Text, extent_label, text_or_none, verdict_label
from runs.laboratory.tuning.figures import known_examples, rows_of, values_of
from runs.laboratory.tuning.models import Attempt, AttemptJudgment, LabelledExample, Split, Tuning
from runs.laboratory.tuning.work import judged_answer_about, with_texts
from runs.models import HumanEvaluation, Judgment
from runs.scoring.active_evaluation_rule import active_evaluations
from runs.scoring.shown_verdicts import record

PAGE = 20

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
    prompt: Text | None
    images: list[Part]
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
    record(reader, {one.result_id for one in labelled_examples})
    evaluations = active_evaluations_on(labelled_examples)
    judge = _judge_verdicts(tuning, labelled_examples, attempt)
    examples = TemplateExample.objects.filter(template=tuning.draft)
    taught = set(examples.values_list("test_id", "criterion", "output"))
    rows = []
    for one in labelled_examples:
        human = evaluations[one.result_id, one.criterion_id]
        rows.append(_row(one, [_human_verdict(row, one) for row in human], judge[one.pk], taught))
    return DisagreementPage(rows, len(ids), len(ids) - len(mine))


def _ids(tuning: Tuning, attempt: Attempt | None) -> list[int]:
    development = tuning.examples.filter(split=Split.DEVELOPMENT)
    if attempt is None:
        differ = development.filter(Q(judge_passed__isnull=False) & ~Q(judge_passed=F("passed")))
        return list(differ.order_by("pk").values_list("pk", flat=True))
    judgments = attempt.judgments.filter(labelled_example__split=Split.DEVELOPMENT)
    values, known = values_of(judgments)[attempt.pk], known_examples(development)
    rows = rows_of(attempt, values, known, from_json(tuning.template.scale))[Split.DEVELOPMENT]
    return sorted(row.labelled_example for row in rows if row.judge not in (None, row.annotators))


def active_evaluations_on(
    labelled_examples: Iterable[LabelledExample],
) -> Mapping[CriterionPosition, list[HumanEvaluation]]:
    """Read the active human evaluations, the oldest first and an adjudication last."""
    places = {(one.result_id, one.criterion_id) for one in labelled_examples}
    rows = HumanEvaluation.objects.filter(result__in={result for result, _ in places})
    found: dict[CriterionPosition, list[HumanEvaluation]] = defaultdict(list)
    for row in rows.select_related("annotator").order_by("pk"):
        found[row.result_id, row.criterion_id].append(row)
    return {
        place: sorted(active_evaluations(found[place]), key=lambda row: row.kind == "adjudication")
        for place in places
    }


def _human_verdict(row: HumanEvaluation, labelled_example: LabelledExample) -> VerdictText:
    author = f"{row.annotator} (adjudication)" if row.kind == "adjudication" else str(row.annotator)
    return _verdict(author, row, labelled_example)


def _verdict(
    author: str,
    row: HumanEvaluation | Judgment | AttemptJudgment,
    labelled_example: LabelledExample,
) -> VerdictText:
    if labelled_example.criterion.key != WHOLE_TEST:
        label = extent_label(row.option, row.value)
    else:
        passed = labelled_example.result.revision.passes(row.value)
        label = verdict_label(row.option, row.value, passed)
    return VerdictText(author, label, text_or_none(row.justification))


def _judge_verdicts(
    tuning: Tuning, labelled_examples: Sequence[LabelledExample], attempt: Attempt | None
) -> Mapping[int, list[VerdictText]]:
    """Return the judge's verdicts by labelled example."""
    found: dict[int, list[VerdictText]] = defaultdict(list)
    if attempt is not None:
        by_pk = {one.pk: one for one in labelled_examples}
        done = attempt.judgments.filter(labelled_example__in=by_pk, state=ItemState.DONE)
        for verdict in done.order_by("sample"):
            pk = verdict.labelled_example_id
            found[pk].append(_verdict("Judge", verdict, by_pk[pk]))
        return found
    by_place = {
        (one.judge_run_id, one.result_id, one.criterion_id): one for one in labelled_examples
    }
    rows = Judgment.objects.filter(
        judge=tuning.judge, result__in={one.result_id for one in labelled_examples}
    )
    for row in rows.order_by("sample"):
        one_or_none = by_place.get((row.judge_run_id, row.result_id, row.criterion_id))
        if one_or_none is not None:
            found[one_or_none.pk].append(_verdict("Judge", row, one_or_none))
    return found


def _row(
    labelled_example: LabelledExample,
    annotators: list[VerdictText],
    judge: list[VerdictText],
    taught: set[tuple[int, str, str]],
) -> Disagreement:
    case = judged_answer_about(labelled_example)
    content = case.content
    criterion = labelled_example.criterion.text if labelled_example.criterion.key else ""
    return Disagreement(
        labelled_example=labelled_example,
        criterion=criterion,
        prompt=text_or_none(case.input),
        images=case.images(("input",)),
        answer=text_or_none(case.output),
        reference=text_or_none(content["reference"]),
        guidelines=text_or_none(content["guidelines"]),
        annotators=annotators,
        judge=judge,
        is_example=(labelled_example.result.test_id, criterion, case.output) in taught,
    )
