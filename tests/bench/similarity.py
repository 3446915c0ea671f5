"""How long it takes to find what is alike among many issues and much feedback. Prints JSON.

The first search of a process reads everything; later ones are timed each after one more piece of
feedback has arrived, as they are while people triage.
"""

import json
import sys
import time
from pathlib import Path
from random import Random
from statistics import median

from tests.bench.evalhub_calls import prepare

ISSUES, FEEDBACK = 2000, 10_000
SEARCHES = 15
LIMIT_MS = 150.0
TEXTS = Path(__file__).parents[1] / "issues" / "paraphrases.json"


def sentences() -> list[str]:
    kinds = json.loads(TEXTS.read_text())
    told = [[one["description"], one["paraphrase"], one["anecdote"]] for one in kinds]
    others = [description for one in kinds for _, description in one["distractors"]]
    return [*(text for texts in told for text in texts), *others]


def plant(random: Random, said: list[str]) -> None:
    """Issues and feedback of five sentences each, no two alike."""
    from issues.models import Feedback, Issue

    def text(n: int) -> str:
        return " ".join([*random.sample(said, 5), f"Case {n}."])

    Issue.objects.bulk_create(
        Issue(title=random.choice(said)[:80], description=text(n)) for n in range(ISSUES)
    )
    Feedback.objects.bulk_create(
        Feedback(comment=text(n), prompt=text(n), answer=text(n) * 3) for n in range(FEEDBACK)
    )


def measure() -> dict[str, float]:
    """CPU milliseconds of the first search, and the median and the slowest of later ones."""
    from issues.models import Feedback
    from issues.similarity.search import similar
    from tests import factories

    random, said = Random(1), sentences()
    plant(random, said)
    reader, times = factories.make_user("superuser"), []
    for n in range(SEARCHES + 1):
        Feedback.objects.create(comment=f"{random.choice(said)} {n}")
        started = time.process_time()
        found = similar(" ".join(random.sample(said, 2)), reader=reader)
        times.append(1000 * (time.process_time() - started))
        assert len(found) == 10
    first, *later = times
    return {"first_ms": first, "median_ms": median(later), "slowest_ms": max(later)}


if __name__ == "__main__":
    prepare(sys.argv[1], port=1)
    sys.stdout.write(json.dumps(measure()))
