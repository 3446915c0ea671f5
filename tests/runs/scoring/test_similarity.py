"""Similarity by an embedding model, through a real worker and a real provider."""

import pytest

from evalhub.models import Call, Embedding
from runs.lifecycle import control
from runs.models import ResultScore
from tests import provider as scripted
from tests.factories import first_result, make_jury, make_run, make_test, make_user
from tests.provider import verdict

pytestmark = pytest.mark.django_db(transaction=True)

ANSWER, REFERENCE = "It is four.", "4"
VECTORS = {ANSWER: [3.0, 4.0], REFERENCE: [1.0, 0.0]}


@pytest.fixture
def measured(provider, model_at, work):
    """The result of a run whose judges find nothing good, and the embedding model's cosine 0.6."""
    provider.script = lambda r: verdict(0) if "response_format" in r else ANSWER
    provider.embed = VECTORS.__getitem__

    def make(*tests, **fields):
        embedder = model_at(litellm_model="openai/embedder", input_usd_per_mtok=1000)
        fields = {"similarity_weight": 0.5} | fields
        run = make_run(
            *(tests or [make_test(reference=REFERENCE)]),
            model=model_at(),
            jury=make_jury(model_at()),
            similarity_endpoint=embedder.endpoint().to_json(),
            **fields,
        )
        work()
        return first_result(run)

    return make


def embedding_calls():
    return Call.objects.filter(role="embedding").order_by("pk")


def embedded_texts(provider):
    return [request["input"] for request in provider.requests if "input" in request]


def test_the_models_cosine_is_kept_and_makes_up_its_share_of_the_score(measured):
    result = measured()

    assert result.similarity == pytest.approx(0.6)
    assert result.score == pytest.approx(0.3)


def test_its_call_is_recorded_for_the_judge_run_and_counted_in_what_was_spent(measured):
    result = measured()
    judge_run = result.run.judge_runs.get()
    call = embedding_calls().get()

    # Three words and one at 1,000 USD per million.
    assert float(call.cost_usd) == pytest.approx(0.004)
    assert call.batch == judge_run.work_key
    assert float(judge_run.spent_usd) == pytest.approx(0.004)
    assert call.item_id == ResultScore.objects.get(result=result).pk


def test_judge_run_again_embeds_nothing_again(measured, work):
    result = measured()
    control.rejudge(result.run, None, by=make_user("admin"))
    work()

    assert embedding_calls().count() == 1


def test_answers_to_tests_with_one_reference_embed_it_once_when_it_is_kept(
    measured, provider, work
):
    measured()
    measured(make_test(reference=REFERENCE))

    assert embedded_texts(provider) == [[ANSWER, REFERENCE]]
    assert Embedding.objects.count() == 2


def test_failed_embedding_is_measured_when_judged_again(measured, provider, work):
    provider.embed = lambda text: scripted.CONTEXT_TOO_LONG
    result = measured()
    assert (result.similarity, result.score) == (None, None)

    provider.embed = VECTORS.__getitem__
    control.rejudge(result.run, None, by=make_user("admin"))
    work()
    result.refresh_from_db()
    assert result.similarity == pytest.approx(0.6)


def test_nobody_is_asked_where_similarity_does_not_count(measured, provider):
    result = measured(similarity_weight=0)

    assert (result.similarity, result.score) == (None, 0)
    assert embedded_texts(provider) == []


def test_wrong_key_of_the_embedding_model_stops_the_judge_run_and_says_so(measured, provider):
    provider.embed = lambda text: scripted.UNAUTHORIZED
    run = measured().run
    judge_run = run.judge_runs.get()

    assert judge_run.state == "failed"
    assert run.similarity_endpoint["name"] in judge_run.reason
