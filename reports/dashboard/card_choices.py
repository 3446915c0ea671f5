"""Which cards a person sees first, and in which order."""

from collections.abc import Iterable
from typing import NamedTuple

from evalhub.models import User

PREFERENCE = "home"


class Kind(NamedTuple):
    """A card that may be chosen. A wide one takes the whole width."""

    key: str
    title: str
    summary: str
    is_wide: bool = False


KINDS = (
    Kind("ledger", "The ledger in numbers", "Feedback, issues, tests and workers.", True),
    Kind(
        "models",
        "Latest run of each model",
        "Against the baseline of its suite, with how sure a change is.",
        True,
    ),
    Kind("worse", "Issues that got worse", "In the latest runs, with how sure that is.", True),
    Kind("waiting", "What waits for somebody", "Triage, reviews, and what no judge decided."),
    Kind("proposals", "Resolved, or open again?", "What the runs of issues propose."),
    Kind("underperforming", "Underperforming issues", "Surely below the newest run's rate."),
    Kind("everywhere", "Issues that fail for every model", "Passed in no model's latest run."),
    Kind("judges", "Unreliable judges", "With the concerns about each."),
    Kind("worst", "Worst issues of the newest run", "The highest failure rates, sure or not."),
    Kind("latest", "Newest runs", "Of all models, also those at work.", True),
)
DEFAULT = tuple(kind.key for kind in KINDS if kind.key != "worst")
"""Until some are chosen: what underperforms tells more than what merely fails most."""


def cards_of(user: User) -> list[Kind]:
    """The cards that this person sees, in order: `DEFAULT` until some are chosen."""
    found = user.preferences.get(PREFERENCE)
    return _known(found if isinstance(found, list) else DEFAULT)


def choices_of(user: User) -> list[tuple[Kind, bool]]:
    """All cards with whether the person sees them: those first, in their order."""
    seen = cards_of(user)
    return [(kind, True) for kind in seen] + [(kind, False) for kind in KINDS if kind not in seen]


def choose(user: User, keys: Iterable[str]) -> None:
    """Keep which cards the person sees, in this order; what is no card is left out."""
    user.preferences = {
        **user.preferences,
        PREFERENCE: [kind.key for kind in _known(keys)],
    }
    user.save(update_fields=["preferences"])


def reset(user: User) -> None:
    """Let the person see all cards again."""
    user.preferences = {k: v for k, v in user.preferences.items() if k != PREFERENCE}
    user.save(update_fields=["preferences"])


def _known(keys: Iterable[object]) -> list[Kind]:
    kinds = {kind.key: kind for kind in KINDS}
    return [kinds[key] for key in dict.fromkeys(map(str, keys)) if key in kinds]
