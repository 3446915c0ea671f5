"""Tables of how far people agree."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from reports.document import Cell, Column, Estimate, Table
from reports.judges.annotators import Pair, Sight, Themselves, Together, Work
from reports.queries.annotators import Annotators, Group
from reports.shares import resampled_share, share_of

NOBODY = "No two people have judged the same answer yet: let a queue ask two reviewers for each."
TITLES = {
    Sight.BLIND: "Two people, both blind",
    Sight.ALL: "Two people, all verdicts",
}
NOTES = {
    Sight.BLIND: "Answers on which neither saw the judges or the other. Kappa is Cohen's, of pass "
    "and fail; by degree it is weighted by the squared steps of the scale, where that has more "
    "than two options. Intervals are resampled by issue.",
    Sight.ALL: "Here people may have seen what judges and others said, which makes them agree "
    "more than they would by themselves.",
}
EMPTY = {
    Sight.BLIND: "No two people have judged the same answer blind yet: let a queue ask two "
    "reviewers for each, and hide what judges said.",
    Sight.ALL: NOBODY,
}
KINDS = {"all": "All answers", "suite": "Suite", "tag": "Tag"}


def pairs_table(found: Annotators | None, sight: Sight) -> Table:
    return Table(
        key=f"pairs_{sight.value}",
        title=TITLES[sight],
        columns=(
            Column("first", "One"),
            Column("second", "The other"),
            Column("same", "Same verdict", "rate", "Both pass, or both fail"),
            Column("kappa", "Kappa", "estimate", "0 is chance, 1 full agreement"),
            Column("graded", "Kappa by degree", "estimate", "On scales of more than two options"),
            Column("note", "Note"),
        ),
        rows=[_pair(pair, found.names) for pair in found.pairs[sight]] if found else [],
        note=NOTES[sight],
        empty=EMPTY[sight] if found else "Being computed.",
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


def name_of(person: int, names: Mapping[int, str]) -> str:
    return names.get(person, f"person {person}")


# All ----------------------------------------------------------------------------------------------


def together_table(found: Annotators | None) -> Table:
    return Table(
        key="together",
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
        rows=list(_together(found)) if found else [],
        note="From 0.8 on people's verdicts are reliable, from 0.667 tentative. There is no alpha "
        "of fewer than 5 answers, nor where all gave one verdict. Intervals are resampled by "
        "issue. An answer counts in each of its tags.",
        empty=NOBODY if found else "Being computed.",
        look="long",
    )


def _together(found: Annotators) -> Iterator[tuple[Cell, ...]]:
    for sight in Sight:
        for line in sorted(found.together[sight], key=_by_kind):
            yield _group(line, sight)


def _by_kind(line: Together) -> tuple[int, int, str]:
    kind, name = _kind_and_name(line)
    return list(KINDS).index(kind), -line.answers, name


def _group(line: Together, sight: Sight) -> tuple[Cell, ...]:
    kind, name = _kind_and_name(line)
    return (
        sight.value,
        KINDS[kind],
        name,
        line.answers,
        line.people,
        resampled_share(line.same, line.compared, line.raw),
        Estimate(line.alpha, line.answers, line.interval),
        str(line.band),
    )


def _kind_and_name(line: Together) -> Group:
    return cast(Group, line.group)


# Each ---------------------------------------------------------------------------------------------


def people_table(found: Annotators | None) -> Table:
    return Table(
        key="people",
        title="Each person",
        columns=(
            Column("person", "Person"),
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
        share_of(work.settled, work.opinions),
        share_of(work.overruled, work.opinions),
        work.adjudications,
        None if seconds is None else round(1000 * seconds),
        len(work.seconds),
    )


def themselves_table(found: Annotators | None) -> Table:
    rows: Sequence[Themselves] = found.themselves if found else ()
    return Table(
        key="themselves",
        title="The same person again",
        columns=(
            Column("person", "Person"),
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
