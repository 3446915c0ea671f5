"""Questions to a judge about its prompt, beside the editor of the draft."""

import pytest
from django.urls import reverse

from evalhub.models import Call
from runs.laboratory.tuning.models import PromptAnswer
from runs.laboratory.tuning.questions import question_about
from runs.laboratory.tuning.start import draft_of
from tests.factories import make_user
from tests.provider import prompt
from tests.runs.laboratory.tuning.rows import MIXED, scored, tuning_of

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tuning(provider):
    tuning = tuning_of(scored(MIXED), seed=1)
    draft_of(tuning, by=None)
    model = tuning.judge.language_model
    model.api_base = provider.base_url
    model.save()
    return tuning


def asked(client, tuning, **sent):
    client.force_login(make_user("maintainer"))
    sent = {"model": tuning.judge.language_model_id, **sent}
    return client.post(address_of(tuning), sent).content.decode()


def address_of(tuning):
    return reverse("admin:issues_judgetemplate_ask", args=[tuning.draft_id])


def test_a_judge_says_how_it_reads_the_prompt(client, tuning, provider):
    provider.script = lambda request: "I look at names first."

    shown = asked(client, tuning, text="Judge {{ output }} by {{ scale }}.")

    assert "I look at names first." in shown
    (request,) = provider.requests
    assert "Judge {{ output }} by {{ scale }}." in prompt(request)
    assert Call.objects.get().role == "judge"


def test_a_judge_says_what_parts_an_ideal_from_a_poor_text(client, tuning, provider):
    provider.script = lambda request: "The first one names its inputs."

    shown = asked(client, tuning, ideal="It sorts numbers.", poor="It does things.")

    assert "What makes the difference?" in shown
    sent = prompt(provider.requests[0])
    assert sent.index("It sorts numbers.") < sent.index("It does things.")


def test_answers_stay_beside_the_editors_with_model_and_version_until_they_are_deleted(
    client, tuning, provider
):
    provider.script = lambda request: "I look at names first."
    asked(client, tuning, text="Judge {{ output }} by {{ scale }}.")
    provider.script = lambda request: "The first one names its inputs."
    asked(client, tuning, ideal="It sorts numbers.", poor="It does things.")

    for editor in (tuning, tuning.draft):
        page = client.get(editor.get_absolute_url()).content.decode()
        assert page.index("names its inputs") < page.index("I look at names first.")
        assert f"{tuning.judge.language_model}, {tuning.draft} with unsaved changes" in page

    client.post(address_of(tuning), {"delete": PromptAnswer.objects.last().pk})
    assert [one.question for one in PromptAnswer.objects.all()] == ["difference"]

    client.force_login(make_user("viewer"))  # who may read no sealed test
    assert "names its inputs" not in client.get(tuning.draft.get_absolute_url()).content.decode()


def test_one_text_alone_is_refused_without_a_call(client, tuning, provider):
    assert "both an ideal and a poor text" in asked(client, tuning, ideal="It sorts numbers.")
    assert provider.total == 0


def test_a_text_that_is_too_long_is_refused_with_its_length():
    with pytest.raises(ValueError, match="30,000 characters"):
        question_about("Judge.", ideal="x" * 30_000, poor="y")
