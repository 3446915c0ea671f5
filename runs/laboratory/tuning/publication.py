"""Publication of a draft with its figures, or the reason for publishing it untested."""

from django.db import transaction

from evalhub.models import BatchState, User
from evalhub.refusals import Refused
from evalhub.values.digest import digest
from issues.judge_templates.lifecycle import publish
from issues.models import JudgeTemplate
from runs.laboratory.tuning.figures import as_json, tuning_figures
from runs.laboratory.tuning.frozen_prompt import frozen
from runs.laboratory.tuning.models import Attempt, Publication, Tuning


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
