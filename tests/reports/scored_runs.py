"""Complete runs with given scores, without judging anything."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from evalhub.models import ItemState, LanguageModel
from issues.models import Tag, Test
from runs.models import Run, Suite
from tests.factories import make_run, number
from tests.reports.judged_runs import finish


def make_suite(*tests: Test, tags: tuple[str, ...] = (), **fields: Any) -> Suite:
    suite = Suite.objects.create(**({"name": f"suite {next(number)}"} | fields))
    suite.tests.set(tests)
    suite.tags.set([Tag.objects.get_or_create(name=name)[0] for name in tags])
    return suite


def as_judged(score: float | None) -> dict[str, Any]:
    """The columns of a result that judges alone scored; None: they gave no score."""
    passed = None if score is None else score > 0.5
    low, high = (0.0, 1.0) if score is None else (score, score)
    lowest, highest = bool(passed), passed is not False
    return {
        **{"is_judged": True, "lowest_score": low, "highest_score": high, "judges_ended": True},
        **{
            f"{prefix}{name}": value
            for prefix in ("", "judges_")
            for name, value in (
                *(("score", score), ("passed", passed)),
                *(("lowest_passed", lowest), ("highest_passed", highest)),
            )
        },
    }


def scored_run(
    suite: Suite | None,
    model: LanguageModel,
    *scores: float | None,
    tests: Sequence[Test],
    days_ago: float = 0,
    **fields: Any,
) -> Run:
    """A run that is done, begun so many days ago, whose results have these scores in order.

    What passes is what scores more than a half. None: the result is unjudged.
    """
    fields = {"variant_key": f"variant of {model.pk}", "suite_fingerprint": "f"} | fields
    run = make_run(*tests, model=model, suite=suite, **fields)
    for result, score in zip(run.results.order_by("pk"), scores, strict=True):
        run.results.filter(pk=result.pk).update(state=ItemState.DONE, **as_judged(score))
    finish(run)
    began: datetime = timezone.now() - timedelta(days=days_ago)
    Run.objects.filter(pk=run.pk).update(created_at=began, started_at=began)
    run.refresh_from_db()
    return run
