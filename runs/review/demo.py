"""The demo's review queue, filled once the blueprint's run is judged."""

from collections.abc import Sequence

from evalhub.models import User
from runs.models import Run
from runs.review.models import Queue

NAME = "Needs review"
SEED = 1


def make_once(runs: Sequence[Run], user: User) -> None:
    """Create a queue that follows the suite of the demo's runs, unless it exists."""
    suite = next((run.suite for run in runs if run.suite is not None), None)
    if suite is not None:
        defaults = {"follows": suite, "seed": SEED, "created_by": user}
        Queue.objects.get_or_create(name=NAME, defaults=defaults)
