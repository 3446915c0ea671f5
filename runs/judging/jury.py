"""The judges of a judging as its snapshot has them, and which of them sit on what."""

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
    """One judge of a judging, by copy.

    `whole` is its own wording for tests as a whole; None: each test's own template. `rubric` is
    the wording for one criterion; None where the ledger has none.
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
    """All seats of a judging, with the one that steps in where another failed.

    `repair_models` are asked to mend unreadable replies, by the template with which a judge was
    asked.
    """

    frozen_judges: list[FrozenJudge]
    backup: FrozenJudge | None
    repair_models: Mapping[int, Endpoint] = field(default_factory=dict)

    @property
    def everyone(self) -> list[FrozenJudge]:
        return [*self.frozen_judges, self.backup] if self.backup else self.frozen_judges

    def judges_asked(self, *, on_rubric: bool) -> list[FrozenJudge]:
        """Who is asked about a criterion, or about a test as a whole.

        Those whose approach is made for it. Where there are none, everyone: about a criterion
        with the wording that shows the prompt, about a test as a whole once per endpoint and
        parameters, as two of one model would be asked the same.
        """
        frozen_judges = judges_for(self.frozen_judges, on_rubric=on_rubric)
        if on_rubric or any(
            frozen_judge.approach == Approach.TEMPLATE for frozen_judge in frozen_judges
        ):
            return frozen_judges
        distinct = {digest([s.endpoint.to_json(), s.params]): s for s in reversed(frozen_judges)}
        return [frozen_judge for frozen_judge in frozen_judges if frozen_judge in distinct.values()]

    def fewest_endpoints(self) -> list[Endpoint]:
        """Those asked about a test as a whole, and any other model once, menders too.

        So many calls an item makes at least; the more of a rubric wait for their turn.
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
    """A judge, or its seat."""

    @property
    def approach(self) -> str: ...


J = TypeVar("J", bound=HasApproach)


def judges_for(judges: Sequence[J], *, on_rubric: bool) -> list[J]:
    """Those whose approach is made for criteria, or for tests as a whole; where none is, all."""
    made_for_it = [j for j in judges if (j.approach != Approach.TEMPLATE) == on_rubric]
    return made_for_it or list(judges)


def frozen_jury_of(judge_run: JudgeRun) -> FrozenJury:
    """The judges of a judging as they were when it was made."""
    return frozen_jury_from(judge_run.jury)


def frozen_jury_from(jury: dict[str, Any]) -> FrozenJury:
    """The judges of a snapshot."""
    everyone = [*jury["judges"], *([jury["backup"]] if jury["backup"] else [])]
    ids = {judge[name] for judge in everyone for name in ("template", "rubric_template")} - {None}
    return _frozen_jury(
        jury, {t.pk: JudgePromptTemplate.of(t) for t in with_prompt_parts().filter(pk__in=ids)}
    )


def with_prompt_parts() -> QuerySet[JudgeTemplate]:
    """Templates with all that their wordings are made of at hand."""
    return JudgeTemplate.objects.prefetch_related("examples", "variants")


def frozen_jury_without_prompts(judge_run: JudgeRun) -> FrozenJury:
    """Who sits, without reading any wording: no query."""
    return _frozen_jury(judge_run.jury, {})


def fewest_endpoints(judge_run: JudgeRun) -> list[Endpoint]:
    """What `FrozenJury.fewest_endpoints` says of a judging, without reading any wording."""
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
    """What `JudgeRun.jury` holds: the judges as they are asked in this judging, by copy.

    Args:
        backup: None of the judges, who are asked in any case.
        templates: Those of the tests that are judged as a whole.
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
    """Who mends the replies of judges that are asked with these templates, as it is now."""
    models = _repair_models(template_ids)
    return {pk: model.judge_endpoint() for pk, model in models.items()}


def repair_models_of(
    judges: Sequence[Judge], backup: Judge | None, templates: Iterable[int]
) -> set[LanguageModel]:
    """The models that would mend the replies of these judges; `templates` are the tests' own."""
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
    """By the template. One that was deactivated mends nothing any more: the judge is asked."""
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
    """With what wording a judge is asked about a criterion: its own, or its approach's.

    Args:
        newest: The last published wording of each approach.
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
    """Digest of models, approaches, parameters and the template versions really asked.

    Args:
        versions: Families and versions of the templates of the tests that are judged as a whole.
        has_rubrics: Whether judges are asked about criteria of some tests.
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
