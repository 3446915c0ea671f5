"""When to trust which judge: a judge, two that agree, or a human, by domain or tag."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalhub.display.formatting import counted
from reports.documents.document import Document, Fact
from reports.documents.reading import Reading
from reports.judge_reliability.humans.tab import left_out
from reports.judge_reliability.trust.decider_rule import EVERYTHING, Decider, TrustEntry
from reports.judge_reliability.trust.query import (
    DOMAINS,
    TAGS,
    concerns_by_party,
    trust_entries,
)
from reports.judge_reliability.trust.trust_tables import (
    Parties,
    judges_table,
    names,
    pairs_table,
    trust_table,
    why,
)
from reports.queries.human_agreement import Calibration, calibration, evaluated_runs

KINDS = {DOMAINS: "domain", TAGS: "tag"}


def build(filters: Mapping[str, Any], reading: Reading) -> Document:
    """Report who decides in each domain or tag, with each judge, jury and judge pair."""
    runs = evaluated_runs(suite=filters["suite"], last=filters["last"])
    humans = calibration(runs, reading)
    concerns = concerns_by_party(filters["suite"])
    found = trust_entries(runs, humans, filters["by"], reading, concerns=concerns)
    entries, parties = found or [], humans.parties if humans else {}
    kind = KINDS[filters["by"]]
    return Document(
        title=f"Judges trusted by {kind}",
        sentences=tuple(_sentences(entries, parties, kind, is_known=found is not None)),
        facts=tuple(_facts(entries, humans)),
        tables=(
            trust_table(entries, parties, kind),
            judges_table(entries, parties, kind),
            pairs_table(entries, parties, kind),
        ),
        warnings=tuple(_warnings(entries, humans, kind)),
        labels=("scripted judge",) if any(p.is_scripted for p in parties.values()) else (),
    )


def _sentences(
    entries: Sequence[TrustEntry], parties: Parties, kind: str, *, is_known: bool
) -> Iterator[str]:
    if is_known and not entries:
        yield (
            "There are no human evaluations yet. Let a review queue draw answers at random and "
            "judge them blind to learn which judges you can trust."
        )
    for entry in entries[:1]:
        name = names(parties, entry.parties)
        conclusions = {
            Decider.ONE: f"{name} can decide alone",
            Decider.TWO: f"{name} can decide where they agree",
            Decider.HUMAN: "no judge or pair of judges is shown to decide well: a human must",
            Decider.UNKNOWN: "there are not enough answers to trust a judge",
        }
        yield f"Over all answers, {conclusions[entry.decider]}. {why(entry, parties)}"
    groups = _groups(entries)
    if groups:
        found = Counter(entry.decider for entry in groups)
        yield (
            f"Of {counted(len(groups), kind)}, one judge can decide alone in "
            f"{found[Decider.ONE]:,} and two judges that agree in {found[Decider.TWO]:,}; "
            f"{found[Decider.HUMAN]:,} need a human, {found[Decider.UNKNOWN]:,} need more answers."
        )


def _groups(entries: Sequence[TrustEntry]) -> list[TrustEntry]:
    return [entry for entry in entries if entry.group != EVERYTHING]


def _facts(entries: Sequence[TrustEntry], humans: Calibration | None) -> Iterator[Fact]:
    if humans is None:
        return
    yield Fact("answers", "Answers with human verdict", humans.answers, "count")
    yield Fact("drawn", "Drawn at random, judged blind", humans.drawn, "count", "only these count")
    groups = _groups(entries)
    known = sum(entry.decider is not Decider.UNKNOWN for entry in groups)
    yield Fact("known", "Known", known, "count", f"of {len(groups):,}")


def _warnings(
    entries: Sequence[TrustEntry], humans: Calibration | None, kind: str
) -> Iterator[str]:
    if humans is None:
        return
    if humans.taught:
        yield left_out(humans)
    if humans.answers and not humans.drawn:
        yield (
            "No answer was drawn at random and judged blind: no judge can be measured. Set a "
            "random share in a review queue."
        )
    elif humans.answers > humans.drawn:
        yield (
            f"{humans.drawn:,} of {humans.answers:,} answers with a human verdict count: the "
            "others were not drawn at random and judged blind."
        )
    if entries and not _groups(entries):
        yield f"No issue of these answers has a {kind}: only the total is shown."
