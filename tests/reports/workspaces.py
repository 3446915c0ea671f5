"""A small ledger for report pages: two models, some releases of each, on one suite."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from issues.models import Issue, Test
from reports.registry import PAGES
from runs.models import Run, Suite
from tests.factories import make_issue, make_jury, make_model, make_run, make_test
from tests.reports.judged_runs import answer, finish, judge

ISSUES = ("Invents sources", "Miscounts letters", "Ignores the format asked for")
GOOD, BAD = ("steady", (1, 1, 1, 0, 1, 1)), ("shaky", (1, 0, 0, 0, 1, 1))
"""What each model's tests come to in its first release; each later one flips one more test."""


@dataclass(frozen=True)
class Workspace:
    """`runs` are in the order in which they were made: release by release, model by model."""

    suite: Suite
    issues: tuple[Issue, ...]
    tests: tuple[Test, ...]
    runs: tuple[Run, ...]


def make_workspace(releases: int = 2) -> Workspace:
    """Runs that are done, judged by two judges, one release a day, the last one today."""
    issues = tuple(
        make_issue(title=title, tags=("facts", f"kind {n}")) for n, title in enumerate(ISSUES)
    )
    tests = tuple(make_test(f"Question {n}?", issue=issues[n // 2]) for n in range(6))
    suite = Suite.objects.create(name=f"suite of {releases}")
    suite.tests.set(tests)
    jury = make_jury(make_model(), make_model())
    models = [(make_model(name=f"{name} {releases}"), outcomes) for name, outcomes in (GOOD, BAD)]
    runs = tuple(
        _run(suite, tests, jury, model, outcomes, release, releases)
        for release in range(releases)
        for model, outcomes in models
    )
    return Workspace(suite, issues, tests, runs)


def _run(
    suite: Suite, tests: Any, jury: Any, model: Any, outcomes: Any, release: int, releases: int
) -> Run:
    run = make_run(
        *tests,
        model=model,
        jury=jury,
        suite=suite,
        label=f"{model.name}, release {release}",
        release=f"1.{release}",
        variant_key=model.name,
    )
    answer(run, text=f"Answer of {model.name}.", latency_ms=900, output_tokens=20, cost_usd="0.001")
    flipped = [1 - one if n < release else one for n, one in enumerate(outcomes)]
    judge(run, [[one, one] for one in flipped])
    finish(run)
    Run.objects.filter(pk=run.pk).update(
        created_at=timezone.now() - timedelta(days=releases - 1 - release)
    )
    run.refresh_from_db()
    return run


STATES: dict[str, Callable[[Workspace], dict[str, Any]]] = {
    "issue": lambda ledger: {"issue": ledger.issues[0].pk}
}
"""What a page is asked in tests, by its key; one that is not here is asked as it stands."""


VIEWS = [
    *((page.key, {}) for page in PAGES),
    *(("judge_reliability", {"tab": tab}) for tab in ("trust", "judges")),
]
"""Every page by its key, and its tabs."""


def state_for(key: str, ledger: Workspace | None) -> dict[str, Any]:
    """The query of a page about this ledger; without one, a page is asked as it stands."""
    return STATES[key](ledger) if ledger and key in STATES else {}
