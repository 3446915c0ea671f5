"""Tables of agreement between annotators."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from reports.annotators.query import Annotators, Group
from reports.annotators.rule import EvaluationScope, GroupAgreement, Pair, SelfAgreement, Work
from reports.documents.document import Cell, Column, Estimate, Table
from reports.documents.rate_cells import resampled_share, share_of

NO_PAIRS = "No answer has two annotators yet. Set a review queue to two reviewers per answer."
TITLES = {
    EvaluationScope.BLIND: "Pairwise agreement (blind)",
    EvaluationScope.ALL: "Pairwise agreement (all verdicts)",
}
NOTES = {
    EvaluationScope.BLIND: "Answers that both judged without seeing any verdict. Kappa is Cohen's, "
    "of pass and fail; weighted kappa uses the squared steps of scales with more than two options. "
    "Intervals are resampled by issue.",
    EvaluationScope.ALL: "Annotators may have seen the verdicts of judges and others, which raises "
    "their agreement.",
}
EMPTY = {
    EvaluationScope.BLIND: "No answer has two blind annotators yet. Set a review queue to two "
    "reviewers per answer, and hide the judges' verdicts.",
    EvaluationScope.ALL: NO_PAIRS,
}
KINDS = {"all": "All answers", "suite": "Suite", "tag": "Tag"}


def pairs_table(found: Annotators | None, scope: EvaluationScope) -> Table:
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
        rows=[_pair(pair, found.names) for pair in found.pairs[scope]] if found else [],
        note=NOTES[scope],
        empty=EMPTY[scope] if found else "Computing…",
    )


def _pair(pair: Pair, names: Mapping[int, str]) -> tuple[Cell, ...]:
    graded = pair.graded
    return (
        name_of(pair.first, names),
        name_of(pair.second, names),
        resampled_share(pair.same, pair.n, pair.raw),
        Estimate(pair.kappa, pair.n, pair.interval),
        Estimate(graded.kappa, graded.n) if graded else None,
        " ".join(_notes(pair)),
    )


def _notes(pair: Pair) -> Iterator[str]:
    if pair.why_not:
        yield pair.why_not
    elif pair.is_lopsided:
        yield "One verdict is rare: kappa says little."


def name_of(annotator: int, names: Mapping[int, str]) -> str:
    return names.get(annotator, f"annotator {annotator}")


# Groups -------------------------------------------------------------------------------------------


def group_agreement_table(found: Annotators | None) -> Table:
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
        rows=list(_group_agreement(found)) if found else [],
        note="Reliable from 0.8, tentative from 0.667. Alpha needs 5 answers and both outcomes. "
        "Intervals are resampled by issue. An answer counts in each of its tags.",
        empty=NO_PAIRS if found else "Computing…",
        look="long",
    )


def _group_agreement(found: Annotators) -> Iterator[tuple[Cell, ...]]:
    for scope in EvaluationScope:
        for line in sorted(found.group_agreement[scope], key=_by_kind):
            yield _group(line, scope)


def _by_kind(line: GroupAgreement) -> tuple[int, int, str]:
    kind, name = _kind_and_name(line)
    return list(KINDS).index(kind), -line.answers, name


def _group(line: GroupAgreement, scope: EvaluationScope) -> tuple[Cell, ...]:
    kind, name = _kind_and_name(line)
    return (
        scope.value,
        KINDS[kind],
        name,
        line.answers,
        line.annotators,
        resampled_share(line.same, line.compared, line.raw),
        Estimate(line.alpha, line.answers, line.interval),
        str(line.band),
    )


def _kind_and_name(line: GroupAgreement) -> Group:
    return cast(Group, line.group)


# Single annotators --------------------------------------------------------------------------------


def annotator_work_table(found: Annotators | None) -> Table:
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
        rows=[_work(work, found.names) for work in found.work] if found else [],
        note="Overruled: the adjudication had the other outcome. That says little about an "
        "annotator: disputes are the hard cases.",
        empty="No answer of these runs has a human evaluation." if found else "Computing…",
    )


def _work(work: Work, names: Mapping[int, str]) -> tuple[Cell, ...]:
    seconds = work.median_seconds
    return (
        name_of(work.who, names),
        work.evaluations,
        share_of(work.settled, work.annotator_verdicts),
        share_of(work.overruled, work.annotator_verdicts),
        work.adjudications,
        None if seconds is None else round(1000 * seconds),
        len(work.seconds),
    )


def self_agreement_table(found: Annotators | None) -> Table:
    rows: Sequence[SelfAgreement] = found.self_agreement if found else ()
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
                name_of(line.who, found.names if found else {}),
                resampled_share(line.same, line.n, line.raw),
                Estimate(line.kappa, line.n, line.interval),
                line.why_not,
            )
            for line in rows
        ],
        note="Answers that a queue gave to the same annotator again, blind.",
        empty="No annotator has judged an answer again, blind." if found else "Computing…",
    )
