"""Whom to trust where: which judge may decide alone, which need another, and where people must."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django import forms

from reports.documents.document import Document, Fact
from reports.documents.reading import Page, Reading, ReportForm
from reports.judge_reliability.humans.page import LASTS, left_out
from reports.judge_reliability.trust.query import DOMAINS, TAGS, trust_entries
from reports.judge_reliability.trust.rule import EVERYTHING, TrustEntry, TrustLevel
from reports.judge_reliability.trust.trust_tables import (
    Parties,
    judges_table,
    names,
    pairs_table,
    trust_table,
)
from reports.queries.human_agreement import Calibration, calibration, evaluated_runs
from runs.models import Suite

KINDS = {DOMAINS: "domain", TAGS: "tag"}


class TrustForm(ReportForm):
    """On which answers judges are held against people, and by what the sheet is split."""

    suite = forms.ModelChoiceField(
        Suite.objects.only("name").order_by("name"), empty_label="All suites"
    )
    last = forms.TypedChoiceField(
        label="Runs", choices=LASTS, coerce=int, initial=50, help_text="That people looked at"
    )
    by = forms.ChoiceField(
        label="By", choices=[(DOMAINS, "domain"), (TAGS, "any tag")], initial=DOMAINS
    )


def build(asked: Mapping[str, Any], reading: Reading) -> Document:
    """One verdict for each domain or tag, each judge and jury in it, and each two judges."""
    runs = evaluated_runs(suite=asked["suite"], last=asked["last"])
    people = calibration(runs, reading)
    found = trust_entries(runs, people, asked["by"], reading)
    entries, parties = found or [], people.parties if people else {}
    kind = KINDS[asked["by"]]
    return Document(
        question="Which judge may decide alone, which needs another, and where must a person look?",
        sentences=tuple(_sentences(entries, parties, kind, is_known=found is not None)),
        facts=tuple(_facts(entries, people)),
        tables=(
            trust_table(entries, parties, kind),
            judges_table(entries, parties, kind),
            pairs_table(entries, parties, kind),
        ),
        warnings=tuple(_warnings(entries, people, kind)),
        labels=("scripted judge",) if any(p.is_scripted for p in parties.values()) else (),
    )


# In words -----------------------------------------------------------------------------------------


def _sentences(
    entries: Sequence[TrustEntry], parties: Parties, kind: str, *, is_known: bool
) -> Iterator[str]:
    if is_known and not entries:
        yield (
            "People have judged no answers yet. Let a queue draw some at random, and review them "
            "blind: what a judge may be trusted with is then told here."
        )
    for entry in entries[:1]:
        yield f"Over all answers, {_entry_sentence(entry, parties)}."
    groups = _groups(entries)
    if groups:
        found = Counter(entry.trust for entry in groups)
        many = len(groups) != 1
        yield (
            f"Of {len(groups):,} {kind}{'s' * many}, one judge may decide alone in "
            f"{found[TrustLevel.ALONE]:,}, two that agree in {found[TrustLevel.TWO]:,}; a "
            f"person must look "
            f"in {found[TrustLevel.HUMAN]:,}, and in {found[TrustLevel.UNKNOWN]:,} it is "
            f"not known yet."
        )


def _entry_sentence(entry: TrustEntry, parties: Parties) -> str:
    who = names(parties, entry.who)
    if entry.trust is TrustLevel.ALONE:
        return f"{who} may decide alone"
    if entry.trust is TrustLevel.TWO:
        return f"{who} may decide where they agree"
    if entry.trust is TrustLevel.HUMAN:
        return "no judge may decide alone, nor any two together: a person must look"
    return f"it is not known yet: {entry.more:,} more answers drawn at random are needed"


def _groups(entries: Sequence[TrustEntry]) -> list[TrustEntry]:
    return [entry for entry in entries if entry.group != EVERYTHING]


def _facts(entries: Sequence[TrustEntry], people: Calibration | None) -> Iterator[Fact]:
    if people is None:
        return
    yield Fact("answers", "Answers judged by people", people.answers, "count")
    yield Fact("drawn", "Drawn at random, judged blind", people.drawn, "count", "these decide")
    groups = _groups(entries)
    known = sum(entry.trust is not TrustLevel.UNKNOWN for entry in groups)
    yield Fact("known", "Known", known, "count", f"of {len(groups):,}")


def _warnings(
    entries: Sequence[TrustEntry], people: Calibration | None, kind: str
) -> Iterator[str]:
    if people is None:
        return
    if people.taught:
        yield left_out(people)
    if people.answers and not people.drawn:
        yield (
            "No answer was drawn at random and judged blind: nothing can be said of any judge. A "
            "queue draws them; its random share says how many."
        )
    if entries and not _groups(entries):
        yield f"No issue of these answers has a {kind}: they are only told together."


TRUST = Page(
    key="trust",
    title="Whom to trust where",
    summary="For each domain or tag: which judge may decide alone, which two together, and where a "
    "person must look, by how often they are right on answers drawn at random.",
    form=TrustForm,
    build=build,
    icon="verified_user",
)
