"""Tables of who decides by group: a judge, two that agree, or a human."""

from collections.abc import Mapping, Sequence

from evalhub.display.formatting import percent
from evalhub.statistics.rates.rate_interval import MIN_ISSUES
from reports.documents.cells import share_without_interval
from reports.documents.document import Column, Table
from reports.judge_reliability.accuracy_rule import Sample
from reports.judge_reliability.humans.accuracy_tables import (
    NO_EVALUATIONS,
    RATE_COLUMNS,
    kappa,
    party_link,
    party_url,
    rates,
)
from reports.judge_reliability.trust.decider_rule import (
    EVERYTHING,
    MIN_AGREED,
    Decider,
    Line,
    Pair,
    TrustEntry,
)
from reports.judge_reliability.trust_rule import METHOD, MIN_OF_EACH, MIN_RATE
from reports.queries.human_agreement import Party

RULE = (
    "On answers drawn at random and judged blind. One judge: a judge or jury whose sensitivity and "
    f"specificity are both at least {percent(MIN_RATE)} at the lower end of their intervals "
    f"({METHOD.format('all')}), on at least {MIN_OF_EACH} human passes and {MIN_OF_EACH} human "
    f"fails, each from {MIN_ISSUES} issues or more. Two judges: the same holds where they agree, "
    f"and they agree on at least {percent(MIN_AGREED)}; a human decides the rest. Else a human."
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
            Column("more_passes", "More human passes", "count", "Needed to trust a judge, about"),
            Column("more_fails", "More human fails", "count", "Needed to trust a judge, about"),
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
                *_missing(entry),
                why(entry, parties),
            )
            for entry in entries
        ],
        note=RULE,
        empty=NO_EVALUATIONS,
    )


def _missing(entry: TrustEntry) -> tuple[int | None, int | None]:
    """Return the answers that are needed; None: none, or more will not help."""
    if entry.decider in (Decider.ONE, Decider.TWO):
        return None, None
    if entry.best is None:
        return MIN_OF_EACH, MIN_OF_EACH
    passes, fails = entry.best.human_proof.missing
    return passes or None, fails or None


def why(entry: TrustEntry, parties: Parties) -> str:
    """Give the reason for the decider, with the figures behind it."""
    name = names(parties, entry.parties)
    if entry.decider is Decider.TWO:
        pair = next(one for one in entry.pairs if (one.first, one.second) == entry.parties)
        return (
            f"They agree on {pair.agreed:,} of {pair.both:,}. Where they agree: "
            f"{pair.human_proof.figures}"
        )
    line = entry.best
    if line is None:
        return (
            "No answer was drawn at random and judged blind. "
            f"{MIN_OF_EACH} human passes and {MIN_OF_EACH} human fails are needed."
        )
    if entry.decider is Decider.ONE:
        return f"{name}: {line.human_proof.figures}"
    missing = line.concern or line.human_proof.needed
    return f"Best known: {name}. {line.human_proof.figures} {missing}"


def judges_table(entries: Sequence[TrustEntry], parties: Parties, kind: str) -> Table:
    def best_first(line: Line) -> tuple[bool, float, str]:
        return line.sample is Sample.ALL, -line.human_proof.low, line.found.party

    return Table(
        key="judges",
        title="Judges and juries",
        columns=(
            Column("group", kind.capitalize()),
            Column("judge", "Judge or jury", "link"),
            Column("sample", "Answers"),
            *RATE_COLUMNS,
            Column("kappa", "Kappa", "estimate", "Cohen's: agreement beyond chance"),
            Column("trust", "Trust"),
            Column("needed", "Needed to trust it"),
        ),
        rows=[
            (
                name_of(entry.group),
                party_link(
                    parties[line.found.party],
                    party_url(party=line.found.party, sample=line.sample.value),
                ),
                "drawn at random" if line.sample is Sample.DRAWN else "selected by annotators",
                *rates(line.found.evidence),
                kappa(line.found),
                str(line.trust),
                line.concern or line.human_proof.needed,
            )
            for entry in entries
            for line in sorted(entry.lines, key=best_first)
        ],
        note="Annotators often select answers they doubt, which makes a judge look worse than it "
        f"is: these do not count toward trust. {LEVELS}",
        empty=NO_EVALUATIONS,
        look="long",
    )


LEVELS = (
    "Trust takes wider intervals than the 95% ones shown here: Holm's method counts all judges and "
    "groups, and answers to one issue are taken to depend on each other (correlation 0.3 at least)."
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
            Column("sensitivity", "Sensitivity when they agree", "rate"),
            Column("specificity", "Specificity when they agree", "rate"),
            Column("verdict", "Conclusion"),
        ),
        rows=[
            (
                name_of(entry.group),
                parties[pair.first].name,
                parties[pair.second].name,
                share_without_interval(pair.agreed, pair.both),
                *rates(pair.human_proof.evidence),
                "can decide together" if pair.is_enough else pair.human_proof.needed,
            )
            for entry in entries
            for pair in sorted(entry.pairs, key=best_first)
        ],
        note=f"On answers drawn at random that both judged. {LEVELS}",
        empty="No answer drawn at random has verdicts of two judges.",
        look="long",
    )
