"""Outcomes of runs, overall and by tag."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reports.documents.model_lines import LineStyle, line_styles, names_of
from reports.queries.exposure import only
from reports.queries.run_variants import judge_runs_of, labels_of_all, runs_of, variant_of
from runs.figures.tallies import Counts, Group, Rates, Tally, grouped, tallies_of
from runs.models import Result, Run, TagSet


@dataclass(frozen=True)
class RunOutcomes:
    """A run with a name that is unique among those shown."""

    run: Run
    name: str
    look: LineStyle


class TagCell(NamedTuple):
    """A tag ("": all) and a run."""

    tag: str
    run: int


@dataclass(frozen=True)
class RunDetailsReport:
    """The runs with their counts and rates; `tags` are lowest pass rate first, over all runs."""

    runs: tuple[RunOutcomes, ...]
    tags: tuple[str, ...]
    groups: Mapping[TagCell, Group]
    rates: Rates[TagCell]
    labels: tuple[str, ...]

    def counts(self, tag: str, run: Run) -> Counts:
        """Count the results of a run by outcome."""
        group = self.groups.get(TagCell(tag, run.pk))
        return group.counts if group else Counts()


def run_details_report(chosen: Sequence[Run], *, tests: str = "") -> RunDetailsReport:
    """Read the chosen runs, or the three latest complete ones; a constant number of queries.

    Args:
        tests: One of `exposure.CHOICES`.
    """
    newest = Run.objects.complete().order_by("-created_at", "-pk").values_list("pk", flat=True)
    ids = [run.pk for run in chosen] or list(reversed(newest[:3]))
    found = runs_of(ids)
    runs = [found[pk] for pk in ids]
    repeats = {run.pk: run.repeats for run in runs}
    tags_of = dict(TagSet.objects.order_by().values_list("pk", "names"))

    def places(tally: Tally) -> Iterable[TagCell]:
        yield from (TagCell(tag, tally.run_id) for tag in ("", *tags_of[tally.tag_set_id]))

    results = only(Result.objects.filter(run__in=ids), tests)
    tallies = tallies_of(results, by_tags=True, by_issue=True)
    groups = grouped(tallies, places)
    return RunDetailsReport(
        runs=_shown(runs),
        tags=_lowest_first(groups),
        groups=groups,
        rates=Rates(groups, answers=lambda place: repeats[place.run]),
        labels=labels_of_all(runs, judge_runs_of(ids)),
    )


def _shown(runs: Sequence[Run]) -> tuple[RunOutcomes, ...]:
    """Name the runs; those of one variant also by release and id."""
    variants = list({run.variant_key: variant_of(run) for run in runs}.values())
    names, looks = names_of(variants), line_styles(variants)
    seen = Counter(names[run.variant_key] for run in runs)
    shown = []
    for run in runs:
        name = names[run.variant_key]
        unique = name if seen[name] == 1 else f"{name}, {run.release or 'run'} ({run.pk})"
        shown.append(RunOutcomes(run, unique, looks[run.variant_key]))
    return tuple(shown)


def _lowest_first(groups: Mapping[TagCell, Group]) -> tuple[str, ...]:
    sums: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for place, group in groups.items():
        if place.tag:
            sums[place.tag][0] += group.passed
            sums[place.tag][1] += group.scored
    shares = {tag: passed / n if n else 2.0 for tag, (passed, n) in sums.items()}
    return tuple(sorted(shares, key=lambda tag: (shares[tag], tag)))
