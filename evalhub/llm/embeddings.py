"""The similarity of two texts in meaning, by an embedding model or the built-in vectors.

Vectors that were paid for are cached by the text and the model's settings. Built-in ones are
computed again, which takes less time than a look-up.
"""

import asyncio
import logging
import sys
from array import array
from collections.abc import Mapping, Sequence

from evalhub.llm import word_vectors
from evalhub.llm.endpoint import Endpoint
from evalhub.llm.errors import CallError
from evalhub.llm.models import Embedding
from evalhub.statistics.cosine import cosine
from evalhub.values.digest import digest
from evalhub.work.calls.caller import ModelCaller

log = logging.getLogger(__name__)

Vector = Sequence[float]
MAX_AT_ONCE = 64
"""Texts in one request."""


async def similarity(
    first: str, second: str, *, endpoint: Endpoint | None, caller: ModelCaller
) -> float | None:
    """Return the cosine of two texts' vectors, in [-1, 1].

    None, not measured, if a text is blank or has no known word, or if the call for a vector failed;
    the recorded call says why.

    Args:
        first: The answer's last turn, for example.
        second: The reference.
        endpoint: The embedding model, among the endpoints of the kind of work; None: built in.
        caller: Makes the calls.

    Raises:
        BatchFailed: Every call to this model would fail, as with a wrong key.
        GivenBack: Stop and give the item back.
    """
    if not first.strip() or not second.strip():
        return None
    texts = list(dict.fromkeys([first, second]))
    try:
        found = await vectors_of(texts, endpoint=endpoint, caller=caller)
    except CallError:
        return None
    return text_similarity(found.get(first), found.get(second))


def text_similarity(first: Vector | None, second: Vector | None) -> float | None:
    """Return the cosine; None if a vector is missing or they cannot be compared."""
    if first is None or second is None or len(first) != len(second):
        return None
    return cosine(first, second)


async def vectors_of(
    texts: Sequence[str], *, endpoint: Endpoint | None, caller: ModelCaller
) -> dict[str, Vector]:
    """Return the vectors of non-blank texts, calling only for new ones; raise CallError if none."""
    if endpoint is None:
        return await asyncio.to_thread(built_in, texts)
    found = await caller.database.with_retries(stored, endpoint, texts)
    missing = [text for text in texts if text not in found]
    for start in range(0, len(missing), MAX_AT_ONCE):
        some = missing[start : start + MAX_AT_ONCE]
        embedded = await caller.embed(endpoint, some)
        made = {t: array("f", v) for t, v in zip(some, embedded.vectors, strict=True)}
        await caller.database.with_retries(store, endpoint, made)
        found |= made
    return found


def built_in(texts: Sequence[str]) -> dict[str, Vector]:
    """Return the built-in vectors of texts; {} if they are not installed, which is logged."""
    try:
        return {text: word_vectors.embed(text) for text in texts}
    except word_vectors.NoWordVectors as error:
        log.warning("Similarity is not measured. %s", error)
        return {}


def stored(endpoint: Endpoint, texts: Sequence[str]) -> dict[str, Vector]:
    wanted = {digest_of(endpoint, text): text for text in texts}
    rows = Embedding.objects.filter(digest__in=wanted).values_list("digest", "vector")
    return {wanted[key]: _turned(array("f", bytes(packed))) for key, packed in rows}


def store(endpoint: Endpoint, vectors: Mapping[str, "array[float]"]) -> None:
    """Cache vectors of texts. This is safe to repeat."""
    Embedding.objects.bulk_create(
        [
            Embedding(
                digest=digest_of(endpoint, text),
                model_name=endpoint.litellm_model,
                dimensions=len(vector),
                vector=_turned(vector).tobytes(),
            )
            for text, vector in vectors.items()
        ],
        ignore_conflicts=True,
    )


def digest_of(endpoint: Endpoint, text: str) -> str:
    """Return the digest of everything that determines a vector: model, address, settings, text."""
    asked = {"model": endpoint.litellm_model, "base": endpoint.api_base, "params": endpoint.params}
    return digest({**asked, "text": text})


def _turned(vector: "array[float]") -> "array[float]":
    """Convert to or from the byte order in which vectors are stored."""
    if sys.byteorder == "big":
        vector = vector[:]
        vector.byteswap()
    return vector
