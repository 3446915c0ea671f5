"""The demo's batch of drafts: five by its own model, which is judge and candidate there too."""

from collections.abc import Sequence
from typing import Any

from evalhub.models import User
from issues.drafting.settings import DraftedOption, DraftingSettings, Length, Task
from issues.drafting.start import Order, start
from issues.models import Generation, Issue

QUANTITY = 2
OVERRULED = "The demo has one model, which shows the steps and not good drafts."


def draft_once(runs: Sequence[Any], user: User) -> None:
    """Draft tests of the newest open issue, unless a batch exists."""
    issue = Issue.objects.active().exclude(tests__sealed=True).order_by("pk").first()
    if issue is None or Generation.objects.exists():
        return
    chosen = DraftingSettings(
        task=Task.QUESTION_ANSWERING,
        criterion="Answers the question",
        description="Does the answer reply to exactly what was asked?",
        options=[
            DraftedOption(label="Yes", description="It replies.", value=1, quantity=QUANTITY),
            DraftedOption(label="No", description="It evades.", value=0, quantity=QUANTITY),
        ],
        borderline=1,
        domain="Customer Support",
        persona="Customer Service Agent",
        length=Length.SHORT,
    )
    start(Order(chosen, runs[0].language_model, issue=issue, overruled=OVERRULED), by=user)
