"""The tests of two runs paired by revision in the database.

Most tests do not change between two runs. The database adds those up, and only the others are read
one by one, so that a comparison does not read all results.
"""

from typing import Any

from django.db import connection

from reports.compare.matching_rule import Pair, Tested
from reports.compare.rule import DIGITS, Compared, Kind

OF_A_RUN = """
    MIN(issue_id) FILTER (WHERE run_id = %s) AS issue_{side},
    MIN(tag_set_id) FILTER (WHERE run_id = %s) AS tag_set_{side},
    MIN(weight) FILTER (WHERE run_id = %s) AS weight_{side},
    MIN(id) FILTER (WHERE run_id = %s) AS result_{side},
    COUNT(*) FILTER (WHERE run_id = %s) AS n_{side},
    COUNT(*) FILTER (WHERE run_id = %s AND outcome = 'passed') AS passed_{side},
    COUNT(*) FILTER (WHERE run_id = %s AND outcome = 'failed') AS failed_{side},
    COUNT(*) FILTER (WHERE run_id = %s AND outcome = 'error') AS error_{side},
    COUNT(*) FILTER (WHERE run_id = %s AND outcome = 'unscored') AS unscored_{side},
    COUNT(score) FILTER (WHERE run_id = %s) AS with_score_{side},
    COALESCE(SUM(score) FILTER (WHERE run_id = %s), 0.0) AS score_sum_{side},
    COUNT(*) FILTER (WHERE run_id = %s AND is_overridden) AS overridden_{side}
"""
"""The repeats of a test in one of the runs, added up; all NULL or 0 where it has none."""

TESTS = f"""
WITH tests AS (
    SELECT revision_id, MIN(test_id) AS test_id, {OF_A_RUN.format(side="a")},
           {OF_A_RUN.format(side="b")}
    FROM runs_result
    WHERE run_id IN (%s, %s)
    GROUP BY revision_id
)
"""
TIMES_NAMED = OF_A_RUN.count("%s")

ALIKE = """
(passed_a + failed_a > 0 AND passed_b + failed_b > 0
 AND passed_a * (passed_b + failed_b) = passed_b * (passed_a + failed_a)
 AND with_score_a > 0 AND with_score_b > 0)
"""
"""Both runs scored it, and an equal share of its repeats passed; without division."""

COUNTS = ", ".join(
    f"{name}_{side}" for side in "ab" for name in ("n", "passed", "failed", "error", "unscored")
)
BUNDLES = f"""
{TESTS}
SELECT issue_b, tag_set_b, COUNT(*), SUM(weight_b), SUM(weight_b * score_sum_a / with_score_a),
       SUM(weight_b * score_sum_b / with_score_b), {COUNTS}
FROM tests WHERE {ALIKE}
GROUP BY issue_b, tag_set_b, {COUNTS}
ORDER BY issue_b, tag_set_b, {COUNTS}
"""

COLUMNS = (
    *("issue", "tag_set", "weight", "result", "n"),
    *("passed", "failed", "error", "unscored", "with_score", "score_sum", "overridden"),
)
ONE_BY_ONE = f"""
{TESTS}
SELECT revision_id, test_id, {", ".join(f"{name}_{side}" for side in "ab" for name in COLUMNS)}
FROM tests
"""
BUNDLED = f"{ONE_BY_ONE} WHERE {ALIKE} ORDER BY test_id, revision_id"
OTHERS = f"{ONE_BY_ONE} WHERE NOT {ALIKE} ORDER BY test_id, revision_id"


def bundles(first: int, second: int) -> list[Compared]:
    """Return the tests with equal outcomes in both runs, added up; one query."""
    found = []
    for issue, tag_set, times, weight, *rest in _rows(BUNDLES, first, second):
        labels = (0, 0, issue, tag_set, round(weight / times, DIGITS), 0)
        # Databases add in any order: the last digits carry no information.
        scores = [round(score / weight, DIGITS) if weight else 0.0 for score in rest[:2]]
        before = Tested._make((*labels, *rest[2:7], 1, scores[0], 0))
        after = Tested._make((*labels, *rest[7:], 1, scores[1], 0))
        found.append(Compared(Kind.SAME, before, after, 0.0, times))
    return found


def one_by_one(
    first: int, second: int, *, bundled: bool
) -> tuple[list[Pair], list[Tested], list[Tested]]:
    """Return the tests of the bundles, or the tests outside of them; one query.

    Returns:
        The pairs of both runs; revisions of the first run only; of the second only.
    """
    pairs, only_first, only_second = [], [], []
    middle = 2 + len(COLUMNS)
    for row in _rows(BUNDLED if bundled else OTHERS, first, second):
        before, after = Tested._make(row[:middle]), Tested._make(row[:2] + row[middle:])
        if before.n and after.n:
            pairs.append(Pair(before, after))
        elif before.n:
            only_first.append(before)
        else:
            only_second.append(after)
    return pairs, only_first, only_second


def _rows(sql: str, first: int, second: int) -> list[tuple[Any, ...]]:
    named = [*[first] * TIMES_NAMED, *[second] * TIMES_NAMED, first, second]
    with connection.cursor() as cursor:
        cursor.execute(sql, named)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
