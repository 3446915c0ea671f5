"""The demo's review queue: results of its sample data, and of the blueprint's run once judged."""

from collections.abc import Sequence

from evalhub.models import User
from runs.demo.writer import newest_runs
from runs.models import Run
from runs.review.models import Queue
from runs.review.queue_items import add_runs

NAME = "Needs review"
SEED = 1


def make_once(runs: Sequence[Run], user: User) -> None:
    """Create a queue that follows the suite run by the demo's model, unless it exists."""
    models = [run.language_model_id for run in runs]
    own = Run.objects.filter(language_model__in=models, suite__isnull=False).first()
    if own is None:
        return
    defaults = {"follows": own.suite, "seed": SEED, "created_by": user}
    queue, is_new = Queue.objects.get_or_create(name=NAME, defaults=defaults)
    if is_new:
        add_runs(queue, *newest_runs()[-1:])
