"""When to trust which judge, by the domains or tags of the answers."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from issues.tags import current_domains
from reports.documents.reading import Reading
from reports.judge_reliability.concerns_rule import Concern, concerns_about
from reports.judge_reliability.judges.totals_query import (
    judge_totals,
    jury_lines,
    newest_of_each_jury,
)
from reports.judge_reliability.trust.decider_rule import EVERYTHING, TrustEntry, entries_of
from reports.judge_reliability.trust_rule import HumanProof
from reports.queries.human_agreement import (
    PIECE,
    Calibration,
    Evaluated,
    inputs_of,
    judge_key,
    jury_key,
)
from reports.queries.names import all_tag_names
from runs.models import Result, Suite

DOMAINS, TAGS = "domain", "tag"

JUDGE_RUNS = 50
"""Newest judge runs whose failures, self-evaluations and agreement count against a judge."""


def trust_entries(
    runs: Sequence[Evaluated],
    found: Calibration | None,
    by: str,
    reading: Reading,
    *,
    concerns: Mapping[str, str] | None = None,
) -> list[TrustEntry] | None:
    """Return all answers together and each domain or tag; None: not computed yet.

    An answer counts in each tag its issue had at launch, and in the domains above, as they are
    arranged now. All answers are decided together with the domains, and so say the same on every
    page; tags are decided among themselves. Three queries, six by tag.

    Args:
        concerns: Why parties may not decide, by key.
    """
    if found is None:
        return None
    against = dict(concerns or {})
    by_domain = _entries(runs, found, DOMAINS, reading, against)
    if by == DOMAINS or by_domain is None:
        return by_domain
    by_tag = _entries(runs, found, TAGS, reading, against)
    everything = [entry for entry in by_domain if entry.group == EVERYTHING]
    return None if by_tag is None else [*everything, *by_tag]


def proofs_of_all(
    runs: Sequence[Evaluated], found: Calibration | None, reading: Reading
) -> dict[str, HumanProof] | None:
    """Return what humans have shown of each party on all answers; None: not computed yet."""
    entries = trust_entries(runs, found, DOMAINS, reading)
    if entries is None:
        return None
    lines = (line for entry in entries if entry.group == EVERYTHING for line in entry.lines)
    return {line.found.party: line.human_proof for line in lines}


def concerns_by_party(suite: Suite | None) -> dict[str, str]:
    """Return the serious concerns about judges and juries whatever humans say; two queries."""
    lines = jury_lines(suite=suite, last=JUDGE_RUNS)
    found = {jury_key(one.judge_run): one.concerns for one in newest_of_each_jury(lines)}
    found |= {judge_key(one.judge_id): concerns_about(one.record()) for one in judge_totals(lines)}
    texts = {party: _serious(concerns) for party, concerns in found.items()}
    return {party: text for party, text in texts.items() if text}


def _serious(concerns: Iterable[Concern]) -> str:
    return " ".join(concern.text for concern in concerns if concern.is_serious)


def _entries(
    runs: Sequence[Evaluated],
    found: Calibration,
    by: str,
    reading: Reading,
    concerns: dict[str, str],
) -> list[TrustEntry] | None:
    groups: Mapping[int, Collection[str]] = all_tag_names()
    if by == DOMAINS:
        domains = current_domains()
        groups = {pk: (EVERYTHING, *domains.of(names)) for pk, names in groups.items()}

    def compute() -> list[TrustEntry]:
        results = sorted({row.result for row in found.rows})
        by_result: dict[int, Collection[str]] = {}
        for start in range(0, len(results), PIECE):
            rows = Result.objects.filter(pk__in=results[start : start + PIECE]).order_by()
            by_result |= {pk: groups[tags] for pk, tags in rows.values_list("pk", "tag_set")}
        return entries_of(found.rows, by_result, concerns=concerns)

    tagged = sorted((pk, sorted(names)) for pk, names in groups.items())
    inputs = [inputs_of(runs), by, tagged, concerns]
    return reading.computed("trust-4", inputs, list[TrustEntry], compute)
