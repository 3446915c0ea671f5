"""Putting juries together: judges from models and the ways to ask them, and what cannot be one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from django.db import transaction

from evalhub.models import LanguageModel
from issues.models import JudgeTemplate
from issues.models.template import is_criterion_template as wording_asks_about_a_criterion
from runs.launching.number_lists import plain
from runs.models import DEFAULT_APPROACHES, Approach, Judge, Jury

SEEN = {
    Approach.TEMPLATE: "what the test's template shows",
    Approach.STANDARD: "the answer and one criterion",
    Approach.PROMPT_AWARE: "the prompt, the answer and one criterion",
    Approach.HOLISTIC: "the prompt, the answer and the whole rubric, one criterion marked",
}
"""What a judge is shown, by its approach."""


@dataclass(frozen=True)
class JuryBuilder:
    """How judges are put together: one for each model, approach and temperature.

    `whole` and `rubric` are wordings of their own for whole tests and for criteria; None: each
    test's template, and the one of the approach. Without `temperatures` the parameters decide.
    """

    models: Sequence[LanguageModel]
    approaches: Sequence[str] = DEFAULT_APPROACHES
    temperatures: Sequence[float] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    samples: int = 1
    whole: JudgeTemplate | None = None
    rubric: JudgeTemplate | None = None

    def descriptions(self) -> list[dict[str, Any]]:
        """The fields of each judge."""
        warmths = [{"temperature": plain(t)} for t in self.temperatures] or [{}]
        return [
            {
                "language_model": model,
                "approach": approach,
                "params": {**self.params, **warmth},
                "template": self.whole if approach == Approach.TEMPLATE else self.rubric,
                "samples": self.samples,
            }
            for model, approach, warmth in product(self.models, self.approaches, warmths)
        ]

    def judges(self) -> list[Judge]:
        """The rows, found or made."""
        return [Judge.objects.given(**description) for description in self.descriptions()]

    def drafts(self) -> list[Judge]:
        """The same without touching the ledger: rows that are not saved, with numbers below 0."""
        return [Judge(pk=-n, **fields) for n, fields in enumerate(self.descriptions(), 1)]

    def backup(self, model: LanguageModel) -> Judge:
        """This model, to be asked about whole tests and, seeing the prompt, about criteria."""
        return Judge.objects.given(model, params=dict(self.params), template=self.whole)

    def backup_draft(self, model: LanguageModel) -> Judge:
        return Judge(language_model=model, params=dict(self.params), template=self.whole)


def jury_builder_of(judges: Sequence[Judge]) -> JuryBuilder | None:
    """How these judges were put together; None where they were not put together so."""
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
    )
    described = [_fields(judge) for judge in judges]
    made = jury_builder.descriptions()
    is_so = len(made) == len(described) and all(fields in described for fields in made)
    return jury_builder if is_so else None


def _fields(judge: Judge) -> dict[str, Any]:
    return {
        "language_model": judge.language_model,
        "approach": judge.approach,
        "params": judge.params,
        "template": judge.template,
        "samples": judge.samples,
    }


def backup_problem(backup: Judge | None, judges: Iterable[Judge]) -> str:
    """Why it cannot stand in for these judges, in words; "" where it can."""
    if backup is None:
        return ""
    twin = next((judge for judge in judges if _same_request(judge, backup)), None)
    if twin is None:
        return ""
    return (
        f"{backup.language_model} is one of the judges and would be asked the same again. Choose "
        "another model as the backup, or leave it out."
    )


def _same_request(one: Judge, other: Judge) -> bool:
    if one.language_model_id != other.language_model_id:
        return False
    usual = {"temperature": 0, **one.language_model.params}
    return bool(usual | one.params == usual | other.params)


def prompt_problem(approach: str, template: JudgeTemplate | None) -> str:
    """Why a judge with this approach cannot be asked with this wording; "" where it can."""
    if template is None or is_criterion_template(template) == (approach != Approach.TEMPLATE):
        return ""
    if approach == Approach.TEMPLATE:
        return f"{template} asks about one criterion, not about a whole test: choose another."
    return f"{template} does not show {{{{ criterion }}}}, which is judged: choose another."


def is_criterion_template(template: JudgeTemplate) -> bool:
    return wording_asks_about_a_criterion(template.text)


@transaction.atomic
def jury_of(judges: Sequence[Judge], backup: Judge | None = None) -> Jury:
    """A jury of exactly these, found or made."""
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
