"""Read the data of a set of runs for an analyst. Sealed tests give figures only.

An analyst sets models side by side: all outcomes and scores are the judges' own, without overrides.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

from django.db.models import Avg, Min

from evalhub.llm.model_identity import identity_of
from evalhub.statistics.changes.net_change import METHOD, net_change
from issues.content.conversation import request_messages
from issues.judge_templates.prompts import conversation_text, output_text
from issues.models import Polarity
from reports.queries.names import tag_names
from reports.summaries.analyst.claims import Bound, Evidence
from reports.summaries.analyst.key import (
    ALL_TESTS,
    FigureCell,
    FigureTable,
    Key,
    Place,
    Subject,
    Variant,
)
from reports.summaries.analyst.mask import Known
from reports.summaries.analyst.prompt import Case, VariantAnswer
from runs.comparison.comparability import comparability_of_pairs
from runs.figures.tallies import Tally, group_of, score_of, tallies_of_runs
from runs.models import HAS_ANSWER, Outcome, Result, Run, TagSet

MAX_TAGS = 12
"""Tags with most scored results whose figures are sent."""


def subjects_of(runs: Iterable[Run]) -> list[Subject]:
    """Return the attributes that distinguish the runs."""
    return [
        Subject(
            run=run.pk,
            language_model=run.language_model_id,
            model_name=run.model_name,
            developer=identity_of(run.language_model).developer,
            system_prompt=run.system_prompt,
            temperature=float(sent) if isinstance(sent, int | float) else None,
        )
        for run in runs
        for sent in [(run.endpoint.get("params", {}) | run.params).get("temperature")]
    ]


def known_of(runs: Iterable[Run]) -> list[Known]:
    """Return all names of the runs' models, frozen and current."""
    found: dict[Known, None] = {}
    for run in runs:
        frozen, model = run.endpoint, run.language_model
        identity = identity_of(model)
        called = frozen.get("litellm_model") or model.litellm_model
        developer = frozen.get("developer") or identity.developer
        family = frozen.get("family") or identity.family
        now = Known(run.model_name, called, identity.developer, identity.family, identity.key)
        then = Known(model.name, model.litellm_model, developer, family, model.identity)
        found |= {now: None, then: None}
    return list(found)


# Figures -----------------------------------------------------------------------------------------


class Overview(NamedTuple):
    """The figures by group, all tests first. `tests` counts them, `sealed` those without text."""

    suite: str
    tests: int
    sealed: int
    titles: dict[str, str]
    table: FigureTable


def overview_of(runs: Sequence[Run], key: Key) -> Overview:
    """Return the figures over all tests of the runs, with sealed ones."""
    tallies = tallies_of_runs(runs, of_judges=True)
    tests = Result.objects.filter(run__in=runs).order_by().values("test").distinct()
    groups = [("All tests", tallies), *_by_tag(tallies)]
    repeats = {run.pk: run.repeats for run in runs}
    cells = {
        Place(row, f"G_{number}"): _figure(
            [tally for tally in some if tally.run_id in variant.runs],
            answers=sum(repeats[run] for run in variant.runs),
        )
        for number, (_, some) in enumerate(groups, 1)
        for row, variant in enumerate(key.variants)
    }
    return Overview(
        suite=next((str(run.suite) for run in runs if run.suite), ""),
        tests=tests.count(),
        sealed=tests.filter(test__sealed=True).count(),
        titles={f"G_{number}": title for number, (title, _) in enumerate(groups, 1)},
        table=FigureTable(cells),
    )


def _figure(tallies: Sequence[Tally], *, answers: int) -> FigureCell:
    counts = group_of(tallies)
    rate = counts.rate(answers=answers)
    return FigureCell(
        passed=counts.passed,
        scored=counts.scored,
        score=score_of(tallies).mean,
        errors=counts.error,
        unscored=counts.unscored,
        interval=rate.interval,
        method=str(rate.method),
    )


def _by_tag(tallies: Sequence[Tally]) -> list[tuple[str, list[Tally]]]:
    names = tag_names({tally.tag_set_id for tally in tallies})
    by_tag: dict[str, list[Tally]] = defaultdict(list)
    for tally in tallies:
        for name in names[tally.tag_set_id]:
            by_tag[name].append(tally)
    largest = sorted(by_tag, key=lambda tag: (-group_of(by_tag[tag]).scored, tag))[:MAX_TAGS]
    return [(tag, by_tag[tag]) for tag in sorted(largest)]


# Texts -------------------------------------------------------------------------------------------


class RankedTest(NamedTuple):
    """A test, its issue, and its mean score over all runs, in [0, 1]; None: not measured."""

    test: int
    issue: int
    mean: float | None


def test_ranks_of(runs: Sequence[Run]) -> list[RankedTest]:
    """Return the tests that may be sent, with their issue and mean score over all runs."""
    shown = Result.objects.filter(HAS_ANSWER, run__in=runs).exclude(test__sealed=True)
    rows = (
        shown.order_by().values("test_id").annotate(issue=Min("issue_id"), mean=Avg("judges_score"))
    )
    return [RankedTest(*row) for row in rows.values_list("test_id", "issue", "mean")]


def cases_of(runs: Sequence[Run], key: Key, tests: Sequence[int]) -> list[Case]:
    """Return these tests with their answers, in order, without sealed ones."""
    rows = Result.objects.filter(run__in=runs, test__in=tests).exclude(test__sealed=True)
    rows = rows.filter(answer__removed_at=None)
    joined = rows.select_related("revision", "answer", "issue", "tag_set")
    by_test: dict[int, list[Result]] = defaultdict(list)
    for result in joined.order_by("-run_id", "repeat"):
        by_test[result.test_id].append(result)
    return [_case(by_test[test], key) for test in tests if by_test[test]]


def _case(results: Sequence[Result], key: Key) -> Case:
    """Return a test with its answers, the newest run's results first."""
    first, content = results[0], results[0].revision.content
    criteria = [
        ("Must not: " if point["polarity"] == Polarity.SHOULD_NOT else "") + point["text"]
        for point in content["criteria"]
        if point["text"]
    ]
    of_variants = [[r for r in results if r.run_id in one.runs] for one in key.variants]
    return Case(
        test=first.test_id,
        issue=str(first.issue),
        tags=first.tag_set.names,
        prompt=conversation_text(request_messages(content["messages"], content["context"])),
        looked_for=[text for text in (content["guidelines"], *criteria) if text],
        reference=content["reference"],
        answers=[
            _answer(variant, own)
            for variant, own in zip(key.variants, of_variants, strict=True)
            if own
        ],
    )


def _answer(variant: Variant, results: Sequence[Result]) -> VariantAnswer:
    outcomes = [result.judges_outcome for result in results]
    scores = [result.judges_score for result in results if result.judges_score is not None]
    answered = next((result for result in results if hasattr(result, "answer")), None)
    passed = outcomes.count(Outcome.PASSED)
    return VariantAnswer(
        variant=variant,
        text=_text(answered) if answered else "",
        score=sum(scores) / len(scores) if scores else None,
        passed=passed,
        scored=passed + outcomes.count(Outcome.FAILED),
        failure="" if answered else results[0].error_kind or "none yet",
    )


def _text(result: Result) -> str:
    return output_text(result.answer.said()).strip() or "(an empty answer)"


# Differences -------------------------------------------------------------------------------------

CHANGED = "Results have changed since the request: regenerate the summary to compare them."
DELETED = "Its runs were deleted since the request."


@dataclass(frozen=True)
class DifferenceTests:
    """Test differences of the summary of these runs; called with the cells of a claim."""

    runs: Sequence[Run]
    key: Key
    table: FigureTable

    def __call__(self, bound: Bound) -> Evidence | str:
        """Return the evidence for a difference of models, or why they may not be compared.

        p is multiplied by the number of comparisons that could have been claimed (Bonferroni),
        since the analyst picks the largest ones.
        """
        variants, present = bound.variants(self.key), {run.pk for run in self.runs}
        if any(run not in present for variant in variants for run in variant.runs):
            return DELETED
        compared = comparability_of_pairs(product(variants[0].runs, variants[1].runs))
        if reason := next((found.reason for found in compared.values() if not found), ""):
            return reason
        one, other = (self._shares(place) for place in bound.places)
        if one is None or other is None:
            return CHANGED
        both = sorted(one.keys() & other.keys())
        found = net_change(
            [one[test].share - other[test].share for test in both],
            [one[test].issue for test in both],
        )
        n = max(1, self.table.comparisons)
        if found is None:
            return Evidence(None, METHOD, n, 0)
        return Evidence(min(1.0, n * found.p), found.method, n, len(both), found.caveat)

    def _shares(self, place: Place) -> "dict[int, Share] | None":
        """Return the share of each scored test that passed, and its issue, by test.

        None: they are not those of the cell any more.
        """
        rows = Result.objects.filter(
            run__in=self.key.variants[place.variant].runs,
            judges_outcome__in=(Outcome.PASSED, Outcome.FAILED),
        ).order_by()
        if place.group != ALL_TESTS:
            sets = TagSet.objects.filter(results__in=rows).distinct()
            title = self.key.groups[place.group]
            rows = rows.filter(tag_set__in=[one.pk for one in sets if title in one.names])
        by_test: dict[int, list[tuple[int, bool]]] = defaultdict(list)
        for test, issue, outcome in rows.values_list("test", "issue", "judges_outcome"):
            by_test[test].append((issue, outcome == Outcome.PASSED))
        cell = self.table.cells[place]
        counted = [passed for some in by_test.values() for _, passed in some]
        if (sum(counted), len(counted)) != (cell.passed, cell.scored):
            return None
        return {
            test: Share(sum(passed for _, passed in some) / len(some), some[-1][0])
            for test, some in by_test.items()
        }


class Share(NamedTuple):
    """The share of a test's scored results that passed, and its issue."""

    share: float
    issue: int
