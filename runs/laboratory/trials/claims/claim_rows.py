"""Claims of a benchmark as rows, built from its usable reference artifacts."""

from collections import defaultdict
from collections.abc import Collection
from random import Random

from django.db import transaction

from runs.laboratory.trials.claims.claim_rule import ArtifactFacts, Kind, claims_of
from runs.laboratory.trials.models import Artifact, Benchmark, Claim
from runs.laboratory.tuning.models import Split

DEVELOPMENT_SHARE = 0.25


@transaction.atomic
def build_claims(benchmark: Benchmark) -> int:
    """Add the claims that follow from the benchmark's artifacts; return how many are new.

    Claims stay once they are there, for trials refer to them: those of an artifact that was
    excluded since take no part. The benchmark's seed draws the false ones, each once. Nothing is
    added to an imported benchmark.
    """
    if benchmark.is_imported:
        return 0
    Benchmark.objects.select_for_update().get(pk=benchmark.pk)
    facts = artifact_facts(benchmark)
    languages = {kind["key"]: kind.get("language", "") for kind in benchmark.kinds}
    by_key = {one.key: one for one in facts}
    topics = {one.idea: one.topic for one in facts if one.topic is not None}
    drawn = {
        _counterpart(kind, left, right, idea, by_key)
        for kind, left, right, idea in benchmark.claims.exclude(hardness="").values_list(
            "kind", "left", "right", "idea"
        )
        if right in by_key
    }
    before = benchmark.claims.count()
    Claim.objects.bulk_create(
        [
            Claim(
                benchmark=benchmark,
                kind=claim.kind,
                anchor_id=claim.anchor,
                left_id=claim.left,
                right_id=claim.right,
                truth=claim.truth,
                hardness=claim.hardness or "",
                languages=_languages([by_key[claim.left], by_key[claim.right]], languages),
                topic_id=topics[claim.idea],
                idea_id=claim.idea,
                split=split_of(benchmark, {by_key[claim.left].idea, by_key[claim.right].idea}),
            )
            for claim in claims_of(facts, seed=benchmark.seed)
            if claim.hardness is None
            or _counterpart(claim.kind, claim.left, claim.right, claim.idea, by_key) not in drawn
        ],
        ignore_conflicts=True,
        batch_size=1000,
    )
    return benchmark.claims.count() - before


def split_of(benchmark: Benchmark, ideas: Collection[int | None]) -> Split:
    """Return the split of a claim about these ideas: development if all of them are.

    A quarter of the ideas is, drawn by the benchmark's seed, each for itself, so that claims that
    are added later change none.
    """
    drawn = [Random(f"{benchmark.seed} {idea}").random() < DEVELOPMENT_SHARE for idea in ideas]
    return Split.DEVELOPMENT if all(drawn) else Split.HELD_OUT


def _counterpart(
    kind: str, left: int, right: int, idea: int, facts: dict[int, ArtifactFacts]
) -> tuple[object, ...]:
    """Return the claim to which a drawn one is the counterpart, so that it is drawn only once."""
    if kind == Kind.CONTEXT:
        return kind, right, idea
    return kind, left, facts[right].path


def artifact_facts(benchmark: Benchmark) -> list[ArtifactFacts]:
    """Read what claims need to know of the usable reference artifacts; three queries."""
    codes = {kind["key"] for kind in benchmark.kinds if kind.get("form") == "code"}
    everything = Artifact.objects.filter(benchmark=benchmark).reference()
    parents = {
        pk: (parent, kind) for pk, parent, kind in everything.values_list("pk", "parent", "kind")
    }
    members, beginnings = defaultdict(list), {}
    links = Artifact.members.through.objects.filter(from_artifact__benchmark=benchmark)
    fields = ("from_artifact", "to_artifact", "to_artifact__idea")
    for composed, member, idea in links.order_by("pk").values_list(*fields):
        members[composed].append(idea)
        beginnings[composed] = tuple(parents[one][1] for one in _ancestors(member, parents))
    rows = everything.usable().values_list(
        "pk", "kind", "idea", "idea__topic", "idea__topic__is_cluster"
    )
    found = []
    for pk, kind, idea, topic, is_cluster in rows:
        ancestors = _ancestors(pk, parents)
        root = ancestors[0] if ancestors else pk
        path = (*beginnings.get(root, ()), *(parents[one][1] for one in ancestors), kind)
        parts = tuple(members.get(pk) or members.get(root) or ())
        found.append(
            ArtifactFacts(
                key=pk,
                idea=idea,
                topic=topic,
                is_clustered=bool(is_cluster),
                path=path,
                is_code=kind in codes,
                ancestors=ancestors,
                parts=parts,
            )
        )
    return found


def _ancestors(pk: int, parents: dict[int, tuple[int | None, str]]) -> tuple[int, ...]:
    """Return the artifacts that one was made from, the first one first."""
    found: list[int] = []
    parent = parents[pk][0]
    while parent is not None:
        found.append(parent)
        parent = parents[parent][0]
    return tuple(reversed(found))


def _languages(artifacts: list[ArtifactFacts], languages: dict[str, str]) -> str:
    """Return the languages along both paths, sorted, such as "cobol, java"."""
    keys = {kind for one in artifacts for kind in one.path if languages.get(kind)}
    return ", ".join(sorted(keys))[:85]
