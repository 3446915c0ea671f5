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
from reports.judges.trust import PanelRecord, Reason, Record, reasons_against, reasons_against_panel
from reports.links import page_url
from runs.agreement import Agreement, agreement_in
from runs.figures import spent_usd
from runs.labels import judges_itself
from runs.models import Judging, JudgmentState, Run, Suite

LATELY = 10
"""Judgings that are lately."""


@dataclass(frozen=True)
class Seat:
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
class PanelLine:
    """One judging in sums. `spent_usd` None: no prices are known."""

    judging: Judging
    run: Run
    seats: tuple[Seat, ...]
    agreement: Agreement
    comparisons: Comparisons
    failures: dict[str, int]
    spent_usd: Decimal | None

    @property
    def at(self) -> datetime:
        return self.judging.created_at

    @property
    def jury(self) -> str:
        return self.judging.jury_name or ", ".join(seat.name for seat in self.seats)

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
        return reasons_against_panel(PanelRecord(alpha, band, units, made, expected))


@dataclass(frozen=True)
class JudgeTotals:
    """One judge over several judgings, the newest first. `note` is what people say of its model."""

    judge_id: int
    name: str
    model: str
    language_model_id: int | None
    note: str
    seats: tuple[Seat, ...]

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


def panel_lines(
    *, suite: Suite | None = None, run: Run | None = None, last: int = LATELY
) -> list[PanelLine]:
    """The last judgings by models that are done, the newest first; one query."""
    rows = Judging.objects.filter(state=BatchState.DONE).exclude(jury__judges=[])
    rows = rows.exclude(statistics={})
    if suite is not None:
        rows = rows.filter(run__suite=suite)
    if run is not None:
        rows = rows.filter(run=run)
    related = rows.select_related("run").order_by("-pk").defer("run__system_prompt", "run__params")
    return [_line(judging) for judging in related[:last]]


def _line(judging: Judging) -> PanelLine:
    sums = judging.statistics
    return PanelLine(
        judging=judging,
        run=judging.run,
        seats=tuple(_seats(judging)),
        agreement=agreement_in(sums),
        comparisons=Comparisons(*sums.get("comparisons", (0, 0))),
        failures=sums.get("failures", {}),
        spent_usd=spent_usd(judging),
    )


def _seats(judging: Judging) -> Iterator[Seat]:
    backup = judging.jury.get("backup")
    seated = [(one, False) for one in judging.jury.get("judges", ())]
    for one, is_backup in [*seated, *([(backup, True)] if backup else [])]:
        endpoint = one["endpoint"]
        counted = judging.statistics.get("judges", {}).get(str(one["judge"]), {})
        yield Seat(
            judge_id=one["judge"],
            name=one.get("name") or endpoint.get("name", ""),
            language_model_id=endpoint.get("language_model_id"),
            model=endpoint.get("name", ""),
            is_backup=is_backup,
            is_scripted=bool(endpoint.get("is_scripted")),
            judges_itself=judges_itself(judging.run, endpoint),
            ok=counted.get(JudgmentState.OK, 0),
            repaired=counted.get(JudgmentState.REPAIRED, 0),
            failed=counted.get(JudgmentState.FAILED, 0),
        )


def judge_totals(lines: Sequence[PanelLine]) -> list[JudgeTotals]:
    """Each judge that sat in these judgings, the one asked most first; one query."""
    seats: dict[int, list[Seat]] = {}
    for line in lines:
        for seat in line.seats:
            seats.setdefault(seat.judge_id, []).append(seat)
    ids = {pk for mine in seats.values() if (pk := mine[0].language_model_id) is not None}
    notes = dict(LanguageModel.objects.filter(pk__in=ids).values_list("pk", "note"))
    totals = [_totals(mine, notes) for mine in seats.values()]
    return sorted(totals, key=lambda judge: (-judge.asked, judge.name))


def _totals(seats: Sequence[Seat], notes: dict[int, str]) -> JudgeTotals:
    newest = seats[0]
    return JudgeTotals(
        judge_id=newest.judge_id,
        name=newest.name,
        model=newest.model,
        language_model_id=newest.language_model_id,
        note=notes.get(newest.language_model_id or 0, ""),
        seats=tuple(seats),
    )


def failures_in(lines: Iterable[PanelLine]) -> Counter[str]:
    """Failed verdicts by kind."""
    found: Counter[str] = Counter()
    for line in lines:
        found.update(line.failures)
    return found


@dataclass(frozen=True)
class Doubt:
    """A judge, or a jury, that is doubted: who, why, and where more is to be seen."""

    who: str
    is_jury: bool
    reasons: tuple[Reason, ...]
    url: str
    at: datetime


def doubts(lines: Sequence[PanelLine] | None = None) -> list[Doubt]:
    """Judges and juries that are not to be trusted lately, by what each judging keeps in sums.

    Of a jury only its newest judging speaks. Two queries at most, however many results there are;
    what people said, and which judge stands alone, is on the page of the judges.
    """
    lines = panel_lines() if lines is None else lines
    newest = {line.judging.jury_fingerprint: line for line in reversed(lines)}
    juries = [
        Doubt(line.jury, True, line.reasons, page_url("judges", run=line.run), line.at)
        for line in newest.values()
    ]
    judges = [
        Doubt(judge.name, False, reasons_against(judge.record()), page_url("judges"), at)
        for judge, at in ((judge, _last_seen(judge, lines)) for judge in judge_totals(lines))
    ]
    return [doubt for doubt in (*juries, *judges) if any(r.is_grave for r in doubt.reasons)]


def _last_seen(judge: JudgeTotals, lines: Iterable[PanelLine]) -> datetime:
    return max(
        line.at for line in lines if any(seat.judge_id == judge.judge_id for seat in line.seats)
    )
