"""Labels of claims: the order in which they come, what they say of a claim, and undo."""

import re

import pytest
from django.core.exceptions import ValidationError
from django.urls import reverse

from runs.laboratory.trials.claims.labels import (
    active_labels,
    label_claim,
    labelling_of,
    next_claim,
    undo,
    verdicts_of_people,
)
from runs.laboratory.trials.models import ClaimKind, ClaimLabel
from tests.factories import make_user
from tests.runs.laboratory.trials.sample_benchmark import make_benchmark

pytestmark = pytest.mark.django_db


def label_next(benchmark, by, option="7"):
    shown = next_claim(benchmark, by=by)
    chosen = option if not shown.is_rank else "A"
    label_claim(shown.claim, chosen, by=by)
    return shown.claim.pk


def test_claims_come_in_one_random_order_for_everybody_and_none_twice():
    benchmark = make_benchmark()
    one, other = make_user("annotator"), make_user("annotator")

    first = [label_next(benchmark, one) for _ in range(10)]

    assert len(set(first)) == 10
    assert first != sorted(first)
    assert [label_next(benchmark, other) for _ in range(10)] == first


def test_a_label_says_whether_the_claim_holds_by_the_scale_of_the_judges():
    benchmark, user = make_benchmark(), make_user("annotator")
    claim = benchmark.claims.filter(kind=ClaimKind.EQUAL).first()

    options = [one.label for one in labelling_of(claim, by=user).options]
    said = {option: label_claim(claim, option, by=user).holds for option in options}

    assert said == {str(n): n >= 4 for n in range(1, 8)}
    assert verdicts_of_people([claim.pk]) == {claim.pk: True}  # the newest counts


def test_the_better_of_two_texts_is_that_of_the_claim_however_it_is_shown():
    benchmark = make_benchmark()
    claim = benchmark.claims.filter(kind=ClaimKind.RANK).first()
    orders: dict[int, bool | None] = {}
    while len(orders) < 2:
        user = make_user("annotator")
        shown = labelling_of(claim, by=user)
        left_is = "A" if shown.texts.first == claim.left.text else "B"
        orders[shown.order] = label_claim(claim, left_is, by=user).holds

    assert orders == {0: True, 1: True}


def test_annotators_who_differ_have_no_verdict_together():
    benchmark = make_benchmark()
    claim = benchmark.claims.filter(kind=ClaimKind.EQUAL).first()
    for option in ("7", "1"):
        label_claim(claim, option, by=make_user("annotator"))

    assert verdicts_of_people([claim.pk]) == {claim.pk: None}


def test_undo_withdraws_the_last_label_and_deletes_nothing():
    benchmark, user = make_benchmark(), make_user("annotator")
    first, second = label_next(benchmark, user), label_next(benchmark, user)

    undo(benchmark, by=user)
    assert set(active_labels(ClaimLabel.objects.all(), by=user)) == {first}
    assert next_claim(benchmark, by=user).claim.pk == second
    undo(benchmark, by=user)
    assert undo(benchmark, by=user) is None
    assert ClaimLabel.objects.count() == 4
    assert verdicts_of_people(benchmark.claims.values("pk")) == {}


def test_an_option_that_is_not_on_the_scale_is_refused():
    claim = make_benchmark().claims.filter(kind=ClaimKind.EQUAL).first()
    with pytest.raises(ValidationError, match="'8' is not on the scale: choose one of 1, 2"):
        label_claim(claim, "8", by=make_user("annotator"))


def test_the_page_shows_texts_and_scale_and_nothing_of_the_truth(client):
    benchmark = make_benchmark()
    client.force_login(make_user("annotator"))
    url = reverse("admin:trials_benchmark_label", args=[benchmark.pk])

    page = client.get(url)
    shown = page.context["labelling"]
    text = page.content.decode()
    assert shown.texts.first in text
    assert shown.texts.second in text
    body = text.partition("data-eh-once>")[2].partition("</form>")[0].lower()
    assert body
    assert not re.search(r"\b(true|false|hard negative|cluster)\b", body)

    option = shown.options[0].label
    after = client.post(url, {"claim": shown.claim.pk, "option": option}, follow=True)
    assert "1 labelled by you" in after.content.decode()
    assert after.context["labelling"].claim != shown.claim
    client.post(url, {"undo": "1"})
    assert client.get(url).context["labelling"].claim == shown.claim
