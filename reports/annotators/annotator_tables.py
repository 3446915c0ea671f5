"""Tables of agreement between annotators."""

from collections.abc import Iterator
from statistics import median

from evalhub.display.charts import Figure
from evalhub.statistics.agreement.alpha_bands import MIN_UNITS, RELIABLE, TENTATIVE
from evalhub.statistics.judges.judge_intervals import KAPPA_METHOD
from reports.annotators.query import Annotators
from reports.annotators.rule import EvaluationScope, Pair
from reports.documents.cells import share_of
from reports.documents.document import MIN_DRAWN, Cell, Column, Estimate, Table
from reports.leaderboard.figure import Mean, ranked_means

NO_PAIRS = "No answer has two annotators yet. Set a review queue to two reviewers per answer."
TITLES = {
    EvaluationScope.BLIND: "Pairwise agreement (blind)",
    EvaluationScope.ALL: "Pairwise agreement (all verdicts)",
}
NOTES = {
    EvaluationScope.BLIND: "Answers that both judged without seeing any verdict. Kappa is Cohen's, "
    "of pass and fail; weighted kappa uses the squared steps of scales with more than two options. "
    f"Interval of kappa: {KAPPA_METHOD}.",
    EvaluationScope.ALL: "Annotators may have seen the verdicts of judges and others, which raises "
    "their agreement.",
}
EMPTY = {
    EvaluationScope.BLIND: "No answer has two blind annotators yet. Set a review queue to two "
    "reviewers per answer, and hide the judges' verdicts.",
    EvaluationScope.ALL: NO_PAIRS,
}
KINDS = {"all": "All answers", "suite": "Suite", "tag": "Tag"}


def pairs_table(found: Annotators, scope: EvaluationScope) -> Table:
    return Table(
        key=f"pairs_{scope.value}",
        title=TITLES[scope],
        columns=(
            Column("first", "Annotator"),
            Column("second", "Second annotator"),
            Column("same", "Same verdict", "rate", "Both pass, or both fail"),
            Column("kappa", "Kappa", "estimate", "0 is chance, 1 full agreement"),
            Column("graded", "Weighted kappa", "estimate", "On scales with more than two options"),
            Column("note", "Note"),
        ),
        rows=[
            (
                name_of(pair.first, found),
                name_of(pair.second, found),
                pair.same,
                Estimate(pair.kappa, pair.n, pair.interval),
                pair.graded and Estimate(pair.graded.kappa, pair.graded.n),
                " ".join(_notes(pair)),
            )
            for pair in found.pairs[scope]
        ],
        note=NOTES[scope],
        empty=EMPTY[scope],
        draw=lambda: _figure(found, scope),
        describes="How often each two annotators gave the same verdict, with its interval",
    )


def _figure(found: Annotators, scope: EvaluationScope) -> Figure | None:
    points = [
        Mean(
            f"{pair.first}-{pair.second}",
            f"{name_of(pair.first, found)}, {name_of(pair.second, found)}",
            pair.same.share,
            pair.n,
            pair.same.interval,
        )
        for pair in found.pairs[scope]
        if pair.same.share is not None
    ]
    if len(points) < MIN_DRAWN:
        return None
    return ranked_means(points, unit="answers", title="Same verdict")


def _notes(pair: Pair) -> Iterator[str]:
    if pair.why_not:
        yield pair.why_not
    if pair.kappa is not None and pair.is_lopsided:
        yield "One verdict is rare: kappa says little."


def name_of(annotator: int, found: Annotators) -> str:
    return found.names.get(annotator, f"annotator {annotator}")


def group_agreement_table(found: Annotators) -> Table:
    return Table(
        key="group_agreement",
        title="Agreement by suite and tag",
        columns=(
            Column("verdicts", "Verdicts"),
            Column("kind", "Group by"),
            Column("group", "Name"),
            Column("answers", "Answers", "count", "With at least two annotators"),
            Column("annotators", "Annotators", "count"),
            Column("same", "Same verdict", "rate", "Of all pairs of verdicts on one answer"),
            Column("alpha", "Alpha", "estimate", "Krippendorff's, of pass and fail"),
            Column("band", "Reliability"),
        ),
        rows=list(_group_agreement(found)),
        note=f"Reliable from {RELIABLE}, tentative from {TENTATIVE}. Alpha needs {MIN_UNITS} "
        "answers and both outcomes; its interval is a bootstrap over issues. An answer "
        "counts in each of its tags.",
        empty=NO_PAIRS,
        look="long",
    )


def _group_agreement(found: Annotators) -> Iterator[tuple[Cell, ...]]:
    for scope in EvaluationScope:
        lines = [(list(KINDS).index(line.group[0]), line) for line in found.group_agreement[scope]]
        for _, line in sorted(lines, key=lambda one: (one[0], -one[1].answers, one[1].group[1])):
            kind, name = line.group
            yield (
                scope.value,
                KINDS[kind],
                name,
                line.answers,
                line.annotators,
                line.same,
                Estimate(line.alpha, line.answers, line.interval),
                str(line.band),
            )


def annotator_work_table(found: Annotators) -> Table:
    return Table(
        key="annotators",
        title="Annotators",
        columns=(
            Column("annotator", "Annotator"),
            Column("evaluations", "Evaluations", "count", "With those replaced or withdrawn"),
            Column("settled", "Adjudicated by others", "rate", "Of their active verdicts"),
            Column("overruled", "Overruled", "rate", "Of their active verdicts"),
            Column("adjudications", "Adjudications", "count"),
            Column("seconds", "Median time", "ms", "Per verdict, where measured"),
            Column("timed", "Timed", "count"),
        ),
        rows=[
            (
                name_of(work.who, found),
                work.evaluations,
                share_of(work.settled, work.annotator_verdicts),
                share_of(work.overruled, work.annotator_verdicts),
                work.adjudications,
                round(1000 * median(work.seconds)) if work.seconds else None,
                len(work.seconds),
            )
            for work in found.work
        ],
        note="Overruled: the adjudication had the other outcome. That says little about an "
        "annotator: disputes are the hard cases.",
        empty="No answer of these runs has a human evaluation.",
    )


def self_agreement_table(found: Annotators) -> Table:
    return Table(
        key="self_agreement",
        title="Self-consistency",
        columns=(
            Column("annotator", "Annotator"),
            Column("same", "Same verdict again", "rate"),
            Column("kappa", "Kappa", "estimate"),
            Column("note", "Note"),
        ),
        rows=[
            (
                name_of(line.who, found),
                line.same,
                Estimate(line.kappa, line.n, line.interval),
                line.why_not,
            )
            for line in found.self_agreement
        ],
        note="Answers that a queue gave to the same annotator again, blind. "
        f"Interval of kappa: {KAPPA_METHOD}.",
        empty="No annotator has judged an answer again, blind.",
    )
