"""Answers to one input compared two at a time: what is asked, kept, counted and ranked."""

import pytest

from evalhub.llm.content.images import store_image
from evalhub.models import Exposure
from issues.models import LibraryCriterion
from runs.laboratory.workbench.judges import setup_of
from runs.laboratory.workbench.models import BenchRow, RowPairJudgment, Workbench
from runs.laboratory.workbench.pairs import pair_figures
from runs.laboratory.workbench.rows import add_rows
from tests.factories import make_test
from tests.images import picture, url_of
from tests.issues.pages import log_in
from tests.provider import prompt, verdict
from tests.runs.laboratory.workbench.rows import edit, evaluate, make_bench, url

pytestmark = pytest.mark.django_db

ANSWERS = ("Gold: four.", "Silver: four or so.", "Bronze: five.")


@pytest.fixture
def user(client):
    return log_in(client, "annotator")


def shown(request):
    """The answers as the judge sees them: A, B."""
    parts = prompt(request).split("[BEGIN OUTPUT")[1:]
    return [part.split("[END OUTPUT")[0] for part in parts]


def by_metal(request):
    first, second = ([m in text for m in ("Bronze", "Silver", "Gold")] for text in shown(request))
    best = {True: "A", False: "B"}
    return verdict("tie" if first == second else best[first.index(True) > second.index(True)], "M.")


def compare(client, bench, **sent):
    return evaluate(client, bench, act="compare", **sent)


def figures(bench):
    return pair_figures(setup_of(bench), list(bench.rows.all()))


def by(bench, inputs=1):
    """Rows of three named answers to each of several inputs."""
    rows = [
        {
            "messages": [{"role": "user", "content": f"What is 2 + 2, {n}?"}],
            "answer": text,
            "answered_by": text.split(":")[0],
        }
        for n in range(inputs)
        for text in ANSWERS
    ]
    return add_rows(bench, rows)


def test_every_pair_is_asked_in_both_orders_and_again_only_where_it_changed(
    client, user, provider, model_at
):
    provider.script = by_metal
    bench = make_bench(user, model_at(), answers=[(text, {}) for text in ANSWERS])
    *_, last = compare(client, bench)
    assert provider.total == 6
    assert "3 of 3 pairs judged in both orders" in last["pairs"]
    (found,) = figures(bench)
    assert [(one.better, one.outcome.judge.is_biased) for one in found.pairs] == [
        ("Row 1", False),
        ("Row 1", False),
        ("Row 2", False),
    ]
    assert [one.player for *_, one in found.standings] == ["Row 1", "Row 2", "Row 3"]
    assert (found.bias.hits, found.bias.n) == (0, 3)
    assert all(one.interval is None for *_, one in found.standings), "of one input there is none"

    assert "every pair is judged" in compare(client, bench)[-1]["progress"]
    assert provider.total == 6
    edit(client, bench.rows.last(), answer="Bronze: six.")
    (found,) = figures(bench)
    assert [one.is_stale for one in found.pairs] == [False, True, True]
    assert len(found.scored) == 1
    assert "No conclusion: 1/3 scored" in found.sentences[0]
    compare(client, bench)
    assert provider.total == 10


def test_a_choice_that_follows_the_order_is_a_tie_by_position_bias(
    client, user, provider, model_at
):
    provider.script = lambda request: verdict("A", "First.")
    bench = make_bench(user, model_at(), answers=[(text, {}) for text in ANSWERS[:2]])
    compare(client, bench)
    (found,) = figures(bench)
    assert (found.bias.hits, found.bias.n) == (1, 1)
    assert [one.better for one in found.pairs] == ["equal"]
    page = client.get(bench.get_absolute_url()).content.decode()
    assert "choice changed with the order of the answers in 1 of 1 pair" in page
    assert "Too few pairs to tell these answers apart: any two need at least 5" in page


def test_a_failed_order_is_no_tie_and_its_bias_is_not_measured(client, user, provider, model_at):
    provider.script = lambda request: (
        "no idea" if "Silver" in shown(request)[0] else by_metal(request)
    )
    bench = make_bench(user, model_at(), answers=[(text, {}) for text in ANSWERS[:2]])
    compare(client, bench)
    (found,) = figures(bench)
    assert (found.failed, found.bias, found.scored) == (1, None, [])
    states = RowPairJudgment.objects.order_by("order").values_list("state", "choice")
    assert [*states] == [("ok", "first"), ("failed", "")]
    page = client.get(bench.get_absolute_url()).content.decode()
    assert "Position bias is not measured" in page
    provider.script = by_metal
    compare(client, bench)
    (found,) = figures(bench)
    assert [one.better for one in found.pairs] == ["Row 1"]


def test_names_are_ranked_over_inputs_with_intervals(client, user, provider, model_at):
    provider.script = lambda request: (
        by_metal(request) if ", 0?" not in prompt(request) else verdict("tie", "Equal.")
    )
    bench = make_bench(user, model_at())
    by(bench, inputs=6)
    compare(client, bench)
    (found,) = figures(bench)
    first, *_ = found.standings
    assert (first[-1].player, first[-1].found.wins, first[-1].found.ties) == ("Gold", 10, 2)
    assert first[-1].interval is not None
    page = client.get(bench.get_absolute_url()).content.decode()
    assert "18 of 18 pairs judged in both orders" in page


def test_the_criterion_and_ties_are_as_set_and_answers_of_one_name_do_not_meet(
    client, user, provider, model_at
):
    provider.script = by_metal
    bench = make_bench(user, model_at(), better="The shorter one.", ties=False)
    rows = by(bench)
    BenchRow.objects.filter(pk=rows[1].pk).update(answered_by="Gold")
    compare(client, bench)
    assert provider.total == 4
    assert "The shorter one." in prompt(provider.requests[0])
    assert "You must choose one" in prompt(provider.requests[0])


@pytest.mark.django_db(transaction=True)
def test_a_judge_of_pairs_is_shown_the_images_of_the_input(client, user, provider, model_at):
    image = store_image(picture())
    part = {"type": "image", "image": image.digest}
    bench = make_bench(user, model_at(takes_images=True))
    asked = [{"role": "user", "content": [{"type": "text", "text": "What is shown?"}, part]}]
    add_rows(bench, [{"messages": asked, "answer": text} for text in ANSWERS[:2]])
    provider.script = lambda request: verdict("tie", "Equal.")
    compare(client, bench)
    sent = [request["messages"][-1]["content"][-1] for request in provider.requests]
    url = url_of(bytes(image.content))
    assert sent == [{"type": "image_url", "image_url": {"url": url}}] * 2


def test_sealed_rows_are_compared_only_after_a_yes(client, user, provider, model_at, settings):
    settings.EVALHUB_TRUSTED_ADDRESSES = []
    provider.script = by_metal
    bench = make_bench(user, model_at(), answers=[(text, {}) for text in ANSWERS])
    BenchRow.objects.update(test=make_test(sealed=True))
    (asked,) = compare(client, bench)
    assert "is sealed and would be sent" in asked["words"]
    assert provider.total == 0
    compare(client, bench, consent=asked["consent"])
    assert (provider.total, Exposure.objects.count()) == (6, 1)


def test_nothing_to_compare_says_so(client, user, model_at):
    bench = make_bench(user, model_at(), answers=[(ANSWERS[0], {})])
    assert "no two rows answer the same input" in compare(client, bench)[0]["error"]


def test_a_pairwise_criterion_of_the_library_opens_with_both_answers(client, user):
    entry = LibraryCriterion.objects.filter(kind="pairwise", examples__has_key="passing").first()
    assert "Try in workbench" in client.get(entry.get_absolute_url()).content.decode()
    client.post(url("start"), {"library": entry.pk})
    bench = Workbench.objects.get()
    assert bench.judges["better"] == entry.question
    example = entry.examples["passing"]
    assert [row.answer for row in bench.rows.all()[:2]] == [example["answer"], example["other"]]
