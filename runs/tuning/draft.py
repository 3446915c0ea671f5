"""Writing the draft: examples from the seen half, and other words."""

from django.db import transaction

from evalhub.history import sign
from evalhub.models import User
from issues.judge_templates.examples import copy_in
from issues.judge_templates.lifecycle import shown_by
from issues.models import JudgeTemplate
from runs.models import HumanEvaluation
from runs.scoring.examples import problem_of, taught_by_human_evaluation
from runs.tuning.disagreements import active_evaluations_on
from runs.tuning.models import LabelledExample, Split, Tuning
from runs.tuning.start import TuningRefused, draft_of


@transaction.atomic
def use_as_example(tuning: Tuning, labelled_example: LabelledExample, *, by: User) -> JudgeTemplate:
    """Copy what people decided about an answer into the draft, which is made where none is.

    Returns:
        The draft.

    Raises:
        RehearsalRefused: It is of the held-out half, or nobody's verdict stands any more.
        Refused: It cannot be an example, as of a sealed test.
    """
    if labelled_example.split != Split.DEVELOPMENT:
        raise TuningRefused(
            "This answer is in the held-out half, which could prove nothing of a draft that has "
            "it as an example."
        )
    evaluation = _speaking(labelled_example)
    if problem := problem_of(evaluation):
        raise TuningRefused(problem)
    draft = draft_of(tuning, by=by)
    if not copy_in(draft, [taught_by_human_evaluation(evaluation)]):
        raise TuningRefused(f"{draft} has this example already.")
    return draft


def _speaking(labelled_example: LabelledExample) -> HumanEvaluation:
    """The verdict that says what people decided: what settled it, or the newest that stands."""
    (said,) = active_evaluations_on([labelled_example]).values()
    if not said:
        raise TuningRefused("What people said of this answer was withdrawn since.")
    return said[-1]


@transaction.atomic
def edit_prompt(draft: JudgeTemplate, text: str, *, seen: str, by: User) -> None:
    """Give the draft other words.

    Args:
        seen: The text that was changed: somebody else may have changed it meanwhile.

    Raises:
        RehearsalRefused: It is not what it was any more.
        ValidationError: The text is no template that can be used, or it is published.
    """
    locked = JudgeTemplate.objects.select_for_update().get(pk=draft.pk)
    if _lines(locked.text) != _lines(seen):
        raise TuningRefused(
            "Somebody has changed the draft meanwhile. Your text is kept below: compare it with "
            "the draft, and save it again to replace what stands there."
        )
    locked.text = "\n".join(_lines(text))
    locked.full_clean()
    for name, is_shown in shown_by(text).items():
        setattr(locked, name, is_shown)
    sign(locked, by, "Reworded in a rehearsal")
    locked.save()


def _lines(text: str) -> list[str]:
    """Browsers end lines in a way of their own."""
    return text.replace("\r\n", "\n").split("\n")
