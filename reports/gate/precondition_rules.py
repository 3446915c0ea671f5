"""Conditions of every decision of the gate: done, scored, comparable. Pure."""

from dataclasses import dataclass

from evalhub.display.formatting import listed, percent
from reports.gate.rule import GateLine, Remedy, Verdict
from runs.comparison.completeness import LEAST_IN_WORDS, MIN_SCORED, is_enough

COUNTED = "count of results"


@dataclass(frozen=True)
class ScoredResults:
    """The results of a run by outcome; `run` is its id, `name` its label.

    Attributes:
        retried: Unscored results that are retried together with the errors.
        retry_page: Path of the page that retries them.
    """

    run: int
    name: str
    scored: int
    errors: int
    unscored: int
    pending: int
    retried: int = 0
    retry_page: str = ""

    @property
    def total(self) -> int:
        return self.scored + self.errors + self.unscored + self.pending


def done_rule(name: str, state: str, *, is_running: bool, n: int) -> GateLine:
    """A run that is at work, or was stopped, has no final figures.

    Args:
        state: In words, such as "judging".
        n: Results of the run.
    """
    then = "its figures will change" if is_running else "resume it, or gate another run"
    return GateLine(
        "done", Verdict.CANNOT_TELL, f"{name} is not done ({state}): {then}.", n, method=COUNTED
    )


def scored_rule(rule: str, found: ScoredResults) -> GateLine:
    """Below 95 % scored nothing is concluded: what is missing may be what fails.

    Args:
        rule: "scored" or "baseline_scored".
    """
    share = found.scored / found.total if found.total else None
    is_met = is_enough(found.scored, found.total)
    sentence = f"{found.name}: {found.scored:,} of {found.total:,} results are scored"
    sentence += f" ({percent(share)})" if share is not None else ""
    if not is_met:
        sentence += f"; the gate needs {LEAST_IN_WORDS}{_missing(found)}"
    remedy = None if is_met else _retry(found)
    return GateLine(
        rule=rule,
        verdict=Verdict.HOLDS if is_met else Verdict.CANNOT_TELL,
        sentence=f"{sentence}." + (f" {remedy.text}" if remedy else ""),
        n=found.total,
        value=share,
        limit=float(MIN_SCORED),
        unit="share",
        method=COUNTED,
        remedy=remedy,
    )


def _missing(found: ScoredResults) -> str:
    parts = {
        "ended in an error": found.errors,
        "unscored": found.unscored,
        "pending": found.pending,
    }
    missing = [f"{n:,} {words}" for words, n in parts.items() if n]
    return f": {listed(missing)}" if missing else ""


def _retry(found: ScoredResults) -> Remedy:
    failed = found.errors + found.retried
    if failed:
        return Remedy(
            f"Retry {failed:,} failed on the page of run {found.run}.",
            f"/api/v1/runs/{found.run}/retry_errors/",
            page=found.retry_page,
        )
    if found.pending:
        return Remedy("Wait for the pending results, or evaluate them.")
    return Remedy(f"Re-judge run {found.run}, or evaluate the unscored results.")


@dataclass(frozen=True)
class Matching:
    """The match of a run's tests with those of the run that it is compared with.

    Attributes:
        other: Label of that run; "" if there is none.
        reason: Why the scores are not comparable; "" if they are.
        remedy: What makes them comparable; None: nothing.
        matched: Tests that are unchanged in both runs.
        total: Tests of either run.
        note: Why single tests are not compared, as a sentence; "" if all matched ones are.
    """

    other: str
    matched: int = 0
    total: int = 0
    reason: str = ""
    remedy: Remedy | None = None
    note: str = ""


def comparable_rule(found: Matching) -> GateLine:
    """Nothing is concluded from runs that were scored differently, or have different tests."""
    share = found.matched / found.total if found.total else None
    is_met = bool(found.other) and not found.reason and is_enough(found.matched, found.total)
    if not found.other:
        sentence = (
            "There is no run to compare with: the suite has no baseline that shares a test with "
            "this run, and no earlier complete run of the same model, system prompt and "
            "parameters. Set a baseline on the page Compare, or name a run."
        )
    elif found.reason:
        sentence = f"Not comparable with {found.other}. {found.reason}"
    elif not found.matched:
        sentence = f"No unchanged test is shared with {found.other}: nothing to compare."
    else:
        sentence = (
            f"{found.matched:,} of {found.total:,} tests match those of {found.other} "
            f"({percent(share)})"
        )
        advice = f" {found.note}" if found.note else " Compare runs of the same tests."
        needed = f"; the gate needs {LEAST_IN_WORDS}.{advice}"
        sentence += f".{found.note and f' {found.note}'}" if is_met else needed
    return GateLine(
        rule="comparable",
        verdict=Verdict.HOLDS if is_met else Verdict.CANNOT_TELL,
        sentence=sentence + (f" {found.remedy.text}" if found.remedy else ""),
        n=found.total,
        value=share,
        limit=float(MIN_SCORED),
        unit="share",
        method="test revision, jury, pass rule, similarity share and versions of EvalHub",
        remedy=found.remedy,
    )
