"""A verdict given in a queue is marked as an example without leaving the queue."""

import re

import pytest
from django.urls import reverse

from runs.models import Example, HumanEvaluation
from tests.factories import make_user
from tests.runs.review.rows import filled
from tests.runs.review.test_pages import act, assignment_in, at_work

pytestmark = pytest.mark.django_db


@pytest.fixture
def annotator(client):
    annotator = make_user("annotator")
    client.force_login(annotator)
    return annotator


def test_last_verdict_is_marked_and_the_next_item_stays(client, annotator):
    queue = filled(2)
    assignment = assignment_in(at_work(client, queue))
    html = act(client, queue, "submit", assignment=assignment, option="1")["html"]
    evaluation = HumanEvaluation.objects.get()
    url = reverse("admin:runs_result_example", args=[evaluation.result_id])
    assert f'action="{url}"' in html
    target = re.findall(r'name="next" value="([^"]+)"', html)[0]
    sent = {"evaluation": evaluation.pk, "act": "mark", "next": target.replace("&amp;", "&")}
    page = client.post(url, sent, follow=True).content.decode()
    assert Example.objects.get().evaluation == evaluation
    assert assignment_in(page) == assignment_in(html)


def test_of_a_sealed_test_it_is_not_offered(client, annotator):
    queue = filled(2)
    type(queue.items.first().result.test).objects.update(sealed=True)
    assignment = assignment_in(at_work(client, queue))
    html = act(client, queue, "submit", assignment=assignment, option="1")["html"]
    assert "Mark as example" not in html
