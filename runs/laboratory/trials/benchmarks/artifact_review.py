"""A person's review of artifacts: edit, approve, exclude, and what developers were shown."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from evalhub.models import ItemState, User
from evalhub.refusals import Refused
from runs.laboratory.trials.generation.graph import kinds_from
from runs.laboratory.trials.generation.writing import check_of
from runs.laboratory.trials.models import Artifact, Claim, ClaimJudgment, Review


def edit(artifact: Artifact, text: str, *, by: User | None) -> int:
    """Replace the text and parse it anew. Return the number of texts that were made from the old.

    Those are deleted, so that the next generation run makes them from the new one.

    Raises:
        Refused: A claim about it, or about a text made from it, has been judged.
    """
    kind = kinds_from(artifact.benchmark.kinds)[artifact.kind]
    check = check_of(text, kind)
    with transaction.atomic():
        outdated = descendants([artifact.pk])
        if _is_judged([artifact.pk, *outdated]):
            raise Refused(
                ["A judge has judged a claim about this text or one made from it: exclude it."]
            )
        Artifact.objects.filter(pk__in=outdated).delete()
        Claim.objects.filter(_about([artifact.pk])).delete()
        artifact.original = artifact.original or artifact.text
        artifact.text = text
        artifact.validity, artifact.validity_reason = check.outcome.value, check.reason
        _mark(artifact, Review.EDITED, "", by)
    return len(outdated)


def review(artifact: Artifact, state: Review, *, reason: str = "", by: User | None) -> None:
    """Approve, exclude with a reason, or take both back.

    Raises:
        Refused: The reason is missing, or a corrupted text is approved.
    """
    if state is Review.EXCLUDED and not reason.strip():
        raise Refused(["Give a reason: it is listed with the excluded texts."])
    if state is Review.APPROVED and artifact.validity == "corrupted":
        raise Refused([f"It is corrupted ({artifact.validity_reason}) Edit it first."])
    _mark(artifact, state, reason.strip() if state is Review.EXCLUDED else "", by)


def _mark(artifact: Artifact, state: Review, reason: str, by: User | None) -> None:
    artifact.review, artifact.review_reason = state, reason
    artifact.reviewed_by, artifact.reviewed_at = by, timezone.now()
    artifact.save()


def expose(artifacts: Iterable[int]) -> int:
    """Mark texts as shown to developers of models; return how many were not marked before."""
    rows = Artifact.objects.filter(pk__in=list(artifacts), exposed_at=None)
    return int(rows.update(exposed_at=timezone.now()))


def descendants(artifacts: Sequence[int]) -> list[int]:
    """Return the texts that were made from these, directly or not."""
    found: list[int] = []
    level = list(artifacts)
    while level:
        level = list(Artifact.objects.filter(parent__in=level).values_list("pk", flat=True))
        found += level
    return found


def _about(artifacts: Sequence[int]) -> Q:
    """Return the condition for claims about any of these artifacts."""
    return Q(left__in=artifacts) | Q(right__in=artifacts) | Q(anchor__in=artifacts)


def _is_judged(artifacts: Sequence[int]) -> bool:
    claims = Claim.objects.filter(_about(artifacts))
    return ClaimJudgment.objects.filter(claim__in=claims, state=ItemState.DONE).exists()
