"""Agreement of annotators on the same answers, read once and kept."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evalhub.models import User
from issues.content.revisions import scale_in
from issues.models import JudgeTemplate
from issues.rubrics.scales import passes
from issues.rubrics.scoring import WHOLE_TEST
from reports.annotators.rule import (
    AnnotatorVerdict,
    EvaluationScope,
    Group,
    GroupAgreement,
    Pair,
    RepeatedVerdict,
    SelfAgreement,
    Work,
    group_agreement,
    overruled,
    pairs,
    seen,
    self_agreement,
)
from reports.documents.reading import Reading
from reports.queries.human_agreement import Evaluated, inputs_of
from reports.queries.names import all_tag_names
from runs.models import ChosenBy, EvaluationKind, HumanEvaluation, Suite
from runs.scoring.active_evaluation_rule import active_evaluations, withdrawn
from runs.scoring.dispute_rule import ADJUDICATION, opinions

FROM_QUEUE = (ChosenBy.QUEUE_RANDOM, ChosenBy.QUEUE_SELECTED)


class Row(NamedTuple):
    """A human evaluation with its result and revision, as `FIELDS`."""

    pk: int
    result: int
    criterion: int
    key: str
    annotator_id: int
    kind: str
    value: float | None
    blind: bool
    chosen_by: str
    seconds: int | None
    issue: int
    suite: int | None
    tags: int
    template: int | None
    threshold: float
    rule: str

    @property
    def passed(self) -> bool:
        return bool(passes(self.value, self.threshold, self.rule))


FIELDS = (
    *("pk", "result_id", "criterion_id", "criterion__key", "annotator_id", "kind", "value"),
    *("blind", "chosen_by", "seconds", "result__issue_id", "result__run__suite_id"),
    *("result__tag_set_id", "result__revision__template_id", "result__revision__pass_threshold"),
    "result__revision__pass_rule",
)

ALL: Group = ("all", "")


@dataclass(frozen=True)
class Annotators:
    """Agreement of annotators by their ids; `names` has their user names."""

    names: Mapping[int, str]
    pairs: Mapping[EvaluationScope, Sequence[Pair]]
    group_agreement: Mapping[EvaluationScope, Sequence[GroupAgreement]]
    self_agreement: Sequence[SelfAgreement]
    work: Sequence[Work]

    def all_together(self, scope: EvaluationScope) -> GroupAgreement | None:
        """Return the agreement on all answers; None if no answer has two annotators."""
        return next((line for line in self.group_agreement[scope] if line.group == ALL), None)


def annotators(runs: Sequence[Evaluated], reading: Reading) -> Annotators | None:
    """Measure the agreement of annotators once and cache it; None: not computed yet.

    Tags are those that issues had at launch.
    """
    names = dict(User.objects.order_by().values_list("pk", "username"))
    suites = dict(Suite.objects.order_by().values_list("pk", "name"))
    inputs = [inputs_of(runs), sorted(suites.items())]
    found = reading.computed("annotators-2", inputs, Agreement, lambda: _measure(runs, suites))
    return found and Annotators(names, *found)


class Agreement(NamedTuple):
    """The fields of `Annotators` that take long to compute."""

    pairs: dict[EvaluationScope, list[Pair]]
    group_agreement: dict[EvaluationScope, list[GroupAgreement]]
    self_agreement: list[SelfAgreement]
    work: list[Work]


def _measure(runs: Sequence[Evaluated], suites: Mapping[int, str]) -> Agreement:
    evaluations = HumanEvaluation.objects.filter(result__run__in=[one.run for one in runs])
    rows = [Row(*row) for row in evaluations.order_by("pk").values_list(*FIELDS)]
    about: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in rows:
        about[row.result, row.criterion].append(row)
    whole = [mine for mine in about.values() if mine[0].key == WHOLE_TEST]
    verdicts = list(_opinions(whole))
    tags = all_tag_names()

    def groups(one: AnnotatorVerdict) -> Iterator[Group]:
        yield ALL
        if one.suite is not None:
            yield "suite", suites.get(one.suite, f"suite {one.suite}")
        for name in tags[one.tags]:
            yield "tag", name

    return Agreement(
        {scope: pairs(seen(verdicts, scope)) for scope in EvaluationScope},
        {scope: group_agreement(seen(verdicts, scope), groups) for scope in EvaluationScope},
        self_agreement(again for mine in whole for again in _again(mine)),
        _work(rows, verdicts, whole),
    )


def _opinions(whole: Iterable[Sequence[Row]]) -> Iterator[AnnotatorVerdict]:
    """Yield each annotator's active verdict on each answer, without adjudications."""
    active = [row for mine in whole for row in opinions(mine)]
    scales = _scales({row.template for row in active})
    for row in active:
        yield AnnotatorVerdict(
            who=row.annotator_id,
            result=row.result,
            issue=row.issue,
            suite=row.suite,
            tags=row.tags,
            scale=scales[row.template],
            value=row.value or 0.0,
            passed=row.passed,
            blind=row.blind,
        )


def _scales(templates: set[int | None]) -> dict[int | None, tuple[float, ...]]:
    """Return the values of each template's scale, ascending; of pass and fail without one."""
    rows = JudgeTemplate.objects.filter(pk__in={pk for pk in templates if pk}).order_by()
    stored: dict[int | None, object] = {None: None, **dict(rows.values_list("pk", "scale"))}
    return {
        pk: tuple(sorted({option.value for option in scale_in(scale).options}))  # type: ignore[arg-type]
        for pk, scale in stored.items()
    }


def _again(mine: Sequence[Row]) -> Iterator[RepeatedVerdict]:
    """Yield the verdicts that annotators gave again, blind and from a queue."""
    undone = {row.pk for row in withdrawn(mine)}
    before: dict[int, Row] = {}
    for row in mine:
        if row.kind in (ADJUDICATION, EvaluationKind.WITHDRAWAL) or row.pk in undone:
            continue
        first = before.get(row.annotator_id)
        if first is not None and row.blind and row.chosen_by in FROM_QUEUE:
            yield RepeatedVerdict(row.annotator_id, row.issue, first.passed, row.passed)
        before[row.annotator_id] = row


def _work(
    rows: Sequence[Row], verdicts: Sequence[AnnotatorVerdict], whole: Iterable[Sequence[Row]]
) -> list[Work]:
    """Add up the work of each annotator, those with most evaluations first."""
    given, adjudications = Counter[int](), Counter[int]()
    seconds: dict[int, list[int]] = defaultdict(list)
    for row in rows:
        if row.kind == ADJUDICATION:
            adjudications[row.annotator_id] += 1
        elif row.kind != EvaluationKind.WITHDRAWAL:
            given[row.annotator_id] += 1
            if row.seconds is not None:
                seconds[row.annotator_id].append(row.seconds)
    adjudicated = {
        row.result: row.passed
        for mine in whole
        for row in active_evaluations(mine)
        if row.kind == ADJUDICATION
    }
    settled, lost = overruled(verdicts, adjudicated)
    active = Counter(one.who for one in verdicts)
    return [
        Work(
            who,
            given[who],
            active[who],
            settled[who],
            lost[who],
            adjudications[who],
            tuple(seconds[who]),
        )
        for who in sorted({*given, *adjudications}, key=lambda who: (-given[who], who))
    ]
