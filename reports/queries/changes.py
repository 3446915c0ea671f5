"""What changed between two runs in their tests and in the wording of their judges."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple

from issues.models import JudgeTemplate, Revision
from reports.changes import Details, Jury
from runs.models import Result


class Asked(NamedTuple):
    """A test as a run had it."""

    revision: int
    weight: float


def details_of(before: int, after: int, juries: tuple[Jury, Jury]) -> Details:
    """What two runs differ in; all their tests are read."""
    old, new = _asked(before), _asked(after)
    both = old.keys() & new.keys()
    changed = {test for test in both if old[test].revision != new[test].revision}
    reworded = _reworded([(old[test].revision, new[test].revision) for test in changed])
    return Details(
        added=len(new.keys() - old.keys()),
        removed=len(old.keys() - new.keys()),
        reworded=reworded,
        rejudged=len(changed) - reworded,
        reweighted=sum(old[test].weight != new[test].weight for test in both - changed),
        templates=_templates(_used(before, juries[0]), _used(after, juries[1])),
    )


def _asked(run: int) -> dict[int, Asked]:
    rows = Result.objects.filter(run=run, repeat=0).order_by()
    found = rows.values_list("test_id", "revision_id", "weight")
    return {test: Asked(revision, weight) for test, revision, weight in found}


def _reworded(pairs: list[tuple[int, int]]) -> int:
    """Of how many pairs of revisions a candidate sees something else."""
    ids = {pk for pair in pairs for pk in pair}
    rows = Revision.objects.filter(pk__in=ids).order_by()
    digests = dict(rows.values_list("pk", "asked_digest"))
    return sum(digests[old] != digests[new] for old, new in pairs)


def _used(run: int, jury: Jury) -> dict[str, int]:
    """The newest version of each family of judge templates with which its judges are asked."""
    of_tests = Revision.objects.filter(results__run=run).order_by()
    everyone = [*jury.get("judges", ()), *([jury["backup"]] if jury.get("backup") else [])]
    own = {judge.get(name) for judge in everyone for name in ("template", "rubric_template")}
    return _newest(
        [
            *of_tests.values_list("template__family", "template__version").distinct(),
            *JudgeTemplate.objects.filter(pk__in=own - {None}).values_list("family", "version"),
        ]
    )


def _newest(versions: Iterable[tuple[Any, Any]]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for family, version in versions:
        if family is not None:
            found[family] = max(found[family], version)
    return dict(found)


def _templates(
    old: dict[str, int], new: dict[str, int]
) -> tuple[tuple[str, int | None, int | None], ...]:
    return tuple(
        (family, old.get(family), new.get(family))
        for family in sorted(old.keys() | new.keys())
        if old.get(family) != new.get(family)
    )
