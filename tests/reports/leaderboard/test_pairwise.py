import pytest

from reports.documents.reading import Reading
from reports.leaderboard.page import LeaderboardForm, build
from runs.laboratory.pairwise.judge_runs import PairwiseOrder, start
from runs.laboratory.pairwise.models import PairJudgment
from runs.models import Answer
from tests.factories import make_model, make_test, make_user
from tests.reports.documents.test_pages import as_query
from tests.reports.scored_runs import make_suite, scored_run

pytestmark = pytest.mark.django_db


def with_answers(run, text):
    rows = [Answer(result=result, text=text) for result in run.results.all()]
    Answer.objects.bulk_create(rows)
    return run


def board(**asked):
    return build(LeaderboardForm(as_query(asked)).filters, Reading(make_user("viewer")))


@pytest.fixture
def runs():
    tests = [make_test(f"Question {n}?") for n in range(12)]
    suite = make_suite(*tests)
    models = [make_model(name=name) for name in ("Ada", "Bob", "Cleo")]
    return [
        with_answers(scored_run(suite, model, *[0.6] * 12, tests=tests), model.name)
        for model in models
    ]


def judged(runs, choice="first"):
    judge_run = start(PairwiseOrder(runs, make_model(name="Judge")), by=None)
    judge_run.judgments.update(choice=choice, state="done")
    return judge_run


def test_without_judged_pairs_there_is_no_column(runs):
    assert "pairwise" not in board().table("ranking").as_rows()[0]


def test_models_have_the_rank_sets_of_their_pairs(runs):
    judged(runs)
    document = board()
    rows = {row["name"].text: row for row in document.table("ranking").as_rows()}
    assert {name: row["pairwise_ranks"] for name, row in rows.items()} == {
        "Ada": "1",
        "Bob": "2",
        "Cleo": "3",
    }
    assert rows["Ada"]["pairwise"].n == 24
    assert any(
        "judged by Judge" in one and "Ada is significantly first of 3" in one
        for one in document.sentences
    )


def test_ties_tell_nobody_apart(runs):
    judged(runs, "tie")
    rows = board().table("ranking").as_rows()
    assert {row["pairwise_ranks"] for row in rows} == {"1 to 3"}


def test_failed_judgments_withhold_the_ranks(runs):
    judge_run = judged(runs)
    failed = judge_run.judgments.values_list("pk", flat=True)[:10]
    PairJudgment.objects.filter(pk__in=list(failed)).update(choice="", state="error")
    document = board()
    assert {row["pairwise_ranks"] for row in document.table("ranking").as_rows()} == {None}
    assert any("nothing is concluded" in one for one in document.sentences)


def test_a_model_without_judged_pairs_has_a_dash(runs):
    judged(runs[:2])
    rows = {row["name"].text: row for row in board().table("ranking").as_rows()}
    assert rows["Cleo"]["pairwise"] is None
    assert rows["Ada"]["pairwise_ranks"] == "1"
