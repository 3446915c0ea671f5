"""The run that another run is compared with, and the baselines of suites."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from django.core.exceptions import ValidationError
from django.db.models import Q

from evalhub.models import BatchState, LanguageModel
from runs.comparison.comparability import comparability_of_pairs
from runs.comparison.completeness import LEAST_IN_WORDS, scored_words
from runs.comparison.opponent_rule import ReleasedRun, counterparts, opponents
from runs.comparison.release_order import newest_first
from runs.figures.states import state_of
from runs.figures.tallies import group_of, tallies_of_runs
from runs.models import Release, Result, Run, Suite

LAST_RUNS = 50
"""Runs among which the last comparable pair is looked for."""


class NoBaseline(ValidationError):
    """Why a run cannot be the baseline of its suite."""


def opponent_of(run: Run) -> Run | None:
    """Return the run to compare this one with unless the reader chooses another.

    The baseline of its model in the suite, if it is another conclusive run that shares a test with
    it; else the newest conclusive run of what it came from (`opponent_rule.opponents`): in the
    release before, or earlier where it has no release. `skipped_baselines` says why a baseline is
    passed over.
    """
    if run.suite_id is None:
        return None
    conclusive = Run.objects.conclusive().filter(suite=run.suite_id).values("pk")
    newest = newest_first(Run.objects.filter(Q(pk=run.pk) | Q(pk__in=conclusive)))
    found = _opponents([one for one in newest if one.run == run.pk], newest)
    return Run.objects.select_related("suite").get(pk=found[run.pk]) if found else None


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
    newest = newest_first(runs.filter(suite__isnull=False))
    wanted = [one for one in newest if model is None or one.model == model.pk]
    found = _opponents(wanted, newest, most=LAST_RUNS if is_comparable else 1)
    pairs = [(opponent, run) for run, opponent in found.items()]
    if is_comparable:
        comparable = comparability_of_pairs(pairs)
        pairs = [pair for pair in pairs if comparable[pair]]
    if not pairs:
        return None
    rows = Run.objects.select_related("suite").in_bulk(pairs[0])
    return rows[pairs[0][0]], rows[pairs[0][1]]


def baselines_of(suites: Collection[int]) -> dict[int, list[int]]:
    """Return the baselines of each of these suites that has any, newest first; one query."""
    found: dict[int, list[int]] = defaultdict(list)
    rows = Suite.baselines.through.objects.filter(suite__in=suites).order_by("-run")
    for suite, run in rows.values_list("suite", "run"):
        found[suite].append(run)
    return dict(found)


def baseline_releases(suites: Collection[int]) -> dict[int, str]:
    """Return the name of the baseline release of each of these suites that has one; one query."""
    rows = Suite.objects.filter(pk__in=suites, baseline_release__isnull=False).order_by()
    return dict(rows.values_list("pk", "baseline_release__name"))


def skipped_baselines(runs: Collection[int]) -> dict[int, str]:
    """Return why the baselines of these runs' models are passed over, by run; most have no entry.

    Five queries at most, and three more for each baseline that is passed over.
    """
    rows = newest_first(Run.objects.filter(pk__in=runs, suite__baselines__isnull=False).distinct())
    baselines = baselines_of({one.suite for one in rows if one.suite})
    every = {run for some in baselines.values() for run in some}
    known = {one.run: one for one in newest_first(Run.objects.filter(pk__in=every))}
    own = {
        one.run: mine[0].run
        for one in rows
        if (mine := counterparts(one, [], [known[run] for run in baselines[one.suite or 0]]))
    }
    usable = Run.objects.conclusive().values("pk")
    skipped = Run.objects.filter(pk__in=own.values()).exclude(pk__in=usable)
    reasons = {baseline.pk: unfit(baseline) for baseline in skipped}
    return {
        run: f"The model's baseline is not used. {reasons[baseline]}"
        for run, baseline in own.items()
        if baseline in reasons and baseline != run
    }


def newest_baseline(model: LanguageModel | None = None) -> Run | None:
    """Return the newest conclusive run that is a baseline of its suite; None: of any model.

    Of run, suite and model only names are read.
    """
    baselines = Suite.baselines.through.objects.values("run")
    runs = Run.objects.conclusive().filter(pk__in=baselines)
    if model is not None:
        runs = runs.filter(language_model=model)
    named = runs.select_related("suite", "language_model").only(
        "label", "suite__name", "language_model__name"
    )
    return named.order_by("-created_at", "-pk").first()


def newest_baseline_of(suite: Suite | None) -> Run | None:
    """Return the newest baseline of the suite, of whichever model."""
    return suite.baselines.order_by("-pk").first() if suite else None


def is_baseline(run: Run) -> bool:
    """Return whether the run is a baseline of its suite."""
    return run.pk in baselines_of([run.suite_id]).get(run.suite_id, ()) if run.suite_id else False


def _opponents(
    wanted: Sequence[ReleasedRun], newest: Sequence[ReleasedRun], *, most: int = 1
) -> dict[int, int]:
    """Return the opponents of the first of these runs that have one, by run.

    Args:
        newest: All runs of their suites, newest first.
        most: Number of runs that is enough.
    """
    order = Release.objects.in_order()
    of_suite: dict[int, list[ReleasedRun]] = defaultdict(list)
    for one in newest:
        of_suite[one.suite or 0].append(one)
    baselines = baselines_of([suite for suite in of_suite if suite])
    found: dict[int, int] = {}
    for mine in wanted:
        others = [one for one in of_suite[mine.suite or 0] if one.run != mine.run]
        known = [one for one in others if one.run in baselines.get(mine.suite or 0, ())]
        baseline = next(iter(counterparts(mine, [], known)), None)
        if baseline and _share_a_test(baseline.run, mine.run):
            found[mine.run] = baseline.run
        elif opponent := next(opponents(mine, others, order), None):
            found[mine.run] = opponent.run
        if len(found) == most:
            break
    return found


def _share_a_test(one: int, other: int) -> bool:
    tests = Result.objects.filter(run=other).order_by().values("test")
    return Result.objects.filter(run=one, test__in=tests).exists()


# Pinning -----------------------------------------------------------------------------------------


def pin(run: Run) -> Suite:
    """Make the run the baseline of its model in its suite, and return the suite.

    Raises:
        NoBaseline: The run belongs to no suite, is not done, or too little of it is scored.
    """
    suite = _suite(run)
    others = suite.baselines.exclude(language_model=run.language_model_id)
    check(suite, [run])
    suite.baselines.set([*others, run])
    return suite


def unpin(run: Run) -> Suite:
    """Remove the run from the baselines of its suite, and return the suite.

    Raises:
        NoBaseline: The run belongs to no suite, or is not a baseline of it.
    """
    suite = _suite(run)
    if not is_baseline(run):
        raise NoBaseline(f"{run.label} is not a baseline of {suite}: nothing was changed.")
    suite.baselines.remove(run)
    return suite


def check(suite: Suite | None, runs: Iterable[Run]) -> None:
    """Check that these runs may be the suite's baselines; those that it has are not looked at.

    Raises:
        NoBaseline: One belongs to another suite, is not done, too little of it is scored, or two
            are of one model.
    """
    known = set(suite.baselines.values_list("pk", flat=True)) if suite and suite.pk else set()
    models: dict[int, Run] = {}
    for run in runs:
        other = models.setdefault(run.language_model_id, run)
        if other != run:
            raise NoBaseline(f"{other.label} and {run.label} are of one model: choose one of them.")
        if run.pk in known:
            continue
        if suite is None or run.suite_id != suite.pk:
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
