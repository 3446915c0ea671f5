"""Juries from models, approaches and temperatures, and the problems of backups and templates."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from django.db import transaction

from evalhub.models import LanguageModel
from issues.models import JudgeTemplate
from issues.models.template import is_criterion_template
from runs.launching.number_lists import plain
from runs.models import DEFAULT_APPROACHES, Approach, Judge, Jury, Method

SEEN = {
    Approach.TEMPLATE: "the fields of the test's template",
    Approach.STANDARD: "the answer and one criterion",
    Approach.PROMPT_AWARE: "the prompt, the answer and one criterion",
    Approach.HOLISTIC: "the prompt, the answer and the whole rubric, one criterion marked",
}
"""Content of a judge's prompt, by approach."""


@dataclass(frozen=True)
class JuryBuilder:
    """Judges to be: one for each model, approach and temperature.

    `whole` and `rubric` are their templates for whole tests and for criteria; None for each test's
    own and for that of the approach. Without `temperatures` the parameters set it.
    """

    models: Sequence[LanguageModel]
    approaches: Sequence[str] = DEFAULT_APPROACHES
    temperatures: Sequence[float] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 1
    whole: JudgeTemplate | None = None
    rubric: JudgeTemplate | None = None
    method: str = Method.SINGLE
    role: str = ""

    def descriptions(self) -> list[dict[str, Any]]:
        """Return the fields of each judge."""
        temperatures = [{"temperature": plain(t)} for t in self.temperatures] or [{}]
        return [
            {
                "language_model": model,
                "approach": approach,
                "params": {**self.params, **temperature},
                "template": self.whole if approach == Approach.TEMPLATE else self.rubric,
                "samples": self.samples,
                "method": self.method,
                "role": self.role,
            }
            for model, approach, temperature in product(self.models, self.approaches, temperatures)
        ]

    def judges(self) -> list[Judge]:
        """Return the judges, found or created."""
        return [Judge.objects.given(**description) for description in self.descriptions()]

    def drafts(self) -> list[Judge]:
        """Return the judges unsaved, with negative ids."""
        return [Judge(pk=-n, **fields) for n, fields in enumerate(self.descriptions(), 1)]

    def backup(self, model: LanguageModel) -> Judge:
        """Return the backup judge of this model, for whole tests and criteria."""
        return Judge.objects.given(model, params=dict(self.params), template=self.whole)

    def backup_draft(self, model: LanguageModel) -> Judge:
        return Judge(language_model=model, params=dict(self.params), template=self.whole)


def jury_builder_of(judges: Sequence[Judge]) -> JuryBuilder | None:
    """Return the builder that makes exactly these judges; None if there is none."""
    if not judges:
        return None
    first = judges[0]
    temperatures = dict.fromkeys(judge.params.get("temperature") for judge in judges)
    jury_builder = JuryBuilder(
        models=list(dict.fromkeys(judge.language_model for judge in judges)),
        approaches=[a for a in Approach if any(judge.approach == a for judge in judges)],
        temperatures=[t for t in temperatures if isinstance(t, int | float)],
        params={name: value for name, value in first.params.items() if name != "temperature"},
        samples=first.samples,
        whole=next((j.template for j in judges if j.approach == Approach.TEMPLATE), None),
        rubric=next((j.template for j in judges if j.approach != Approach.TEMPLATE), None),
        method=first.method,
        role=first.role,
    )
    made = jury_builder.descriptions()
    names = ("language_model", "approach", "params", "template", "samples", "method", "role")
    described = [{name: getattr(judge, name) for name in names} for judge in judges]
    is_equal = len(made) == len(described) and all(fields in described for fields in made)
    return jury_builder if is_equal else None


def backup_problem(backup: Judge | None, judges: Iterable[Judge]) -> str:
    """Return why this backup cannot replace these judges; "" if it can."""
    if backup is None:
        return ""
    usual = {"temperature": 0, **backup.language_model.params}
    for judge in judges:
        is_same = usual | judge.params == usual | backup.params
        if is_same and judge.language_model_id == backup.language_model_id:
            return (
                f"{backup.language_model} is one of the judges and would get the same request "
                "again. Choose another model as the backup, or none."
            )
    return ""


def prompt_problem(approach: str, template: JudgeTemplate | None) -> str:
    """Return why this template does not fit a judge of this approach; "" if it does."""
    if template is None or is_criterion_template(template.text) == (approach != Approach.TEMPLATE):
        return ""
    if approach == Approach.TEMPLATE:
        return f"{template} is for criteria, not for whole tests: choose another one."
    return f"{template} does not use {{{{ criterion }}}}: choose another one."


@transaction.atomic
def jury_of(judges: Sequence[Judge], backup: Judge | None = None) -> Jury:
    """Return the jury of exactly these judges, found or created."""
    wanted = {judge.pk for judge in judges}
    juries = Jury.objects.filter(judges=judges[0], backup=backup, is_active=True)
    for jury in juries.prefetch_related("judges").order_by("pk"):
        if {judge.pk for judge in jury.judges.all()} == wanted:
            return jury
    jury = Jury.objects.create(name=_free_name(judges), backup=backup)
    jury.judges.set(judges)
    return jury


def _free_name(judges: Sequence[Judge]) -> str:
    models = ", ".join(dict.fromkeys(str(judge.language_model) for judge in judges))
    taken = set(Jury.objects.filter(name__startswith=models[:140]).values_list("name", flat=True))
    names = (f"{models[:140]}{f' ({n})' if n > 1 else ''}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)
