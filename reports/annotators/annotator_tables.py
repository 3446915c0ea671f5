"""Tables of how far people agree."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from reports.annotators.query import Annotators, Group
from reports.annotators.rule import EvaluationScope, GroupAgreement, Pair, SelfAgreement, Work
from reports.documents.document import Cell, Column, Estimate, Table
from reports.documents.rate_cells import resampled_share, share_of

NOBODY = "No two people have judged the same answer yet: let a queue ask two reviewers for each."
TITLES = {
    EvaluationScope.BLIND: "Two people, both blind",
    EvaluationScope.ALL: "Two people, all verdicts",
}
NOTES = {
    EvaluationScope.BLIND: "Answers on which neither saw the judges or the other. Kappa is "
    "Cohen's, of pass and fail; by degree it is weighted by the squared steps of the scale, where "
    "that has more than two options. Intervals are resampled by issue.",
    EvaluationScope.ALL: "Annotators may have seen what judges and others said, which makes them "
    "agree more than they would by themselves.",
}
EMPTY = {
    EvaluationScope.BLIND: "No two annotators have judged the same answer blind yet: let a queue "
    "ask two reviewers for each, and hide what judges said.",
    EvaluationScope.ALL: NOBODY,
}
KINDS = {"all": "All answers", "suite": "Suite", "tag": "Tag"}


def pairs_table(found: Annotators | None, scope: EvaluationScope) -> Table:
    return Table(
        key=f"pairs_{scope.value}",
        title=TITLES[scope],
        columns=(
            Column("first", "One"),
            Column("second", "The other"),
            Column("same", "Same verdict", "rate", "Both pass, or both fail"),
            Column("kappa", "Kappa", "estimate", "0 is chance, 1 full agreement"),
            Column("graded", "Kappa by degree", "estimate", "On scales of more than two options"),
            Column("note", "Note"),
        ),
        rows=[_pair(pair, found.names) for pair in found.pairs[scope]] if found else [],
        note=NOTES[scope],
        empty=EMPTY[scope] if found else "Being computed.",
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
    return names.get(annotator, f"person {annotator}")


# All ----------------------------------------------------------------------------------------------


def group_agreement_table(found: Annotators | None) -> Table:
    return Table(
        key="group_agreement",
        title="All people together, by suite and tag",
        columns=(
            Column("verdicts", "Verdicts"),
            Column("kind", "Of"),
            Column("group", "Name"),
            Column("answers", "Answers", "count", "Judged by two people at least"),
            Column("people", "People", "count"),
            Column("same", "Same verdict", "rate", "Of all pairs of verdicts on one answer"),
            Column("alpha", "Alpha", "estimate", "Krippendorff's, of pass and fail"),
            Column("band", "Worth"),
        ),
        rows=list(_group_agreement(found)) if found else [],
        note="From 0.8 on people's verdicts are reliable, from 0.667 tentative. There is no alpha "
        "of fewer than 5 answers, nor where all gave one verdict. Intervals are resampled by "
        "issue. An answer counts in each of its tags.",
        empty=NOBODY if found else "Being computed.",
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
        line.people,
        resampled_share(line.same, line.compared, line.raw),
        Estimate(line.alpha, line.answers, line.interval),
        str(line.band),
    )


def _kind_and_name(line: GroupAgreement) -> Group:
    return cast(Group, line.group)


# Each ---------------------------------------------------------------------------------------------


def annotator_work_table(found: Annotators | None) -> Table:
    return Table(
        key="people",
        title="Each person",
        columns=(
            Column("annotator", "Person"),
            Column("evaluations", "Evaluations", "count", "Those replaced or withdrawn too"),
            Column("settled", "Settled by others", "rate", "Of their verdicts that stand"),
            Column("overruled", "Overruled", "rate", "Of all that stand, by an adjudication"),
            Column("adjudications", "Settled by them", "count"),
            Column("seconds", "Median time", "ms", "Of a verdict, where it was measured"),
            Column("timed", "Timed", "count"),
        ),
        rows=[_work(work, found.names) for work in found.work] if found else [],
        note="Overruled is who was on the other side of the pass line than whoever settled it. "
        "That says little of a person: disputes are the hard cases.",
        empty="Nobody has judged an answer of these runs." if found else "Being computed.",
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
        title="The same person again",
        columns=(
            Column("annotator", "Person"),
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
        note="Answers that a queue gave to a person once more, blind.",
        empty="Nobody was given an answer again, blind, that they had judged before."
        if found
        else "Being computed.",
    )
