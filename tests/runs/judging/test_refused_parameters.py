"""Judges and candidates of today with default settings: what their endpoints refuse is left out."""

import pytest
from django.urls import reverse

from evalhub.models import Call, LanguageModel
from runs.models import Judgment
from tests.factories import make_jury, make_run
from tests.issues.pages import log_in
from tests.provider import Reply, failure, is_judge, verdict

pytestmark = pytest.mark.django_db(transaction=True)

CLAUDE = (
    '{"id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "end_turn",'
    ' "content": [{"type": "text", "text": "{\\"justification\\": \\"Yes.\\", \\"score\\": 1}"}],'
    ' "usage": {"input_tokens": 1, "output_tokens": 1}}'
)
MODELS = ("gpt-5-mini", "o3-mini", "my-deployment")


def strict(request):
    """OpenAI's and Azure's reasoning models, and Anthropic's newest."""
    if not is_judge(request) and request["model"] not in MODELS:
        return "Four."
    if request["model"].startswith("claude"):
        if "temperature" in request:
            return failure(400, "`temperature` is deprecated for this model.")
        return Reply(body=CLAUDE)
    if request.get("temperature", 1) != 1:
        return failure(400, "'temperature' does not support 0. Only the default (1) is supported.")
    if {"max_tokens", "max_completion_tokens"} <= request.keys():
        return failure(400, "'max_tokens' and 'max_completion_tokens' at the same time")
    if "max_tokens" in request:
        return failure(400, "Unsupported parameter: 'max_tokens' is not supported.")
    return verdict(1)


@pytest.mark.parametrize(
    ("litellm_model", "params"),
    [
        ("openai/gpt-5-mini", {}),
        ("openai/o3-mini", {}),
        ("anthropic/claude-opus-4-7", {}),
        ("openai/my-deployment", {}),
        ("openai/my-deployment", {"temperature": 1, "max_completion_tokens": 8000}),
        ("openai/my-deployment", {"temperature": None, "max_tokens": None}),
    ],
)
def test_the_documented_models_judge_with_default_settings(
    provider, model_at, work, litellm_model, params
):
    provider.script = strict
    base = provider.base_url
    if litellm_model.startswith("anthropic"):
        base = base.removesuffix("/v1")
    judge = model_at(litellm_model=litellm_model, params=params, api_base=base)
    make_run(model=model_at(), jury=make_jury(judge))

    work()

    assert [(j.state, j.failure_message) for j in Judgment.objects.all()] == [("ok", "")]
    assert not Call.objects.exclude(error_kind="").exists()
    sent = Call.objects.get(language_model=judge).sent_params
    assert "max_tokens" not in sent or litellm_model != "openai/my-deployment"
    assert sent.get("temperature", 1) == 1


def test_a_parameter_that_a_person_set_is_not_dropped_in_silence(provider, model_at, work, client):
    """It is refused once for all workers to come, and the pages say so."""
    provider.script = strict
    params = {"temperature": 0.7}
    candidate = model_at(litellm_model="openai/my-deployment", params=params)
    runs = []
    for _ in range(2):
        runs.append(make_run(model=candidate))
        work()

    refused = [request for request in provider.requests if "temperature" in request]
    assert len(refused) == 1
    stored = LanguageModel.objects.get(pk=candidate.pk).refused_params
    assert stored.keys() == {"temperature"}
    assert [call.refused_params for call in Call.objects.all()] == [params, params]
    log_in(client, "maintainer")
    page = client.get(reverse("admin:evalhub_languagemodel_change", args=[candidate.pk]))
    assert "0.7, set in its parameters, is not sent" in page.content.decode()
    report = client.get(reverse("reports:run", args=[runs[0].pk])).content.decode()
    assert f"{candidate.name} refuses temperature (0.7): 1 call made without it." in report
