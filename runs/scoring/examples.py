"""Labelled examples: human evaluations that are marked, and copied into judge templates."""

from collections.abc import Iterable
from typing import NamedTuple

from django.core.exceptions import ValidationError
from django.db import transaction

from evalhub.history import save_signed, sign
from evalhub.models import User
from evalhub.refusals import Refused
from issues.judge_templates.examples import ExampleSource, copy_in
from issues.models import JudgeTemplate, TemplateExample
from runs.judging.tasks import judged_answer_of
from runs.models import EvaluationKind, Example, HumanEvaluation
from runs.scoring.human_evaluation import active_among, is_active

MARKED_WITH = (
    *("evaluation__annotator", "evaluation__criterion", "evaluation__result__answer"),
    *("evaluation__result__run", "evaluation__result__revision", "evaluation__result__test"),
)
"""Relations with the texts of an example."""


def mark(evaluation: HumanEvaluation, note: str, *, by: User) -> Example:
    """Mark a human evaluation as a labelled example, or update the note of one.

    Raises:
        ValidationError: It cannot be an example; the message says why.
    """
    if problem := problem_of(evaluation):
        raise ValidationError(problem)
    example = Example.objects.filter(pk=evaluation.pk).first() or Example(evaluation=evaluation)
    example.note, example.marked_by = note.strip(), by
    return save_signed(example, by, "Marked as an example")


def unmark(evaluation: HumanEvaluation, *, by: User) -> None:
    """Remove the mark. The history and copies in templates stay.

    Raises:
        ValidationError: It is not marked.
    """
    example = Example.objects.filter(pk=evaluation.pk).first()
    if example is None:
        raise ValidationError("This evaluation is not marked as an example.")
    sign(example, by, "Example removed")
    example.delete()


def problem_of(evaluation: HumanEvaluation) -> str:
    """Say why this evaluation cannot be an example; "" if it can."""
    test = evaluation.result.test
    if test.sealed:
        return (
            f"Test {test.pk} is sealed: as an example, its text would be in every prompt of the "
            "judges that learn from it."
        )
    if evaluation.kind == EvaluationKind.WITHDRAWAL:
        return "This is a withdrawal: mark an active evaluation."
    if not is_active(evaluation):
        return "This evaluation was withdrawn or replaced: mark the active one."
    return ""


class Copied(NamedTuple):
    """The numbers of examples that are new in the template, and that it had already."""

    new: int
    known: int


@transaction.atomic
def copy_into(template: JudgeTemplate, marked: Iterable[Example], *, by: User) -> Copied:
    """Copy labelled examples into a draft, with their texts as they are now.

    Raises:
        Refused: The template is not a draft, or some cannot be its examples; none is copied.
    """
    pks = [example.pk for example in marked]
    rows = list(Example.objects.filter(pk__in=pks).select_related(*MARKED_WITH).order_by("pk"))
    left = active_among([row.evaluation for row in rows])
    problems = [problem for row in rows if (problem := _copy_problem(row, left))]
    if problems:
        raise Refused(problems)
    made = copy_in(template, [taught_by_human_evaluation(row.evaluation) for row in rows])
    if made:
        draft = JudgeTemplate.objects.get(pk=template.pk)
        save_signed(draft, by, f"Copied {len(made)} example{'s' * (len(made) != 1)}")
    return Copied(len(made), len(rows) - len(made))


def _copy_problem(row: Example, left: set[int]) -> str:
    evaluation = row.evaluation
    if evaluation.pk not in left:
        return f"{name_of(evaluation)} was withdrawn or replaced: remove the example."
    if evaluation.criterion.key and not evaluation.criterion.text.strip():
        return (
            f"{name_of(evaluation)} is on a criterion with a check, which judges are not asked "
            "about: remove the example."
        )
    return ""


def name_of(evaluation: HumanEvaluation) -> str:
    return f"The evaluation by {evaluation.annotator} on result {evaluation.result_id}"


def taught_by_human_evaluation(evaluation: HumanEvaluation) -> ExampleSource:
    """Return a human evaluation as an example, with the texts that judges see."""
    result = evaluation.result
    case = judged_answer_of(result, result.run.system_prompt)
    assert evaluation.value is not None  # it is no withdrawal
    texts = {
        "input": case.input,
        "output": case.output,
        "reference": result.revision.content["reference"],
        "guidelines": result.revision.content["guidelines"],
        "criterion": evaluation.criterion.text if evaluation.criterion.key else "",
        "justification": evaluation.justification,
    }
    return ExampleSource(result.test, texts, evaluation.option, evaluation.value)


def taught_tests(template_ids: Iterable[int]) -> dict[int, set[int]]:
    """Return the ids of the tests behind the examples of each template.

    Judges with the template must not be measured on these tests.
    """
    wanted = set(template_ids)
    found: dict[int, set[int]] = {pk: set() for pk in wanted}
    rows = TemplateExample.objects.filter(template__in=wanted, test__isnull=False).order_by()
    for template, test in rows.values_list("template_id", "test_id").distinct():
        if test is not None:
            found[template].add(test)
    return found
