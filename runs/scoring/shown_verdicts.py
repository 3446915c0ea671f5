"""Record of the verdicts that people were shown, and those hidden from them for now.

A human verdict is blind only if its annotator was shown no verdict on the answer before. So every
page, file and API response that shows verdicts of single results records it here, for those who
may give verdicts. While an annotator reviews a result blind, its verdicts are left out for them.
"""

from collections.abc import Callable, Collection
from typing import Any

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet

from evalhub.access.sealing.readers import FiguresOnly
from evalhub.values.id_in import IdIn
from runs.models import Result, Sight

GIVES_VERDICTS = "runs.add_humanevaluation"
MANY = 1000
"""Results above which whole runs are recorded instead."""
Reader = AbstractBaseUser | AnonymousUser


class Keeper(FiguresOnly):
    """The reader of a page that is kept for others; `shown` is what each of them will be shown."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: dict[str, set[int]] = {"results": set(), "runs": set()}

    def has_perm(self, perm: str, obj: Any = None) -> bool:
        """Return whether all who may open the page have this permission."""
        return perm == "runs.view_run"


_sources: list[Callable[[Reader], Collection[int]]] = []


def hide(source: Callable[[Reader], Collection[int]]) -> None:
    """Leave out results for a reader, by a function that returns their ids."""
    _sources.append(source)


def hidden_from(reader: Reader) -> frozenset[int]:
    """Return the results whose verdicts this reader must not see yet; they are few."""
    if not _counts(reader):
        return frozenset()
    return frozenset(result for source in _sources for result in source(reader))


def record(reader: Reader, results: Collection[int] = (), runs: Collection[int] = ()) -> None:
    """Record that a reader is shown the verdicts on results, or on all results of runs."""
    if isinstance(reader, Keeper):
        reader.shown["results"].update(results)
        reader.shown["runs"].update(runs)
        return
    if not _counts(reader) or not (results or runs):
        return
    person: Any = reader.pk
    rows: list[Sight] = []
    recorded = Sight.objects.filter(IdIn("result", results), person=person)
    if new := set(results) - set(recorded.values_list("result", flat=True)):
        shown = Result.objects.filter(pk__in=new).order_by().values_list("pk", "run_id")
        rows += [Sight(person_id=person, run_id=run, result_id=pk) for pk, run in shown]
    if runs:
        read = Sight.objects.filter(person=person, run__in=runs, result=None)
        whole = set(read.values_list("run", flat=True))
        rows += [Sight(person_id=person, run_id=run) for run in runs if run not in whole]
    if rows:  # a page that is read again writes nothing
        Sight.objects.bulk_create(rows, ignore_conflicts=True)


def record_filtered(reader: Reader, scope: QuerySet[Result]) -> None:
    """Record that a reader was shown all those of `scope` that have certain outcomes.

    So they know the outcomes of the others, too.
    """
    if not _counts(reader) and not isinstance(reader, Keeper):
        return
    results = list(scope.order_by().values_list("pk", flat=True)[: MANY + 1])
    if len(results) <= MANY:
        record(reader, results)
        return
    runs = set(scope.order_by().values_list("run", flat=True).distinct())
    hidden = Result.objects.filter(pk__in=hidden_from(reader))
    apart = set(hidden.order_by().values_list("run", flat=True)) & runs
    single = scope.filter(run__in=apart).order_by().values_list("pk", flat=True)
    record(reader, list(single), runs - apart)


def has_seen(person: int, result: Result) -> bool:
    """Tell whether a person was shown verdicts on a result."""
    whole = Q(result__isnull=True, run=result.run_id)
    return Sight.objects.filter(Q(result=result) | whole, person=person).exists()


def _counts(reader: Reader) -> bool:
    return reader.pk is not None and reader.has_perm(GIVES_VERDICTS)  # type: ignore[union-attr]
