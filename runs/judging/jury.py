"""The frozen jury of a judge run, and which of its judges apply to what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from django.db.models import Prefetch, prefetch_related_objects

from evalhub.llm.endpoint import Endpoint
from evalhub.models import LanguageModel
from evalhub.values.digest import digest
from issues.judge_templates.lifecycle import rubric_templates
from issues.models import JudgeTemplate, TemplateExample
from runs.judging.prompts import JudgePromptTemplate
from runs.models import Approach, Judge, Method
from runs.models.jury import method_identity


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
    method: str = Method.SINGLE
    role: str = ""

    @property
    def asked(self) -> list[Any]:
        """Who is asked with which parameters, as JSON; equal for judges that are asked alike."""
        endpoint = self.endpoint
        model = [endpoint.litellm_model, endpoint.api_base, endpoint.params]
        return [*model, self.params, self.method, self.role]


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
        test once per endpoint, parameters, method and role, for equal requests would be sent twice
        otherwise.
        """
        judges = judges_for(self.frozen_judges, on_rubric=on_rubric)
        if on_rubric or any(judge.approach == Approach.TEMPLATE for judge in judges):
            return judges
        distinct = {
            digest([j.endpoint.to_json(), j.params, j.method, j.role]): j for j in reversed(judges)
        }
        return [judge for judge in judges if judge in distinct.values()]

    def fewest_endpoints(self) -> list[Endpoint]:
        """Return the endpoints of a whole test, and every other model once, repair models too.

        An item makes at least these calls; those of a rubric wait for their turn.
        """
        asked = [judge.endpoint for judge in self.judges_asked(on_rubric=False)]
        known = {endpoint.language_model_id for endpoint in asked}
        rest = [*(judge.endpoint for judge in self.everyone), *self.repair_models.values()]
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


def judges_in(jury: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the judges of a snapshot, the backup last."""
    return [*jury.get("judges", ()), *([jury["backup"]] if jury.get("backup") else [])]


def jury_identity(jury: Mapping[str, Any], *, on_rubric: bool) -> str:
    """Return a digest of what judges a test: models, approaches, parameters and prompts.

    Args:
        jury: A snapshot; {} if nothing judges.
        on_rubric: Of a criterion; otherwise of a whole test, whose own template is in its digest.
    """
    template = "rubric_template" if on_rubric else "template"
    backup = jury.get("backup")
    asked = [
        [*_settings(judge), judge[template], judge == backup]
        for judge in _asked_in(jury, on_rubric=on_rubric)
    ]
    return digest(sorted(asked, key=digest))


def _asked_in(jury: Mapping[str, Any], *, on_rubric: bool) -> list[dict[str, Any]]:
    """Return the judges of a snapshot that are asked, the backup last."""
    judges = list(jury.get("judges", ()))
    made_for_it = [j for j in judges if (j["approach"] != Approach.TEMPLATE) == on_rubric]
    return [*(made_for_it or judges), *([jury["backup"]] if jury.get("backup") else [])]


def _settings(judge: Mapping[str, Any]) -> list[Any]:
    """Return the model, approach and parameters of a judge in a snapshot."""
    endpoint = judge["endpoint"]
    return [
        *(endpoint.get(name) for name in ("litellm_model", "api_base")),
        judge["approach"],
        endpoint.get("params", {}) | judge["params"],
        judge["samples"],
        *method_of(judge),
    ]


def method_of(judge: Mapping[str, Any]) -> list[str]:
    """Return what method and role add to the identity of a judge in a snapshot."""
    return method_identity(judge.get("method", Method.SINGLE), judge.get("role", ""))


def prompt_templates_of(
    ids: Iterable[int | None], known: JudgeTemplate | None = None
) -> dict[int, JudgePromptTemplate]:
    """Return templates with their examples and variants, by id.

    Args:
        known: A template that has been read.
    """
    wanted = {pk for pk in ids if pk}
    found = [known] if known and known.pk in wanted else []
    if unread := wanted - {template.pk for template in found}:
        found += JudgeTemplate.objects.filter(pk__in=unread).order_by()
    examples = Prefetch("examples", TemplateExample.objects.order_by("order", "pk"))
    prefetch_related_objects(found, examples, "variants")
    return {template.pk: JudgePromptTemplate.of(template) for template in found}


def templates_in(jury: Mapping[str, Any]) -> set[int | None]:
    """Return the ids of the templates of a snapshot's judges."""
    names = ("template", "rubric_template")
    return {judge[name] for judge in judges_in(jury) for name in names}


def frozen_jury_of(
    jury: dict[str, Any],
    *,
    with_templates: bool = True,
    templates: Mapping[int, JudgePromptTemplate] | None = None,
) -> FrozenJury:
    """Return the jury of a snapshot; without its templates, this takes no query.

    Args:
        templates: Its templates by id, if they are known.
    """
    everyone = judges_in(jury)
    if templates is None:
        templates = prompt_templates_of(templates_in(jury)) if with_templates else {}
    judges = [
        FrozenJudge(
            judge_id=judge["judge"],
            name=judge["name"],
            endpoint=Endpoint.from_json(judge["endpoint"]),
            approach=judge["approach"],
            params=judge["params"],
            samples=judge["samples"],
            whole=templates.get(judge["template"]),
            rubric=templates.get(judge["rubric_template"]),
            method=judge.get("method", Method.SINGLE),
            role=judge.get("role", ""),
        )
        for judge in everyone
    ]
    backup = judges.pop() if jury["backup"] else None
    repair_models = jury.get("repair_models", {}).items()
    return FrozenJury(
        judges, backup, {int(pk): Endpoint.from_json(endpoint) for pk, endpoint in repair_models}
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
    everyone = []
    for judge in (*judges, *([backup] if backup else [])):
        rubric = rubric_template(judge, newest)
        copy = {
            "judge": judge.pk,
            "name": str(judge),
            "endpoint": judge.language_model.judge_endpoint().to_json(),
            "approach": judge.approach,
            "params": judge.params,
            "samples": judge.samples,
            "method": judge.method,
            "role": judge.role,
            "template": judge.template_id if judge.approach == Approach.TEMPLATE else None,
            "rubric_template": rubric.pk if rubric else None,
        }
        everyone.append(copy)
    own = {judge[name] for judge in everyone for name in ("template", "rubric_template")} - {None}
    repair_models = repair_endpoints_of({*templates, *own})
    jury = {
        "name": name,
        "judges": everyone[: len(judges)],
        "backup": everyone[-1] if backup else None,
    }
    if repair_models:
        jury["repair_models"] = {str(pk): e.to_json() for pk, e in repair_models.items()}
    return jury


def repair_endpoints_of(template_ids: Iterable[int]) -> dict[int, Endpoint]:
    """Return the current repair models of these templates, by template."""
    return {pk: model.judge_endpoint() for pk, model in _repair_models(template_ids).items()}


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


def rubric_template(judge: Judge, newest: Mapping[str, JudgeTemplate]) -> JudgeTemplate | None:
    """Return a judge's template for criteria: its own, or that of its approach.

    Args:
        newest: The last published template of each approach.
    """
    if judge.approach == Approach.TEMPLATE:
        return newest.get(Approach.PROMPT_AWARE)
    return judge.template or newest.get(judge.approach)


def jury_fingerprint(
    jury: Mapping[str, Any], *, versions: Sequence[Sequence[Any]], has_rubrics: bool
) -> str:
    """Return a digest of models, approaches, parameters and the template versions used.

    Args:
        jury: A snapshot.
        versions: Families and versions of the templates of tests without a rubric.
        has_rubrics: Some tests have criteria for judges.
    """
    everyone, backup = judges_in(jury), jury.get("backup")
    ids = {judge[name] for judge in everyone for name in ("template", "rubric_template")} - {None}
    rows = JudgeTemplate.objects.filter(pk__in=ids).values_list("pk", "family", "version")
    known = {pk: [family, version] for pk, family, version in rows} if ids else {}
    on_whole, on_rubric = (_asked_in(jury, on_rubric=on_rubric) for on_rubric in (False, True))
    asked = []
    for judge in everyone:
        own = known.get(judge["template"])
        whole = [own] if own and versions else list(versions)
        rubric = known.get(judge["rubric_template"]) if has_rubrics else None
        asked.append(
            [
                *_settings(judge),
                judge == backup,
                whole if judge in on_whole else [],
                [rubric] if rubric and judge in on_rubric else [],
            ]
        )
    return digest(sorted(asked, key=digest))
