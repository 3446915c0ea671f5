"""Agreement of judges with annotators, on the pages of trials and of models under test."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from evalhub.admin_site.pages import current_user
from evalhub.statistics.judges.judge_metrics import JudgeMetrics, judge_metrics
from evalhub.statistics.rates.rate_interval import Method
from reports.documents.document import Column, Table
from reports.documents.reading import Reading
from reports.judge_reliability.accuracy_rule import Sample, measured
from reports.judge_reliability.humans.accuracy_tables import RATE_COLUMNS, rates
from reports.judge_reliability.trust_rule import MIN_OF_EACH, Evidence
from reports.queries.human_agreement import Party, calibration, evaluated_runs
from runs.figures.rate import Rate, rate_of_issues
from runs.laboratory.trials.claims.labels import verdicts_of_people
from runs.laboratory.trials.models import Benchmark, Claim, ClaimJudgment, GenerationRun, Trial

REPLAYS = 20
"""Newest replays whose agreement is shown."""

COLUMNS = (
    Column("judge", "Judge"),
    Column("agreement", "Agreement", "rate", "Same verdict as annotators"),
    *RATE_COLUMNS,
    Column("needed", "Conclusion"),
)


def row_of(name: str, found: JudgeMetrics | None, *, unit: str) -> tuple[Any, ...]:
    """Return a judge with its agreement by issue, or by idea, and whether that is enough.

    Args:
        unit: What verdicts depend on: "issue" or "idea".
    """
    if found is None or not found.n:
        return name, None, None, None, "needs more verdicts: none yet"
    evidence = Evidence.of(found.by_issue)
    counts = [(c.true_pass + c.true_fail, sum(c)) for c in found.by_issue]
    shown = [_of(rate, unit) for rate in (rate_of_issues(counts, answers=1), *rates(evidence))]
    return name, *shown, _conclusion(evidence, unit)


def _of(rate: Rate, unit: str) -> Rate | None:
    """Return a rate whose method names what its verdicts are of; None without any."""
    if unit == "idea" and rate.method is Method.BY_TEST:
        rate = replace(rate, method=Method.BY_CLAIM)
    return rate if rate.n else None


def _conclusion(evidence: Evidence, unit: str) -> str:
    missing = [
        f"{max(side.missing)} more {side.humans if side.missing[0] else f'{unit}s'}"
        for side in evidence.sides
        if not side.is_enough
    ]
    return f"needs more verdicts: {' and '.join(missing)}" if missing else ""


def _section(request: HttpRequest, table: Table, note: str) -> SafeString:
    return render_to_string(
        "reports/judge_reliability/agreement.html", {"table": table, "note": note}, request
    )


# Claims ------------------------------------------------------------------------------------------


def of_claims(benchmark: Benchmark, trials: Sequence[Trial] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the benchmark's own truth and each trial's judge beside the labels of annotators."""
    usable = Claim.objects.filter(benchmark=benchmark).usable()
    said = verdicts_of_people(usable.values("pk"))
    if not said:
        return
    claims = {pk: (idea, truth) for pk, idea, truth in _claims(said)}
    yield row_of(
        "The benchmark",
        judge_metrics((idea, truth, said[pk]) for pk, (idea, truth) in claims.items()),
        unit="idea",
    )
    for trial in trials:
        rows = ClaimJudgment.objects.filter(
            trial=trial, claim__in=claims, order=0, score__isnull=False
        )
        given = dict(rows.order_by().values_list("claim", "score"))
        pairs = (
            (idea, given[pk] >= trial.threshold, said[pk])
            for pk, (idea, _) in claims.items()
            if pk in given
        )
        yield row_of(_named(trial), judge_metrics(pairs), unit="idea")


def _named(judge: Trial | Party) -> str:
    name = judge.judge_name if isinstance(judge, Trial) else judge.name
    return f"{name} (scripted endpoint, not a model)" if judge.is_scripted else name


def _claims(ids: Iterable[int]) -> Iterator[tuple[int, int, bool]]:
    rows = Claim.objects.filter(pk__in=list(ids)).order_by("pk")
    yield from rows.values_list("pk", "idea", "truth")


def section_of_trial(request: HttpRequest, trial: Any) -> str:
    """Render how the trial's judge agrees with annotators on the claims that they labelled."""
    rows = list(of_claims(trial.benchmark, [trial])) or [row_of(_named(trial), None, unit="")]
    return _section(request, _table("Agreement with annotators on claims", rows), CLAIMS_NOTE)


CLAIMS_NOTE = (
    "Claims that annotators labelled, without those on which they differ; the judge’s verdict is "
    "that on the texts as given. Intervals are by idea. A conclusion needs at least "
    f"{MIN_OF_EACH} claims that annotators call true and {MIN_OF_EACH} that they call false."
)


# Answers of models under test --------------------------------------------------------------------


def of_replays(replays: Sequence[GenerationRun], reading: Reading) -> list[tuple[Any, ...]]:
    """Return each judge of each replay's run beside annotators, on answers drawn at random."""
    runs = {replay.run_id: replay for replay in replays if replay.run_id}
    evaluated = evaluated_runs(runs=list(runs), last=REPLAYS)
    found = calibration(evaluated, reading)
    rows = []
    for one in evaluated if found else ():
        assert found is not None
        mine = [row for row in found.rows if row.run == one.run]
        by_party = {line.party: line for line in measured(mine, Sample.DRAWN)}
        for party in dict.fromkeys(row.party for row in mine):
            name = f"{_named(found.parties[party])}, {runs[one.run].tested_model}"
            rows.append(row_of(name, by_party.get(party), unit="issue"))
    seen = {one.run for one in evaluated}
    left = [replay for run, replay in runs.items() if run not in seen]
    return rows + [
        row_of(f"Judges of {one.run}, {one.tested_model}", None, unit="") for one in left
    ]


REPLAYS_NOTE = (
    "Answers of models under test that a queue drew at random and annotators judged blind. A "
    f"conclusion needs at least {MIN_OF_EACH} human passes and {MIN_OF_EACH} human fails."
)


def section_of_benchmark(request: HttpRequest, benchmark: Any) -> str:
    """Render the agreement on labelled claims, and on answers of models under test."""
    parts = []
    newest = benchmark.trials.select_related("language_model", "template", "benchmark")
    if rows := list(of_claims(benchmark, newest.order_by("-pk")[:REPLAYS])):
        parts.append(_section(request, _table("Claims labelled by annotators", rows), CLAIMS_NOTE))
    replays = benchmark.generation_runs.filter(run__isnull=False).select_related(
        "tested_model", "run"
    )
    rows = of_replays(replays[:REPLAYS], Reading(current_user(request)))
    if rows:
        table = _table("Agreement with annotators on models under test", rows)
        parts.append(_section(request, table, REPLAYS_NOTE))
    return SafeString("".join(parts))


def _table(title: str, rows: Sequence[tuple[Any, ...]]) -> Table:
    return Table(key=title.lower().replace(" ", "_"), title=title, columns=COLUMNS, rows=list(rows))
