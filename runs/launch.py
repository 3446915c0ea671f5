"""Launching: tests are frozen, and what is to be done is written down, in one transaction."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q

from evalhub.digest import digest
from evalhub.models import LanguageModel, User
from evalhub.work.queue import request_worker
from issues.freezing import freeze
from issues.models import Revision, Test
from issues.models.test import TestQuerySet
from runs.models import Assessment, Judge, Judging, Jury, Launch, Result, Run, Suite, TagSet
from runs.spec import LaunchRefused, LaunchSpec

BATCH_SIZE = 500


class Selection(NamedTuple):
    """The rows that a specification names."""

    tests: list[Test]
    models: list[LanguageModel]
    judges: list[Judge]
    jury: Jury | None
    suite: Suite | None


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
    )


def problems_of(spec: LaunchSpec, selection: Selection) -> list[str]:
    """Why these rows cannot be launched so, in words; empty where they can."""
    return [*_missing(spec, selection), *_misfits(spec, selection)]


def _tests(spec: LaunchSpec) -> list[Test]:
    runnable = chosen(spec).runnable().select_related("issue", "template")
    return list(runnable.prefetch_related("issue__tags").order_by("pk"))


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
        {str(j.language_model) for j in selection.judges if not j.language_model.is_active}
    )
    return [f"These judges' models are inactive: {', '.join(off)}."] if off else []


def _tests_without_template(selection: Selection) -> list[str]:
    if not any(judge.template_id is None for judge in selection.judges):
        return []
    bare = [test.pk for test in selection.tests if test.template_id is None]
    return [f"These tests have no judge template: {_numbers(bare)}."] if bare else []


def _self_judging(spec: LaunchSpec, selection: Selection) -> list[str]:
    if spec.allow_self_judging:
        return []
    asked = {_address(judge.language_model) for judge in selection.judges}
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
    models = {*selection.models, *(judge.language_model for judge in selection.judges)}
    unpriced = sorted(str(model) for model in models if not model.has_prices)
    if not unpriced:
        return []
    return [f"A cost limit needs prices: enter those of {', '.join(unpriced)}, or drop the limit."]


def _numbers(ids: Sequence[int]) -> str:
    shown = ", ".join(str(number) for number in ids[:20])
    return shown if len(ids) <= 20 else f"{shown} and {len(ids) - 20} more"


def warnings(selection: Selection) -> list[str]:
    """What a person should know before starting, though it is allowed."""
    makers = {judge.language_model.maker for judge in selection.judges} - {""}
    return [
        f"{model} and a judge are both made by {model.maker}: judges favour their own kin."
        for model in selection.models
        if model.maker in makers
    ]


def launch(spec: LaunchSpec, *, by: User | None, record: Launch | None = None) -> Launch:
    """Make one run for each model and system prompt, and ask for a worker.

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
        for model in selection.models:
            for number, system_prompt in enumerate(spec.system_prompts, 1):
                run = make_run(spec, selection, record, model, system_prompt, number, by)
                fill(run, spec, selection, revisions)
        request_worker()
    return record


def make_run(
    spec: LaunchSpec,
    selection: Selection,
    record: Launch,
    model: LanguageModel,
    system_prompt: str,
    number: int,
    by: User | None,
) -> Run:
    label = spec.label if len(spec.system_prompts) == 1 else f"{spec.label} · prompt {number}"
    return Run(
        label=label[:150],
        release=spec.release,
        launch=record,
        suite=selection.suite,
        language_model=model,
        model_name=model.name,
        endpoint=model.endpoint().to_json(),
        system_prompt=system_prompt,
        params=spec.params,
        repeats=spec.repeats,
        variant_key=variant_key(model, system_prompt, spec.params),
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
    add_judging(run, selection.judges, name=str(selection.jury or ""), current=True)


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
    run: Run, judges: Sequence[Judge], *, name: str, current: bool, by: User | None = None
) -> Judging:
    """One more pass of a jury over the run's results; the calls are made by the workers."""
    versions = template_versions(run)
    judging = Judging.objects.create(
        run=run,
        number=run.judgings.count() + 1,
        jury={"name": name, "judges": [snapshot(judge) for judge in judges]},
        jury_name=name,
        jury_fingerprint=jury_fingerprint(judges, versions),
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


def snapshot(judge: Judge) -> dict[str, Any]:
    """A judge as it is asked in this judging, by copy."""
    return {
        "judge": judge.pk,
        "name": str(judge),
        "endpoint": judge.language_model.endpoint().to_json(),
        "approach": judge.approach,
        "params": judge.params,
        "template": judge.template_id,
    }


def template_versions(run: Run) -> list[list[Any]]:
    """Families and versions of the templates by which the run's tests are judged."""
    used = Revision.objects.filter(results__run=run, template__isnull=False).order_by()
    return sorted(
        [family, version]
        for family, version in used.values_list("template__family", "template__version").distinct()
    )


def jury_fingerprint(judges: Sequence[Judge], versions: list[list[Any]]) -> str:
    """Digest of models, approaches, parameters and the template versions really asked."""
    parts = [
        [
            *_address(judge.language_model),
            judge.approach,
            judge.language_model.params | judge.params,
            [[judge.template.family, judge.template.version]] if judge.template else versions,
        ]
        for judge in judges
    ]
    return digest(sorted(parts, key=digest))
