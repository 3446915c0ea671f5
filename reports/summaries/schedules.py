"""Scheduled executive summaries, each of the newest runs."""

from urllib.parse import parse_qs

from evalhub.admin_site.pages import row_number
from evalhub.schedules import ScheduleRefused
from reports.models import ExecutiveSummary
from reports.summaries.requests import MAX_RUNS, SummaryRefused, ask_summary
from runs.models import Run

LIKE = "like"
"""Parameter of a schedule's state: the summary it repeats."""


def state_like(summary: ExecutiveSummary) -> str:
    """Return the state of a schedule with this summary's suite, analyst and context."""
    return f"{LIKE}={summary.pk}"


def like(state: str) -> ExecutiveSummary:
    """Return the summary that a schedule with this state repeats.

    Raises:
        ScheduleRefused: It was deleted, or its runs have no suite.
    """
    pk = row_number(parse_qs(state).get(LIKE, [""])[0])
    found = ExecutiveSummary.objects.select_related("suite", "analyst").filter(pk=pk).first()
    if found is None:
        raise ScheduleRefused(f"Executive summary {pk} was deleted.")
    if found.suite is None:
        raise ScheduleRefused("Only summaries of a suite can be scheduled: these runs have none.")
    return found


def ask_anew(state: str) -> str:
    """Request a summary of the newest runs from the same analyst and report it.

    These are the newest complete one of each variant, over the tests of the suite's newest run.

    Raises:
        ScheduleRefused: See `like`; or the analyst cannot summarize these runs.
    """
    model = like(state)
    newest: dict[str, Run] = {}
    fingerprint = ""
    complete = Run.objects.complete().filter(suite=model.suite).order_by("-created_at", "-pk")
    for run in complete.select_related("suite"):
        fingerprint = fingerprint or run.suite_fingerprint
        if run.suite_fingerprint == fingerprint:
            newest.setdefault(run.variant_key, run)
    runs = list(newest.values())[:MAX_RUNS]
    try:
        made = ask_summary(
            runs, analyst=model.analyst, by=None, context_tokens=model.context_tokens
        )
    except SummaryRefused as error:
        raise ScheduleRefused(str(error)) from error
    return f"Requested summary {made.pk} of {len(runs)} runs from {model.analyst}."
