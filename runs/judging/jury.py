"""The frozen jury of a judge run, and which of its judges apply to what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from django.db.models import QuerySet

from evalhub.digest import digest
from evalhub.llm.endpoint import Endpoint
from evalhub.models import LanguageModel
from issues.judge_templates.lifecycle import rubric_templates
from issues.models import JudgeTemplate
from runs.judging.prompts import JudgePromptTemplate
from runs.models import Approach, Judge, JudgeRun


@dataclass(frozen=True)
class FrozenJudge:
    """A judge of a judge run, by copy.

    `whole` is its own template for whole tests; None for each test's. `rubric` is the template
    for one criterion; None if none is published.
    """

    judge_id: int
    name: str
    endpoint: Endpoint
    approach: str
    params: dict[str, Any]
    samples: int
    whole: JudgePromptTemplate | None
    rubric: JudgePromptTemplate | None


@dataclass(frozen=True)
class FrozenJury:
    """All judges of a judge run, with the backup judge.

    `repair_models` repair unreadable replies, by the template of the request.
    """

    frozen_judges: list[FrozenJudge]
    backup: FrozenJudge | None
    repair_models: Mapping[int, Endpoint] = field(default_factory=dict)

    @property
    def everyone(self) -> list[FrozenJudge]:
        return [*self.frozen_judges, self.backup] if self.backup else self.frozen_judges

    def judges_asked(self, *, on_rubric: bool) -> list[FrozenJudge]:
        """Return the judges of a criterion, or of a whole test: those with such an approach.

        If there are none, all judge: a criterion with the template that shows the prompt, a whole
        test once per endpoint and parameters, for equal requests would be sent twice otherwise.
        """
        frozen_judges = judges_for(self.frozen_judges, on_rubric=on_rubric)
        if on_rubric or any(
            frozen_judge.approach == Approach.TEMPLATE for frozen_judge in frozen_judges
        ):
            return frozen_judges
        distinct = {digest([s.endpoint.to_json(), s.params]): s for s in reversed(frozen_judges)}
        return [frozen_judge for frozen_judge in frozen_judges if frozen_judge in distinct.values()]

    def fewest_endpoints(self) -> list[Endpoint]:
        """Return the endpoints of a whole test, and every other model once, repair models too.

        An item makes at least these calls; those of a rubric wait for their turn.
        """
        asked = [frozen_judge.endpoint for frozen_judge in self.judges_asked(on_rubric=False)]
        known = {endpoint.language_model_id for endpoint in asked}
        rest = [
            *(frozen_judge.endpoint for frozen_judge in self.everyone),
            *self.repair_models.values(),
        ]
        others = {endpoint.language_model_id: endpoint for endpoint in rest}
        return [*asked, *(others[model] for model in others.keys() - known)]


class HasApproach(Protocol):
    """A judge, or its frozen copy."""

    @property
    def approach(self) -> str: ...


J = TypeVar("J", bound=HasApproach)


def judges_for(judges: Sequence[J], *, on_rubric: bool) -> list[J]:
    """Return the judges with an approach for criteria, or for whole tests; all if none has."""
    made_for_it = [j for j in judges if (j.approach != Approach.TEMPLATE) == on_rubric]
    return made_for_it or list(judges)


def frozen_jury_of(judge_run: JudgeRun) -> FrozenJury:
    """Return the jury of a judge run as it was frozen."""
    return frozen_jury_from(judge_run.jury)


def frozen_jury_from(jury: dict[str, Any]) -> FrozenJury:
    """Return the jury of a snapshot."""
    names = ("template", "rubric_template")
    ids = {judge[name] for judge in judges_in(jury) for name in names} - {None}
    return _frozen_jury(
        jury, {t.pk: JudgePromptTemplate.of(t) for t in with_prompt_parts().filter(pk__in=ids)}
    )


def judges_in(jury: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the judges of a snapshot, the backup last."""
    backup = jury.get("backup")
    return [*jury.get("judges", ()), *([backup] if backup else [])]


def with_prompt_parts() -> QuerySet[JudgeTemplate]:
    """Return templates with examples and variants fetched."""
    return JudgeTemplate.objects.prefetch_related("examples", "variants")


def frozen_jury_without_prompts(judge_run: JudgeRun) -> FrozenJury:
    """Return the jury without its templates, which takes no query."""
    return _frozen_jury(judge_run.jury, {})


def fewest_endpoints(judge_run: JudgeRun) -> list[Endpoint]:
    """Return `FrozenJury.fewest_endpoints` of a judge run without a query."""
    return frozen_jury_without_prompts(judge_run).fewest_endpoints()


def _frozen_jury(
    jury: dict[str, Any], prompt_templates: Mapping[int, JudgePromptTemplate]
) -> FrozenJury:
    backup = jury["backup"]
    frozen_judges = [_frozen_judge(judge, prompt_templates) for judge in jury["judges"]]
    repair_models = {
        int(pk): Endpoint.from_json(e) for pk, e in jury.get("repair_models", {}).items()
    }
    return FrozenJury(
        frozen_judges, _frozen_judge(backup, prompt_templates) if backup else None, repair_models
    )


def _frozen_judge(
    judge: dict[str, Any], prompt_templates: Mapping[int, JudgePromptTemplate]
) -> FrozenJudge:
    return FrozenJudge(
        judge_id=judge["judge"],
        name=judge["name"],
        endpoint=Endpoint.from_json(judge["endpoint"]),
        approach=judge["approach"],
        params=judge["params"],
        samples=judge["samples"],
        whole=prompt_templates.get(judge["template"]),
        rubric=prompt_templates.get(judge["rubric_template"]),
    )


def snapshot(
    judges: Sequence[Judge], backup: Judge | None, *, name: str, templates: Iterable[int] = ()
) -> dict[str, Any]:
    """Return the content of `JudgeRun.jury`: the judges by copy.

    Args:
        backup: Not one of the judges, which are called anyway.
        templates: Templates of the tests without a rubric.
    """
    newest = rubric_templates()
    everyone = [_copy(judge, newest) for judge in (*judges, *([backup] if backup else []))]
    own = {judge[name] for judge in everyone for name in ("template", "rubric_template")} - {None}
    repair_models = repair_endpoints_of({*templates, *own})
    return {
        "name": name,
        "judges": everyone[: len(judges)],
        "backup": everyone[-1] if backup else None,
        **(
            {"repair_models": {str(pk): e.to_json() for pk, e in repair_models.items()}}
            if repair_models
            else {}
        ),
    }


def repair_endpoints_of(template_ids: Iterable[int]) -> dict[int, Endpoint]:
    """Return the current repair models of these templates, by template."""
    models = _repair_models(template_ids)
    return {pk: model.judge_endpoint() for pk, model in models.items()}


def repair_models_of(
    judges: Sequence[Judge], backup: Judge | None, templates: Iterable[int]
) -> set[LanguageModel]:
    """Return the repair models of these judges; `templates` are the tests' own."""
    if not judges:
        return set()
    newest = rubric_templates()
    ids = set(templates)
    for judge in (*judges, *([backup] if backup else [])):
        own = judge.template_id if judge.approach == Approach.TEMPLATE else None
        rubric = rubric_template(judge, newest)
        ids |= {pk for pk in (own, rubric and rubric.pk) if pk}
    return set(_repair_models(ids).values())


def _repair_models(template_ids: Iterable[int]) -> dict[int, LanguageModel]:
    """Return active repair models by template; without one, the judge repairs its own replies."""
    found = JudgeTemplate.objects.filter(pk__in=template_ids).select_related("repair_model")
    models = {template.pk: template.repair_model for template in found}
    return {pk: model for pk, model in models.items() if model and model.is_active}


def _copy(judge: Judge, newest: Mapping[str, JudgeTemplate]) -> dict[str, Any]:
    rubric = rubric_template(judge, newest)
    return {
        "judge": judge.pk,
        "name": str(judge),
        "endpoint": judge.language_model.judge_endpoint().to_json(),
        "approach": judge.approach,
        "params": judge.params,
        "samples": judge.samples,
        "template": judge.template_id if judge.approach == Approach.TEMPLATE else None,
        "rubric_template": rubric.pk if rubric else None,
    }


def rubric_template(judge: Judge, newest: Mapping[str, JudgeTemplate]) -> JudgeTemplate | None:
    """Return a judge's template for criteria: its own, or that of its approach.

    Args:
        newest: The last published template of each approach.
    """
    if judge.approach == Approach.TEMPLATE:
        return newest.get(Approach.PROMPT_AWARE)
    return judge.template or newest.get(judge.approach)


def jury_fingerprint(
    judges: Sequence[Judge],
    backup: Judge | None,
    *,
    versions: Sequence[Sequence[Any]],
    has_rubrics: bool,
) -> str:
    """Return a digest of models, approaches, parameters and the template versions used.

    Args:
        versions: Families and versions of the templates of tests without a rubric.
        has_rubrics: Some tests have criteria for judges.
    """
    newest = rubric_templates() if has_rubrics else {}
    on_whole = [*judges_for(judges, on_rubric=False), backup]
    on_rubric = [*judges_for(judges, on_rubric=True), backup]
    asked = [
        [
            *_identity(judge),
            judge == backup,
            _whole_versions(judge, versions) if judge in on_whole else [],
            _rubric_versions(judge, newest) if judge in on_rubric else [],
        ]
        for judge in (*judges, *([backup] if backup else []))
    ]
    return digest(sorted(asked, key=digest))


def _identity(judge: Judge) -> list[Any]:
    model = judge.language_model
    params = model.params | judge.params
    return [model.litellm_model, model.api_base, judge.approach, params, judge.samples]


def _whole_versions(judge: Judge, versions: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    own = judge.template if judge.approach == Approach.TEMPLATE else None
    return [[own.family, own.version]] if own and versions else list(versions)


def _rubric_versions(judge: Judge, newest: Mapping[str, JudgeTemplate]) -> list[Sequence[Any]]:
    template = rubric_template(judge, newest) if newest else None
    return [[template.family, template.version]] if template else []
