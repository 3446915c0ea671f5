"""State shared by the parts of a report on two runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from evalhub.display.formatting import listed
from evalhub.statistics.changes.detectable_change import Detectable
from reports.compare.attempts_query import attempts_of
from reports.compare.evidence_rule import Findings, Sample, findings, sample_of
from reports.compare.form import SHOW
from reports.compare.pair_changes_query import PairChange, pair_changes
from reports.compare.query import Comparison
from reports.compare.rule import COMPARED, Kind, Tally, tally_of
from reports.documents.links import page_url
from reports.documents.reading import Reading
from runs.comparison.detectable_change import detectable_of, measured_from, pair_before
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
    def across(self) -> str:
        """Two models, such as "clover against aurora"; "" for runs of one model."""
        first, second = self.comparison.first.run, self.comparison.second.run
        is_one = first.variant_key == second.variant_key or first.model_name == second.model_name
        return "" if is_one else f"{second.model_name} against {first.model_name}"

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
    def sample(self) -> Sample:
        return sample_of(self.comparison.rows, self.comparison.tags)

    @cached_property
    def found(self) -> Findings | None:
        """None: not computed yet."""
        sample = self.sample
        return self.reading.computed(
            "compare-7", sample.inputs(), Findings, lambda: findings(sample)
        )

    @cached_property
    def detectable(self) -> tuple[Detectable, str] | None:
        """The loss that these tests could show, with its basis; None: nothing, or not computed."""
        tests = sorted(self.sample.tests_by_issue().values())
        if not tests:
            return None
        pair = pair_before(self.comparison.first.run)
        ids = [run.pk for run in pair or ()]
        found = self.reading.computed(
            "compare-detectable-1",
            [tests, ids],
            Detectable,
            lambda: detectable_of(tests, pair),
            of=ids,
        )
        return (found, found.note(measured_from(pair))) if found else None

    @cached_property
    def pooled(self) -> tuple[str, PairChange] | None:
        """What both releases show where their attempts are pooled, and which those are.

        None: the runs have no other attempts, are attempts at one release, or it is not computed.
        """
        runs = [self.comparison.first.run, self.comparison.second.run]
        first, second = attempts_of(runs).values()
        if runs[0].pk in second.pooled or not (first.are_several or second.are_several):
            return None
        sides = first.pooled, second.pooled
        found = self.reading.computed(
            "compare-pooled-1",
            [sides],
            PairChange,
            lambda: pair_changes([sides])[0],
            of=[*first.pooled, *second.pooled],
        )
        words = listed([one.words for one in (first, second) if one.are_several])
        return (words, found) if found else None

    def url(self, **changes: Any) -> str:
        """Return the URL of this comparison with other filters."""
        state = {
            "show": self.filters["show"],
            "tag": self.filters["tag"],
            "issue": self.filters["issue"],
        }
        runs = [self.comparison.first.run, self.comparison.second.run]
        return page_url("compare", runs=runs, **(state | changes))
