"""Launch of runs: freeze the tests and queue the work, in one transaction."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from evalhub.models import ItemState, LanguageModel, User
from evalhub.values.digest import digest
from evalhub.work.processes.queue import request_worker
from issues.content.revisions import freeze
from issues.models import FrozenCriterion, Revision, Test
from issues.rubrics.scoring import WHOLE_TEST
from issues.tags import names_on
from runs.answering.work import end_without_answer
from runs.judging.jury import jury_fingerprint, jury_identity, snapshot
from runs.launching.launch_options import LaunchSpec
from runs.launching.launch_selection import Selection, select
from runs.launching.number_lists import plain
from runs.models import Judge, JudgeRun, Launch, Result, ResultScore, Run, TagSet
from runs.suites.suite_tests import fix_version

BATCH_SIZE = 500


def launch(spec: LaunchSpec, *, by: User | None, record: Launch | None = None) -> Launch:
    """Make one run for each model, system prompt and temperature, and ask for a worker.

    Args:
        record: An earlier launch that runs again; None makes a new one.

    Raises:
        LaunchRefused: See `select`.
    """
    selection = select(spec)
    with transaction.atomic():
        record = record or make_launch(spec, by)
        revisions = freeze(selection.tests)
        for variant in variants(spec, selection.models):
            run = make_run(spec, selection, record, variant, by)
            fill(run, spec, selection, revisions)
        request_worker()
    return record


def make_launch(spec: LaunchSpec, by: User | None) -> Launch:
    stored = spec.model_dump(mode="json")
    return Launch.objects.create(
        label=spec.label, release=spec.release, spec=stored, requested_by=by
    )


class Variant(NamedTuple):
    """A model with a system prompt and parameters: becomes a run. `suffix` labels it."""

    model: LanguageModel
    system_prompt: str
    params: dict[str, Any]
    suffix: str


def variants(spec: LaunchSpec, models: Sequence[LanguageModel]) -> list[Variant]:
    """Return every combination of model, system prompt and temperature."""
    temperatures: list[float | None] = list(dict.fromkeys(map(plain, spec.temperatures))) or [None]
    found = []
    for model, (number, prompt), temperature in product(
        models, enumerate(spec.system_prompts, 1), temperatures
    ):
        parts = [f"prompt {number}"] if len(spec.system_prompts) > 1 else []
        parts += [f"temperature {temperature:g}"] if temperature is not None else []
        params = spec.params if temperature is None else {**spec.params, "temperature": temperature}
        found.append(Variant(model, prompt, params, "".join(f" · {part}" for part in parts)))
    return found


def make_run(
    spec: LaunchSpec, selection: Selection, record: Launch, variant: Variant, by: User | None
) -> Run:
    model, embedder = variant.model, selection.embedder
    return Run(
        label=f"{spec.label[: 150 - len(variant.suffix)]}{variant.suffix}",
        release=spec.release,
        launch=record,
        suite=selection.suite,
        language_model=model,
        model_name=model.name,
        endpoint=model.endpoint().to_json(),
        system_prompt=variant.system_prompt,
        params=variant.params,
        repeats=spec.repeats,
        variant_key=variant_key(model, variant.system_prompt, variant.params),
        similarity_weight=spec.similarity_weight,
        similarity_endpoint=embedder.endpoint().to_json() if embedder else {},
        score_by_similarity=spec.score_by_similarity,
        cost_limit_usd=spec.cost_limit_usd,
        cut_off_answers=spec.cut_off_answers,
        broken_off_answers=spec.broken_off_answers,
        self_evaluation_allowed=spec.allow_self_evaluation,
        takes_known_verdicts=not spec.ask_judges_again,
        is_scripted=model.is_scripted,
        requested_by=by,
    )


def variant_key(model: LanguageModel, system_prompt: str, params: dict[str, Any]) -> str:
    """Return the key of runs on one trend line: same model, prompt and parameters."""
    return digest([model.pk, system_prompt, model.params | params])


def fill(run: Run, spec: LaunchSpec, selection: Selection, revisions: dict[int, Revision]) -> None:
    run.suite_fingerprint = suite_fingerprint(selection.tests, revisions)
    if selection.suite:
        run.suite_version = fix_version(selection.suite, selection.tests)
    run.save()
    add_results(run, selection.tests, revisions)
    jury = selection.jury
    backup = jury.backup if jury else None
    add_judge_run(run, selection.judges, name=str(jury or ""), active=True, backup=backup)


def suite_fingerprint(tests: Iterable[Test], revisions: dict[int, Revision]) -> str:
    """Return the key of runs over the same tests: same revisions and weights."""
    return digest(sorted([revisions[test.pk].digest, test.weight] for test in tests))


def add_results(run: Run, tests: list[Test], revisions: dict[int, Revision]) -> None:
    """Create a pending result for each test and repeat, with the test's current labels."""
    tag_sets = _tag_sets(tests)
    Result.objects.bulk_create(
        (
            Result(
                run=run,
                revision=revisions[test.pk],
                repeat=repeat,
                test=test,
                issue=test.issue,
                tag_set=tag_sets[test.pk],
                origin=test.origin,
                weight=test.weight,
            )
            for repeat in range(run.repeats)
            for test in tests
        ),
        batch_size=BATCH_SIZE,
    )
    run.n_results = run.repeats * len(tests)
    run.save(update_fields=["n_results"])


def _tag_sets(tests: list[Test]) -> dict[int, TagSet]:
    """Return each test's current tags, its own and its issue's, by test id."""
    names = {test.pk: names_on(test) for test in tests}
    by_key = {digest(tags): tags for tags in names.values()}
    new = [TagSet(key=key, names=tags) for key, tags in by_key.items()]
    TagSet.objects.bulk_create(new, ignore_conflicts=True)
    stored = TagSet.objects.in_bulk(by_key, field_name="key")
    return {pk: stored[digest(tags)] for pk, tags in names.items()}


def add_judge_run(
    run: Run,
    judges: Sequence[Judge],
    *,
    name: str,
    active: bool,
    backup: Judge | None = None,
    by: User | None = None,
) -> JudgeRun:
    """Create a judge run over the run's results; workers make the calls."""
    backup = None if backup in judges else backup
    jury = snapshot(judges, backup, name=name, templates=own_templates(run))
    return add_judge_run_of(run, jury, by=by, is_active=active)


def add_judge_run_of(run: Run, jury: dict[str, Any], *, by: User | None, **fields: Any) -> JudgeRun:
    """Create a judge run by the jury of this snapshot over the run's results."""
    whole, rubric = fingerprints_of(run, jury)
    judge_run = JudgeRun.objects.create(
        run=run,
        number=run.judge_runs.count() + 1,
        jury=jury,
        jury_name=jury["name"],
        jury_fingerprint=jury_fingerprint(
            jury, versions=template_versions(run), has_rubrics=bool(rubric)
        ),
        whole_fingerprint=whole,
        rubric_fingerprint=rubric,
        cost_limit_usd=run.cost_limit_usd,
        requested_by=by or run.requested_by,
        **fields,
    )
    ids = run.results.order_by("pk").values_list("pk", flat=True)
    scores = (ResultScore(judge_run=judge_run, result_id=pk) for pk in ids)
    ResultScore.objects.bulk_create(scores, batch_size=BATCH_SIZE)
    errors = run.results.filter(state=ItemState.ERROR).order_by()
    end_without_answer(errors.values("pk"))
    return judge_run


def fingerprints_of(run: Run, jury: dict[str, Any]) -> tuple[str, str]:
    """Return the fingerprints of a jury on the run's whole tests and on its criteria.

    "" where no test of the run needs judges for it.
    """
    revisions = Revision.objects.filter(results__run=run).exclude(pk__in=_with_rubric(run))
    has_whole = revisions.exists()
    has_rubrics = _with_rubric(run).filter(check_name="").exists()
    return (
        jury_identity(jury, on_rubric=False) if has_whole else "",
        jury_identity(jury, on_rubric=True) if has_rubrics else "",
    )


def own_templates(run: Run) -> set[int]:
    """Return the templates of the run's tests without a rubric."""
    found = _without_rubric(run).values_list("template_id", flat=True)
    return {pk for pk in found.distinct() if pk is not None}


def template_versions(run: Run) -> list[list[Any]]:
    """Return families and versions of the templates of the run's tests without a rubric."""
    found = _without_rubric(run).values_list("template__family", "template__version")
    return sorted(map(list, found.distinct()))


def _without_rubric(run: Run) -> QuerySet[Revision]:
    """Return the run's revisions that have a template and no rubric."""
    used = Revision.objects.filter(results__run=run, template__isnull=False).order_by()
    return used.exclude(pk__in=_with_rubric(run))


def _with_rubric(run: Run) -> QuerySet[FrozenCriterion, Any]:
    """Return the run's revisions that have a rubric."""
    criteria = FrozenCriterion.objects.filter(revision__results__run=run).order_by()
    return criteria.exclude(key=WHOLE_TEST).values("revision").distinct()
