"""Runs whose answers can be compared, and judges that prefer one of them."""

import json
import re
from collections.abc import Callable

from runs.models import Run
from tests.factories import make_run, make_test, shared_jury
from tests.provider import prompt
from tests.reports.judged_runs import answer, finish


def answered_runs(*texts: str, tests: int = 3, **fields) -> list[Run]:
    """A run for each text, which is its answer to all of so many tests."""
    asked = fields.pop("asked", None) or [make_test(f"Question {n}?") for n in range(tests)]
    runs = []
    for text in texts:
        run = make_run(*asked, jury=shared_jury(), **fields)
        answer(run, text)
        finish(run)
        run.refresh_from_db()
        runs.append(run)
    return runs


def says(choice: str, why: str = "It is clearer.") -> str:
    return json.dumps({"justification": why, "score": choice})


def answers_in(request) -> tuple[str, str]:
    """The texts that a judge sees as A and B."""
    found = re.findall(r"Answer [AB]:\n\[BEGIN OUTPUT \w+\]\n(.*?)\n\[END", prompt(request), re.S)
    return found[0], found[1]


def prefers(*ranked: str) -> Callable[..., str]:
    """A judge that likes earlier texts better, whatever their order; others are equal."""

    def judge(request):
        first, second = (ranked.index(t) if t in ranked else 99 for t in answers_in(request))
        return says("A" if first < second else "B" if second < first else "tie")

    return judge
