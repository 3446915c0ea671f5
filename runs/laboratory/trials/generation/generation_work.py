"""Background work of a generation run: ask for each step, save it, and add those that follow."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import F, Max

from evalhub.llm.endpoint import Endpoint
from evalhub.models import CallRole, ItemState
from evalhub.values.storable import storable
from evalhub.work.calls.caller import ModelCaller
from evalhub.work.kinds import Kind, Save
from issues.drafting.prompts import Message, Request
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.generation.graph import ArtifactKind, kinds_from
from runs.laboratory.trials.generation.ideas import add_ideas, earlier_names
from runs.laboratory.trials.generation.missing_steps import add_artifact_steps
from runs.laboratory.trials.generation.prompts import (
    TopicFacts,
    artifact_messages,
    ideas_request,
    root_messages,
    topics_request,
)
from runs.laboratory.trials.generation.writing import (
    NotWritten,
    WrittenFields,
    WrittenText,
    write_fields,
    write_text,
)
from runs.laboratory.trials.models import (
    Artifact,
    Benchmark,
    GenerationRun,
    GenerationStep,
    Source,
    Topic,
)
from runs.laboratory.trials.replays.replay_runs import finish_replay

ENDED_FIELDS = [
    *("state", "worker", "next_try_at", "artifact", "dropped", "error_kind"),
    *("error_message", "call"),
]


@dataclass
class StepJob:
    """A step: a request for fields, or the messages that ask for an artifact of a kind."""

    item_id: int
    endpoint: Endpoint
    role: CallRole
    max_tokens: int
    request: Request | None = None
    kind: ArtifactKind | None = None
    messages: list[Message] = field(default_factory=list)


class GeneratingKind(Kind[GenerationRun, GenerationStep, StepJob]):
    """The work of a generation run; each of its steps is an item."""

    batch_model, item_model, batch_field = GenerationRun, GenerationStep, "run"

    def endpoints(self, batch: GenerationRun) -> list[Endpoint]:
        found = [batch.endpoint, *([batch.tested_endpoint] if batch.tested_endpoint else [])]
        return [Endpoint.from_json(endpoint) for endpoint in found]

    def prepare(self, batch: GenerationRun, item_ids: Sequence[int]) -> list[StepJob]:
        rows = GenerationStep.objects.filter(pk__in=item_ids)
        prompts = _Prompts(batch)
        return [prompts.job(row) for row in rows.select_related("topic", "idea", "parent")]

    def sealed_tests(self, job: StepJob) -> list[int]:
        return []

    async def perform(self, job: StepJob, caller: ModelCaller) -> None:
        if job.request is not None:
            writing = await write_fields(job.request, job.endpoint, caller)
        else:
            assert job.kind is not None
            writing = await write_text(
                job.kind,
                job.messages,
                job.endpoint,
                caller,
                role=job.role,
                max_tokens=job.max_tokens,
            )
        await caller.save(writing.content, *writing.calls)

    def store(self, saves: list[Save]) -> None:
        contents = {save.item_id: save.content for save in saves if save.content is not None}
        steps = GenerationStep.objects.filter(pk__in=contents).order_by("pk")
        steps = steps.select_related("run__benchmark", "topic", "parent")
        ended = list(steps)
        grown: dict[GenerationRun, set[int]] = {step.run: set() for step in ended}
        for step in ended:
            _end(step, contents[step.pk], grown[step.run])
        GenerationStep.objects.bulk_update(ended, ENDED_FIELDS)
        for run, ideas in grown.items():
            add_artifact_steps(run, ideas)

    def finish(self, batch: GenerationRun) -> None:
        if batch.is_replay:
            finish_replay(batch)


class _Prompts:
    """The requests of a run's steps, with what they share read once."""

    def __init__(self, run: GenerationRun) -> None:
        self.run = run
        self.benchmark = Benchmark.objects.get(pk=run.benchmark_id)
        self.settings = GenerationSettings.model_validate(run.settings)
        self.kinds = kinds_from(self.benchmark.kinds)
        self.trusted = Endpoint.from_json(run.endpoint)
        tested = run.tested_endpoint
        self.tested = Endpoint.from_json(tested) if tested else self.trusted

    def job(self, step: GenerationStep) -> StepJob:
        role = CallRole.CANDIDATE if step.is_tested else CallRole.GENERATOR
        endpoint = self.tested if step.is_tested else self.trusted
        job = StepJob(step.pk, endpoint, role, self.settings.max_tokens)
        if step.kind:
            job.kind = self.kinds[step.kind]
            job.messages = self._messages(step, job.kind)
        elif step.topic is not None:
            job.request = self._ideas(step.topic)
        else:
            known = list(self.benchmark.topics.values_list("title", flat=True))
            job.request = topics_request(known, self.settings.outside, self.settings.topics)
        return job

    def _messages(self, step: GenerationStep, kind: ArtifactKind) -> list[Message]:
        if step.parent is not None:
            return artifact_messages(self.kinds[step.parent.kind], kind, step.parent.text)
        assert step.idea is not None
        statement = step.idea.statement or step.idea.name
        return root_messages(kind, statement, self.benchmark.perturbation)

    def _ideas(self, topic: Topic) -> Request:
        have = topic.ideas.filter(state="active").count()
        wanted = max(1, self.settings.ideas_of(is_cluster=topic.is_cluster) - have)
        facts = TopicFacts(topic.title, topic.kind, topic.is_cluster)
        known = earlier_names(topic)
        return ideas_request(facts, known, wanted, self.benchmark.perturbation)


# Saving ------------------------------------------------------------------------------------------


def _end(step: GenerationStep, content: object, grown: set[int]) -> None:
    """Store what a step made, and note the ideas that may have further steps now."""
    step.state, step.worker, step.next_try_at = ItemState.DONE, None, None
    match content:
        case NotWritten(kind, message):
            step.state, step.error_kind = ItemState.ERROR, kind
            step.error_message = message
        case WrittenText() as written:
            step.artifact, step.call = _artifact(step, written), written.call
            if step.idea_id is not None:
                grown.add(step.idea_id)
        case WrittenFields(texts) if step.topic is not None:
            made = add_ideas(step.topic, texts)
            step.dropped = made.dropped
            grown.update(made.active)
        case WrittenFields(texts):
            _add_topics(step.run.benchmark, list(texts.values()))


def _artifact(step: GenerationStep, written: WrittenText) -> Artifact:
    run, parent = step.run, step.parent
    depends = step.is_tested or (parent is not None and parent.replay_id is not None)
    return Artifact.objects.create(
        benchmark_id=run.benchmark_id,
        idea_id=step.idea_id,
        kind=step.kind,
        parent=parent,
        replay=run if depends else None,
        language_model_id=run.tested_model_id if step.is_tested else run.language_model_id,
        is_tested=step.is_tested,
        text=storable(written.text),
        validity=written.check.outcome.value,
        validity_reason=written.check.reason,
        call=written.call,
    )


def _add_topics(benchmark: Benchmark, titles: Sequence[str]) -> None:
    """Add topics under a new version of the list; one that is there already is not added."""
    known = {title.casefold() for title in benchmark.topics.values_list("title", flat=True)}
    new = {title.casefold(): title for title in titles if title.casefold() not in known}
    if not new:
        return
    Benchmark.objects.filter(pk=benchmark.pk).update(version=F("version") + 1)
    version = Benchmark.objects.values_list("version", flat=True).get(pk=benchmark.pk)
    last = benchmark.topics.aggregate(last=Max("place"))["last"] or 0
    Topic.objects.bulk_create(
        Topic(benchmark=benchmark, title=title, source=Source.MODEL, place=place, version=version)
        for place, title in enumerate(new.values(), last + 1)
    )
