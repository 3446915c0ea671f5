"""Publishing a draft with what is known of it: what was tried, or why it was not."""

from django.db import transaction

from evalhub.models import BatchState, User
from issues.judge_templates.lifecycle import publish
from issues.models import JudgeTemplate
from runs.tuning.figures import as_json, tuning_figures
from runs.tuning.frozen_prompt import digest_of
from runs.tuning.models import Attempt, Publication, Tuning
from runs.tuning.start import TuningRefused


def tried_as(tuning: Tuning, draft: JudgeTemplate) -> Attempt | None:
    """The newest complete try of exactly what the draft is now; None: it was never tried so."""
    attempts = tuning.attempts.filter(state=BatchState.DONE, digest=digest_of(draft))
    return attempts.order_by("-number").first()


@transaction.atomic
def publish_tried(
    tuning: Tuning, draft: JudgeTemplate, *, by: User | None, reason: str = ""
) -> Publication:
    """Publish the draft, and keep both halves' figures with it.

    Args:
        reason: Why it is published though it was not tried as it is now; "": it was.

    Raises:
        RehearsalRefused: It was not tried so, and no reason is given.
        Refused, ValidationError: It cannot be published.
    """
    draft = JudgeTemplate.objects.select_for_update().get(pk=draft.pk)
    attempt = tried_as(tuning, draft)
    if attempt is None and not reason.strip():
        raise TuningRefused(
            f"{draft} was never tried as it is now: try it on both halves, or say why it is "
            "published untried."
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
