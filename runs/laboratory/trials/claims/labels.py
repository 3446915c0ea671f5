"""Labelling claims: a random order for everybody, texts without any sign of their truth."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet

from evalhub.models import User
from evalhub.refusals import Refused
from issues.models import JudgeTemplate, TemplateState
from issues.rubrics.scales import Option, from_json
from runs.laboratory.trials.claims.claim_prompts import ClaimTexts
from runs.laboratory.trials.judges.trial_judges import score_of
from runs.laboratory.trials.models import Benchmark, Claim, ClaimKind, ClaimLabel
from runs.laboratory.trials.replays.replay_tests import TEMPLATE
from runs.review.sampling import lot

SAMPLE = 25
"""Claims that are a random sample: the first ones in the order for everybody."""

FIRST, SECOND = (Option("A", "", 1.0), Option("B", "", 0.0))
"""Options on a rank claim: the better of both texts as shown."""


@dataclass(frozen=True)
class Labelling:
    """A claim as an annotator sees it, with the options and what has been done."""

    claim: Claim
    texts: ClaimTexts
    order: int
    options: tuple[Option, ...]

    @property
    def is_rank(self) -> bool:
        return self.claim.kind == ClaimKind.RANK


def options_for(claim: Claim) -> tuple[Option, ...]:
    """Return what an annotator chooses from: the scale text of the judges, or A and B.

    Raises:
        Refused: No version of the judges' template is published.
    """
    return (FIRST, SECOND) if claim.kind == ClaimKind.RANK else from_json(_template().scale).options


def _template() -> JudgeTemplate:
    found = JudgeTemplate.objects.filter(family=TEMPLATE, state=TemplateState.PUBLISHED)
    template = found.order_by("-version").first()
    if template is None:
        raise Refused([f"No version of the judge template {TEMPLATE!r} is published."])
    return template


def next_claim(benchmark: Benchmark, *, by: User) -> Labelling | None:
    """Return the next claim that the annotator has not labelled; None: they labelled all.

    The order is drawn by the benchmark's seed and the same for all annotators, so that whatever
    several of them have labelled from its beginning is a random sample.
    """
    usable = Claim.objects.filter(benchmark=benchmark).usable()
    mine = set(active_labels(ClaimLabel.objects.filter(claim__benchmark=benchmark), by=by))
    left = [pk for pk in usable.values_list("pk", flat=True) if pk not in mine]
    if not left:
        return None
    chosen = min(left, key=lambda pk: lot(benchmark.seed, pk, "label"))
    rows = Claim.objects.select_related("left", "right", "anchor", "idea", "benchmark")
    return labelling_of(rows.get(pk=chosen), by=by)


def labelling_of(claim: Claim, *, by: User) -> Labelling:
    order = lot(claim.pk, by.pk, "order") % 2
    first, second = claim.left.text, claim.right.text
    is_part = claim.kind in (ClaimKind.PART, ClaimKind.CONTEXT)
    texts = ClaimTexts(
        claim.kind,
        *((second, first) if order else (first, second)),
        part=claim.idea.name if is_part else "",
        anchor=claim.anchor.text if claim.anchor else "",
    )
    return Labelling(claim, texts, order, options_for(claim))


@transaction.atomic
def label_claim(claim: Claim, option: str, *, by: User) -> ClaimLabel:
    """Record an annotator's option on a claim; it replaces their last.

    Raises:
        ValidationError: The option is not on the scale.
    """
    shown = labelling_of(claim, by=by)
    chosen = next((one for one in shown.options if one.label == option), None)
    if chosen is None:
        known = ", ".join(one.label for one in shown.options)
        raise ValidationError(f"{option!r} is not on the scale: choose one of {known}.")
    if shown.is_rank:
        holds = (chosen == FIRST) != bool(shown.order)
    else:
        holds = bool(from_json(_template().scale).passes(chosen.value))
    return ClaimLabel.objects.create(
        claim=claim, annotator=by, order=shown.order, score=score_of(chosen.value), holds=holds
    )


@transaction.atomic
def undo(benchmark: Benchmark, *, by: User) -> ClaimLabel | None:
    """Withdraw the annotator's last label on the benchmark; None: they have none."""
    rows = ClaimLabel.objects.filter(claim__benchmark=benchmark)
    mine = active_labels(rows, by=by)
    last = max(mine.values(), key=lambda label: label.pk, default=None)
    if last is None:
        return None
    return ClaimLabel.objects.create(claim_id=last.claim_id, annotator=by, order=last.order)


def active_labels(rows: QuerySet[ClaimLabel], *, by: User) -> dict[int, ClaimLabel]:
    """Return the newest label of an annotator on each claim, without withdrawn ones."""
    newest = {row.claim_id: row for row in rows.filter(annotator=by).order_by("pk")}
    return {claim: row for claim, row in newest.items() if row.holds is not None}


def verdicts_of_people(claims: Iterable[int] | QuerySet[Any]) -> dict[int, bool | None]:
    """Return what annotators say of each labelled claim: whether it holds; None: they differ."""
    newest: dict[tuple[int, int], bool | None] = {}
    rows = ClaimLabel.objects.filter(claim__in=claims).order_by("pk")
    for claim, annotator, holds in rows.values_list("claim", "annotator", "holds"):
        newest[claim, annotator] = holds
    said: dict[int, set[bool]] = defaultdict(set)
    for (claim, _), holds in newest.items():
        if holds is not None:
            said[claim].add(holds)
    return {claim: holds.pop() if len(holds) == 1 else None for claim, holds in said.items()}
