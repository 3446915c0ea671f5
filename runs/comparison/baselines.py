"""The run that another run is compared with, and the baselines of suites."""

from collections.abc import Collection

from django.core.exceptions import ValidationError
from django.db.models import (
    Exists,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
)
from django.db.models.functions import Coalesce

from evalhub.models import BatchState, LanguageModel
from runs.comparison.comparability import comparability_of_pairs
from runs.comparison.completeness import LEAST_IN_WORDS, scored_words
from runs.figures.states import state_of
from runs.figures.tallies import group_of, tallies_of_runs
from runs.models import Result, Run, Suite

LAST_RUNS = 50
"""Runs among which the last comparable pair is looked for."""


class NoBaseline(ValidationError):
    """Why a run cannot be the baseline of its suite."""


def opponent_of(run: Run) -> Run | None:
    """Return the run to compare this one with unless the reader chooses another.

    The baseline of its suite, if it is another conclusive run that shares a test with it; else the
    newest earlier conclusive run of the same model, system prompt and parameters in the suite that
    is no other attempt at its release. None rather than the run of another model.
    `skipped_baselines` says why a baseline is passed over.
    """
    opponent = Run.objects.filter(pk=run.pk).values_list(_opponent(), flat=True).first()
    return Run.objects.select_related("suite").get(pk=opponent) if opponent else None


def latest_pair(
    suite: Suite | None = None,
    *,
    model: LanguageModel | None = None,
    is_comparable: bool = False,
) -> tuple[Run, Run] | None:
    """Return the newest conclusive run that has an opponent, after that opponent.

    Args:
        suite: Only runs of this suite; None: all runs.
        model: The newer run is of this model; None: of any.
        is_comparable: The newest of the last runs whose scores may be compared with its opponent's.
    """
    runs = Run.objects.conclusive() if suite is None else suite.runs.conclusive()
    if model is not None:
        runs = runs.filter(language_model=model)
    with_opponent = runs.annotate(opponent=_opponent()).filter(opponent__isnull=False)
    newest = with_opponent.order_by("-created_at", "-pk").values_list("opponent", "pk")
    pairs = list(newest[: LAST_RUNS if is_comparable else 1])
    if is_comparable:
        found = comparability_of_pairs(pairs)
        pairs = [pair for pair in pairs if found[pair]]
    if not pairs:
        return None
    rows = Run.objects.select_related("suite").in_bulk(pairs[0])
    return rows[pairs[0][0]], rows[pairs[0][1]]


def baselines_of(suites: Collection[int]) -> dict[int, int]:
    """Return the baseline of each of these suites that has one; one query."""
    rows = Suite.objects.filter(pk__in=suites, baseline__isnull=False).order_by()
    return dict(rows.values_list("pk", "baseline"))


def skipped_baselines(runs: Collection[int]) -> dict[int, str]:
    """Return why the baselines of these runs' suites are passed over, by run; most have no entry.

    Two queries, and three more for each baseline that is passed over.
    """
    rows = Run.objects.filter(pk__in=runs, suite__baseline__isnull=False).order_by()
    of = dict(rows.exclude(suite__baseline=F("pk")).values_list("pk", "suite__baseline"))
    usable = Run.objects.conclusive().values("pk")
    skipped = Run.objects.filter(pk__in=set(of.values())).exclude(pk__in=usable)
    reasons = {baseline.pk: unfit(baseline) for baseline in skipped}
    return {
        run: f"The suite's baseline is not used. {reasons[baseline]}"
        for run, baseline in of.items()
        if baseline in reasons
    }


def newest_baseline(model: LanguageModel | None = None) -> Run | None:
    """Return the newest conclusive run that is the baseline of its suite; None: of any model.

    Of run, suite and model only names are read, and which run is the suite's baseline.
    """
    runs = Run.objects.conclusive().filter(suite__baseline=F("pk"))
    if model is not None:
        runs = runs.filter(language_model=model)
    named = runs.select_related("suite", "language_model").only(
        "label", "suite__baseline", "language_model__name"
    )
    return named.order_by("-created_at", "-pk").first()


def baseline_of(run: Run) -> Run | None:
    """Return the baseline of the run's suite, if it has one."""
    return run.suite.baseline if run.suite else None


def is_baseline(run: Run) -> bool:
    """Return whether the run is the baseline of its suite."""
    return run.suite is not None and run.suite.baseline_id == run.pk


def _opponent() -> Coalesce:
    run = OuterRef(OuterRef("pk"))
    shares_test = Exists(Result.objects.filter(run=OuterRef("pk"), test__results__run=run))
    baseline = _others().filter(shares_test, pk=OuterRef("suite__baseline")).order_by()
    return Coalesce(Subquery(baseline.values("pk")[:1]), _previous())


def _previous() -> Subquery:
    is_earlier = Q(created_at__lt=OuterRef("created_at")) | Q(
        created_at=OuterRef("created_at"), pk__lt=OuterRef("pk")
    )
    same = _others().filter(suite=OuterRef("suite"), variant_key=OuterRef("variant_key"))
    same = same.exclude(~Q(release=""), release=OuterRef("release"))
    return Subquery(same.filter(is_earlier).order_by("-created_at", "-pk").values("pk")[:1])


def _others() -> QuerySet[Run]:
    return Run.objects.conclusive().exclude(pk=OuterRef("pk"))


# Pinning -----------------------------------------------------------------------------------------


def pin(run: Run) -> Suite:
    """Make the run the baseline of its suite, and return the suite.

    Raises:
        NoBaseline: The run belongs to no suite, is not done, or too little of it is scored.
    """
    suite = _suite(run)
    check(suite, run)
    suite.baseline = run
    suite.save(update_fields=["baseline"])
    return suite


def unpin(run: Run) -> Suite:
    """Remove the run as the baseline of its suite, and return the suite.

    Raises:
        NoBaseline: The run belongs to no suite, or is not its baseline.
    """
    suite = _suite(run)
    if not is_baseline(run):
        raise NoBaseline(f"{run.label} is not the baseline of {suite}: nothing was changed.")
    suite.baseline = None
    suite.save(update_fields=["baseline"])
    return suite


def check(suite: Suite, run: Run) -> None:
    """Check that the run may be the suite's baseline.

    Raises:
        NoBaseline: It belongs to another suite, is not done, or too little of it is scored.
    """
    if run.suite_id != suite.pk:
        raise NoBaseline(f"{run.label} is not a run of {suite}: choose one that is.")
    if reason := unfit(run):
        raise NoBaseline(reason)


def unfit(run: Run) -> str:
    """Return why a run cannot be a baseline, whatever its suite; "" if it can."""
    state = state_of(run, list(run.judge_runs.all()))
    if state != BatchState.DONE:
        return f"{run.label} is {state.label.lower()}: a baseline must be done."
    counts = group_of(tallies_of_runs([run], of_judges=True))
    if counts.is_enough:
        return ""
    return (
        f"{run.label} is incomplete, {scored_words(counts.scored, counts.total)}: a baseline needs "
        f"{LEAST_IN_WORDS}. Retry what failed, or choose another run."
    )


def _suite(run: Run) -> Suite:
    if run.suite is None:
        raise NoBaseline(f"{run.label} belongs to no suite: only runs of a suite can be baselines.")
    return run.suite
