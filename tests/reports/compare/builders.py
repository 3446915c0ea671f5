"""Tests of two runs as a comparison sees them, made without rows."""

from reports.compare.matching_rule import Digests, match
from reports.compare.rule import Compared, compared
from runs.comparison.tested_rule import Tested


def one_test(revision: int, outcomes: str = "p", *, issue: int = 1, **fields) -> Tested:
    """One letter for each repeat: p(assed), f(ailed), e(rror), u(njudged), w(aiting)."""
    passed, failed = outcomes.count("p"), outcomes.count("f")
    usual = {
        "revision_id": revision,
        "test_id": revision,
        "issue_id": issue,
        "tag_set_id": 1,
        "weight": 1.0,
        "result_id": revision,
        "n": len(outcomes),
        "passed": passed,
        "failed": failed,
        "error": outcomes.count("e"),
        "unscored": outcomes.count("u"),
        "lowest": passed,
        "highest": len(outcomes) - failed,
        "with_score": passed + failed,
        "score_sum": float(passed),
        "overridden": 0,
    }
    return Tested(**usual | fields)


def a_run(*outcomes: str, issues: tuple[int, ...] | None = None) -> list[Tested]:
    """Tests 1, 2, … with these outcomes, each of an issue of its own if not said otherwise."""
    issues = issues or tuple(range(1, len(outcomes) + 1))
    return [
        one_test(number, outcome, issue=issue)
        for number, (outcome, issue) in enumerate(zip(outcomes, issues, strict=True), start=1)
    ]


def comparison(first: list[Tested], second: list[Tested]) -> tuple[Compared, ...]:
    """The two compared, every revision having content of its own."""
    digests = {
        one.revision_id: Digests(str(one.revision_id), str(one.revision_id))
        for one in first + second
    }
    return compared(match(first, second, digests))
