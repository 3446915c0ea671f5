"""A test's documents, word for word at a provider, in the previews and in judge prompts."""

from html import unescape

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from evalhub.llm.costs.token_estimates import tokens_in
from evalhub.models import CallRole, Exposure
from issues.content.conversation import request_messages
from issues.content.revisions import asked_digest, content_of, freeze
from issues.judge_templates.builtin import BUILTIN
from issues.models import Test
from runs.launching.estimate import _answering
from tests import provider as scripted
from tests.api import client_of
from tests.factories import make_jury, make_run, make_template, make_test, make_user
from tests.provider import verdict

pytestmark = pytest.mark.django_db(transaction=True)

DOCUMENT = 'Act 5 {{ not a variable }}\n\n  § 4: "notice" & <b>term</b>, 3 months.\n\tEnd\u00a0.'
TURNS = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "How long?"},
    {"role": "assistant", "content": None},
    {"role": "user", "content": "And then?"},
]
BLOCK = "{{ input }}\n{{ context }}\n{{ output }} {{ scale }}"
NO_BLOCK = "{{ input }}\n{{ output }} {{ scale }}"


def answer_or_verdict(request):
    return verdict(1) if "response_format" in request else "Three months."


def requests_of(provider, *, to_judges):
    return [one for one in provider.requests if ("response_format" in one) is to_judges]


@pytest.fixture
def documented(provider, model_at, work):
    """Runs a test with the document, judged by a template with this text."""

    def run_with(text=BLOCK, **fields):
        provider.script = answer_or_verdict
        test = make_test(context=DOCUMENT, template=make_template(text=text), **fields)
        make_run(test, model=model_at(), jury=make_jury(model_at()))
        work()
        return test

    return run_with


def test_a_document_arrives_at_the_provider_word_for_word_and_once(documented, provider):
    test = documented("{{ input }} {{ output }} {{ scale }}", messages=TURNS)
    sent = requests_of(provider, to_judges=False)
    assert len(sent) == 2
    for request in sent:
        assert scripted.prompt(request).count(DOCUMENT) == 1
    first = request_messages(test.messages, DOCUMENT)[:2]
    assert sent[0]["messages"] == first


def test_page_and_api_show_what_the_provider_received(documented, provider, client):
    test = documented()
    (sent,) = requests_of(provider, to_judges=False)
    user = make_user("viewer")
    client.force_login(user)

    page = client.get(reverse("admin:issues_test_preview", args=[test.pk])).content.decode()
    shown = client_of(user).get(reverse("api-test-model-request", args=[test.pk])).json()

    (message,) = sent["messages"]
    request, judge_prompt = unescape(page).split("Answer to judge")
    assert request.count(message["content"]) == 1
    assert judge_prompt.count(DOCUMENT) == 1
    assert shown == {"messages": sent["messages"], "tools": []}


@pytest.mark.parametrize(
    ("text", "asked"),
    [(BLOCK, {}), (NO_BLOCK, {}), (BUILTIN[0].text, {}), (BUILTIN[0].text, {"messages": TURNS})],
)
def test_a_judge_reads_the_document_once(documented, provider, text, asked):
    documented(text, **asked)
    (prompt,) = map(scripted.prompt, requests_of(provider, to_judges=True))
    assert prompt.count(DOCUMENT) == 1
    assert ("<documents>" in prompt) is (text == NO_BLOCK)


def test_the_result_page_shows_the_request_as_sent(documented, provider, client):
    test = documented()
    client.force_login(make_user("viewer"))
    page = client.get(reverse("admin:runs_result_change", args=[test.results.get().pk]))
    (sent,) = requests_of(provider, to_judges=False)
    shown = unescape(strip_tags(page.context["page"].turns[0].text.raw))
    assert shown == sent["messages"][0]["content"]


def test_a_sealed_document_that_is_sent_outside_is_recorded(documented, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    test = documented(sealed=True)
    assert Exposure.objects.filter(test=test.pk, purpose=CallRole.CANDIDATE).exists()


@pytest.mark.django_db
def test_a_document_in_the_prompt_or_beside_it_is_the_same_request():
    beside = make_test("How long?", context=DOCUMENT)
    (message,) = request_messages(beside.messages, DOCUMENT)
    within = make_test(message["content"])
    assert asked_digest(content_of(beside)) == asked_digest(content_of(within))
    assert freeze([beside])[beside.pk].digest != freeze([within])[within.pk].digest


@pytest.mark.django_db
def test_the_estimate_counts_the_document_in_each_turn():
    test = make_test(messages=TURNS, context=DOCUMENT)
    messages = request_messages(TURNS, DOCUMENT)
    first = tokens_in([messages[0]["content"], messages[1]["content"]])
    second = tokens_in([messages[0]["content"], messages[1]["content"], "", "And then?"])
    assert _answering([test], [""]).tokens == first + second


@pytest.mark.django_db
def test_a_test_that_nobody_judges_has_a_preview_of_its_request(client):
    test = make_test(context=DOCUMENT)
    Test.objects.update(template=None)
    client.force_login(make_user("viewer"))
    page = client.get(reverse("admin:issues_test_preview", args=[test.pk])).content.decode()
    assert DOCUMENT in unescape(page)
    assert "There is no judge prompt" in page
