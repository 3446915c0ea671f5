"""Tables of the sheet that says whom to trust where."""

from collections.abc import Iterator, Mapping, Sequence

from evalhub.formatting import percent
from reports.documents.document import Cell, Column, Estimate, Link, Table
from reports.documents.links import page_url
from reports.documents.rate_cells import resampled_share
from reports.judge_reliability.accuracy_rule import Sample
from reports.judge_reliability.trust.rule import (
    EVERYTHING,
    LEAST_AGREED,
    LEAST_RIGHT,
    Line,
    Pair,
    TrustEntry,
    TrustLevel,
)
from reports.queries.human_agreement import Party

ALL = "All answers"
EMPTY = "People have judged no answers of finished runs yet: review some from a queue."
RULE = (
    f"The rule, on answers drawn at random and judged blind: alone, where a judge or jury is right "
    f"at least {percent(LEAST_RIGHT)} of the time at the lower end of its 95 % interval (Wilson's, "
    "or the one resampled by issue where that is lower). Else two, where two judges, when they "
    f"agree, are right as surely, and agree on at least {percent(LEAST_AGREED)}: a person looks at "
    "the rest. Else a person. Not known yet with fewer than 20 answers."
)

Parties = Mapping[str, Party]


def name_of(group: str) -> str:
    return ALL if group == EVERYTHING else group


def names(parties: Parties, who: Sequence[str]) -> str:
    return " and ".join(parties[key].name for key in who)


# Where --------------------------------------------------------------------------------------------

VERDICTS = {
    TrustLevel.ALONE: "one judge alone",
    TrustLevel.TWO: "two judges that agree",
    TrustLevel.HUMAN: "a person",
    TrustLevel.UNKNOWN: "not known yet",
}


def trust_table(entries: Sequence[TrustEntry], parties: Parties, kind: str) -> Table:
    return Table(
        key="sheet",
        title="Who decides, and where a person must look",
        columns=(
            Column("group", kind.capitalize()),
            Column("trust", "Who decides"),
            Column("who", "Who that is"),
            Column("left_to_annotators", "A person looks at", "share", "Of these answers"),
            Column("drawn", "Answers", "count", "Drawn at random and judged blind by people"),
            Column("more", "More needed", "count", "To say it, or to say better"),
            Column("why", "Why"),
        ),
        rows=[_entry(entry, parties) for entry in entries],
        note=RULE,
        empty=EMPTY,
    )


def _entry(entry: TrustEntry, parties: Parties) -> tuple[Cell, ...]:
    is_named = entry.trust in (TrustLevel.ALONE, TrustLevel.TWO)
    return (
        name_of(entry.group),
        VERDICTS[entry.trust],
        names(parties, entry.who) if is_named else "",
        entry.left_to_annotators,
        entry.drawn,
        entry.more or None,
        why(entry, parties),
    )


def why(entry: TrustEntry, parties: Parties) -> str:
    """The verdict's reason, with the figures that it rests on."""
    who = names(parties, entry.who)
    if entry.trust is TrustLevel.TWO:
        pair = next(pair for pair in entry.pairs if pair[:2] == entry.who)
        return (
            f"When they agree, they are right on {pair.right:,} of {pair.agreed:,}; they differ on "
            f"{pair.both - pair.agreed:,} of {pair.both:,}."
        )
    line = next((line for line in entry.lines if (line.found.party,) == entry.who), None)
    if line is None:
        return "No answer was drawn at random and judged blind."
    told = f"{who} is right on {line.right:,} of {line.found.n:,}, surely {percent(line.low)}."
    if entry.trust is TrustLevel.ALONE:
        return told
    return f"The best known: {told} {_missing(line)}"


def _missing(line: Line) -> str:
    """What lacks to trust it alone, if it goes on being right as often."""
    if line.right > LEAST_RIGHT * line.found.n:
        return f"Going on like that, it takes {line.more:,} more answers to trust it alone."
    if line.trust is TrustLevel.UNKNOWN:
        return f"These are too few: {line.more:,} more say whether it is so."
    return "That is too rare, however many answers more there are."


# Who ----------------------------------------------------------------------------------------------

MAY = {
    TrustLevel.ALONE: "may judge alone",
    TrustLevel.HUMAN: "not alone",
    TrustLevel.UNKNOWN: "not known yet",
}
SAMPLES = {
    Sample.DRAWN: "drawn at random",
    Sample.ALL: "selected by people",
}


def judges_table(entries: Sequence[TrustEntry], parties: Parties, kind: str) -> Table:
    return Table(
        key="judges",
        title="Each judge and jury",
        columns=(
            Column("group", kind.capitalize()),
            Column("judge", "Judge or jury", "link"),
            Column("sample", "Answers"),
            Column("right", "Right", "rate", "It says what people say"),
            Column("kappa", "Kappa", "estimate", "Cohen's: agreement beyond chance"),
            Column("trust", "Verdict"),
            Column("more", "More needed", "count"),
        ),
        rows=[_line(e.group, line, parties) for e in entries for line in _sorted(e.lines)],
        note="Answers that people selected are often those they doubted: they show a judge as "
        "worse than it is, and give no verdict. Intervals are resampled by issue.",
        empty=EMPTY,
        look="long",
    )


def _sorted(lines: Sequence[Line]) -> list[Line]:
    return sorted(lines, key=lambda line: (line.sample is Sample.ALL, -line.low, line.found.party))


def _line(group: str, line: Line, parties: Parties) -> tuple[Cell, ...]:
    party, found = parties[line.found.party], line.found
    state = {"party": found.party, "sample": line.sample.value}
    return (
        name_of(group),
        Link(party.name, page_url("calibration", **state), "scripted" if party.is_scripted else ""),
        SAMPLES[line.sample],
        resampled_share(line.right, found.n, found.intervals.accuracy),
        Estimate(found.kappa, found.n, found.intervals.kappa),
        MAY[line.trust],
        line.more or None,
    )


# Two ----------------------------------------------------------------------------------------------


def pairs_table(entries: Sequence[TrustEntry], parties: Parties, kind: str) -> Table:
    return Table(
        key="pairs",
        title="Two judges together",
        columns=(
            Column("group", kind.capitalize()),
            Column("first", "One"),
            Column("second", "The other"),
            Column("agreed", "They agree", "rate", "A person looks at the rest"),
            Column("right", "Right when they agree", "rate"),
            Column("verdict", "Verdict"),
        ),
        rows=list(_pairs(entries, parties)),
        note="On answers drawn at random on which both gave a verdict.",
        empty="No two judges gave verdicts on the same answers drawn at random.",
        look="long",
    )


def _pairs(entries: Sequence[TrustEntry], parties: Parties) -> Iterator[tuple[Cell, ...]]:
    for entry in entries:
        for pair in sorted(entry.pairs, key=_best_first):
            yield (
                name_of(entry.group),
                parties[pair.first].name,
                parties[pair.second].name,
                resampled_share(pair.agreed, pair.both, None),
                resampled_share(pair.right, pair.agreed, pair.interval),
                "may judge together" if pair.is_enough else "",
            )


def _best_first(pair: Pair) -> tuple[bool, float, str, str]:
    return not pair.is_enough, pair.left_to_annotators, pair.first, pair.second
