"""The clusters of a run's failed answers, and what was decided about them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from evalhub.llm import word_vectors
from evalhub.values.digest import digest
from issues.similarity.ranking import Matrix
from reports.documents.reading import Reading
from reports.failure_clusters.rule import Cluster, FailureText, clusters_of
from reports.limits import MAX_CLUSTERED_ANSWERS
from reports.models import DecidedCluster
from reports.queries.names import titles
from runs.figures.states import current_of
from runs.issue_filing.failed_answers import FailedAnswer, read_answers
from runs.models import JudgeRun, Outcome, Result, Run

AT_ONCE = 300
"""Failed answers that the first request compares; more are left to a second one."""
MAX_PASSED = 300
"""Passed answers whose words tell which are rare."""
MAX_REASON, MAX_ANSWER = 1200, 400
"""Compared characters."""


@dataclass(frozen=True)
class ProposedCluster:
    """A cluster by the ids of its results, the most typical first.

    `issues` are those of its tests with the number of answers, most frequent first.
    """

    results: tuple[int, ...]
    name: str
    issues: tuple[tuple[int, str, int], ...]

    @property
    def key(self) -> str:
        return digest(sorted(self.results))[:16]

    @property
    def size(self) -> int:
        return len(self.results)


@dataclass(frozen=True)
class RunClusters:
    """The clusters of a run; None in `proposed` if they are not computed yet.

    Of the `failed` answers, `sealed` ones are never compared; `results` are the ids of those that
    are.
    """

    run: Run
    judge_run: JudgeRun | None
    failed: int
    sealed: int
    results: tuple[int, ...]
    proposed: list[ProposedCluster] | None
    decided: list[tuple[DecidedCluster, str]] = field(default_factory=list)
    """With their names as of now, "" where their answers have changed."""

    @property
    def compared(self) -> int:
        return len(self.results)

    @property
    def clustered(self) -> int:
        """Compared answers in any cluster, decided ones too."""
        found = {pk for one in self.proposed or () for pk in one.results}
        found.update(pk for row, _ in self.decided for pk in row.results)
        return len(found.intersection(self.results))

    @property
    def unclustered(self) -> int:
        return self.compared - self.clustered


def clusters_of_run(run: Run, reading: Reading) -> RunClusters:
    """Return the clusters without those decided; large runs are compared by `reading.computed`."""
    judge_run = current_of(run.judge_runs.all())
    failed = Result.objects.filter(run=run, outcome=Outcome.FAILED).order_by("pk")
    every = list(failed.values_list("pk", "test__sealed"))
    results = [pk for pk, sealed in every if not sealed][:MAX_CLUSTERED_ANSWERS]
    reading.computes = reading.computes or len(results) <= AT_ONCE
    found = reading.computed(
        "failure-clusters-1",
        [results, judge_run and [judge_run.pk, str(judge_run.finished_at)]],
        list[tuple[tuple[int, ...], str]],
        lambda: _clusters(run, judge_run, results),
        of=[run.pk],
    )
    decided = list(DecidedCluster.objects.filter(run=run).select_related("issue", "decided_by"))
    named = [(row, _name(row, found or ())) for row in decided]
    proposed = None if found is None else _proposed(found, decided)
    sealed = sum(is_sealed for _, is_sealed in every)
    return RunClusters(run, judge_run, len(every), sealed, tuple(results), proposed, named)


def _clusters(
    run: Run, judge_run: JudgeRun | None, results: Sequence[int]
) -> list[tuple[tuple[int, ...], str]]:
    """Return each cluster's results and name."""
    passed = Result.objects.filter(run=run, outcome=Outcome.PASSED).order_by("pk")
    known = passed.values_list("pk", flat=True)[:MAX_PASSED]
    failed = list(read_answers(results, judge_run))
    background = [_text(one) for one in read_answers(known, judge_run, against=False)]
    found: list[Cluster] = clusters_of([_text(one) for one in failed], background, _vectors)
    return [(tuple(failed[at].result for at in one.members), one.name) for one in found]


def _text(answer: FailedAnswer) -> FailureText:
    return FailureText(answer.reason[:MAX_REASON], answer.answer[:MAX_ANSWER])


def _vectors(words: list[str]) -> Matrix | None:
    try:
        return word_vectors.load().matrix(words)
    except word_vectors.NoWordVectors:
        return None


def _is_of(row: DecidedCluster, results: Sequence[int]) -> bool:
    """Return whether most of these results were decided on by the row: it may have grown since."""
    return 2 * len(set(row.results).intersection(results)) > len(results)


def _name(row: DecidedCluster, found: Sequence[tuple[tuple[int, ...], str]]) -> str:
    return next((name for results, name in found if _is_of(row, results)), "")


def _proposed(
    found: Sequence[tuple[tuple[int, ...], str]], decided: Sequence[DecidedCluster]
) -> list[ProposedCluster]:
    """Leave out the clusters that were decided on."""
    left = [
        (results, name)
        for results, name in found
        if not any(_is_of(row, results) for row in decided)
    ]
    ids = [pk for results, _ in left for pk in results]
    issue_of = dict(Result.objects.filter(pk__in=ids).values_list("pk", "issue_id"))
    title_of = titles(set(issue_of.values()))
    proposed = []
    for results, name in left:
        counts = Counter(issue_of[pk] for pk in results if pk in issue_of)
        issues = tuple((pk, title_of[pk], n) for pk, n in counts.most_common())
        proposed.append(ProposedCluster(results, name, issues))
    return proposed
