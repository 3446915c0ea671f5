"""The certainty of a ranking in words: leader, possible ranks, and a model's rivals."""

from collections.abc import Iterator, Mapping

from evalhub.display.formatting import counted
from evalhub.statistics.changes.net_change import LEVEL, MAY_FAIL_TOGETHER, MIN_ISSUES
from reports.documents.document import Column, Fact, Table
from reports.leaderboard.certainty_rule import METHOD, BoardCertainty, Certainty


def lead(names: Mapping[str, str], sure: BoardCertainty) -> str:
    """Name the leader; without one, the reason, and never that models are equal."""
    n = len(sure.models)
    if sure.leader is not None:
        others = "the other model" if n == 2 else f"each of the {n - 1} other models"
        return (
            f"{names[sure.leader]} is first: judges rate it better than {others} on the tests that "
            f"both have.{_caveat(sure, sure.leader)}"
        )
    if not sure.compared:
        return "No two models share a test, so that EvalHub cannot tell which is first."
    if sure.is_too_small:
        return (
            "Cannot tell any two models apart: two differ in at most "
            f"{sure.most_changed} tests or issues, and with "
            f"{counted(sure.compared, 'pair')} at least {sure.needed} are needed."
        )
    firsts = sum(one.ranks.best == 1 for one in sure.models.values())
    return f"Cannot tell which model is first: {firsts} of {n} may be."


def overlap(sure: BoardCertainty) -> str:
    """Say how many different tests the suites have."""
    found = sure.overlap
    repeated = f", {found.repeated:,} of them in two or more" if found.repeated else ""
    return f"{counted(found.suites, 'suite')}, {counted(found.tests, 'different test')}{repeated}."


def _caveat(sure: BoardCertainty, leader: str) -> str:
    """Warn where the leader and another model share fewer than 5 issues."""
    by_test = any(leader in (p.first, p.second) and not p.accounts_for_issues for p in sure.pairs)
    return f" {MAY_FAIL_TOGETHER}" if by_test else ""


def told_apart(sure: BoardCertainty | None) -> Iterator[Fact]:
    if sure and sure.compared:
        note = f"of {counted(sure.compared, 'pair')}, p ≤ {LEVEL:g} (Holm)"
        yield Fact("told_apart", "Pairs told apart", sure.told_apart, "count", note)


def ranks_in_words(known: Certainty) -> str:
    """Return a model's possible ranks, such as "2" or "1 to 3"."""
    best, worst = known.ranks
    return str(best) if best == worst else f"{best} to {worst}"


def rivals(key: str, names: Mapping[str, str], sure: BoardCertainty | None) -> Iterator[Table]:
    """Yield the comparisons of the opened model with each other one, in the order of ranks."""
    if sure is None or key not in sure.models:
        return
    found = [pair.seen_from(key) for pair in sure.pairs if key in (pair.first, pair.second)]
    order = list(sure.models)
    yield Table(
        key="rivals",
        title=f"{names[key]} and each other model",
        columns=(
            Column("name", "Other model"),
            Column("difference", "Difference", "points", f"{names[key]} minus the other"),
            Column("low", "At least", "points", "95% interval"),
            Column("high", "At most", "points", "95% interval"),
            Column("tests", "Tests", "count", "Different tests scored for both"),
            Column("issues", "Issues", "count", "Of these tests"),
            Column("changed", "Differing", "count", "Tests or issues with other scores"),
            Column("p", "p", "p", f"Two-sided, {METHOD}"),
            Column("p_holm", "p (Holm)", "p", f"Corrected for {counted(sure.compared, 'pair')}"),
        ),
        rows=[
            (
                *(names[pair.second], pair.difference),
                *(pair.interval or (None, None)),
                *(pair.tests, pair.issues, pair.changed, pair.p, pair.holm),
            )
            for pair in sorted(found, key=lambda one: order.index(one.second))
        ],
        note=f"Below {MIN_ISSUES} shared issues p does not account for tests of one issue that "
        "fail together, and is then too low.",
        empty="No other model is ranked.",
    )
