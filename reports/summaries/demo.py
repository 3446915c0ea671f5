"""The demo's summary: of its two runs, by the embedded model, which reads little."""

from collections.abc import Sequence

from evalhub.llm import local_model
from evalhub.models import User
from reports.models import ExecutiveSummary
from reports.summaries.requests import ask_summary
from runs.models import Run

CONTEXT_TOKENS = 1_100
"""Of more the embedded model loses the thread: so long a request it answers in the form asked."""


def ask_once(runs: Sequence[Run], user: User) -> None:
    """Ask for a summary of these runs, unless they have one. It is done when the runs are over."""
    if ExecutiveSummary.objects.filter(runs__in=runs).exists():
        return
    analyst = runs[0].language_model
    is_embedded = analyst.litellm_model == local_model.LITELLM_MODEL
    tokens = CONTEXT_TOKENS if is_embedded else None
    ask_summary(runs, analyst=analyst, by=user, context_tokens=tokens)
