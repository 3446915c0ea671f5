"""When to trust which judge, by the domains or tags of the answers."""

from collections.abc import Collection, Sequence

from issues.domains import current_domains
from reports.documents.reading import Reading
from reports.judge_reliability.trust.deciders import TrustEntry, entries_of
from reports.queries.human_agreement import PIECE, Calibration, Evaluated, inputs_of
from runs.models import Result, TagSet

DOMAINS, TAGS = "domain", "tag"


def trust_entries(
    runs: Sequence[Evaluated], found: Calibration | None, by: str, reading: Reading
) -> list[TrustEntry] | None:
    """Return all answers together and each domain or tag; None: not computed yet.

    An answer counts in each tag its issue had at launch, and in the domains above, as they are
    arranged now. Three queries.
    """
    if found is None:
        return None
    groups: dict[int, Collection[str]]
    groups = dict(TagSet.objects.order_by().values_list("pk", "names"))
    if by == DOMAINS:
        domains = current_domains()
        groups = {pk: domains.of(names) for pk, names in groups.items()}

    def compute() -> list[TrustEntry]:
        results = sorted({row.result for row in found.rows})
        by_result: dict[int, Collection[str]] = {}
        for start in range(0, len(results), PIECE):
            rows = Result.objects.filter(pk__in=results[start : start + PIECE]).order_by()
            by_result |= {pk: groups[tags] for pk, tags in rows.values_list("pk", "tag_set")}
        return entries_of(found.rows, by_result)

    inputs = [inputs_of(runs), by, sorted((pk, sorted(names)) for pk, names in groups.items())]
    return reading.computed("trust-3", inputs, compute)
