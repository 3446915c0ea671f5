"""Changes of tests and judges between consecutive runs of a line."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from issues.models import JudgeTemplate, Revision
from reports.documents.reading import Reading
from reports.trend.measurement_changes_rule import Details, Jury, Measure, kinds_of, words_of
from runs.judging.jury import judges_in
from runs.models import JudgeRun, Result, Run


@dataclass(frozen=True)
class Change:
    """A change between consecutive runs, on one or more lines.

    `before` and `after` are the earliest pair; `steps` has the ids of all pairs.
    """

    before: Run
    after: Run
    lines: tuple[str, ...]
    steps: frozenset[tuple[int, int]]
    kinds: tuple[str, ...]
    words: tuple[str, ...]


class Step(NamedTuple):
    """Two consecutive runs of a line."""

    line: str
    before: Run
    after: Run


JudgeRuns = Mapping[int, JudgeRun]
"""Active judge runs by the id of their run."""


def changes_of(
    lines: Mapping[str, Sequence[Run]], judge_runs: JudgeRuns, reading: Reading
) -> list[Change]:
    """Return the changes along these lines, oldest first; a change of several lines once."""
    found: dict[tuple[Measure, Measure], list[Step]] = defaultdict(list)
    for line, runs in lines.items():
        for before, after in pairwise(runs):
            measures = measure_of(before, judge_runs), measure_of(after, judge_runs)
            if measures[0] != measures[1]:
                found[measures].append(Step(line, before, after))
    details = _details(found, judge_runs, reading)
    changes = [
        _change(measures, steps, judge_runs, known)
        for (measures, steps), known in zip(found.items(), details, strict=True)
    ]
    return sorted(changes, key=lambda change: (change.after.created_at, change.after.pk))


def measure_of(run: Run, judge_runs: JudgeRuns) -> Measure:
    judge_run = judge_runs.get(run.pk)
    fingerprint = judge_run.jury_fingerprint if judge_run else ""
    return Measure(run.suite_fingerprint, fingerprint, run.similarity_weight)


def _details(
    found: Mapping[tuple[Measure, Measure], Sequence[Step]], judge_runs: JudgeRuns, reading: Reading
) -> Sequence[Details | None]:
    """Return the details of each change; None if not computed yet."""
    steps = [_first(steps) for steps in found.values()]
    if not steps:
        return []
    details = reading.computed(
        "changes-1",
        [[*before, *after] for before, after in found],
        list[Details | None],
        lambda: [
            details_of(one.before.pk, one.after.pk, _juries(one, judge_runs)) for one in steps
        ],
    )
    return details or [None] * len(steps)


def _first(steps: Sequence[Step]) -> Step:
    return min(steps, key=lambda step: (step.after.created_at, step.after.pk))


def _juries(step: Step, judge_runs: JudgeRuns) -> tuple[Jury, Jury]:
    before, after = judge_runs.get(step.before.pk), judge_runs.get(step.after.pk)
    return before.jury if before else {}, after.jury if after else {}


def _change(
    measures: tuple[Measure, Measure],
    steps: Sequence[Step],
    judge_runs: JudgeRuns,
    details: Details | None,
) -> Change:
    first = _first(steps)
    juries = _juries(first, judge_runs)
    return Change(
        before=first.before,
        after=first.after,
        lines=tuple(step.line for step in steps),
        steps=frozenset((step.before.pk, step.after.pk) for step in steps),
        kinds=kinds_of(*measures, juries),
        words=words_of(*measures, juries, details),
    )


class Asked(NamedTuple):
    """The revision and weight of a test in a run."""

    revision: int
    weight: float


def details_of(before: int, after: int, juries: tuple[Jury, Jury]) -> Details:
    """Compare two runs; reads all their tests."""
    old, new = _asked(before), _asked(after)
    both = old.keys() & new.keys()
    changed = {test for test in both if old[test].revision != new[test].revision}
    ids = {asked[test].revision for test in changed for asked in (old, new)}
    digests = dict(Revision.objects.filter(pk__in=ids).values_list("pk", "asked_digest"))
    reworded = sum(digests[old[t].revision] != digests[new[t].revision] for t in changed)
    before_templates, after_templates = _used(before, juries[0]), _used(after, juries[1])
    return Details(
        added=len(new.keys() - old.keys()),
        removed=len(old.keys() - new.keys()),
        reworded=reworded,
        rejudged=len(changed) - reworded,
        reweighted=sum(old[test].weight != new[test].weight for test in both - changed),
        templates=tuple(
            (family, before_templates.get(family), after_templates.get(family))
            for family in sorted(before_templates.keys() | after_templates.keys())
            if before_templates.get(family) != after_templates.get(family)
        ),
    )


def _asked(run: int) -> dict[int, Asked]:
    rows = Result.objects.filter(run=run, repeat=0).order_by()
    found = rows.values_list("test_id", "revision_id", "weight")
    return {test: Asked(revision, weight) for test, revision, weight in found}


def _used(run: int, jury: Jury) -> dict[str, int]:
    """Return the newest version used of each family of judge templates."""
    of_tests = Revision.objects.filter(results__run=run).order_by()
    names = ("template", "rubric_template")
    own = {pk for judge in judges_in(jury) for name in names if (pk := judge.get(name))}
    versions = [
        *of_tests.values_list("template__family", "template__version").distinct(),
        *JudgeTemplate.objects.filter(pk__in=own).values_list("family", "version"),
    ]
    # The newest version of each family comes last.
    return dict(sorted(version for version in versions if version[0] is not None))
