"""Topics of runs: the tags of their suites and those from executive summaries."""

from collections import defaultdict
from collections.abc import Iterable

from django.db.models import Q

from evalhub.models import BatchState
from reports.documents.topic_names import is_shown, topic_key
from reports.models import ExecutiveSummary
from runs.models import Suite

Topics = frozenset[str]


def tags_by_suite() -> dict[int, tuple[str, ...]]:
    """Return the tags of each suite that has any, as they were entered."""
    found: dict[int, list[str]] = defaultdict(list)
    rows = Suite.objects.filter(tags__isnull=False).order_by("tags__name")
    for suite, name in rows.values_list("pk", "tags__name"):
        found[suite].append(name)
    return {suite: tuple(names) for suite, names in found.items()}


def automatic_tags() -> dict[str, dict[int, set[str]]]:
    """Return the tags from finished summaries, by id, under "run" and "launch"."""
    by: dict[str, dict[int, set[str]]] = {"run": defaultdict(set), "launch": defaultdict(set)}
    done = ExecutiveSummary.objects.filter(~Q(tags=[]), state=BatchState.DONE).order_by()
    for tags, run, launch in done.values_list("tags", "runs", "runs__launch"):
        by["run"][run].update(tags)
        by["launch"][launch].update(tags)
    return by


class RunTopics:
    """The topics of runs, as keys; one query."""

    def __init__(self, suite_tags: dict[int, tuple[str, ...]]) -> None:
        """Take the result of `tags_by_suite`."""
        automatic = automatic_tags()
        self._by_suite = {suite: _topics(tags) for suite, tags in suite_tags.items()}
        self._by_run = {run: _topics(tags) for run, tags in automatic["run"].items()}
        self._by_launch = {launch: _topics(tags) for launch, tags in automatic["launch"].items()}

    def of(self, run: int, suite: int | None, launch: int | None) -> Topics:
        none: Topics = frozenset()
        return (
            self._by_suite.get(suite or 0, none)
            | self._by_run.get(run, none)
            | self._by_launch.get(launch or 0, none)
        )


def _topics(tags: Iterable[str]) -> Topics:
    return frozenset(key for tag in tags if is_shown(key := topic_key(tag)))


def all_topics() -> list[str]:
    """Return all topics of suites and finished summaries, as sorted keys."""
    tags = {name for names in tags_by_suite().values() for name in names}
    done = ExecutiveSummary.objects.filter(~Q(tags=[]), state=BatchState.DONE).order_by()
    automatic = {tag for found in done.values_list("tags", flat=True) for tag in found}
    return sorted(_topics(tags | automatic))
