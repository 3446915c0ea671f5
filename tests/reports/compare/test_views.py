"""Parts that the Compare page loads on demand, and its actions."""

import re
from html import unescape

import pytest
from django.urls import reverse
from django.utils.text import slugify

from reports.documents.links import page_url
from runs.models import Answer, Launch, Result
from runs.review.reservations import take
from tests.api import client_of
from tests.factories import make_test, make_user
from tests.reports.compare.test_page import FAIL, PASS, judged_apart, suite_of, two_runs
from tests.reports.judged_runs import fail, judged
from tests.runs.review.rows import make_queue, put

pytestmark = pytest.mark.django_db


@pytest.fixture
def answers():
    """Two answers to one sealed test."""
    first, second = two_runs([PASS], [FAIL], tests=[make_test("Which day?", sealed=True)])
    Answer.objects.filter(result__run=first).update(text="It is <b>Monday</b>.")
    Answer.objects.filter(result__run=second).update(text="It is Sunday.")
    return reverse(
        "reports:compare_answers", args=[first.results.get().pk, second.results.get().pk]
    )


def test_both_answers_stand_side_by_side_with_what_changed(client, answers):
    client.force_login(make_user("annotator"))

    html = client.get(answers, {"part": "1"}).content.decode()

    assert '<del><span class="cm-sign">[−</span>&lt;b&gt;Monday&lt;/b&gt;' in html
    assert '<ins><span class="cm-sign">[+</span>Sunday' in html
    assert "Which day?" in html


def test_a_verdict_is_given_beside_the_other_answer(client, answers):
    annotator = make_user("annotator")
    client.force_login(annotator)
    result = Result.objects.latest("pk")
    sent = {"option": "1", "justification": "Sunday is right.", "act": "save", "next": answers}
    response = client.post(reverse("admin:runs_result_evaluate", args=[result.pk]), sent)
    html = client.get(answers).content.decode()

    assert response.url == answers
    assert f"Saved: result {result.pk} is passed." in unescape(html)
    assert "Your verdict: passes (1)." in html
    assert html.count('name="justification"') == 2


def test_a_blind_reviewer_gives_the_verdict_in_the_queue(client, answers):
    annotator, queue = make_user("annotator"), make_queue(blind="all")
    put(queue, Result.objects.latest("pk"))
    take(queue, by=annotator)
    client.force_login(annotator)

    assert client.get(answers).status_code == 403


def test_no_list_has_a_direction_where_nothing_is_concluded(client):
    client.force_login(make_user("viewer"))
    runs = list(judged_apart(3))
    for asked in ("", "worse"):
        html = client.get(page_url("compare", runs=runs, show=asked)).content.decode()
        select = html.partition('name="show"')[2].partition("</select>")[0]
        assert '<option value="incomparable" selected>not comparable</option>' in select
        assert '<option value="all">' in select
        assert not re.search("worse|better|same", select)


def test_sealed_answers_and_a_form_for_a_verdict_are_not_shown_to_viewers(client, answers):
    client.force_login(make_user("viewer"))

    html = client.get(answers).content.decode()

    for words in ("Monday", "Which day?", "justification"):
        assert words not in html
    assert "sealed" in html


def test_a_rewritten_prompt_is_shown_with_what_changed(client):
    first = judged(PASS, tests=[make_test("What is 2 + 2?")])
    second = judged(PASS, tests=[make_test("What is 2 + 3?")])
    client.force_login(make_user("annotator"))
    results = [first.results.get().pk, second.results.get().pk]

    html = client.get(reverse("reports:compare_answers", args=results)).content.decode()

    assert '<ins><span class="cm-sign">[+</span>3' in html


def test_runs_lead_to_their_comparison(client):
    launch = Launch.objects.create(label="both", spec={})
    runs = [judged(PASS, launch=launch) for _ in "ab"]
    client.force_login(make_user("viewer"))

    run = client.get(runs[0].get_absolute_url()).content.decode()
    overview = client.get(reverse("admin:runs_run_changelist")).content.decode()

    assert page_url("compare", runs=[runs[0]]) in run
    assert page_url("compare", runs=runs[::-1]).replace("&", "&amp;") in overview


def test_each_repeat_has_its_pair_of_answers(client):
    tests = [make_test()]
    first, second = (judged(PASS, FAIL, tests=tests, repeats=2) for _ in "ab")
    pairs = list(zip(first.results.order_by("pk"), second.results.order_by("pk"), strict=True))
    client.force_login(make_user("viewer"))
    urls = [reverse("reports:compare_answers", args=[a.pk, b.pk]) for a, b in pairs]

    html = client.get(urls[0], {"part": "1"}).content.decode()

    assert re.search(rf'href="{urls[0]}"[^>]* aria-current="true">Answer 1</a>', html)
    assert re.search(rf'href="{urls[1]}"(?![^>]*aria-current)[^>]*>Answer 2</a>', html)


def test_an_error_has_no_answer_and_says_why(client):
    first, second = two_runs([PASS], [PASS])
    fail(second, second.results.get())
    Answer.objects.filter(result__run=second).delete()
    client.force_login(make_user("viewer"))
    results = [first.results.get().pk, second.results.get().pk]

    html = client.get(reverse("reports:compare_answers", args=results)).content.decode()

    assert "No answer: timed out." in html


def test_runs_to_add_are_found_while_one_types(client):
    chosen, wanted = judged(PASS, label="March"), judged(PASS, label="April")
    client.force_login(make_user("viewer"))

    found = client.get(reverse("reports:compare_runs"), {"runs": chosen.pk, "find": "apr"})

    both = page_url("compare", runs=[chosen, wanted]).replace("&", "&amp;")
    assert both in found.content.decode()


def pin(client, run, role="maintainer", **sent):
    client.force_login(make_user(role))
    return client.post(reverse("reports:compare_baseline", args=[run.pk]), sent, follow=True)


def test_a_run_is_made_the_baseline_of_its_suite_and_taken_back(client):
    run = judged(PASS, label="March")
    suite = suite_of(run)

    page = pin(client, run, runs=run.pk)

    assert suite.baselines.get() == run
    assert f"March is now the baseline of {run.model_name} in Everyday" in page.content.decode()
    assert suite.history.first().history_user.username
    pin(client, run, act="unpin")
    assert not suite.baselines.exists()


def test_a_run_that_is_not_done_or_of_no_suite_is_refused_as_baseline(client):
    run = judged(PASS, done=False)
    suite = suite_of(run)

    assert "a baseline must be done" in pin(client, run).content.decode()
    assert not suite.baselines.exists()
    assert "belongs to no suite" in pin(client, judged(PASS)).content.decode()
    assert pin(client, run, role="annotator").status_code == 403


def test_an_unknown_run_is_named_to_programs():
    answer = client_of("viewer").get("/api/v1/reports/compare/", {"runs": [123456]})

    assert answer.status_code == 400
    assert "123456" in str(answer.json())


# Files -------------------------------------------------------------------------------------------


def test_a_file_names_both_models_and_leads_back(client):
    first, second = judged([1], label="March"), judged([0], label="April")
    client.force_login(make_user("maintainer"))
    page = f"{reverse('reports:compare')}?runs={first.pk}&runs={second.pk}"

    for ending in ("html", "md"):
        url = reverse("reports:compare_download", args=[ending])
        response = client.get(f"{url}?runs={first.pk}&runs={second.pk}")

        name = response["Content-Disposition"]
        assert slugify(first.model_name) in name
        assert slugify(second.model_name) in name
        text = unescape(response.content.decode())
        assert first.model_name in text
        assert f"http://testserver{page}" in text
