"""How alike models answer a test, for programs."""

from typing import Any

from reports.similarity.query import Embedder, TestSimilarity, Variant


def similarity_json(likeness: TestSimilarity) -> dict[str, Any]:
    """All of `TestSimilarity`; a cosine that was not measured is null."""
    return {
        "test": likeness.test.pk,
        "revision": likeness.wording.number if likeness.wording else None,
        "embedding": _embedder(likeness.embedder),
        "embeddings": [_embedder(embedder) for embedder in likeness.embedders],
        "wordings": [
            {"revision": w.number, "variants": w.variants, "result": w.result_id}
            for w in likeness.wordings
        ],
        "variants": [_variant(variant) for variant in likeness.variants],
        "pairs": likeness.pairs,
        "measured": likeness.measured,
        "matrix": [list(row) for row in likeness.matrix],
    }


def _embedder(embedder: Embedder) -> dict[str, Any]:
    return {"language_model": embedder.language_model_id, "name": embedder.name}


def _variant(variant: Variant) -> dict[str, Any]:
    run = variant.run
    return {
        "result": variant.result_id,
        "run": run.pk,
        "model_name": run.model_name,
        "variant_key": run.variant_key,
        "is_scripted": run.is_scripted,
        "outcome": variant.outcome,
        "compared": variant.compared,
        "mean": variant.mean,
        "deviation": variant.deviation,
        "to_reference": variant.to_reference,
    }
