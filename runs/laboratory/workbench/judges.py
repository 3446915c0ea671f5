"""The judges of a workbench: models with its prompt and other templates, or those of a jury."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from evalhub.access.sealing.sending_consent import Role
from evalhub.llm.models import LanguageModelQuerySet
from evalhub.models import LanguageModel
from issues.judge_templates.examples import examples_of
from issues.models import Criterion, JudgeTemplate, TemplateState
from issues.models.template import is_criterion_template
from issues.rubrics.criterion_content import columns_of
from issues.rubrics.draft import Draft
from runs.judging.jury import (
    FrozenJudge,
    FrozenJury,
    frozen_jury_of,
    prompt_templates_of,
    repair_endpoints_of,
    snapshot,
)
from runs.judging.prompts import JudgePromptTemplate
from runs.laboratory.judging import Judging
from runs.laboratory.workbench.models import BenchRow, Workbench
from runs.models import Approach, Jury, Method

OWN = 0
"""Id of the workbench's own prompt among templates."""


class BenchJudge(NamedTuple):
    """A judge; `slot` names it, whatever its prompt says at the moment."""

    slot: str
    judge: FrozenJudge


@dataclass(frozen=True)
class Setup:
    """A workbench as its judges are asked now. `points` are without those that name nothing."""

    prompt: JudgePromptTemplate
    template: JudgeTemplate
    points: list[Criterion]
    targets: Mapping[str, str]
    judges: list[BenchJudge]
    repair_models: Mapping[int, Any] = field(default_factory=dict)
    is_reversed: bool = False
    guidelines: str = ""
    better: str = ""
    """What makes one of two answers better; "": guidelines, criteria and reference."""
    ties: bool = True

    @property
    def judging(self) -> Judging:
        return Judging(FrozenJury([each.judge for each in self.judges], None, self.repair_models))

    @property
    def roles(self) -> list[Role]:
        """Return the endpoints that are called, by role."""
        roles = [("judge", each.judge.endpoint) for each in self.judges]
        return roles + [("repair", endpoint) for endpoint in self.repair_models.values()]

    def template_of(self, judge: FrozenJudge, order: int = 0) -> JudgePromptTemplate | None:
        """Return what asks this judge; in order 1 its options are reversed."""
        template = judge.rubric if self.points else judge.whole
        return template.reversed() if template and order else template

    def draft_of(self, row: BenchRow) -> Draft:
        """Return the row as a test that the house's judging understands."""
        content = {
            "messages": row.messages or [{"role": "user", "content": ""}],
            "tools": [],
            "context": row.context,
            "reference": row.reference,
            "guidelines": row.guidelines or self.guidelines,
            "criteria": [point.as_content() for point in self.points],
        }
        judged = (content, self.points, self.template, None)
        return Draft(*judged, row.answer, [], test_id=row.test_id)


def setup_of(bench: Workbench) -> Setup:
    """Read everything that judges need but the rows."""
    template = JudgeTemplate(text=bench.text, scale=bench.scale, reply_form=bench.reply_form)
    holder = bench.draft or bench.source
    prompt = replace(JudgePromptTemplate.of(template), template_id=OWN)
    if holder is not None:
        holder.scale, holder.reply_form = bench.scale, bench.reply_form
        prompt = replace(prompt, examples=examples_of(holder))
    points = [point_of(content) for content in bench.criteria]
    on_criteria = bool(points)
    templates = {
        pk: each
        for pk, each in prompt_templates_of(bench.judges.get("templates", ())).items()
        if is_criterion_template(each.text) == on_criteria
    }
    judges = _of_jury(bench, prompt, points) or _of_models(bench, prompt, templates)
    used = {t.template_id for each in judges for t in (each.judge.whole, each.judge.rubric) if t}
    repair = repair_endpoints_of({*used} - {OWN})
    if bench.source_id and (own := repair_endpoints_of([bench.source_id])):
        repair |= {OWN: own[bench.source_id]}
    return Setup(
        prompt=prompt,
        template=template,
        points=points,
        targets={c["key"]: c.get("target", "") for c in bench.criteria},
        judges=judges,
        repair_models=repair,
        is_reversed=bool(bench.judges.get("reversed")),
        guidelines=bench.guidelines,
        better=str(bench.judges.get("better") or "").strip(),
        ties=bool(bench.judges.get("ties", True)),
    )


def point_of(content: Mapping[str, Any]) -> Criterion:
    """Return an unsaved criterion from its content."""
    return Criterion(**columns_of(content))


def _of_jury(
    bench: Workbench, prompt: JudgePromptTemplate, points: list[Criterion]
) -> list[BenchJudge]:
    """Return the judges of the chosen jury; whole answers are judged by the workbench's prompt."""
    jury = Jury.objects.filter(pk=bench.judges.get("jury") or 0, is_active=True).first()
    if jury is None:
        return []
    judges = list(jury.judges.select_related("language_model", "template"))
    frozen = frozen_jury_of(snapshot(judges, None, name=str(jury)))
    return [
        BenchJudge(f"j{judge.judge_id}", replace(judge, whole=judge.whole or prompt))
        for judge in frozen.judges_asked(on_rubric=bool(points))
    ]


def _of_models(
    bench: Workbench, prompt: JudgePromptTemplate, templates: Mapping[int, JudgePromptTemplate]
) -> list[BenchJudge]:
    """Return a judge for each model with the workbench's prompt and with each other template."""
    chosen = judge_models().filter(pk__in=bench.judges.get("models", ()))
    titles = dict(JudgeTemplate.objects.filter(pk__in=templates).values_list("pk", "title"))
    samples = int(bench.judges.get("samples") or 1)
    judges: list[BenchJudge] = []
    for model in chosen:
        for pk, template in {OWN: prompt, **templates}.items():
            name = str(model) if not templates else f"{model}, {titles.get(pk, 'this prompt')}"
            judge = FrozenJudge(
                judge_id=-1 - len(judges),
                name=f"{name} (scripted)" if model.is_scripted else name,
                endpoint=model.judge_endpoint(),
                approach=Approach.PROMPT_AWARE if bench.criteria else Approach.TEMPLATE,
                params={"temperature": 1} if samples > 1 else {},
                samples=samples,
                whole=template,
                rubric=template,
                method=str(bench.judges.get("method") or Method.SINGLE),
                role=str(bench.judges.get("role") or ""),
            )
            judges.append(BenchJudge(f"m{model.pk}.{pk or 'own'}", judge))
    return judges


def judge_models() -> LanguageModelQuerySet:
    return LanguageModel.objects.active().not_applications()


def templates_to_choose(*, on_criteria: bool) -> list[JudgeTemplate]:
    """Return the published templates for criteria, or those for whole answers."""
    published = JudgeTemplate.objects.filter(state=TemplateState.PUBLISHED)
    ordered = published.order_by("title", "-version")
    return [each for each in ordered if is_criterion_template(each.text) == on_criteria]
