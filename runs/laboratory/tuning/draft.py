"""The draft: examples from the development split, its prompt, and its publication with figures."""

from django.db import transaction

from evalhub.history import save_signed
from evalhub.models import BatchState, User
from evalhub.refusals import Refused
from evalhub.values.digest import digest
from issues.judge_templates.examples import copy_in
from issues.judge_templates.lifecycle import publish, shown_by
from issues.models import JudgeTemplate
from runs.laboratory.tuning.disagreements import active_evaluations_on
from runs.laboratory.tuning.figures import as_json, tuning_figures
from runs.laboratory.tuning.frozen_prompt import frozen
from runs.laboratory.tuning.models import Attempt, LabelledExample, Publication, Split, Tuning
from runs.laboratory.tuning.start import draft_of
from runs.scoring.examples import problem_of, taught_by_human_evaluation


@transaction.atomic
def use_as_example(tuning: Tuning, labelled_example: LabelledExample, *, by: User) -> JudgeTemplate:
    """Add an answer with its human verdict to the draft as an example; create the draft if needed.

    Raises:
        Refused: It is in the held-out split, its human verdict was withdrawn, or it cannot be an
            example, such as one of a sealed test.
    """
    if labelled_example.split != Split.DEVELOPMENT:
        raise Refused(
            [
                "This answer is in the held-out split. Choose one from the development split: a "
                "draft cannot be tested on its own examples."
            ]
        )
    (evaluations,) = active_evaluations_on([labelled_example]).values()
    if not evaluations:
        raise Refused(["The human verdict on this answer has been withdrawn."])
    evaluation = evaluations[-1]  # the adjudication, or the newest
    if problem := problem_of(evaluation):
        raise Refused([problem])
    draft = draft_of(tuning, by=by)
    if not copy_in(draft, [taught_by_human_evaluation(evaluation)]):
        raise Refused([f"{draft} has this example already."])
    return draft


@transaction.atomic
def edit_prompt(draft: JudgeTemplate, text: str, *, seen: str, by: User) -> None:
    """Replace the draft's prompt.

    Args:
        seen: The prompt that the user edited, to detect edits by somebody else.

    Raises:
        Refused: Somebody else changed the prompt.
        ValidationError: The prompt is not valid, or the draft is published.
    """
    locked = JudgeTemplate.objects.select_for_update().get(pk=draft.pk)
    if _lines(locked.text) != _lines(seen):
        raise Refused(
            [
                "Somebody else changed the draft. Your text is kept below: compare it with the "
                "draft, and save again to overwrite the draft."
            ]
        )
    locked.text = "\n".join(_lines(text))
    locked.full_clean()
    for name, is_shown in shown_by(text).items():
        setattr(locked, name, is_shown)
    save_signed(locked, by, "Prompt edited in judge tuning")


def _lines(text: str) -> list[str]:
    """Split into lines; browsers send CRLF."""
    return text.replace("\r\n", "\n").split("\n")


def completed_attempt(tuning: Tuning, draft: JudgeTemplate) -> Attempt | None:
    """Return the newest complete attempt with exactly this draft, or None."""
    attempts = tuning.attempts.filter(state=BatchState.DONE, digest=digest(frozen(draft)))
    return attempts.order_by("-number").first()


@transaction.atomic
def publish_draft(
    tuning: Tuning, draft: JudgeTemplate, *, by: User | None, reason: str = ""
) -> Publication:
    """Publish the draft and keep the figures of both splits with it.

    Args:
        reason: Reason for publishing a draft without a complete attempt.

    Raises:
        Refused, ValidationError: There is neither a complete attempt nor a reason, or the draft
            cannot be published.
    """
    draft = JudgeTemplate.objects.select_for_update().get(pk=draft.pk)
    attempt = completed_attempt(tuning, draft)
    if attempt is None and not reason.strip():
        raise Refused(
            [
                f"{draft} has not been tested in its current state. Start an attempt, or give a "
                "reason for publishing it untested."
            ]
        )
    publish(draft, by=by)
    found = tuning_figures(tuning)
    attempted = found.of(attempt) if attempt else None
    return Publication.objects.create(
        template=draft,
        tuning=tuning,
        attempt=attempt,
        reason="" if attempt else reason.strip(),
        figures={
            "in_use": as_json(found.in_use),
            "attempted": as_json(attempted) if attempted else None,
        },
        by=by,
    )
