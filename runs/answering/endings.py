"""What becomes of answers that broke off; chosen at launch, and frozen on the run."""

from django.db.models import TextChoices

from evalhub.llm.completion import Ending


class Handling(TextChoices):
    """What becomes of an answer that broke off."""

    JUDGED = "judged", "Judge as they are"
    FAILED = "failed", "Count as failed"
    ERROR = "error", "Count as errors"


ENDINGS = [(one.value, one.words.capitalize()) for one in Ending if one]
"""Ways to break off as choices, with their labels."""


def handling_of(ending: str, cut_off: str, broken_off: str) -> str:
    """Return how a run with these choices handles an answer with this ending."""
    if not ending:
        return Handling.JUDGED
    return cut_off if ending in (Ending.LENGTH, Ending.PROMPT_CUT) else broken_off
