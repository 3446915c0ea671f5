"""The certainty of a ranking in words: leader, possible ranks, and a model's rivals."""

from collections.abc import Iterator, Mapping

from evalhub.display.formatting import counted
from evalhub.statistics.changes.change_test import ALPHA, MAY_FAIL_TOGETHER, MIN_CHANGED
from reports.compare.conclusion_words import is_p
from reports.documents.document import Column, Fact, Table
from reports.leaderboard.certainty_rule import METHOD, BoardCertainty, Certainty


def lead(names: Mapping[str, str], sure: BoardCertainty) -> str:
    """Name the significant leader; without one, the reason, and never that models are equal."""
    basis = f"{METHOD}, Holm over {counted(sure.compared, 'pair')}"
    if sure.leader is not None:
        return (
            f"{names[sure.leader]} is significantly first of {len(sure.models)} models: "
            f"{is_p(sure.largest_p(sure.leader))} or less against each other model ({basis})."
            f"{_caveat(sure, sure.leader)}"
        )
    if not sure.compared:
        return "No two models share a suite in the same version, so that ranks cannot be compared."
    if sure.is_too_small:
        return (
            "The data is too small to tell any two models apart: two models differ in at most "
            f"{sure.most_changed} tests or issues, and with "
            f"{counted(sure.compared, 'pair')} at least {sure.needed} are needed ({basis})."
        )
    firsts = sum(one.ranks.best == 1 for one in sure.models.values())
    return (
        f"No model is significantly first: {firsts} of {len(sure.models)} models may be ({basis})."
    )


def _caveat(sure: BoardCertainty, leader: str) -> str:
    """Warn where tests were permuted for the leader, since a suite has fewer than 6 issues."""
    by_test = any(leader in (p.first, p.second) and not p.is_by_issue for p in sure.pairs)
    return f" {MAY_FAIL_TOGETHER}" if by_test else ""


def told_apart(sure: BoardCertainty | None) -> Iterator[Fact]:
    if sure and sure.compared:
        note = f"of {counted(sure.compared, 'pair')}, p ≤ {ALPHA:g} (Holm)"
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
            Column("difference", "Difference", "number", f"{names[key]} minus the other"),
            Column("suites", "Suites", "count", "Shared, in the same version"),
            Column("tests", "Tests", "count", "Scored for both"),
            Column("changed", "Differing", "count", "Tests or issues with other scores"),
            Column(
                "permuted",
                "Permuted",
                "text",
                f"Issues if all suites have {MIN_CHANGED} or more",
            ),
            Column("p", "p", "p", f"Two-sided, {METHOD}"),
            Column("p_holm", "p (Holm)", "p", f"Corrected for {counted(sure.compared, 'pair')}"),
        ),
        rows=[
            (
                names[pair.second],
                pair.difference,
                pair.suites,
                pair.tests,
                pair.changed,
                "issues" if pair.is_by_issue else "tests",
                pair.p,
                pair.holm,
            )
            for pair in sorted(found, key=lambda one: order.index(one.second))
        ],
        note="Where tests are permuted, tests of one issue may fail together: p is then too low.",
        empty="No other model is ranked.",
    )
