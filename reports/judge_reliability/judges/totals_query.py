"""Judges over the last judgings: what they were asked, how they agreed, and who is doubted.

All of it comes from the sums that each judging keeps: no judgment is read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from evalhub.models import BatchState, LanguageModel
from evalhub.statistics.comparisons import Comparisons
from reports.documents.links import page_url
from reports.judge_reliability.judges.concerns_rule import (
    JuryRecord,
    Reason,
    Record,
    concerns_about,
    concerns_about_jury,
)
from runs.figures.run_figures import spent_usd
from runs.figures.run_labels import judges_itself
from runs.models import JudgeRun, JudgmentState, Run, Suite
from runs.scoring.agreement import Agreement, agreement_in

LATELY = 10
"""Judgings that are lately."""


@dataclass(frozen=True)
class JudgeInRun:
    """One judge in one judging; counts are of its verdicts. Of a backup, of what it stepped in."""

    judge_id: int
    name: str
    language_model_id: int | None
    model: str
    is_backup: bool
    is_scripted: bool
    judges_itself: bool
    ok: int
    repaired: int
    failed: int

    @property
    def answered(self) -> int:
        return self.ok + self.repaired

    @property
    def asked(self) -> int:
        return self.answered + self.failed


@dataclass(frozen=True)
class JuryLine:
    """One judging in sums. `spent_usd` None: no prices are known."""

    judge_run: JudgeRun
    run: Run
    seats: tuple[JudgeInRun, ...]
    agreement: Agreement
    comparisons: Comparisons
    failures: dict[str, int]
    spent_usd: Decimal | None

    @property
    def at(self) -> datetime:
        return self.judge_run.created_at

    @property
    def jury(self) -> str:
        return self.judge_run.jury_name or ", ".join(seat.name for seat in self.seats)

    @property
    def asked(self) -> int:
        return sum(seat.asked for seat in self.seats)

    @property
    def answered(self) -> int:
        return sum(seat.answered for seat in self.seats)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why the panel is doubted, whatever is known of each judge."""
        alpha, band, units = self.agreement
        made, expected = self.comparisons.made, self.comparisons.expected
        return concerns_about_jury(JuryRecord(alpha, band, units, made, expected))


@dataclass(frozen=True)
class JudgeTotals:
    """One judge over several judgings, the newest first. `note` is what people say of its model."""

    judge_id: int
    name: str
    model: str
    language_model_id: int | None
    note: str
    seats: tuple[JudgeInRun, ...]

    @property
    def ok(self) -> int:
        return sum(seat.ok for seat in self.seats)

    @property
    def repaired(self) -> int:
        return sum(seat.repaired for seat in self.seats)

    @property
    def failed(self) -> int:
        return sum(seat.failed for seat in self.seats)

    @property
    def answered(self) -> int:
        return self.ok + self.repaired

    @property
    def asked(self) -> int:
        return self.answered + self.failed

    @property
    def is_scripted(self) -> bool:
        return any(seat.is_scripted for seat in self.seats)

    @property
    def own_answers(self) -> int:
        """In how many judgings it judged answers of its own."""
        return sum(seat.judges_itself and bool(seat.asked) for seat in self.seats)

    @property
    def is_backup(self) -> bool:
        """Whether it only ever stepped in for others."""
        return all(seat.is_backup for seat in self.seats)

    def record(self, **known: Any) -> Record:
        """What the rule of trust is asked about; `known` is what else was measured."""
        return Record(
            asked=self.asked,
            failed=self.failed,
            own_answers=self.own_answers,
            is_scripted=self.is_scripted,
            **known,
        )


def jury_lines(
    *, suite: Suite | None = None, run: Run | None = None, last: int = LATELY
) -> list[JuryLine]:
    """The last judgings by models that are done, the newest first; one query."""
    rows = JudgeRun.objects.filter(state=BatchState.DONE).exclude(jury__judges=[])
    rows = rows.exclude(statistics={})
    if suite is not None:
        rows = rows.filter(run__suite=suite)
    if run is not None:
        rows = rows.filter(run=run)
    related = rows.select_related("run").order_by("-pk").defer("run__system_prompt", "run__params")
    return [_line(judge_run) for judge_run in related[:last]]


def _line(judge_run: JudgeRun) -> JuryLine:
    sums = judge_run.statistics
    return JuryLine(
        judge_run=judge_run,
        run=judge_run.run,
        seats=tuple(_judges_in_run(judge_run)),
        agreement=agreement_in(sums),
        comparisons=Comparisons(*sums.get("comparisons", (0, 0))),
        failures=sums.get("failures", {}),
        spent_usd=spent_usd(judge_run),
    )


def _judges_in_run(judge_run: JudgeRun) -> Iterator[JudgeInRun]:
    backup = judge_run.jury.get("backup")
    seated = [(one, False) for one in judge_run.jury.get("judges", ())]
    for one, is_backup in [*seated, *([(backup, True)] if backup else [])]:
        endpoint = one["endpoint"]
        counted = judge_run.statistics.get("judges", {}).get(str(one["judge"]), {})
        yield JudgeInRun(
            judge_id=one["judge"],
            name=one.get("name") or endpoint.get("name", ""),
            language_model_id=endpoint.get("language_model_id"),
            model=endpoint.get("name", ""),
            is_backup=is_backup,
            is_scripted=bool(endpoint.get("is_scripted")),
            judges_itself=judges_itself(judge_run.run, endpoint),
            ok=counted.get(JudgmentState.OK, 0),
            repaired=counted.get(JudgmentState.REPAIRED, 0),
            failed=counted.get(JudgmentState.FAILED, 0),
        )


def judge_totals(lines: Sequence[JuryLine]) -> list[JudgeTotals]:
    """Each judge that sat in these judgings, the one asked most first; one query."""
    seats: dict[int, list[JudgeInRun]] = {}
    for line in lines:
        for seat in line.seats:
            seats.setdefault(seat.judge_id, []).append(seat)
    ids = {pk for mine in seats.values() if (pk := mine[0].language_model_id) is not None}
    notes = dict(LanguageModel.objects.filter(pk__in=ids).values_list("pk", "note"))
    totals = [_totals(mine, notes) for mine in seats.values()]
    return sorted(totals, key=lambda judge: (-judge.asked, judge.name))


def _totals(seats: Sequence[JudgeInRun], notes: dict[int, str]) -> JudgeTotals:
    newest = seats[0]
    return JudgeTotals(
        judge_id=newest.judge_id,
        name=newest.name,
        model=newest.model,
        language_model_id=newest.language_model_id,
        note=notes.get(newest.language_model_id or 0, ""),
        seats=tuple(seats),
    )


def failures_in(lines: Iterable[JuryLine]) -> Counter[str]:
    """Failed verdicts by kind."""
    found: Counter[str] = Counter()
    for line in lines:
        found.update(line.failures)
    return found


@dataclass(frozen=True)
class JudgeConcern:
    """A judge, or a jury, that is doubted: who, why, and where more is to be seen."""

    who: str
    is_jury: bool
    reasons: tuple[Reason, ...]
    url: str
    at: datetime


def judge_concerns(lines: Sequence[JuryLine] | None = None) -> list[JudgeConcern]:
    """Judges and juries that are not to be trusted lately, by what each judging keeps in sums.

    Of a jury only its newest judging speaks. Two queries at most, however many results there are;
    what people said, and which judge stands alone, is on the page of the judges.
    """
    lines = jury_lines() if lines is None else lines
    newest = {line.judge_run.jury_fingerprint: line for line in reversed(lines)}
    juries = [
        JudgeConcern(line.jury, True, line.reasons, page_url("judges", run=line.run), line.at)
        for line in newest.values()
    ]
    judges = [
        JudgeConcern(judge.name, False, concerns_about(judge.record()), page_url("judges"), at)
        for judge, at in ((judge, _last_seen(judge, lines)) for judge in judge_totals(lines))
    ]
    return [doubt for doubt in (*juries, *judges) if any(r.is_grave for r in doubt.reasons)]


def _last_seen(judge: JudgeTotals, lines: Iterable[JuryLine]) -> datetime:
    return max(
        line.at for line in lines if any(seat.judge_id == judge.judge_id for seat in line.seats)
    )
