"""What the report of a run says of rubrics, juries, weights and similarity."""

import csv
import io

import pytest
from django.urls import reverse

from evalhub.statistics.agreement.pair_coverage import Comparisons
from issues.models import Polarity
from reports.run.query import run_report
from runs.lifecycle import control
from runs.models import Approach, Judge, Launch, Result, Run
from runs.result_list.filters import Filters
from runs.scoring.human_evaluation import HumanVerdict, evaluate
from tests.factories import make_issue, make_jury, make_model, make_run, make_test, make_user
from tests.reports.judged_runs import answer, finish, judged
from tests.runs.rubric_runs import judge_rubrics, jury_of, rubric_run

pytestmark = pytest.mark.django_db

POLITE = {"text": "Is polite."}
RUDE = {"text": "Is rude.", "polarity": Polarity.SHOULD_NOT, "weight": 3}
CHECK = {"check_name": "contains", "arguments": {"text": "4"}}


def of_rubric(criteria, votes, **fields):
    run = rubric_run(criteria, votes, **fields)
    finish(run)
    run.refresh_from_db()
    return run


def report(run):
    return run_report(run, Filters(), reader=make_user("annotator"))


def page(client, run):
    client.force_login(make_user("maintainer"))
    return client.get(reverse("reports:run", args=[run.pk]) + "?tab=all").content.decode()


# Score and weights -------------------------------------------------------------------------------


def test_the_score_is_weighted_and_the_pass_rate_is_not(client):
    heavy = make_test(weight=3, issue=make_issue(title="The heavy one"))
    run = judged([1], [0], tests=[heavy, make_test()])
    text = page(client, run)

    # (3 · 1 + 1 · 0) / 4 of two scored; 1 of 2 passed.
    assert report(run).score.mean == 0.75
    assert "Tests are weighted" in text
    assert "1 of 2" in text
    assert f">{heavy.pk}</a>" in text


def test_where_all_weigh_one_nothing_is_named(client):
    run = judged([1], [0])

    assert report(run).heavy == ()
    assert "Tests are weighted" not in page(client, run)


def test_similarity_names_its_model_and_coverage(client):
    run = make_run(make_test(), make_test(), jury=make_jury(make_model()), similarity_weight=0.25)
    answer(run)
    Result.objects.filter(pk=run.results.first().pk).update(similarity=0.5)
    text = page(client, run)

    assert "25% of each score; by word vectors (built in), measured for 1 of 2 answers" in text
    assert "of each score" not in page(client, judged([1]))


# Judges ------------------------------------------------------------------------------------------


def test_the_judge_that_fails_is_named_on_the_page(client):
    texts = [f"Point {n}." for n in range(5)]
    votes = {text: [1, 1, None] for text in texts}
    jury = jury_of(3)
    name = str(jury.judges.order_by("pk").last())
    text = page(client, of_rubric([{"text": text} for text in texts], votes, jury=jury))

    assert f"{name} failed 5 of 5 judgments" in text
    assert text.count("fails often</small>") == 1


def test_comparisons_are_listed_beside_agreement():
    texts = [f"Point {n}." for n in range(5)]
    votes = {text: [1, 0.75, None] for text in texts} | {texts[0]: [1, 0.75, 1]}
    panel = report(of_rubric([{"text": text} for text in texts], votes)).panel

    # 3 pairs on the first criterion, 1 on each of four others, of 5 · 3.
    assert panel.comparisons == Comparisons(7, 15)


def test_a_backup_judge_fills_in_and_is_marked():
    backup = Judge.objects.given(make_model(), approach=Approach.PROMPT_AWARE)
    votes = {"Is polite.": [1, None, 0.5]}
    panel = report(of_rubric([POLITE], votes, jury=jury_of(2, backup=backup))).panel

    assert [judge.is_backup for judge in panel.judges] == [False, False, True]
    assert panel.comparisons == Comparisons(1, 1)


@pytest.mark.parametrize(
    ("votes", "badged"),
    [([[1, 1]] * 5 + [[0, 0]], False), ([[1, 0], [0, 1]] * 3, True), ([[1, 1]] * 6, False)],
)
def test_only_doubtful_agreement_has_a_warning(client, votes, badged):
    run = judged(*votes)
    text = page(client, run)

    assert ("The judges&#x27; agreement is" in text) is badged


def test_checks_are_counted_and_those_without_a_value_are_not_nought(client):
    run = of_rubric(
        [POLITE, CHECK, {"check_name": "js", "arguments": {"source": "1"}}],
        {"Is polite.": [1], "contains": [1], "js": [None]},
    )

    checks = report(run).panel.checks
    assert (checks.ok, checks.failed) == (1, 1)
    assert "2 run without a judge, 1 without a value" in page(client, run)


# People ------------------------------------------------------------------------------------------


def test_overrides_of_a_criterion_and_of_the_whole_are_both_listed():
    run, person = (
        of_rubric([POLITE, RUDE], {"Is polite.": [1, 0], "Is rude.": [0, 0]}),
        make_user("annotator"),
    )
    result = run.results.get()
    key = result.revision.criteria.get(text="Is polite.").key
    evaluate(result, HumanVerdict("FULLY_MET", "It is.", criterion=key), by=person)
    evaluate(result, HumanVerdict("0", "Useless all the same."), by=person)

    (override,) = report(run).overrides
    whole, part = override.verdicts
    assert (override.judges_score, override.score) == (0.875, 0)
    assert (whole.criterion, whole.value) == (None, 0)
    assert (part.criterion, part.value) == (1, 1)


# The grid ----------------------------------------------------------------------------------------


def test_the_grid_shows_a_rubric_as_parts_after_inversion():
    run = of_rubric(
        [POLITE, RUDE, CHECK], {"Is polite.": [1, 0], "Is rude.": [1, 0.75], "contains": [None]}
    )
    (row,) = report(run).grid.rows

    assert [(part.weight, part.score) for part in row.criteria] == [(1, 0.5), (3, 0.125), (1, None)]
    assert (row.splits, row.failed_judgments) == (1, 1)
    assert row.deviation == 0.5
    assert (row.answered, row.expected) == (4, 5)
    # The first judge found 1 polite and 1 rude, which is 0.
    assert [cell.value for cell in row.judges] == [0.5, 0.125]


def test_a_test_without_a_rubric_has_no_parts():
    (row,) = report(judged([1, 0])).grid.rows

    assert (row.criteria, row.deviation) == ((), 0.5)


@pytest.mark.parametrize(
    ("agreement", "badge"),
    [(None, ""), (0.9, ""), (0.8, ""), (0.7, "alpha 0.7"), (0.2, "alpha 0.2")],
)
def test_a_row_is_badged_only_where_its_judges_agree_too_little(client, agreement, badge):
    run = judged([1, 0])
    Result.objects.filter(run=run).update(agreement=agreement)
    (row,) = report(run).grid.rows

    assert row.doubt == badge
    assert ("alpha of its judges" in page(client, run)) is bool(badge)


def test_queries_do_not_grow_with_the_rubric(django_assert_max_num_queries):
    texts = [f"Point {n}." for n in range(40)]
    run = of_rubric([{"text": text} for text in texts], {text: [1, 0.5, None] for text in texts})
    reader = make_user("annotator")

    with django_assert_max_num_queries(30):
        found = run_report(run, Filters(), reader=reader)

    assert len(found.grid.rows) == 1


# Judged otherwise --------------------------------------------------------------------------------


def test_judge_runs_with_other_judges_have_a_warning(client):
    run = judged([1])
    control.rejudge(run, None, by=make_user("maintainer"))
    assert "differs from the active one" not in page(client, run)

    control.rejudge(run, make_jury(make_model()), by=make_user("maintainer"))
    text = page(client, run)

    assert text.count("differs from the active one</small>") == 1
    assert "do not compare" in text


def test_runs_of_one_launch_judged_by_different_juries_have_a_warning(client):
    launch = Launch.objects.create(label="two", spec={})
    runs = [judged([1]), judged([1], jury=make_jury(make_model()))]
    Run.objects.update(launch=launch)
    client.force_login(make_user("viewer"))

    address = reverse("admin:runs_run_changelist")
    assert "not comparable: different juries" in client.get(address).content.decode()

    for run in runs:
        run.judge_runs.update(whole_fingerprint="same")
    assert "not comparable" not in client.get(address).content.decode()


# Downloads ---------------------------------------------------------------------------------------


def rows_of(client, run, role="annotator", query=""):
    client.force_login(make_user(role))
    response = client.get(reverse("reports:run_judgments_csv", args=[run.pk]) + query)
    text = b"".join(response.streaming_content).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text)))


def test_every_judgment_is_a_row_with_what_its_criterion_came_to(client):
    run = of_rubric([RUDE, CHECK], {"Is rude.": [1, 0], "contains": [None]})
    first, second, check = rows_of(client, run)

    assert (first["text"], first["polarity"], first["value"]) == ("Is rude.", "should_not", "1.0")
    assert (second["value"], second["consensus"], second["criterion_score"]) == (
        "0.0",
        "0.5",
        "0.5",
    )
    assert (first["deviation"], first["is_split"]) == ("0.5", "True")
    assert first["justification"].startswith("Because of")
    assert (check["check"], check["value"], check["failure"]) == ("contains", "", "check_error")


def test_judgments_of_sealed_tests_are_figures_only_to_a_viewer(client):
    run = make_run(make_test(criteria=[POLITE], sealed=True), jury=jury_of(1))
    judge_rubrics(run, {"Is polite.": [1]})

    (row,) = rows_of(client, run, role="viewer")
    assert (row["text"], row["justification"], row["value"]) == ("", "", "1.0")
    assert rows_of(client, run)[0]["text"] == "Is polite."


def test_judgments_follow_the_filters(client):
    run = judged([1], [0])

    assert [row["value"] for row in rows_of(client, run, query="?outcome=failed")] == ["0.0"]


def test_the_json_has_judgments_score_and_coverage(client):
    run = of_rubric([POLITE, RUDE], {"Is polite.": [1, 1], "Is rude.": [0, None]})
    client.force_login(make_user("annotator"))
    found = client.get(reverse("reports:run_json", args=[run.pk])).json()

    assert found["facts"]["score"]["value"]["value"] == 1
    (agreement,) = found["tables"]["agreement"]["rows"]
    assert (agreement["pairs"], agreement["expected"]) == (1, 2)
    assert (found["results"][0]["answered"], found["results"][0]["expected"]) == (3, 4)
    assert [row["value"] for row in found["judgments"]] == [1, 1, 0, None]


def test_a_model_that_makes_several_judges_is_warned_of_once():
    model = make_model(name="Small", note="It judges at chance.")
    jury = make_jury(model, approaches=("prompt_aware", "holistic"))
    run = make_run(model=model, jury=jury, self_evaluation_allowed=True)

    (judge,) = report(run).panel.models

    assert (judge.model, judge.note, judge.judges_itself) == ("Small", "It judges at chance.", True)
