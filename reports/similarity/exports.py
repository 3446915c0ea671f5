"""The similarity of models' answers to a test as JSON."""

from typing import Any

from reports.similarity.query import Embedder, TestSimilarity, Variant


def similarity_json(found: TestSimilarity) -> dict[str, Any]:
    """Return a `TestSimilarity` as JSON; null is not measured."""
    return {
        "test": found.test.pk,
        "revision": found.prompt_version.number if found.prompt_version else None,
        "embedding": _embedder(found.embedder),
        "embeddings": [_embedder(embedder) for embedder in found.embedders],
        "prompt_versions": [
            {"revision": w.number, "variants": w.variants, "result": w.result_id}
            for w in found.prompt_versions
        ],
        "variants": [_variant(variant) for variant in found.variants],
        "pairs": found.pairs,
        "measured": found.measured,
        "matrix": [list(row) for row in found.matrix],
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
