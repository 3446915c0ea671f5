"""Replays of paths with a model under test: their results become an ordinary run."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from secrets import randbits
from typing import Any

from django.db import transaction
from django.db.models import Min, Q

from evalhub.models import ItemState, User
from evalhub.refusals import Refused
from runs.laboratory.trials.generation.generation_settings import GenerationSettings
from runs.laboratory.trials.generation.graph import Node, chain_of
from runs.laboratory.trials.models import Artifact, GenerationPath, GenerationRun
from runs.laboratory.trials.replays.replay_tests import (
    TEMPLATE,
    along_of,
    idea_of,
    replay_label,
    suite_name,
    tests_of_paths,
)
from runs.launching.answer_files import ImportedAnswer, ImportedAnswerBody
from runs.launching.imported_answers import import_answers
from runs.launching.launch_options import LaunchRefused, LaunchSpec
from runs.models import Result, Run, Suite
from runs.review.models import Queue, ReviewScope
from runs.review.queue_items import add_sample

REPLAY_RIGHTS = (
    *("trials.add_generationrun", "issues.add_issue", "issues.approve_test", "runs.add_run"),
)
"""Rights to replay: it writes texts, makes an issue with approved tests, and a run."""

SAMPLE = 25
"""Answers of a replay that annotators review: from 20 to 30 show gross errors of the judge."""

MAX_ERROR = 2000


def run_of_replay(replay: GenerationRun) -> Run:
    """Make a run of the ends of all the replay's paths, judged by its jury like any other.

    A path that ended early because the model's text is corrupted is judged by that text. A step
    that failed is an error of the paths that it is on.

    Raises:
        Refused: No idea can be tested on any of the paths.
        LaunchRefused: See `import_answers`.
    """
    paths = list(replay.paths.select_related("benchmark").order_by("pk"))
    by = replay.requested_by
    with transaction.atomic():
        tests = tests_of_paths(paths, by=by)
        answers = [
            ImportedAnswer(f"path {path.pk}, idea {idea}", _body(test.pk, ends.get(idea)))
            for path, mine in tests.items()
            for ends in [_ends(replay, path)]
            for idea, test in mine.items()
        ]
        settings = GenerationSettings.model_validate(replay.settings)
        spec = LaunchSpec(
            label=replay_label(paths),
            release=settings.release,
            models=[replay.tested_model_id or 0],
            suite=Suite.objects.get(name=suite_name(paths)).pk,
            jury=settings.jury,
        )
        run = import_answers(spec, answers, by=by)
        run.is_scripted = replay.is_scripted
        run.save(update_fields=["is_scripted"])
        left_out = [str(path) for path in paths if path not in tests]
        reason = f"Not in the results, without a text to compare with: {', '.join(left_out)}."
        GenerationRun.objects.filter(pk=replay.pk).update(
            run=run, reason=reason if left_out else ""
        )
    return run


def finish_replay(replay: GenerationRun) -> None:
    """Make the run; a refusal is kept as the replay's reason."""
    try:
        with transaction.atomic():
            run_of_replay(replay)
    except (Refused, LaunchRefused) as error:
        reason = f"Its results are no run: {error}"
        GenerationRun.objects.filter(pk=replay.pk).update(reason=reason)


@dataclass(frozen=True)
class _End:
    """The last text of a path, what the tested model wrote first, or why a step failed."""

    text: str
    tested: Artifact | None
    error: str = ""


def _ends(replay: GenerationRun, path: GenerationPath) -> dict[int, _End]:
    """Return the end of the path for each idea."""
    chain = chain_of(path.steps)
    by_idea: dict[int, dict[tuple[int | None, Node], Artifact]] = defaultdict(dict)
    rows = Artifact.objects.filter(Q(replay=None) | Q(replay=replay), benchmark=path.benchmark_id)
    for one in rows.filter(idea__isnull=False).select_related("call").order_by("pk"):
        by_idea[one.idea_id or 0][one.parent_id, Node(one.kind, one.is_tested)] = one
    failed = replay.steps.filter(state=ItemState.ERROR, idea__isnull=False)
    errors = {
        (idea, parent, Node(kind, is_tested)): message
        for idea, parent, kind, is_tested, message in failed.values_list(
            "idea", "parent", "kind", "is_tested", "error_message"
        )
    }
    found = {}
    for idea, artifacts in by_idea.items():
        along = along_of(chain, artifacts)
        tested = next((one for one in along if one.is_tested), None)
        text = along[-1].text if tested else ""
        parent = along[-1].pk if along else None
        missing = chain[len(along)] if len(along) < len(chain) else None
        error = errors.get((idea, parent, missing), "") if missing else ""
        found[idea] = _End(text, tested, error)
    return found


def _body(test: int, end: _End | None) -> ImportedAnswerBody:
    if end is None or end.error or not end.text.strip():
        message = (end and (end.error or (end.tested and "The text is empty."))) or "Not written."
        return ImportedAnswerBody(test=test, error=str(message)[:MAX_ERROR])
    call = end.tested.call if end.tested else None
    measured: Mapping[str, Any] = {
        name: getattr(call, name, None)
        for name in ("latency_ms", "cost_usd", "input_tokens", "output_tokens")
    }
    return ImportedAnswerBody(test=test, answer=end.text, **measured)


# Review ------------------------------------------------------------------------------------------


@transaction.atomic
def sample_for_review(replay: GenerationRun, *, by: User | None) -> Queue:
    """Put a random sample of the replay's answers into a queue of its own.

    Reviewers read the same scale as the judge: that of the template.

    Raises:
        Refused: The replay has no run yet, or its sample is in a queue already.
    """
    if replay.run is None:
        raise Refused(["The replay has no results yet."])
    name = f"Sample of replay {replay.pk}"
    if Queue.objects.filter(name=name).exists():
        raise Refused([f"The queue “{name}” has it already."])
    queue = Queue.objects.create(
        name=name,
        instructions="Read the answer and the reference as the judge does, and score it by the "
        f"scale of the template “{TEMPLATE}”.",
        scope=ReviewScope.WHOLE,
        blind="all",
        random_share=1,
        seed=randbits(31),
        created_by=by,
    )
    add_sample(queue, replay.run, SAMPLE)
    return queue


# Figures -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReplayFigures:
    """Outcomes of a replay's results, apart by exposure: counts by outcome."""

    replay: GenerationRun
    exposed: Mapping[str, int]
    fresh: Mapping[str, int]

    @property
    def both(self) -> list[dict[str, Any]]:
        """Return both as a page shows them: fresh ones first."""
        return [_shown(self.fresh), _shown(self.exposed)]


def _shown(counts: Mapping[str, int]) -> dict[str, Any]:
    passed, scored = counts.get("passed", 0), counts.get("passed", 0) + counts.get("failed", 0)
    rest = [f"{n:,} {name}" for name in ("unscored", "error", "pending") if (n := counts.get(name))]
    return {"passed": passed, "scored": scored, "rest": ", ".join(rest)}


def figures_of(replays: list[GenerationRun]) -> list[ReplayFigures]:
    """Return the figures of replays with a run, in two queries.

    A test is exposed by its idea, in the replays that began after that.
    """
    runs = [replay.run_id for replay in replays if replay.run_id]
    rows = Artifact.objects.filter(
        benchmark__in=[replay.benchmark_id for replay in replays],
        idea__isnull=False,
        exposed_at__isnull=False,
    )
    exposed = dict(rows.order_by().values_list("idea").annotate(Min("exposed_at")))
    began = {replay.run_id: replay.created_at for replay in replays}
    counts: dict[tuple[int, bool], Counter[str]] = defaultdict(Counter)
    results = Result.objects.filter(run__in=runs)
    for run, source, outcome in results.values_list("run", "test__source_id", "outcome"):
        since = exposed.get(idea_of(source))
        counts[run, since is not None and since < began[run]][outcome] += 1
    return [
        ReplayFigures(replay, counts[replay.run_id, True], counts[replay.run_id, False])
        for replay in replays
        if replay.run_id
    ]
