"""State shared by the parts of a report on two runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reports.compare.evidence_rule import Findings, findings, sample_of
from reports.compare.form import SHOW
from reports.compare.query import Comparison
from reports.compare.rule import COMPARED, Kind, Tally, tally_of
from reports.documents.links import page_url
from reports.documents.reading import Reading
from runs.figures.run_labels import names_of_pair

KIND_WORDS: Mapping[Kind, str] = {
    Kind.NOT_COMPARABLE: "not comparable",
    Kind.RUBRIC_CHANGED: "rubric changed",
    Kind.TEXT_CHANGED: "text changed",
    Kind.ONLY_FIRST: "only in the first",
    Kind.ONLY_SECOND: "only in the second",
}


@dataclass(frozen=True)
class TwoRuns:
    """A comparison of two runs, with the page's filters and reader."""

    comparison: Comparison
    filters: Mapping[str, Any]
    reading: Reading

    @cached_property
    def names(self) -> tuple[str, str]:
        """The labels of the runs, made distinct where they are equal."""
        return names_of_pair(self.comparison.first.run, self.comparison.second.run)

    @property
    def lists(self) -> dict[str, str]:
        """The titles of the lists of tests; none by direction where nothing is concluded."""
        return {
            key: title
            for key, (title, kinds) in SHOW.items()
            if self.comparison.is_conclusive or not kinds <= COMPARED
        }

    @property
    def shown(self) -> str:
        """The key of the list that is shown."""
        return self.filters["show"] if self.filters["show"] in self.lists else "incomparable"

    @cached_property
    def tally(self) -> Tally:
        return tally_of(self.comparison.rows)

    @cached_property
    def found(self) -> Findings | None:
        """None: not computed yet."""
        sample = sample_of(self.comparison.rows, self.comparison.tags)
        return self.reading.computed(
            "compare-6", sample.inputs(), Findings, lambda: findings(sample)
        )

    def url(self, **changes: Any) -> str:
        """Return the URL of this comparison with other filters."""
        state = {
            "show": self.filters["show"],
            "tag": self.filters["tag"],
            "issue": self.filters["issue"],
        }
        runs = [self.comparison.first.run, self.comparison.second.run]
        return page_url("compare", runs=runs, **(state | changes))
