"""Position bias between judges: measured only where it was asked, by one rule."""

import pytest
from django.urls import reverse

from runs.laboratory.pairwise.models import Pair, PairJudgment, PairwiseJudgeRun
from runs.laboratory.position_bias.models import ReversedJudgeRun, ReversedJudgment
from runs.models import Judgment
from tests.factories import make_user
from tests.reports.judge_reliability.judges.test_page import cells, page, trio
from tests.reports.judged_runs import current, finish

pytestmark = pytest.mark.django_db


def measured(run, judge, turned):
    """The judge's verdicts on the run, given again with these options."""
    made = ReversedJudgeRun.objects.create(
        judge_run=current(run), results=len(turned), seed=1, state="done"
    )
    rows = Judgment.objects.filter(judge_run__run=run, judge__language_model__name=judge)
    for judgment, option in zip(rows.order_by("pk"), turned, strict=True):
        known = {} if option is None else {"option": option, "value": float(option)}
        ReversedJudgment.objects.create(
            judge_run=made, judgment=judgment, state="done" if known else "error", **known
        )


def labelled(run):
    """Judgments with the options and the template that judges give."""
    for judgment in Judgment.objects.filter(judge_run__run=run).select_related("result__revision"):
        judgment.option = f"{judgment.value:g}"
        judgment.template_id = judgment.result.revision.template_id
        judgment.save(update_fields=["option", "template"])
    finish(run)
    return run


def by_judge():
    return {(row["judge"], row["shown"]): row for row in cells("position_bias")}


def test_what_was_not_judged_in_both_orders_is_not_measured_and_leads_to_the_button(client):
    run = trio([[1, 1, 1]] * 4)
    rows = cells("position_bias")

    assert [(row["changed"], row["p"], row["finding"]) for row in rows] == [(None, None, "")] * 3
    link = rows[0]["measure"]
    assert link.text == "Measure position bias"
    client.force_login(make_user("maintainer"))
    start = client.get(link.url)
    assert start.status_code == 200
    assert start.context["form"]["judge_run"].value() == current(run).pk


def test_a_judge_that_takes_the_first_option_is_named_with_its_figures():
    # Options as listed: 0, 1. It says 0 as given, and 1 once that is listed first.
    run = labelled(trio([[0, 1, 0]] * 12))
    measured(run, "a", ["1"] * 10 + ["0"] * 2)
    measured(run, "b", ["1"] * 11 + [None])
    rows = by_judge()

    first, steady = rows["a", "options of the scale"], rows["b", "options of the scale"]
    assert (first["changed"].passed, first["changed"].n) == (10, 12)
    assert first["changed"].interval is not None
    assert (first["first"].passed, first["first"].n) == (10, 10)
    # All 10 changes of 10 tests one way, mid-p, corrected for the two judges that were measured.
    assert first["p"] == pytest.approx(2 / 2**10)
    assert first["finding"] == "favours the option listed first"
    assert (steady["changed"].passed, steady["changed"].n) == (0, 11)
    assert steady["finding"] == "too few changes to tell: 0 of 6 needed"
    assert rows["c", "options of the scale"]["changed"] is None
    assert any(
        "a favours the option listed first: of 10 verdicts that changed with the order, 10 moved "
        "there (p = 0.002, Holm)." in sentence
        for sentence in page().sentences
    )


def test_reversed_verdicts_are_in_no_other_figure():
    run = labelled(trio([[0, 1, 0], [1, 1, 0], [1, 0, 1]] * 4))
    before = {table.key: table.rows for table in page().tables if table.key != "position_bias"}
    measured(run, "a", ["1"] * 12)

    after = {table.key: table.rows for table in page().tables if table.key != "position_bias"}
    assert after == before


def test_pairs_of_answers_judged_in_both_orders_count_by_the_same_rule():
    run, other = trio([[1, 1, 1]] * 8), trio([[1, 1, 1]] * 8)
    judge = Judgment.objects.filter(judge__language_model__name="a").first().judge.language_model
    judge_run = PairwiseJudgeRun.objects.create(language_model=judge, endpoint={}, method="m")
    for first, second in zip(run.results.all(), other.results.all(), strict=True):
        pair = Pair.objects.create(first=first, second=second)
        for order, choice in enumerate(("first", "second")):  # always the one shown first
            PairJudgment.objects.create(
                judge_run=judge_run, pair=pair, order=order, choice=choice, state="done"
            )

    row = by_judge()["a", "answers of a pair"]
    assert (row["changed"].passed, row["changed"].n) == (8, 8)
    assert row["finding"] == "favours the answer shown first"


def test_a_measure_at_work_is_not_offered_again(client):
    run = trio([[1, 1, 1]] * 2)
    ReversedJudgeRun.objects.create(judge_run=current(run), results=1, seed=1)

    assert {row["measure"].text for row in cells("position_bias")} == {"Being measured"}


def test_the_page_shows_the_cost_before_it_starts(client):
    run = labelled(trio([[1, 1, 1]] * 4))
    client.force_login(make_user("maintainer"))
    url = reverse("admin:position_bias_reversedjudgerun_add")
    asked = {"judge_run": current(run).pk, "results": 2, "seed": 3}

    shown = client.post(url, asked)
    assert "2 of 4 judged results" in " ".join(shown.content.decode().split())
    assert "Start (6 calls)" in shown.content.decode()
    assert not ReversedJudgeRun.objects.exists()

    started = client.post(url, asked | {"start": "6"})
    made = ReversedJudgeRun.objects.get()
    assert started.url == made.get_absolute_url()
    assert (made.results, made.seed, made.judgments.count()) == (2, 3, 6)
    progress = client.get(made.get_absolute_url()).content.decode()
    assert "2 results drawn at random" in progress
    assert "Open position bias" in progress


def test_a_script_sees_the_estimate_and_starts_the_same_sample(client):
    run = labelled(trio([[1, 1, 1]] * 4))
    client.force_login(make_user("maintainer"))
    send = {"content_type": "application/json"}
    body = {"judge_run": current(run).pk, "results": 2}

    found = client.post("/api/v1/reversed-judge-runs/estimate/", body, **send).json()
    assert (found["results"], found["available"], found["judgments"]) == (2, 4, 6)
    assert (found["calls_low"], found["calls_high"]) == (6, 12)
    made = client.post("/api/v1/reversed-judge-runs/", body | {"seed": found["seed"]}, **send)
    assert made.status_code == 201
    assert made.json()["judgments"]["pending"] == 6
