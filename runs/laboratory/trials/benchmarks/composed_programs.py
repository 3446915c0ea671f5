"""Composed programs of a benchmark: k small ones of each language, of the same ideas."""

from collections import defaultdict
from random import Random

from django.db import transaction

from evalhub.refusals import Refused
from runs.laboratory.trials.benchmarks.composition import COMPOSERS, compose
from runs.laboratory.trials.generation.graph import ArtifactKind, chain_of, kinds_from
from runs.laboratory.trials.generation.writing import check_of
from runs.laboratory.trials.models import Artifact, Benchmark, Source

MIN_PARTS, MAX_PARTS = 2, 20


@transaction.atomic
def compose_programs(benchmark: Benchmark, k: int) -> list[Artifact]:
    """Compose programs of `k` ideas each, in every language that can be composed.

    Only ideas with a usable program in all these languages take part. They are drawn by the
    benchmark's seed; fewer than `k` that are left over take no part. The next generation run writes
    the texts that the paths make of a program.

    Raises:
        Refused: There are composed programs already, or too few ideas or languages.
    """
    if not MIN_PARTS <= k <= MAX_PARTS:
        raise Refused([f"Compose {MIN_PARTS} to {MAX_PARTS} programs, not {k}."])
    if benchmark.artifacts.filter(source=Source.COMPOSED).exists():
        raise Refused([f"{benchmark} has composed programs already."])
    kinds = kinds_from(benchmark.kinds)
    second = {chain_of(path.steps)[1].kind for path in benchmark.paths.all()}
    languages = sorted(key for key in second if key in COMPOSERS and kinds[key].is_code)
    by_idea: dict[int, dict[str, Artifact]] = defaultdict(dict)
    rows = benchmark.artifacts.reference().usable().filter(kind__in=languages)
    for one in rows.filter(idea__isnull=False, parent__parent=None).order_by("pk"):
        assert one.idea_id is not None
        by_idea[one.idea_id][one.kind] = one
    whole = sorted(idea for idea, found in by_idea.items() if len(found) == len(languages))
    if not languages or len(whole) < k:
        named = ", ".join(languages) or f"no language of {', '.join(COMPOSERS)}"
        raise Refused([f"{len(whole)} ideas have a valid program in {named}: {k} are needed."])
    Random(benchmark.seed).shuffle(whole)
    groups = [whole[at : at + k] for at in range(0, len(whole) - k + 1, k)]
    return [
        _composed(benchmark, kinds[key], [by_idea[idea][key] for idea in group])
        for group in groups
        for key in languages
    ]


def _composed(benchmark: Benchmark, kind: ArtifactKind, members: list[Artifact]) -> Artifact:
    text = compose(kind.key, [one.text for one in members])
    check = check_of(text, kind)
    made = Artifact.objects.create(
        benchmark=benchmark,
        kind=kind.key,
        source=Source.COMPOSED,
        text=text,
        validity=check.outcome.value,
        validity_reason=check.reason,
    )
    made.members.set(members)
    return made
