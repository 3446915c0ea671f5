"""Similarity of models' answers to a test: the cosine of each pair of latest answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.db.models import Count, F, Max, QuerySet, Window
from django.db.models.functions import RowNumber

from evalhub.llm import embeddings, word_vectors
from evalhub.llm.embeddings import Vector, text_similarity
from evalhub.llm.endpoint import Endpoint
from evalhub.models import ItemState, User
from evalhub.statistics.deviation import sample_deviation
from evalhub.statistics.weighted_mean import weighted_mean
from issues.models import Revision, Test
from reports.limits import MAX_SIMILAR_VARIANTS
from runs.models import HAS_ANSWER, Answer, Result, Run
from runs.scoring.shown_verdicts import record


@dataclass(frozen=True)
class PromptText:
    """A version of the test's prompt: its latest revision, and how many variants answered.

    `result_id` is the latest answered result, which selects the version.
    """

    asked_digest: str
    number: int
    variants: int
    result_id: int


@dataclass(frozen=True)
class Embedder:
    """The source of the vectors; `language_model_id` None: built in."""

    language_model_id: int | None
    name: str
    endpoint: Endpoint | None = None


BUILT_IN = Embedder(None, word_vectors.NAME)


@dataclass(frozen=True)
class Variant:
    """A model variant's latest answer, and its similarity to the others and to the reference.

    `mean` and `deviation` are over the `compared` others with a measured cosine; None: none, or
    for the deviation only one.
    """

    result_id: int
    run: Run
    outcome: str
    to_others: tuple[float | None, ...]
    to_reference: float | None

    @property
    def compared(self) -> int:
        return sum(value is not None for value in self.to_others)

    @property
    def mean(self) -> float | None:
        return weighted_mean(self.to_others, [1.0] * len(self.to_others))

    @property
    def deviation(self) -> float | None:
        return sample_deviation(self.to_others)


@dataclass(frozen=True)
class TestSimilarity:
    """The similarity of the answers to a test.

    Attributes:
        messages: The prompt; the test's own where nothing was answered.
        prompt_version: The version compared; None where nothing was answered.
        prompt_versions: All answered versions, newest first.
        embedders: The built-in one, and those whose vectors the runs kept.
        variants: The most similar first, at most 30 of `prompt_version.variants`.
        matrix: Cosine of each pair, in [-1, 1], in the order of `variants`, 1 on the diagonal;
            None: not measured.
    """

    test: Test
    messages: list[dict[str, Any]]
    prompt_version: PromptText | None
    prompt_versions: tuple[PromptText, ...]
    embedder: Embedder
    embedders: tuple[Embedder, ...]
    has_reference: bool
    variants: tuple[Variant, ...]
    matrix: tuple[tuple[float | None, ...], ...]

    @cached_property
    def pairs(self) -> int:
        return len(self.variants) * (len(self.variants) - 1) // 2

    @cached_property
    def measured(self) -> int:
        """Pairs whose cosine is known."""
        return sum(variant.compared for variant in self.variants) // 2


def similarity_of(
    test: Test, *, reader: User, result_id: int = 0, embedder_id: int | None = None
) -> TestSimilarity:
    """The pairs of latest answers to a test that this reader may read, in six queries at most.

    Args:
        test: Readable by the reader.
        reader: Answers that this person may not read are left out.
        result_id: Compare answers to the same question as this result's; 0, or none of this
            test's: as it was asked last.
        embedder_id: Language model whose kept vectors are compared; None, or one that kept none:
            what is built in.
    """
    prompt_versions = _prompt_versions(test)
    prompt_version = _chosen(prompt_versions, test, result_id)
    results = _latest(test, prompt_version) if prompt_version else []
    answers = dict(
        Answer.objects.filter(pk__in=[result.pk for result in results])
        .readable_by(reader)
        .values_list("pk", "text")
    )
    results = [result for result in results if result.pk in answers]
    record(reader, answers)
    embedders = _embedders(results)
    embedder = next((e for e in embedders if e.language_model_id == embedder_id), BUILT_IN)
    messages, reference = _asked(test, prompt_version, reader)
    texts = list(dict.fromkeys(text for text in (*answers.values(), reference) if text.strip()))
    if embedder.endpoint is None:
        vectors = embeddings.built_in(texts)
    else:
        vectors = embeddings.stored(embedder.endpoint, texts)
    variants, matrix = _compared(results, answers, vectors, vectors.get(reference))
    return TestSimilarity(
        test=test,
        messages=messages,
        prompt_version=prompt_version,
        prompt_versions=prompt_versions,
        embedder=embedder,
        embedders=embedders,
        has_reference=bool(reference.strip()),
        variants=variants,
        matrix=matrix,
    )


def _embedders(results: Iterable[Result]) -> tuple[Embedder, ...]:
    """Return what is built in, and the models that measured the similarity of these results."""
    found: dict[int, Embedder] = {}
    for result in results:
        if kept := result.run.similarity_endpoint:
            endpoint = Endpoint.from_json(kept)
            key = endpoint.language_model_id
            found.setdefault(key, Embedder(key, endpoint.name, endpoint))
    return BUILT_IN, *found.values()


def _answered(test: Test) -> QuerySet[Any]:
    return Result.objects.filter(HAS_ANSWER, test=test, state=ItemState.DONE).order_by()


def _prompt_versions(test: Test) -> tuple[PromptText, ...]:
    rows = _answered(test).values_list("revision__asked_digest")
    counted = rows.annotate(
        Max("revision__number"), Count("run__variant_key", distinct=True), Max("pk")
    )
    return tuple(sorted((PromptText(*row) for row in counted), key=lambda w: -w.number))


def _chosen(prompt_versions: Sequence[PromptText], test: Test, result_id: int) -> PromptText | None:
    """The prompt_version that this result answers; the newest one where there is no such result."""
    if result_id:
        revisions = Revision.objects.filter(test=test, results=result_id)
        wanted = revisions.values_list("asked_digest", flat=True).first()
        for prompt_version in prompt_versions:
            if prompt_version.asked_digest == wanted:
                return prompt_version
    return next(iter(prompt_versions), None)


def _latest(test: Test, prompt_version: PromptText) -> list[Result]:
    """The newest answer of each variant that answered last; of several repeats the first."""
    place = Window(
        RowNumber(),
        partition_by=F("run__variant_key"),
        order_by=[F("run_id").desc(), F("repeat").asc(), F("pk").asc()],
    )
    asked = _answered(test).filter(revision__asked_digest=prompt_version.asked_digest)
    newest = asked.annotate(place=place).filter(place=1)
    return list(newest.select_related("run").order_by("-run_id")[:MAX_SIMILAR_VARIANTS])


def _asked(
    test: Test, prompt_version: PromptText | None, reader: User
) -> tuple[list[dict[str, Any]], str]:
    """The messages, and the reference answer ("" for none), as they were when last asked so."""
    if prompt_version is None:
        return test.messages, ""
    revisions = Revision.objects.filter(results=prompt_version.result_id).readable_by(reader)
    content = revisions.values_list("content", flat=True).first() or {}
    return content.get("messages") or [], content.get("reference") or ""


def _compared(
    results: Sequence[Result],
    answers: Mapping[int, str],
    vectors: Mapping[str, Vector],
    reference: Vector | None,
) -> tuple[tuple[Variant, ...], tuple[tuple[float | None, ...], ...]]:
    """Return the variants and their matrix, both in order."""
    mine = [vectors.get(answers[result.pk]) for result in results]
    cosines: list[list[float | None]] = [[None] * len(mine) for _ in mine]
    for i, first in enumerate(mine):
        for j, second in enumerate(mine[: i + 1]):
            cosines[i][j] = cosines[j][i] = text_similarity(first, second)
    variants = [
        Variant(
            result.pk,
            result.run,
            result.outcome,
            to_others=tuple(row[:i] + row[i + 1 :]),
            to_reference=text_similarity(mine[i], reference),
        )
        for i, (result, row) in enumerate(zip(results, cosines, strict=True))
    ]
    order = sorted(range(len(variants)), key=lambda i: _most_similar_first(variants[i]))
    matrix = tuple(tuple(cosines[i][j] for j in order) for i in order)
    return tuple(variants[i] for i in order), matrix


def _most_similar_first(variant: Variant) -> tuple[bool, float, str, int]:
    mean = variant.mean
    return mean is None, -(mean or 0.0), variant.run.model_name, -variant.run.pk
