"""The similarity of two texts, measured as a worker does."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from random import Random
from unittest.mock import Mock

import pytest

from evalhub.access.sealing.exposures import Sendings
from evalhub.llm import word_vectors
from evalhub.llm.embeddings import digest_of, similarity, text_similarity
from evalhub.llm.word_vectors import NoWordVectors
from evalhub.models import Call, Embedding
from evalhub.statistics.cosine import cosine
from evalhub.work import leases
from evalhub.work.calls.caller import ModelCaller
from evalhub.work.calls.errors import BatchFailed
from evalhub.work.database import Database
from evalhub.work.kinds import Save, kinds
from evalhub.work.limits.budget import Gate
from evalhub.work.limits.rate_limiter import RateLimiters
from evalhub.work.saver import Saver
from tests import provider as scripted
from tests.evalhub.llm.endpoints import make_endpoint
from tests.factories import make_model
from tests.provider import vector

pytestmark = pytest.mark.usefixtures("allowed")

ANSWER, REFERENCE = "Paris is the capital.", "The capital is Paris, in France."


class OpenLimiters(RateLimiters):
    """Rate limiters that let every call start, without asking other workers."""

    def slot(self, endpoint, gate, item_id=None):
        self.limiter(endpoint.language_model_id).width = 8
        self.limiter(endpoint.language_model_id).is_joined = True
        return super().slot(endpoint, gate, item_id)


async def free(estimate_usd: float) -> None:
    """Reserve nothing: there is no limit."""


@pytest.fixture
def measure(provider, run, transactional_db):
    """Measures the similarity of two texts as a worker does; the calls are saved."""
    model = make_model(name="Embedder", api_base=provider.base_url, input_usd_per_mtok=1)

    async def in_a_worker(first, second, endpoint):
        database = Database()
        worker = await database(leases.register)
        saver = Saver(database, worker, RateLimiters())
        saving = asyncio.create_task(saver.run())
        caller = ModelCaller(
            work_key="judgerun 1",
            item_id=7,
            worker_id=worker.pk,
            gate=Gate(),
            limiters=OpenLimiters(),
            queue_save=lambda content, calls, after: saver.add(
                Save(kinds()[-1], 1, 7, content, calls)
            ),
            database=database,
            random=Random(1),
            sendings=Sendings(database),
            sent=Mock(),
            fund=free,
            may_hold=lambda: True,
        )
        try:
            return await similarity(first, second, endpoint=endpoint, caller=caller)
        finally:
            await saver.flush()
            saving.cancel()
            await database.close()

    def ask(first=ANSWER, second=REFERENCE, *, by="model", **fields):
        endpoint = replace(model.endpoint(), **fields) if by == "model" else None
        return run(in_a_worker(first, second, endpoint))

    return ask


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr("evalhub.llm.retry.BASE_S", 0.01)


# By an embedding model ---------------------------------------------------------------------------


def test_it_is_the_cosine_of_the_models_vectors(measure):
    assert measure() == pytest.approx(cosine(vector(ANSWER), vector(REFERENCE)))


def test_only_what_is_not_kept_is_asked_for_and_once(measure, provider):
    first = measure()
    assert measure() == first
    measure("Lyon is not.")
    assert measure("Oslo.", "Oslo.") == pytest.approx(1)
    asked = [request["input"] for request in provider.requests]
    assert asked == [[ANSWER, REFERENCE], ["Lyon is not."], ["Oslo."]]


def test_another_way_of_asking_has_vectors_of_its_own(measure, provider):
    measure()
    measure(params={"dimensions": 8})
    assert provider.total == 2
    assert Embedding.objects.count() == 4


def test_call_is_recorded_with_its_cost_and_vectors_as_numbers_of_32_bits(measure):
    measure()
    call, kept = Call.objects.get(), Embedding.objects.first()
    # 4 and 6 words at 1 USD per million.
    assert (call.role, call.input_tokens, call.cost_usd) == ("embedding", 10, Decimal("0.00001"))
    assert (call.batch, call.item_id, call.error_kind) == ("judgerun 1", 7, "")
    assert (kept.dimensions, len(kept.vector)) == (8, 32)


def test_failed_embedding_and_vector_of_zeros_are_not_measured(measure, provider):
    provider.embed = lambda text: scripted.CONTEXT_TOO_LONG
    assert measure() is None
    assert Call.objects.get().error_kind == "context_too_long"
    assert not Embedding.objects.exists()
    provider.embed = lambda text: [0.0, 0.0]
    assert measure() is None


def test_passing_failure_is_tried_again(measure, provider):
    replies = [scripted.SERVER_ERROR]
    provider.embed = lambda text: replies.pop() if replies else vector(text)
    assert measure() is not None
    assert Call.objects.count() == 2


def test_wrong_key_ends_the_batch(measure, provider):
    provider.embed = lambda text: scripted.UNAUTHORIZED
    with pytest.raises(BatchFailed, match="Embedder"):
        measure()


@pytest.mark.parametrize("by", ["model", "what is built in"])
@pytest.mark.parametrize("blank", ["", " \n"])
def test_blank_text_is_not_measured(measure, provider, by, blank):
    assert measure(blank, by=by) is None
    assert measure(ANSWER, blank, by=by) is None
    assert provider.total == 0


# By what is built in -----------------------------------------------------------------------------


def test_built_in_embedding_asks_nobody(measure, provider):
    assert measure(by="what is built in") > 0.5
    assert provider.total == 0
    assert not Embedding.objects.exists()


def test_without_the_package_nothing_is_measured(measure, monkeypatch, caplog):
    def missing(text):
        raise NoWordVectors("Install it.")

    monkeypatch.setattr(word_vectors, "embed", missing)
    assert measure(by="what is built in") is None
    assert "Install it." in caplog.text


# Without a worker --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second"), [(None, [1.0]), ([1.0], None), ([1.0], [1.0, 2.0]), ([0.0], [1.0])]
)
def test_vectors_that_cannot_be_compared_are_not_measured(first, second):
    assert text_similarity(first, second) is None


def test_digest_is_of_the_text_and_the_model_as_it_is_asked():
    endpoint = make_endpoint("http://host/v1")
    other_name = replace(endpoint, name="Renamed", timeout_s=1)
    assert digest_of(endpoint, "a") == digest_of(other_name, "a")
    others = [
        digest_of(endpoint, "b"),
        digest_of(replace(endpoint, litellm_model="openai/other"), "a"),
        digest_of(replace(endpoint, api_base="http://other/v1"), "a"),
        digest_of(replace(endpoint, params={"dimensions": 8}), "a"),
    ]
    assert len({digest_of(endpoint, "a"), *others}) == 5
