"""Starting a batch of drafts: who may, what it takes, and the rows that it begins with."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings as site
from django.db import transaction
from django.db.models import Sum
from django.utils import timezone

from evalhub.access.sealing.sending_consent import Role, SealedExposure, sealed_exposure
from evalhub.llm.costs.token_estimates import tokens_in_messages
from evalhub.models import BatchState, Call, LanguageModel, User
from evalhub.refusals import Refused
from evalhub.work.processes.queue import request_worker
from issues.drafting.conflicts import conflicts_of, is_same_model
from issues.drafting.destinations import Destination
from issues.drafting.documents import Passage
from issues.drafting.prompts import Material, Target, answer_request, input_request
from issues.drafting.settings import DraftingSettings
from issues.limits import DRAFT_TRIES, FIRST_BATCH, LATER_BATCH
from issues.models import Decision, Draft, Generation, Issue, Test

LABEL_TOKENS = 400
"""Of a judge's instructions and its reply, about."""


@dataclass
class Order:
    """Order of a batch; `overruled` is the reason for a generator that is not independent.

    `destination` None: accepted drafts become tests of the issue.
    """

    settings: DraftingSettings
    generator: LanguageModel
    judge: LanguageModel | None = None
    issue: Issue | None = None
    test: Test | None = None
    examples: Sequence[Test] = ()
    passages: Sequence[Passage] = ()
    follows: Generation | None = None
    destination: Destination | None = None
    overruled: str = ""
    cost_limit_usd: Decimal | None = None
    roles: list[Role] = field(init=False)

    def __post_init__(self) -> None:
        self.roles = [("generator", self.generator.endpoint())]
        if self.judge is not None:
            self.roles.append(("judge", self.judge.judge_endpoint()))

    @property
    def sources(self) -> list[Test]:
        """Return the tests whose text the calls carry, those of an earlier batch too."""
        earlier = self.follows.sources.all() if self.follows else ()
        own = [*self.examples, *([self.test] if self.test else []), *earlier]
        return list({test.pk: test for test in own}.values())

    def exposure(self) -> SealedExposure | None:
        """Return which sealed tests would leave the trusted network, if any."""
        sealed = sorted(test.pk for test in self.sources if test.sealed)
        return sealed_exposure(sealed, len(self.sources), self.roles)


class Estimate(NamedTuple):
    """Calls of a batch, at least and at most; `cost_usd` at least, None without prices."""

    calls: tuple[int, int]
    cost_usd: float | None


def estimate(order: Order) -> Estimate:
    chosen = order.settings
    answers = chosen.total + chosen.pairs
    written, labels = 1 + bool(chosen.borderline) + answers, answers if order.judge else 0
    passage = order.passages[0].text if order.passages else ""
    inputs = [(name, "") for name in chosen.inputs]
    request = answer_request(chosen, inputs, Target("", ""), Material((), passage))
    asked = input_request(chosen, Material((), passage))
    prompt = tokens_in_messages(request.messages[:1]) + asked.form.max_tokens // 2
    costs = [
        order.generator.endpoint().cost_usd(prompt * written, request.form.max_tokens * written),
        order.judge.endpoint().cost_usd((prompt + LABEL_TOKENS) * labels, LABEL_TOKENS * labels)
        if order.judge
        else Decimal(0),
    ]
    known = [float(cost) for cost in costs if cost is not None]
    least, most = written + labels, DRAFT_TRIES * written + 2 * labels
    return Estimate((least, most), sum(known) if len(known) == len(costs) else None)


def left_today(user: User) -> Decimal:
    """Return the US dollars that this user may still spend today on drafts and edits."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    mine = Generation.objects.filter(requested_by=user, created_at__gte=midnight)
    ended = mine.exclude(state=BatchState.LIVE).aggregate(n=Sum("spent_usd"))["n"] or 0
    live = mine.filter(state=BatchState.LIVE).aggregate(n=Sum("cost_limit_usd"))["n"] or 0
    edits = Call.objects.filter(batch=edit_key(user), started_at__gte=midnight)
    edited = edits.aggregate(n=Sum("cost_usd"))["n"] or 0
    return max(Decimal(0), Decimal(str(site.EVALHUB_DRAFT_LIMIT_USD)) - ended - live - edited)


def edit_key(user: User) -> str:
    """Return under which name the calls of a user's edits are recorded."""
    return f"edit {user.pk}"


def problems_of(order: Order) -> list[str]:
    """Return what prevents a batch; empty if nothing does."""
    problems = []
    if order.judge is not None and is_same_model(order.generator, order.judge):
        problems.append(f"{order.judge} cannot label its own drafts: choose another judge.")
    for model in (order.generator, order.judge):
        if model is not None and not model.is_active:
            problems.append(f"{model} is inactive: activate it first.")
        if model is not None and model.is_application:
            problems.append(f"{model} is an HTTP application: choose a language model.")
    conflicts = conflicts_of(order.generator, order.issue)
    if order.destination is not None:
        conflicts += order.destination.conflicts(order.generator)
    if conflicts and not order.overruled.strip():
        problems += [
            *conflicts,
            "Choose another generator, or enter a reason for it under “Models”.",
        ]
    most = LATER_BATCH if order.follows else FIRST_BATCH
    if order.settings.total > most:
        problems.append(
            f"{order.settings.total} drafts are too many for "
            + (
                f"a batch: the maximum is {most}."
                if order.follows
                else f"a first batch: ask for at most {most}, look at them, then choose “More like "
                "these”."
            )
        )
    if order.follows and not accepted_of(order.follows):
        problems.append("Accept a draft of the batch first: more are made like the accepted ones.")
    return problems


def accepted_of(generation: Generation) -> list[Draft]:
    """Return the accepted drafts of a batch and those before it, newest first."""
    found: list[Draft] = []
    batch: Generation | None = generation
    while batch is not None:
        found += batch.drafts.filter(decision=Decision.ACCEPTED).order_by("-pk")
        batch = batch.follows
    return found


def start(order: Order, *, by: User | None) -> Generation:
    """Begin a batch; workers do it.

    Raises:
        Refused: See `problems_of`, or the user has spent today's limit.
    """
    if problems := problems_of(order):
        raise Refused(problems, field="")
    limit = order.cost_limit_usd
    has_prices = any(model.has_prices for model in (order.generator, order.judge) if model)
    if by is not None and has_prices:
        left = left_today(by)
        if not left:
            raise Refused(
                [
                    "You have spent today’s limit for drafts and edits, "
                    f"{site.EVALHUB_DRAFT_LIMIT_USD} USD (EVALHUB_DRAFT_LIMIT_USD)."
                ]
            )
        limit = left if limit is None else min(limit, left)
    return _begun(order, by, limit)


@transaction.atomic
def _begun(order: Order, by: User | None, limit: Decimal | None) -> Generation:
    passages = [passage._asdict() for passage in order.passages]
    generation = Generation.objects.create(
        issue=order.issue,
        test=order.test,
        follows=order.follows,
        generator=order.generator,
        judge=order.judge,
        endpoint=order.roles[0][1].to_json(),
        judge_endpoint=order.roles[1][1].to_json() if order.judge else None,
        settings=order.settings.model_dump(mode="json"),
        passages=passages,
        passage=_next_passage(passages, order.follows),
        overruled=order.overruled.strip(),
        requested_by=by,
        cost_limit_usd=limit,
    )
    generation.sources.set(order.sources)
    if order.destination is not None:
        order.destination.started(generation)
    Draft.objects.bulk_create(_drafts(generation, order.settings))
    request_worker()
    return generation


def _next_passage(passages: list[dict[str, Any]], follows: Generation | None) -> Any:
    """Return a passage that no earlier batch of the line rests on, else the first; None without."""
    used = []
    while follows is not None:
        used.append(follows.passage)
        follows = follows.follows
    return next((one for one in passages if one not in used), passages[0] if passages else None)


def _drafts(generation: Generation, chosen: DraftingSettings) -> list[Draft]:
    """Return a pending row for each draft; the winner of pairs is first and second in turn."""
    rows = [
        Draft(generation=generation, option=option.label)
        for option in chosen.options
        for _ in range(option.quantity)
    ]
    rows += [Draft(generation=generation, is_borderline=True) for _ in range(chosen.borderline)]
    winners = ("first", "second")
    rows += [Draft(generation=generation, winner=winners[n % 2]) for n in range(chosen.pairs)]
    return rows
