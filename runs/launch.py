"""Launching: tests are frozen, and what is to be done is written down, in one transaction."""

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet

from evalhub.digest import digest
from evalhub.models import LanguageModel, User
from evalhub.work.queue import request_worker
from issues.freezing import freeze
from issues.models import FrozenCriterion, Revision, Test
from issues.models.test import TestQuerySet
from issues.rubric import WHOLE_TEST
from runs.models import (
    Approach,
    Assessment,
    Judge,
    Judging,
    Jury,
    Launch,
    Result,
    Run,
    Suite,
    TagSet,
)
from runs.seats import jury_fingerprint, snapshot
from runs.spec import LaunchRefused, LaunchSpec

BATCH_SIZE = 500


class Selection(NamedTuple):
    """The rows that a specification names."""

    tests: list[Test]
    models: list[LanguageModel]
    judges: list[Judge]
    jury: Jury | None
    suite: Suite | None
    embedder: LanguageModel | None

    @property
    def everyone(self) -> list[Judge]:
        """All who may be asked to judge, the backup among them."""
        backup = self.jury.backup if self.jury else None
        return [*self.judges, backup] if backup else self.judges


def select(spec: LaunchSpec) -> Selection:
    """Read the rows that are named.

    Raises:
        LaunchRefused: Something named does not exist, may not run, or does not fit together.
    """
    selection = named(spec)
    if problems := problems_of(spec, selection):
        raise LaunchRefused(problems)
    return selection


def named(spec: LaunchSpec) -> Selection:
    """The rows that are named, as far as they exist and may run."""
    jury = Jury.objects.filter(pk=spec.jury).first() if spec.jury else None
    return Selection(
        tests=_tests(spec),
        models=list(LanguageModel.objects.active().filter(pk__in=spec.models)),
        judges=list(jury.judges.select_related("language_model", "template")) if jury else [],
        jury=jury,
        suite=Suite.objects.filter(pk=spec.suite).first() if spec.suite else None,
        embedder=LanguageModel.objects.active().filter(pk=spec.similarity_model or 0).first(),
    )


def problems_of(spec: LaunchSpec, selection: Selection) -> list[str]:
    """Why these rows cannot be launched so, in words; empty where they can."""
    return [*_missing(spec, selection), *_misfits(spec, selection)]


def _tests(spec: LaunchSpec) -> list[Test]:
    runnable = chosen(spec).runnable().select_related("issue", "template")
    return list(runnable.prefetch_related("issue__tags", "criteria").order_by("pk"))


def chosen(spec: LaunchSpec) -> TestQuerySet:
    """Every test that is named, may it run or not."""
    named = Q(pk__in=spec.tests) | Q(issue__in=spec.issues) | Q(issue__tags__in=spec.tags)
    if spec.suite:
        named |= Q(suites=spec.suite)
    # The tests' ids are made distinct in a query of their own: JSON columns cannot be compared.
    return Test.objects.filter(pk__in=Test.objects.filter(named).order_by().values("pk").distinct())


def _missing(spec: LaunchSpec, selection: Selection) -> list[str]:
    problems = []
    if not selection.tests:
        problems.append("No test can run: select approved tests of issues that are not deprecated.")
    idle = sorted(set(spec.tests) - {test.pk for test in selection.tests})
    if idle and selection.tests:
        problems.append(f"These tests cannot run, as they are not approved: {_numbers(idle)}.")
    unknown = sorted(set(spec.models) - {model.pk for model in selection.models})
    if unknown:
        problems.append(f"These models are unknown or inactive: {_numbers(unknown)}.")
    if spec.jury and selection.jury is None:
        problems.append(f"There is no jury {spec.jury}.")
    if spec.suite and selection.suite is None:
        problems.append(f"There is no suite {spec.suite}.")
    if spec.similarity_model and selection.embedder is None:
        problems.append(
            f"The model for similarity is unknown or inactive: {spec.similarity_model}."
        )
    return problems


def _misfits(spec: LaunchSpec, selection: Selection) -> list[str]:
    return [
        *_inactive_judges(selection),
        *_tests_without_template(selection),
        *_self_judging(spec, selection),
        *_limit_without_prices(spec, selection),
    ]


def _inactive_judges(selection: Selection) -> list[str]:
    off = sorted(
        {str(j.language_model) for j in selection.everyone if not j.language_model.is_active}
    )
    return [f"These judges' models are inactive: {', '.join(off)}."] if off else []


def _tests_without_template(selection: Selection) -> list[str]:
    if not any(needs_a_template(judge) for judge in selection.judges):
        return []
    bare = [t.pk for t in selection.tests if t.template_id is None and not t.criteria.all()]
    return [f"These tests have no judge template and no rubric: {_numbers(bare)}."] if bare else []


def needs_a_template(judge: Judge) -> bool:
    """Whether it judges tests without a rubric by the tests' own templates."""
    return judge.approach != Approach.TEMPLATE or judge.template_id is None


def _self_judging(spec: LaunchSpec, selection: Selection) -> list[str]:
    if spec.allow_self_judging:
        return []
    asked = {_address(judge.language_model) for judge in selection.everyone}
    both = sorted(str(model) for model in selection.models if _address(model) in asked)
    if not both:
        return []
    return [
        f"{', '.join(both)} would judge its own answers. "
        "Choose another jury, or allow it explicitly (allow_self_judging)."
    ]


def _address(model: LanguageModel) -> tuple[str, str]:
    return model.litellm_model, model.api_base


def _limit_without_prices(spec: LaunchSpec, selection: Selection) -> list[str]:
    if spec.cost_limit_usd is None:
        return []
    models = {*selection.models, *(judge.language_model for judge in selection.everyone)}
    unpriced = sorted(str(model) for model in models if not model.has_prices)
    if not unpriced:
        return []
    return [f"A cost limit needs prices: enter those of {', '.join(unpriced)}, or drop the limit."]


def _numbers(ids: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in ids[:20])
    return shown if len(ids) <= 20 else f"{shown} and {len(ids) - 20} more"


def warnings(selection: Selection) -> list[str]:
    """What a person should know before starting, though it is allowed."""
    makers = {judge.language_model.maker for judge in selection.everyone} - {""}
    return [
        f"{model} and a judge are both made by {model.maker}: judges favour their own kin."
        for model in selection.models
        if model.maker in makers
    ]


def launch(spec: LaunchSpec, *, by: User | None, record: Launch | None = None) -> Launch:
    """Make one run for each model, system prompt and temperature, and ask for a worker.

    Args:
        record: A stored launch that recurs; None makes a new one.

    Raises:
        LaunchRefused: See `select`.
    """
    selection = select(spec)
    with transaction.atomic():
        record = record or Launch.objects.create(
            label=spec.label,
            release=spec.release,
            spec=spec.model_dump(mode="json"),
            requested_by=by,
        )
        revisions = freeze(selection.tests)
        for variant in variants(spec, selection.models):
            run = make_run(spec, selection, record, variant, by)
            fill(run, spec, selection, revisions)
        request_worker()
    return record


class Variant(NamedTuple):
    """One model asked in one way: what becomes a run. `suffix` tells it from its siblings."""

    model: LanguageModel
    system_prompt: str
    params: dict[str, Any]
    suffix: str


def variants(spec: LaunchSpec, models: Sequence[LanguageModel]) -> list[Variant]:
    """Every combination of model, system prompt and temperature."""
    temperatures: list[float | None] = list(dict.fromkeys(spec.temperatures)) or [None]
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
    model = variant.model
    embedder = selection.embedder
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
        self_judging_allowed=spec.allow_self_judging,
        is_scripted=model.is_scripted,
        requested_by=by,
    )


def variant_key(model: LanguageModel, system_prompt: str, params: dict[str, Any]) -> str:
    """What makes two runs points of one line in a trend: the same model, asked the same way."""
    return digest([model.pk, system_prompt, model.params | params])


def fill(run: Run, spec: LaunchSpec, selection: Selection, revisions: dict[int, Revision]) -> None:
    pairs = sorted([revisions[test.pk].digest, test.weight] for test in selection.tests)
    run.suite_fingerprint = digest(pairs)
    run.save()
    add_results(run, selection.tests, revisions)
    jury = selection.jury
    backup = jury.backup if jury else None
    add_judging(run, selection.judges, name=str(jury or ""), current=True, backup=backup)


def add_results(run: Run, tests: list[Test], revisions: dict[int, Revision]) -> None:
    """One pending result for each test and repeat, labelled as the test is now."""
    tag_sets = _tag_sets(tests)
    Result.objects.bulk_create(
        (
            Result(
                run=run,
                revision=revisions[test.pk],
                repeat=repeat,
                test=test,
                issue=test.issue,
                tag_set=tag_sets[test.issue_id],
                origin=test.origin,
                weight=test.weight,
            )
            for repeat in range(run.repeats)
            for test in tests
        ),
        batch_size=BATCH_SIZE,
    )


def _tag_sets(tests: list[Test]) -> dict[int, TagSet]:
    """Each issue's tags as they are now, by issue id."""
    names = {test.issue_id: sorted(tag.name for tag in test.issue.tags.all()) for test in tests}
    TagSet.objects.bulk_create(
        [TagSet(key=digest(tags), names=tags) for tags in _distinct(names.values())],
        ignore_conflicts=True,
    )
    stored = TagSet.objects.in_bulk([digest(tags) for tags in names.values()], field_name="key")
    return {issue_id: stored[digest(tags)] for issue_id, tags in names.items()}


def _distinct(lists: Any) -> list[list[str]]:
    return [list(names) for names in {tuple(names) for names in lists}]


def add_judging(
    run: Run,
    judges: Sequence[Judge],
    *,
    name: str,
    current: bool,
    backup: Judge | None = None,
    by: User | None = None,
) -> Judging:
    """One more pass of a jury over the run's results; the calls are made by the workers."""
    judging = Judging.objects.create(
        run=run,
        number=run.judgings.count() + 1,
        jury=snapshot(judges, backup, name=name),
        jury_name=name,
        jury_fingerprint=jury_fingerprint(
            judges,
            backup,
            versions=template_versions(run),
            has_rubrics=_with_rubric(run).exists(),
        ),
        is_current=current,
        cost_limit_usd=run.cost_limit_usd,
        requested_by=by or run.requested_by,
    )
    Assessment.objects.bulk_create(
        (
            Assessment(judging=judging, result_id=pk)
            for pk in run.results.order_by("pk").values_list("pk", flat=True)
        ),
        batch_size=BATCH_SIZE,
    )
    return judging


def template_versions(run: Run) -> list[list[Any]]:
    """Families and versions of the templates of the run's tests that are judged as a whole."""
    used = Revision.objects.filter(results__run=run, template__isnull=False).order_by()
    used = used.exclude(pk__in=_with_rubric(run))
    return sorted(
        [family, version]
        for family, version in used.values_list("template__family", "template__version").distinct()
    )


def _with_rubric(run: Run) -> QuerySet[FrozenCriterion]:
    """Revisions of the run that are judged criterion by criterion."""
    asked = FrozenCriterion.objects.filter(revision__results__run=run).order_by()
    return asked.exclude(key=WHOLE_TEST).values("revision").distinct()
