"""Executive summaries that are asked for again and again, each time of the newest runs."""

from urllib.parse import parse_qs

from evalhub.admin_site.pages import row_number
from evalhub.schedules import ScheduleRefused
from reports.models import ExecutiveSummary
from reports.summaries.requests import MOST_RUNS, SummaryRefused, ask_summary
from runs.models import Run

LIKE = "like"
"""What the state of one that recurs says: like which summary it is."""


def state_like(summary: ExecutiveSummary) -> str:
    """The state of one that recurs: the same suite, analyst and context as this summary has."""
    return f"{LIKE}={summary.pk}"


def like(state: str) -> ExecutiveSummary:
    """The summary that one with this state is like.

    Raises:
        Refused: It is gone, or was of runs without a suite, whose newest runs are none.
    """
    pk = row_number(parse_qs(state).get(LIKE, [""])[0])
    found = ExecutiveSummary.objects.select_related("suite", "analyst").filter(pk=pk).first()
    if found is None:
        raise ScheduleRefused(f"There is no executive summary {pk} any more.")
    if found.suite is None:
        raise ScheduleRefused("Only summaries of a suite can recur: these runs were of none.")
    return found


def ask_anew(state: str) -> str:
    """Ask the same analyst of the newest runs of the suite; says so in words.

    Raises:
        Refused: See `like`; or the analyst cannot be asked of these runs.
    """
    model = like(state)
    runs = newest_runs(model)
    try:
        made = ask_summary(
            runs, analyst=model.analyst, by=None, context_tokens=model.context_tokens
        )
    except SummaryRefused as error:
        raise ScheduleRefused(str(error)) from error
    return f"Asked {model.analyst} for summary {made.pk}, of {len(runs)} runs."


def newest_runs(summary: ExecutiveSummary) -> list[Run]:
    """The newest complete run of each variant, over the tests that the suite was last run with."""
    runs = Run.objects.complete().filter(suite=summary.suite).order_by("-created_at", "-pk")
    newest: dict[str, Run] = {}
    fingerprint = ""
    for run in runs.select_related("suite"):
        fingerprint = fingerprint or run.suite_fingerprint
        if run.suite_fingerprint == fingerprint:
            newest.setdefault(run.variant_key, run)
    return list(newest.values())[:MOST_RUNS]
