"""Publishing a draft with what is known of it: what was tried, or why it was not."""

from django.db import transaction

from evalhub.models import BatchState, User
from issues.judge_templates import publish
from issues.models import JudgeTemplate
from runs.rehearsals.content import digest_of
from runs.rehearsals.models import Attempt, Publication, Rehearsal
from runs.rehearsals.outcome import as_json, outcome
from runs.rehearsals.starting import RehearsalRefused


def tried_as(rehearsal: Rehearsal, draft: JudgeTemplate) -> Attempt | None:
    """The newest complete try of exactly what the draft is now; None: it was never tried so."""
    tries = rehearsal.attempts.filter(state=BatchState.DONE, digest=digest_of(draft))
    return tries.order_by("-number").first()


@transaction.atomic
def publish_tried(
    rehearsal: Rehearsal, draft: JudgeTemplate, *, by: User | None, reason: str = ""
) -> Publication:
    """Publish the draft, and keep both halves' figures with it.

    Args:
        reason: Why it is published though it was not tried as it is now; "": it was.

    Raises:
        RehearsalRefused: It was not tried so, and no reason is given.
        Refused, ValidationError: It cannot be published.
    """
    draft = JudgeTemplate.objects.select_for_update().get(pk=draft.pk)
    attempt = tried_as(rehearsal, draft)
    if attempt is None and not reason.strip():
        raise RehearsalRefused(
            f"{draft} was never tried as it is now: try it on both halves, or say why it is "
            "published untried."
        )
    publish(draft, by=by)
    found = outcome(rehearsal)
    tried = found.of(attempt) if attempt else None
    return Publication.objects.create(
        template=draft,
        rehearsal=rehearsal,
        attempt=attempt,
        reason="" if attempt else reason.strip(),
        figures={
            "in_use": as_json(found.in_use),
            "tried": as_json(tried) if tried else None,
        },
        by=by,
    )
