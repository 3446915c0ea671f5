"""Background work of drafts: one borderline option and one input for a batch, then each answer."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from evalhub.llm.endpoint import Endpoint
from evalhub.models import Call, ItemState
from evalhub.work import progress
from evalhub.work.calls.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from evalhub.work.progress import act, lock
from issues.drafting.asking import Asked, Failure, Label, ask, label
from issues.drafting.prompt_material import examples_of, label_content
from issues.drafting.prompts import (
    Material,
    Target,
    answer_request,
    borderline_request,
    input_request,
    test_prompt,
)
from issues.drafting.settings import DraftingSettings
from issues.judge_templates.prompts import conversation_text
from issues.models import Decision, Draft, Generation, Test
from issues.similarity.near_duplicates import Compared, near_duplicates

NOT_PREPARED = "not_prepared"


@dataclass
class DraftingJob:
    """Everything that one draft needs."""

    item_id: int
    settings: DraftingSettings
    generator: Endpoint
    judge: Endpoint | None
    material: Material
    draft: Draft
    is_prepared: bool
    borderline: dict[str, str] | None
    inputs: list[tuple[str, str]] | None
    sealed: list[int]


@dataclass
class Prepared:
    """The part that a whole batch shares."""

    borderline: dict[str, str] | None = None
    inputs: list[tuple[str, str]] | None = None
    failures: list[Failure] = field(default_factory=list)
    is_done: bool = False


@dataclass
class Written:
    """The answers of a draft, of which a pair has two."""

    answers: list[str]
    rationale: str
    failures: list[Failure]
    call: Any


@dataclass
class Labelled:
    labels: list[Label]


@dataclass
class Failed:
    """A draft without an answer, or a batch without what its drafts share."""

    failures: list[Failure]
    kind: str
    is_shared: bool = False


class DraftingKind(Kind[Generation, Draft, DraftingJob]):
    """The work of a batch; each draft is an item, and the first one prepares the batch."""

    batch_model, item_model, batch_field = Generation, Draft, "generation"

    def claimable(self, batch: Generation) -> QuerySet[Draft]:
        """Return one draft until borderline option and input are there, then all."""
        items = self.items_of(batch)
        if Generation.objects.filter(pk=batch.pk, prepared_at=None).exists():
            first = (
                items.filter(state=ItemState.PENDING).order_by("pk").values_list("pk", flat=True)
            )
            return items.filter(pk__in=list(first[:1]))
        return items

    def endpoints(self, batch: Generation) -> list[Endpoint]:
        judge = [Endpoint.from_json(batch.judge_endpoint)] if batch.judge_endpoint else []
        return [Endpoint.from_json(batch.endpoint), *judge]

    def prepare(self, batch: Generation, item_ids: Sequence[int]) -> list[DraftingJob]:
        batch = Generation.objects.get(pk=batch.pk)
        chosen = DraftingSettings.model_validate(batch.settings)
        generator, *judges = self.endpoints(batch)
        material = Material(examples_of(batch), batch.passage["text"] if batch.passage else "")
        sealed = sorted(batch.sources.filter(sealed=True).values_list("pk", flat=True))
        inputs = [(name, text) for name, text in batch.inputs] if batch.inputs else None
        return [
            DraftingJob(
                draft.pk,
                chosen,
                generator,
                judges[0] if judges else None,
                material,
                draft,
                batch.prepared_at is not None,
                batch.borderline,
                inputs,
                sealed,
            )
            for draft in Draft.objects.filter(pk__in=item_ids)
        ]

    def sealed_tests(self, job: DraftingJob) -> list[int]:
        return job.sealed

    async def perform(self, job: DraftingJob, caller: ModelCaller) -> None:
        if not job.is_prepared and not await _prepare(job, caller):
            return
        draft = job.draft
        answers = [text for text in (draft.answer, draft.second_answer) if text]
        if not answers:
            written = await _write(job, caller)
            if written is None:
                return
            answers = written.answers
        labels = []
        if job.judge is not None and job.inputs is not None:
            prompt = test_prompt(job.settings.task, job.inputs)
            content = label_content(job.settings, prompt, job.material.passage)
            for answer in answers:
                labels.append(await label(job.settings.scale, content, answer, job.judge, caller))
        await caller.save(Labelled(labels), *(call for one in labels for call in one.calls))

    def store(self, saves: list[Save]) -> None:
        for save in saves:
            match save.content:
                case Prepared() as prepared:
                    _keep_prepared(save.batch_id, prepared)
                case Written() as written:
                    _keep_written(save.item_id, written)
                case Labelled() as labelled:
                    _keep_label(save.item_id, labelled)
                case Failed() as failed:
                    _keep_failure(save.batch_id, save.item_id, failed)

    def finish(self, batch: Generation) -> None:
        drop_duplicates(batch)


# Asking ------------------------------------------------------------------------------------------


async def _prepare(job: DraftingJob, caller: ModelCaller) -> bool:
    """Have the borderline option and the input written, in this order; False if one failed."""
    if job.settings.borderline and job.borderline is None:
        asked = await ask(borderline_request(job.settings), job.generator, caller)
        if asked.texts is None:
            await caller.save(Failed(asked.failures, asked.error_kind, is_shared=True))
            return False
        job.borderline = asked.texts
        await caller.save(Prepared(borderline=asked.texts, failures=asked.failures), *asked.calls)
    asked = Asked({})
    if job.inputs is None:
        asked = await ask(input_request(job.settings, job.material), job.generator, caller)
        if asked.texts is None:
            await caller.save(Failed(asked.failures, asked.error_kind, is_shared=True))
            return False
        job.inputs = list(asked.texts.items())
    ready = Prepared(inputs=job.inputs, failures=asked.failures, is_done=True)
    await caller.save(ready, *asked.calls)
    return True


async def _write(job: DraftingJob, caller: ModelCaller) -> Written | None:
    """Have the answer written, or both of a pair, and save them; None if one failed."""
    answers: list[str] = []
    failures: list[Failure] = []
    calls: list[Call] = []
    rationale = ""
    for target in _targets(job):
        request = answer_request(job.settings, job.inputs or [], target, job.material)
        asked = await ask(request, job.generator, caller)
        failures += asked.failures
        if asked.texts is None:
            for call in calls:
                caller.record(call)
            await caller.save(Failed(failures, asked.error_kind))
            return None
        answer, why = asked.texts.values()
        answers.append(answer)
        calls += asked.calls
        rationale = rationale or why
    written = Written(answers, rationale, failures, calls[-1])
    await caller.save(written, *calls)
    return written


def _targets(job: DraftingJob) -> list[Target]:
    draft, chosen = job.draft, job.settings
    if draft.winner:
        pair = [chosen.best, chosen.worst]
        ordered = pair if draft.winner == "first" else pair[::-1]
        return [Target(option.label, option.description) for option in ordered]
    if draft.is_borderline:
        made = job.borderline or {}
        return [Target(made["name"], made["description"])]
    option = next(one for one in chosen.options if one.label == draft.option)
    return [Target(option.label, option.description)]


# Saving ------------------------------------------------------------------------------------------


def _keep_prepared(batch_id: int, prepared: Prepared) -> None:
    batch = Generation.objects.get(pk=batch_id)
    batch.failures = [*batch.failures, *(failure.as_json() for failure in prepared.failures)]
    batch.borderline = prepared.borderline or batch.borderline
    batch.inputs = prepared.inputs or batch.inputs
    batch.prepared_at = timezone.now() if prepared.is_done else batch.prepared_at
    batch.save(update_fields=["failures", "borderline", "inputs", "prepared_at"])


def _keep_written(item_id: int, written: Written) -> None:
    draft = Draft.objects.select_related("generation").get(pk=item_id)
    batch = draft.generation
    chosen = DraftingSettings.model_validate(batch.settings)
    prompt = test_prompt(chosen.task, batch.inputs)
    draft.messages = [{"role": "user", "content": prompt}]
    draft.context = batch.passage["text"] if batch.passage else ""
    draft.answer, *second = written.answers
    draft.second_answer = second[0] if second else ""
    draft.rationale, draft.call = written.rationale, written.call
    draft.failures = [*draft.failures, *(failure.as_json() for failure in written.failures)]
    fields = ("messages", "context", "answer", "second_answer", "rationale", "call", "failures")
    draft.save(update_fields=fields)


def _keep_label(item_id: int, labelled: Labelled) -> None:
    draft = Draft.objects.select_related("generation").get(pk=item_id)
    draft.state, draft.worker, draft.next_try_at = ItemState.DONE, None, None
    labels = labelled.labels
    draft.label_error = next((one.error for one in labels if one.error), "")
    draft.label_reason = "\n\n".join(one.reason for one in labels if one.reason)
    if labels and not draft.label_error:
        scale = DraftingSettings.model_validate(draft.generation.settings).scale
        draft.label = labels[0].option if len(labels) == 1 else winner_of(scale, labels)
    fields = ("state", "worker", "next_try_at", "label", "label_reason", "label_error")
    draft.save(update_fields=fields)


def winner_of(scale: Any, labels: Sequence[Label]) -> str:
    """Return which of two labelled answers wins: first, second or tie."""
    first, second = (scale.option_of(one.option).value for one in labels)
    if first == second:
        return "tie"
    return "first" if first > second else "second"


def _keep_failure(batch_id: int, item_id: int, failed: Failed) -> None:
    """End the draft with an error; without what they share, all drafts of the batch."""
    last = failed.failures[-1]
    message = f"{last.asked.capitalize()}: {last.reason}"
    draft = Draft.objects.get(pk=item_id)
    draft.failures = [*draft.failures, *(failure.as_json() for failure in failed.failures)]
    draft.state, draft.worker, draft.next_try_at = ItemState.ERROR, None, None
    draft.error_kind, draft.error_message = failed.kind, message
    fields = ("failures", "state", "worker", "next_try_at", "error_kind", "error_message")
    draft.save(update_fields=fields)
    if failed.is_shared:
        waiting = Draft.objects.filter(generation=batch_id, state=ItemState.PENDING)
        reason = f"Not asked for, because the batch has no {last.asked}."
        waiting.update(state=ItemState.ERROR, error_kind=NOT_PREPARED, error_message=reason)


# Acts --------------------------------------------------------------------------------------------


@act
def drop_duplicates_of(batch: Generation) -> None:
    """Drop near duplicates of a batch that was cancelled: no worker will finish it."""
    lock(batch)
    drop_duplicates(batch)


def cancel(batch: Generation) -> None:
    progress.cancel(batch, batch.drafts.all())
    drop_duplicates_of(batch)


CONTROLS: dict[str, Callable[[Generation], object]] = {
    "cancel": cancel,
    "resume": lambda batch: progress.resume(batch, batch.drafts.all()),
    "retry": lambda batch: progress.retry_errors(batch, batch.drafts.all()),
}
"""What a person can do with a batch; each raises `NotPossible`."""


def drop_duplicates(batch: Generation) -> int:
    """Drop the open drafts that repeat an earlier one or a test; return their number.

    Within a batch only drafts of one target are compared: two options may differ by a word.
    """
    drafts = list(batch.drafts.filter(state=ItemState.DONE).exclude(decision=Decision.DROPPED))
    twins = near_duplicates([_compared(draft, draft.meant) for draft in drafts], [])
    tests = [one for test in _tests_of(batch) for one in _of_test(test)]
    twins |= near_duplicates([_compared(draft, "") for draft in drafts], tests) if tests else {}
    dropped = [
        draft for draft in drafts if draft.pk in twins and draft.decision == Decision.PROPOSED
    ]
    for draft in dropped:
        twin = twins[draft.pk]
        draft.decision = Decision.DROPPED
        draft.dropped_for = str(twin) if isinstance(twin, str) else f"draft {twin}"
    Draft.objects.bulk_update(dropped, ["decision", "dropped_for"])
    return len(dropped)


def _tests_of(batch: Generation) -> Iterator[Test]:
    """Return the tests of the issue, but none that was made from this batch.

    Nor a sealed one unless the batch is sealed too: a draft that is like it would give it away.
    """
    if batch.issue_id:
        made = batch.drafts.exclude(test=None).values("test")
        tests = Test.objects.filter(issue=batch.issue_id).exclude(pk__in=made)
        is_sealed = batch.sources.filter(sealed=True).exists()
        yield from tests if is_sealed else tests.filter(sealed=False)


def _compared(draft: Draft, group: str) -> Compared:
    answer = "\n\n".join(filter(None, (draft.answer, draft.second_answer)))
    return Compared(draft.pk, group, (conversation_text(draft.messages), answer))


def _of_test(test: Test) -> Iterator[Compared]:
    asked = conversation_text(test.messages)
    for text in filter(str.strip, (test.reference, test.flagged_answer)):
        yield Compared(f"test {test.pk}", "", (asked, text))
    if not (test.reference + test.flagged_answer).strip():
        yield Compared(f"test {test.pk}", "", (asked, ""))
