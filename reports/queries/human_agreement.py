"""Judge–human agreement: the verdicts of judges and annotators on the same answers."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery

from evalhub.models import BatchState
from issues.rubrics.scoring import WHOLE_TEST
from reports.documents.reading import Reading
from reports.judge_reliability.accuracy_rule import Checked, Measured, Sample, measured
from runs.judging.jury import judges_in
from runs.models import ChosenBy, HumanEvaluation, JudgeRun, Judgment, Result, ResultScore, Suite
from runs.scoring.active_evaluation_rule import (
    Evaluation,
    HumanScore,
    drawn_evaluations,
    human_score_of,
)
from runs.scoring.agreement import JUDGE_VALUE_FIELDS
from runs.scoring.coverage_rule import JudgeValue, consensus_of
from runs.scoring.examples import taught_tests
from runs.scoring.score import Rule, evaluations_in, rules_of

DRAWN = Q(chosen_by=ChosenBy.QUEUE_RANDOM, blind=True)
"""Blind human evaluations of answers that were drawn at random."""

PIECE = 5000


@dataclass(frozen=True)
class Party:
    """A judge, or the judges of a jury together. `judge_id` is None for a jury."""

    key: str
    name: str
    judge_id: int | None
    is_scripted: bool


@dataclass(frozen=True)
class Evaluated:
    """A run with human evaluations and its active judge run; None if that is not done.

    `evaluations` is their number, `newest` the highest id among them.
    """

    run: int
    evaluations: int
    newest: int
    judge_run: JudgeRun | None


@dataclass(frozen=True)
class Choice:
    """Number of human evaluations by the way their answers were chosen."""

    chosen_by: str
    blind: bool
    n: int


@dataclass(frozen=True)
class Calibration:
    """Judge–human agreement of all parties.

    Attributes:
        measured: One entry per party, by sample.
        disputed: Number of answers on which annotators disagree.
        taught: Number of answers, by party, left out because a judge template of the party
            has an example from their test.
    """

    parties: dict[str, Party]
    rows: tuple[Checked, ...]
    measured: dict[Sample, list[Measured]]
    disputed: int
    taught: dict[str, int]

    @property
    def answers(self) -> int:
        """Number of answers with an undisputed human verdict."""
        return len({row.result for row in self.rows if row.humans is not None})

    @property
    def drawn(self) -> int:
        """Number of answers of the random sample with an undisputed human verdict."""
        return len({row.result for row in self.rows if row.drawn is not None})

    def of_judge(self, judge_id: int) -> Measured | None:
        """Return the judge's measures on the random sample; None if it has none."""
        lines = self.measured[Sample.DRAWN]
        return next((line for line in lines if line.party == judge_key(judge_id)), None)


def judge_key(judge_id: int) -> str:
    return f"judge-{judge_id}"


def jury_key(judge_run: JudgeRun) -> str:
    """Return the same key for juries with the same configuration, whatever their names."""
    return jury_key_of(judge_run.jury_fingerprint)


def jury_key_of(fingerprint: str) -> str:
    return f"jury-{fingerprint[:12]}"


def choices(suite: Suite | None = None) -> list[Choice]:
    """Count human evaluations by choice of answer, most frequent first; one query."""
    rows = _evaluations(suite).exclude(kind="withdrawal").values("chosen_by", "blind")
    counted = rows.annotate(n=Count("pk")).values_list("chosen_by", "blind", "n")
    found = [Choice(str(ChosenBy(chosen).label), blind, n) for chosen, blind, n in counted]
    return sorted(found, key=lambda choice: (-choice.n, choice.chosen_by, choice.blind))


def evaluated_runs(
    *, suite: Suite | None = None, runs: Collection[int] | None = None, last: int
) -> list[Evaluated]:
    """Return the newest `last` runs with human evaluations, of these if any; two queries."""
    among = (
        _evaluations(suite) if runs is None else _evaluations(suite).filter(result__run__in=runs)
    )
    return _with_judge_runs(_counted(among, last))


def newest_evaluated_runs(last: int, reading: Reading) -> list[Evaluated]:
    """Return the same of all runs, counted again where an evaluation was added or deleted.

    None of them while they are counted: that reads all evaluations that there are.
    """
    every = _evaluations(None)
    state = every.aggregate(n=Count("pk"), newest=Max("pk"))
    found = reading.computed(
        "evaluated-runs", [last, state], list[Counted], lambda: _counted(every, last)
    )
    return _with_judge_runs(found or ())


Counted = tuple[int, int, int]
"""A run, the number of its evaluations, and the newest of them."""


def _counted(among: QuerySet[HumanEvaluation], last: int) -> list[Counted]:
    # A join with all results would be read run by run, newest first: all of them for few rows.
    run_of = Result.objects.filter(pk=OuterRef("result_id")).order_by().values("run_id")
    counted = among.values(of=Subquery(run_of)).annotate(n=Count("pk"), top=Max("pk"))
    return list(counted.order_by("-of").values_list("of", "n", "top")[:last])


def _with_judge_runs(found: Collection[Counted]) -> list[Evaluated]:
    judge_runs = JudgeRun.objects.filter(run__in=[run for run, _, _ in found], is_active=True)
    deciding = {one.run_id: one for one in judge_runs.filter(state=BatchState.DONE)}
    return [Evaluated(run, n, top, deciding.get(run)) for run, n, top in found]


def _evaluations(suite: Suite | None) -> QuerySet[HumanEvaluation]:
    rows: QuerySet[HumanEvaluation] = HumanEvaluation.objects.order_by()
    return rows if suite is None else rows.filter(result__run__suite=suite)


def calibration(runs: Sequence[Evaluated], reading: Reading) -> Calibration | None:
    """Return the cached judge–human agreement of these runs; None if not computed yet."""
    found = reading.computed("calibration-4", inputs_of(runs), Agreement, lambda: _measure(runs))
    return found and Calibration(_parties(runs), *found)


def inputs_of(runs: Iterable[Evaluated]) -> list[list[object]]:
    """Return everything that the calibration depends on, as JSON."""
    return [[one.run, one.evaluations, one.newest, *version_of(one.judge_run)] for one in runs]


def version_of(judge_run: JudgeRun | None) -> list[object]:
    """Return a version that changes with the judgments of the judge run, as JSON."""
    return [judge_run.pk, str(judge_run.finished_at), judge_run.statistics] if judge_run else []


def _parties(runs: Iterable[Evaluated]) -> dict[str, Party]:
    """Return juries and their judges by key, with their names in the newest run."""
    found: dict[str, Party] = {}
    for judge_run in (one.judge_run for one in runs if one.judge_run):
        judges = judges_in(judge_run.jury)
        scripted = [bool(judge["endpoint"].get("is_scripted")) for judge in judges]
        jury = judge_run.jury_name or ", ".join(judge["name"] for judge in judges)
        key = jury_key(judge_run)
        found.setdefault(key, Party(key, f"{jury} (together)", None, any(scripted)))
        for judge, is_scripted in zip(judges, scripted, strict=True):
            key = judge_key(judge["judge"])
            found.setdefault(key, Party(key, judge["name"], judge["judge"], is_scripted))
    return found


class Agreement(NamedTuple):
    """The fields of a `Calibration` that take long to compute."""

    rows: tuple[Checked, ...]
    measured: dict[Sample, list[Measured]]
    disputed: int
    taught: dict[str, int]


def _measure(runs: Sequence[Evaluated]) -> Agreement:
    evaluated = HumanEvaluation.objects.filter(result__run__in=[one.run for one in runs])
    found = list(_checked(runs, evaluations_in(evaluated)))
    rows = tuple(row for row, is_taught in found if not is_taught)
    lines = {sample: measured(rows, sample) for sample in Sample}
    disputed = {row.result for row in rows if row.humans is None}
    taught = Counter(row.party for row, is_taught in found if is_taught)
    return Agreement(rows, lines, len(disputed), dict(taught))


EvaluationsByResult = Mapping[int, Mapping[int, Sequence[Evaluation]]]
"""Evaluations, withdrawals included and oldest first, by result and criterion."""


def _checked(
    runs: Iterable[Evaluated], evaluations: EvaluationsByResult
) -> Iterator[tuple[Checked, bool]]:
    """Yield the verdicts of each judge and jury next to the human ones, answer by answer.

    The flag beside each tells whether the party was taught with an example from the test. Verdicts
    that were asked in another run count there.
    """
    judge_runs = {one.run: one.judge_run for one in runs if one.judge_run}
    places = _places(evaluations)
    values = _judge_values(judge_runs.values())
    passed = _passed(judge_runs.values())
    teaching = taught_tests({v.template for given in values.values() for v in given if v.template})
    for start in range(0, len(places), PIECE):
        piece = dict(list(places.items())[start : start + PIECE])
        rules = rules_of(piece)
        for result, (run, issue, test) in piece.items():
            if run not in judge_runs:
                continue
            human = _verdicts(evaluations[result], values[result], rules[result])
            if human is None:
                continue
            jury = jury_key(judge_runs[run])
            taught = _taught(values[result], test, teaching)
            taught |= {jury} if taught else set()
            taken = {v.judge for v in values[result] if v.taken_from is not None}
            together = {} if taken else {jury: passed.get(result)}
            own = _own((v for v in values[result] if v.judge not in taken), rules[result])
            for party, verdict in {**together, **own}.items():
                yield Checked(party, result, run, issue, verdict, *human), party in taught


def _taught(
    values: Iterable[JudgeValue], test: int, taught: Mapping[int, Collection[int]]
) -> set[str]:
    """Return the keys of judges whose judge template has an example from this test."""
    return {
        judge_key(v.judge)
        for v in values
        if v.judge is not None and v.template and test in taught.get(v.template, ())
    }


def _places(evaluations: EvaluationsByResult) -> dict[int, tuple[int, int, int]]:
    """Return (run, issue, test) of each result with human evaluations, by result id."""
    found: dict[int, tuple[int, int, int]] = {}
    ids = sorted(evaluations)
    for start in range(0, len(ids), PIECE):
        rows = Result.objects.filter(pk__in=ids[start : start + PIECE]).order_by("pk")
        fields = rows.values_list("pk", "run", "issue", "test")
        found |= {pk: (run, issue, test) for pk, run, issue, test in fields}
    return found


def _judge_values(judge_runs: Collection[JudgeRun]) -> dict[int, list[JudgeValue]]:
    """Return judgments of results with human evaluations."""
    rows = Judgment.objects.filter(judge_run__in=judge_runs, result__in=_results(judge_runs))
    found: dict[int, list[JudgeValue]] = defaultdict(list)
    for result, *fields in rows.order_by().values_list("result_id", *JUDGE_VALUE_FIELDS):
        found[result].append(JudgeValue(*fields))
    return found


def _passed(judge_runs: Collection[JudgeRun]) -> dict[int, bool | None]:
    rows = ResultScore.objects.filter(judge_run__in=judge_runs, result__in=_results(judge_runs))
    return dict(rows.order_by().values_list("result_id", "passed"))


def _results(judge_runs: Collection[JudgeRun]) -> QuerySet[HumanEvaluation, Any]:
    """Select the evaluated results of these runs."""
    runs = {judge_run.run_id for judge_run in judge_runs}
    return HumanEvaluation.objects.filter(result__run__in=runs).order_by().values("result")


def _own(values: Iterable[JudgeValue], rule: Rule) -> dict[str, bool | None]:
    """Return each judge's verdict as if it had judged alone; checks count for every judge."""
    values = list(values)
    judges = {v.judge for v in values if v.judge is not None}
    return {
        judge_key(judge): rule.passes(
            rule.score(consensus_of(v for v in values if v.judge in (judge, None)))
        )
        for judge in sorted(judges)
        if any(v.value is not None for v in values if v.judge == judge)
    }


def _verdicts(
    evaluations: Mapping[int, Sequence[Evaluation]],
    values: Iterable[JudgeValue],
    rule: Rule,
) -> tuple[bool | None, bool | None] | None:
    """Return the human verdicts of all and of the random sample; None if only parts have one."""
    checks = consensus_of(v for v in values if v.judge is None)
    by_all = {pk: score for pk, rows in evaluations.items() if (score := human_score_of(rows))}
    drawn = {
        pk: score
        for pk, rows in evaluations.items()
        if (score := human_score_of(drawn_evaluations(rows)))
    }
    if not _speak_of_all(by_all, checks, rule):
        return None
    blind = _scored(drawn, checks, rule) if _speak_of_all(drawn, checks, rule) else None
    return _scored(by_all, checks, rule), blind


def _whole(verdicts: Mapping[int, HumanScore], rule: Rule) -> HumanScore | None:
    ids = (c.pk for c in rule.criteria if c.key == WHOLE_TEST)
    return next((verdicts[pk] for pk in ids if pk in verdicts), None)


def _speak_of_all(
    verdicts: Mapping[int, HumanScore], checks: Mapping[int, float | None], rule: Rule
) -> bool:
    """Return whether the whole answer, or every criterion without a check, has a verdict."""
    if not verdicts:
        return False
    return _whole(verdicts, rule) is not None or rule.is_covered({*verdicts, *checks})


def _scored(
    verdicts: Mapping[int, HumanScore], checks: Mapping[int, float | None], rule: Rule
) -> bool | None:
    """Return whether the answer passes by all verdicts; None if they disagree."""
    whole = _whole(verdicts, rule)
    if whole is not None:
        sides = {rule.passes(value) for value in whole.values}
    else:
        sides = {rule.passes(rule.score({**checks, **end})) for end in rule.ends(verdicts)}
    return sides.pop() if len(sides) == 1 else None
