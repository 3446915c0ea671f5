"""The background work of a try: the judge is asked about each precedent, and what it says kept."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, QuerySet

from evalhub.llm.endpoint import Endpoint
from evalhub.models import ItemState
from evalhub.work.desk import Desk
from evalhub.work.kinds import Kind, Purse, Save
from evalhub.work.rows import overwrite
from issues.models import Test
from runs.asking import Case, Wording
from runs.hearing import case_of
from runs.models import JudgmentState
from runs.questioning import Heard, hear
from runs.rehearsals.content import tests_of, wording_of
from runs.rehearsals.models import Attempt, Precedent, Verdict
from runs.seats import Seat, panel_from

ENDED_FIELDS = [
    "state",
    "worker",
    "next_try_at",
    "option",
    "value",
    "justification",
    "was_repaired",
    "error_kind",
    "error_message",
    "call",
]


@dataclass
class Question:
    """One verdict that is missing. `sealed` are the sealed tests whose text its calls carry."""

    item_id: int
    seat: Seat
    mender: Endpoint | None
    wording: Wording
    case: Case
    key: str
    sealed: list[int]


class Rehearsing(Kind):
    """The work of a try: its verdicts are the items, one question each."""

    batch_model, item_model = Attempt, Verdict

    def claimable(self, batch: Attempt) -> QuerySet[Verdict]:
        return Verdict.objects.filter(attempt=batch)

    def remaining(self, batch: Attempt) -> QuerySet[Verdict]:
        return Verdict.objects.filter(attempt=batch, state=ItemState.PENDING)

    def endpoints(self, batch: Attempt) -> list[Endpoint]:
        mender = mender_of(batch)
        return [seat_of(batch).endpoint, *([mender] if mender else [])]

    def purse(self, batch: Attempt) -> Purse:
        limit = batch.cost_limit_usd
        spent = Attempt.objects.values_list("spent_usd", flat=True).get(pk=batch.pk)
        return Purse(float(spent), None if limit is None else float(limit), batch.work_key)

    def prepare(self, batch: Attempt, item_ids: Sequence[int]) -> list[Question]:
        seat, mender = seat_of(batch), mender_of(batch)
        wording = wording_of(batch.content, batch.template_id or 0)
        verdicts = dict(Verdict.objects.filter(pk__in=item_ids).values_list("pk", "precedent_id"))
        rows = with_texts(Precedent.objects.filter(pk__in=verdicts.values()))
        precedents = {row.pk: row for row in rows}
        taught = _sealed_since(batch)
        return [
            Question(pk, seat, mender, wording, *_about(precedents[precedent], taught))
            for pk, precedent in verdicts.items()
        ]

    def sealed_tests(self, job: Question) -> list[int]:
        return job.sealed

    async def perform(self, job: Question, desk: Desk) -> None:
        about = (job.seat, job.wording, job.case, job.key)
        heard = await hear(*about, desk, mender=job.mender)
        await desk.save(heard, *heard.calls)

    def store(self, saves: list[Save]) -> None:
        said = {save.item_id: save.content for save in saves if isinstance(save.content, Heard)}
        verdicts = list(Verdict.objects.filter(pk__in=said).order_by("pk"))
        for verdict in verdicts:
            _keep(verdict, said[verdict.pk])
        overwrite(verdicts, ENDED_FIELDS)


def seat_of(attempt: Attempt) -> Seat:
    """The judge as it was when the try began."""
    return panel_from(attempt.seat).seats[0]


def mender_of(attempt: Attempt) -> Endpoint | None:
    """Who mends replies that cannot be read; None: the judge itself."""
    stored = attempt.seat.get("mender")
    return Endpoint.from_json(stored) if stored else None


def with_texts(precedents: QuerySet[Precedent]) -> QuerySet[Precedent]:
    """Precedents with all at hand that a judge is asked about them."""
    rows = precedents.select_related(
        "criterion", "result__answer", "result__revision", "result__run"
    )
    return rows.annotate(is_sealed=F("result__test__sealed")).order_by("pk")


def case_about(precedent: Precedent) -> Case:
    """What a judge reads of it, as the run asked and answered it."""
    return case_of(precedent.result, precedent.result.run.system_prompt)


def _sealed_since(batch: Attempt) -> list[int]:
    """The tests of its examples that were sealed after it began: judges may be shown them."""
    rows = Test.objects.filter(pk__in=tests_of(batch.content), sealed=True)
    return sorted(rows.values_list("pk", flat=True))


def _about(precedent: Precedent, taught: list[int]) -> tuple[Case, str, list[int]]:
    """What is asked about: the case, the criterion's key, and the sealed tests that it carries."""
    is_sealed = precedent.is_sealed  # type: ignore[attr-defined]
    sealed = [precedent.result.test_id, *taught] if is_sealed else taught
    return case_about(precedent), precedent.criterion.key, sealed


def _keep(verdict: Verdict, heard: Heard) -> None:
    said = heard.verdict
    verdict.state = ItemState.DONE if said else ItemState.ERROR
    verdict.worker = verdict.next_try_at = None
    verdict.option, verdict.value = (said.option, said.value) if said else ("", None)
    verdict.justification = said.justification if said else ""
    verdict.was_repaired = heard.state == JudgmentState.REPAIRED
    verdict.error_kind, verdict.error_message = heard.failure, heard.message
    verdict.call = heard.call
