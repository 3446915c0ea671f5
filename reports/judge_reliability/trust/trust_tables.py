"""Tables of who decides by group: a judge, two that agree, or a human."""

from collections.abc import Mapping, Sequence

from evalhub.formatting import percent
from reports.documents.document import Column, Table
from reports.documents.rate_cells import resampled_share
from reports.judge_reliability.accuracy_rule import Sample
from reports.judge_reliability.humans.accuracy_tables import (
    NO_EVALUATIONS,
    accuracy,
    kappa,
    party_link,
    party_url,
)
from reports.judge_reliability.trust.deciders import (
    EVERYTHING,
    MIN_AGREED,
    Decider,
    Line,
    Pair,
    TrustEntry,
)
from reports.judge_reliability.trust_rule import MIN_ACCURACY, MIN_CHECKED, Trust
from reports.queries.human_agreement import Party

RULE = (
    "On answers drawn at random and judged blind. One judge: a judge or jury without concerns, "
    f"right at least {percent(MIN_ACCURACY)} of the time at the lower end of its 95 % interval "
    "(Wilson's, or the one resampled by issue if lower). Two judges: they are as accurate when "
    f"they agree, and agree on at least {percent(MIN_AGREED)}; a human decides the rest. Otherwise "
    f"a human. Not known yet: fewer than {MIN_CHECKED} answers."
)

Parties = Mapping[str, Party]


def name_of(group: str) -> str:
    return "All answers" if group == EVERYTHING else group


def names(parties: Parties, who: Sequence[str]) -> str:
    return " and ".join(parties[key].name for key in who)


def trust_table(entries: Sequence[TrustEntry], parties: Parties, kind: str) -> Table:
    return Table(
        key="sheet",
        title="Deciders",
        columns=(
            Column("group", kind.capitalize()),
            Column("decider", "Decided by"),
            Column("parties", "Judges"),
            Column("left_to_annotators", "Human review", "share", "Of these answers"),
            Column("drawn", "Answers", "count", "Drawn at random and judged blind"),
            Column("more", "More needed", "count", "For a conclusion, or a better one"),
            Column("why", "Why"),
        ),
        rows=[
            (
                name_of(entry.group),
                str(entry.decider),
                names(parties, entry.parties)
                if entry.decider in (Decider.ONE, Decider.TWO)
                else "",
                entry.left_to_annotators,
                entry.drawn,
                entry.more or None,
                why(entry, parties),
            )
            for entry in entries
        ],
        note=RULE,
        empty=NO_EVALUATIONS,
    )


def why(entry: TrustEntry, parties: Parties) -> str:
    """Give the reason for the decider, with the figures behind it."""
    name = names(parties, entry.parties)
    if entry.decider is Decider.TWO:
        pair = next(pair for pair in entry.pairs if pair[:2] == entry.parties)
        return (
            f"When they agree, they are right on {pair.right:,} of {pair.agreed:,}; they disagree "
            f"on {pair.both - pair.agreed:,} of {pair.both:,}."
        )
    line = next((line for line in entry.lines if (line.found.party,) == entry.parties), None)
    if line is None:
        return "No answer was drawn at random and judged blind."
    right, n = line.found.right, line.found.n
    found = f"{name} is right on {right:,} of {n:,}: at least {percent(line.low)} (95 %)."
    if entry.decider is Decider.ONE:
        return found
    if right > MIN_ACCURACY * n and line.more:
        missing = f"At this accuracy, {line.more:,} more answers allow it to decide alone."
    elif right > MIN_ACCURACY * n:
        missing = " ".join(concern.text for concern in line.concerns)
    elif line.trust is Trust.UNKNOWN:
        missing = f"Too few: {line.more:,} more answers give a conclusion."
    else:
        missing = "More answers at this accuracy will not change that."
    return f"Best known: {found} {missing}"


def judges_table(entries: Sequence[TrustEntry], parties: Parties, kind: str) -> Table:
    def best_first(line: Line) -> tuple[bool, float, str]:
        return line.sample is Sample.ALL, -line.low, line.found.party

    return Table(
        key="judges",
        title="Judges and juries",
        columns=(
            Column("group", kind.capitalize()),
            Column("judge", "Judge or jury", "link"),
            Column("sample", "Answers"),
            Column("accuracy", "Accuracy", "rate", "Same verdict as humans"),
            Column("kappa", "Kappa", "estimate", "Cohen's: agreement beyond chance"),
            Column("trust", "Trust"),
            Column("more", "More needed", "count"),
        ),
        rows=[
            (
                name_of(entry.group),
                party_link(
                    parties[line.found.party],
                    party_url(party=line.found.party, sample=line.sample.value),
                ),
                "drawn at random" if line.sample is Sample.DRAWN else "selected by annotators",
                accuracy(line.found),
                kappa(line.found),
                str(line.trust),
                line.more or None,
            )
            for entry in entries
            for line in sorted(entry.lines, key=best_first)
        ],
        note="Annotators often select answers they doubt, which makes a judge look worse than it "
        "is: these decide nothing. Intervals are resampled by issue.",
        empty=NO_EVALUATIONS,
        look="long",
    )


def pairs_table(entries: Sequence[TrustEntry], parties: Parties, kind: str) -> Table:
    def best_first(pair: Pair) -> tuple[bool, float, str, str]:
        return not pair.is_enough, pair.left_to_annotators, pair.first, pair.second

    return Table(
        key="pairs",
        title="Judge pairs",
        columns=(
            Column("group", kind.capitalize()),
            Column("first", "Judge"),
            Column("second", "Second judge"),
            Column("agreed", "Agreement", "rate", "A human decides the rest"),
            Column("accuracy", "Accuracy when they agree", "rate"),
            Column("verdict", "Conclusion"),
        ),
        rows=[
            (
                name_of(entry.group),
                parties[pair.first].name,
                parties[pair.second].name,
                resampled_share(pair.agreed, pair.both, None),
                resampled_share(pair.right, pair.agreed, pair.interval),
                "can decide together" if pair.is_enough else "",
            )
            for entry in entries
            for pair in sorted(entry.pairs, key=best_first)
        ],
        note="On answers drawn at random that both judged.",
        empty="No answer drawn at random has verdicts of two judges.",
        look="long",
    )
