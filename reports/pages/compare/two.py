"""Two runs as a report: what flipped, worst first, and whether it says anything."""

from collections.abc import Mapping
from typing import Any

from reports.comparison.words import sentences
from reports.document import Document
from reports.pages.compare.chosen import known_tags
from reports.pages.compare.headline import facts_of, labels, warnings
from reports.pages.compare.lines import became, by_issue, by_tag
from reports.pages.compare.listing import edited_tests, tests_of
from reports.pages.compare.state import TwoRuns
from reports.pages.shell import Reading
from reports.queries.compare import Comparison


def document_of(comparison: Comparison, asked: Mapping[str, Any], reading: Reading) -> Document:
    """The report on two runs."""
    two = TwoRuns(comparison, asked, reading)
    first, second = two.names
    rows = comparison.rows
    return Document(
        question=f"What got better, and what worse, from {first} to {second}?",
        sentences=sentences(rows, two.found, first=first, second=second),
        facts=facts_of(two),
        tables=(tests_of(two), *edited_tests(two), by_tag(two), by_issue(two), became(two)),
        warnings=warnings((comparison.first, comparison.second)),
        labels=labels(comparison, two.names),
        more={"tags": known_tags(comparison.tags)},
    )
